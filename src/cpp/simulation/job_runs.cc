#include "simulation/job_runs.h"

#include <algorithm>
#include <utility>

#include "fairness/ledger.h"
#include "lifecycle/conditions.h"
#include "state/names.h"
#include "state/rebuild.h"

namespace kueue {
namespace {

constexpr Time kNever = INT64_MAX / 4;

Time StartOf(const Engine& engine, const JobColumns& columns, const SimulationOptions& options) {
  if (options.start) return *options.start;
  Time start = columns.submit.empty() ? engine.state().now : columns.submit.front();
  if (!options.changes.empty()) start = std::min(start, options.changes.front().at);
  return std::max(start, engine.state().now);
}

FlavorId FirstFlavor(const Admission& admission) {
  for (const PodSetAdmission& pod_set : admission.pod_sets) {
    for (const PodSetAdmission::Resource& entry : pod_set.resources) {
      if (entry.flavor != kNoId) return entry.flavor;
    }
  }
  return kNoId;
}

bool HasGrace(const JobColumns& columns, const SimulationOptions& options) {
  return options.model.grace > 0 ||
         std::any_of(columns.grace.begin(), columns.grace.end(), [](Time grace) { return grace > 0; });
}

}  // namespace

JobRuns::JobRuns(Engine engine, std::shared_ptr<const JobColumns> columns, SimulationOptions options)
    : engine_(std::move(engine)),
      options_(std::move(options)),
      jobs_(std::move(columns), options_.site, /*keeps_all=*/!options_.defers_arrivals),
      start_(StartOf(engine_, jobs_.columns(), options_)),
      frees_by_hand_(options_.as_performance_test || HasGrace(jobs_.columns(), options_)),
      recorder_(options_.record, start_),
      figures_(SaturatingAdd(start_, options_.warmup), options_.record.metrics) {
  recorder_.Reserve(static_cast<size_t>(jobs_.columns().size()));
  State& state = engine_.state();
  state.followed.on = true;
  state.record_events = false;
  // The workloads of a fleet, and workloads that exist at the start, are found by their keys.
  if (options_.site == kNoId && state.workloads.living() == 0 && !jobs_.columns().HasReplacements())
    DropKeys(state);
  if (frees_by_hand_) engine_.SetStopDelay(kNever);
  engine_.SetNow(start_);
  EnsureBuilt(state);
  figures_.Rebuild(state);
  for (NodeId queue : state.forest().Queues()) figures_.Look(state, queue, recorder_);
}

void JobRuns::Settle() {
  do {
    acted_ = false;
    if (!options_.as_performance_test) engine_.Settle();
    Listen();
    if (!to_free_.empty()) {
      engine_.ReleaseEvictedNow(to_free_);
      to_free_.clear();
      acted_ = true;
      Listen();
    }
  } while (acted_ && !options_.as_performance_test);
}

void JobRuns::Listen() {
  std::vector<Step>& steps = engine_.state().followed.steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step step = steps[i];
    const int32_t job = jobs_.JobOf(step.workload);
    if (job < 0) continue;
    switch (step.kind) {
      case EventKind::kReserved:
        Reserve(job);
        break;
      case EventKind::kAdmitted:
        Admit(job);
        break;
      case EventKind::kEvicted:
        Evicted(job, step.by);
        break;
      case EventKind::kReleased:
        Release(job);
        break;
      case EventKind::kFinished:
        if (options_.site == kManager) Finished(job);
        break;
      default:
        break;
    }
    if (listener_ != nullptr) listener_->Happened(options_.site, step.kind, job, jobs_.JobOf(step.by));
  }
  steps.clear();
}

void JobRuns::Enter(int32_t number, WorkloadId id) {
  Job& job = jobs_.At(number);
  jobs_.Assign(number, id);
  job.queue = engine_.state().QueueOf(engine_.state().At(id));
  job.state = JobState::kWaiting;
}

void JobRuns::Adopt(int32_t number, WorkloadId id) {
  State& state = engine_.state();
  Enter(number, id);
  if (!jobs_.HasAsks(number)) jobs_.NoteAsks(state, number);
  Await(number, jobs_.At(number).queue);
  const Workload& workload = state.At(id);
  if (workload.HasQuotaReservation()) Reserve(number);
  if (workload.IsAdmitted()) Admit(number);
  if (workload.IsEvicted() && workload.HasQuotaReservation()) Evicted(number, kNoId);
}

void JobRuns::Await(int32_t job, NodeId queue) {
  ++stats_.workloads;
  figures_.Wait(engine_.state(), queue, jobs_.AsksOf(job), +1);
  Stir(queue);
}

void JobRuns::Reserve(int32_t number) {
  Job& job = jobs_.At(number);
  const State& state = engine_.state();
  const Workload& workload = state.At(job.workload);
  figures_.Wait(state, job.queue, jobs_.AsksOf(number), -1);
  ++job.term;
  ++job.runs;
  job.state = JobState::kRunning;
  job.reserved = now();
  job.started = -1;
  job.losing = false;
  headway_.Hold(jobs_.IsFinite(number));
  if (workload.admission == nullptr) return;
  job.queue = workload.admission->cluster_queue;
  job.assigned = recorder_.AssignedOf(*workload.admission);
  job.flavor = FirstFlavor(*workload.admission);
  job.borrowed =
      options_.record.metrics &&
      std::any_of(workload.usage.begin(), workload.usage.end(), [&](const auto& use) {
        return state.quota.Usage(job.queue, use.first) > state.quota.limits().nominal(job.queue, use.first);
      });
  Touch(job.queue);
  watch_.Note(state.forest().Root(job.queue), job.workload, /*evicted=*/false);
  recorder_.Decide(state, DecisionKind::kReserved, job, columns().Row(number));
  const std::vector<Provisioning>& checks = options_.delays.checks;
  if (checks.empty() || state.Queue(job.queue).checks.empty()) return;
  for (CheckId required : RequiredChecks(state, job.queue, workload)) {
    for (size_t i = 0; i < checks.size(); ++i) {
      if (checks[i].check != state.check_names.Name(required)) continue;
      const Time delay = checks[i].delay.Of(columns().Row(number), job.runs - 1);
      calendar_.Plan(SaturatingAdd(now(), delay), Happening::kAnswer,
                     number * static_cast<int32_t>(checks.size()) + static_cast<int32_t>(i), job.term);
    }
  }
}

void JobRuns::Admit(int32_t number) {
  recorder_.Decide(engine_.state(), DecisionKind::kAdmitted, jobs_.At(number), columns().Row(number));
  const JobPlace place = PlaceOfJob(number);
  if (place == JobPlace::kHere || place == JobPlace::kCopied) return Start(number);
  PlanExecutionLimit(number);
}

// The execution time limit starts at the admission.
void JobRuns::PlanExecutionLimit(int32_t number) {
  const Workload& workload = WorkloadOf(number);
  const auto limit = workload.spec->maximum_execution_time_seconds;
  if (!limit) return;
  const Time left =
      SaturatingMul(SaturatingSub(*limit, workload.Status().past_execution_seconds.value_or(0)), kSecond);
  const Time admitted = workload.Find(ConditionType::kAdmitted)->transition;
  calendar_.Plan(std::max(now(), SaturatingAdd(admitted, std::max<Time>(0, left))), Happening::kTimer, number,
                 jobs_.At(number).term);
}

void JobRuns::Start(int32_t number) {
  Job& job = jobs_.At(number);
  const State& state = engine_.state();
  const Workload& workload = state.At(job.workload);
  const RunModel model = jobs_.ModelOf(number, options_.model);
  job.started = now();
  jobs_.NoteFirstStart(number, now());
  Time until_ready = 0;
  for (const Startup& startup : options_.delays.startups) {
    if (job.flavor != kNoId && startup.flavor == state.flavor_names.Name(job.flavor))
      until_ready = startup.delay.Of(columns().Row(number), job.runs - 1);
  }
  job.startup = SaturatingAdd(until_ready, job.runs > 1 || job.done > 0 ? model.restore : 0);
  if (state.config.wait_for_pods_ready) {
    calendar_.Plan(SaturatingAdd(now(), until_ready), Happening::kPodsReady, number, job.term);
    const auto& timeouts = *state.config.wait_for_pods_ready;
    if (timeouts.timeout > 0)
      calendar_.Plan(SaturatingAdd(now(), timeouts.timeout), Happening::kTimer, number, job.term);
    if (until_ready == 0) {
      engine_.SetPodsReady(job.workload, true);
      acted_ = true;
    }
  }
  if (jobs_.IsFinite(number)) {
    job.wanted = jobs_.RuntimeOf(number, workload);
    const Time length = LengthOfRun(model, std::max<Time>(0, job.wanted - job.done), job.startup);
    calendar_.Plan(SaturatingAdd(now(), length), Happening::kEnd, number, job.term);
  }
  PlanExecutionLimit(number);
}

void JobRuns::Evicted(int32_t number, WorkloadId by) {
  Job& job = jobs_.At(number);
  const State& state = engine_.state();
  const Workload& workload = state.At(job.workload);
  const Condition* evicted = workload.Find(ConditionType::kEvicted);
  const Condition* preempted = workload.Find(ConditionType::kPreempted);
  const bool is_preemption = evicted != nullptr && evicted->reason == Reason::kPreempted;
  if (job.reserved < 0) {
    if (workload.spec->active || job.state != JobState::kWaiting) return;
    figures_.Wait(state, job.queue, jobs_.AsksOf(number), -1);
    job.outcome_reason = evicted == nullptr ? Reason::kEmpty : evicted->reason;
    job.state = JobState::kDeactivated;
    job.end = now();
    return recorder_.Decide(state, DecisionKind::kDeactivated, job, columns().Row(number));
  }
  ++job.term;
  ++job.evictions;
  ++stats_.evictions;
  const int32_t preemptor = jobs_.JobOf(by);
  job.preemptor = preemptor < 0 ? -1 : columns().Row(preemptor);
  job.outcome_reason = evicted == nullptr ? Reason::kEmpty : evicted->reason;
  job.rule = is_preemption && preempted != nullptr ? preempted->reason : Reason::kEmpty;
  const RunModel model = jobs_.ModelOf(number, options_.model);
  job.last = {};
  if (job.started >= 0) {
    job.last = BreakRun(model, now() - job.started, job.startup);
    job.done = model.on_eviction == OnEviction::kRestart ? 0 : job.done + job.last.kept;
    job.lost += job.last.lost;
    job.overhead += job.last.overhead;
  }
  job.losing = job.reserved >= 0;
  headway_.NoteEviction(now(), job.last.kept > 0);
  if (Counts(number))
    figures_.Evict(job.queue, by == kNoId ? kNoId : state.QueueOf(state.At(by)), job.rule, workload,
                   job.last);
  watch_.Note(state.forest().Root(job.queue), job.workload, /*evicted=*/true);
  recorder_.Decide(state, workload.spec->active ? DecisionKind::kEvicted : DecisionKind::kDeactivated, job,
                   columns().Row(number));
  const JobPlace place = PlaceOfJob(number);
  if (!frees_by_hand_ || place == JobPlace::kElsewhere || place == JobPlace::kNone) return;
  if (model.grace > 0 && job.started >= 0 && !options_.as_performance_test) {
    calendar_.Plan(SaturatingAdd(now(), model.grace), Happening::kFreed, number, job.term);
  } else {
    to_free_.push_back(job.workload);
    acted_ = true;
  }
}

void JobRuns::Release(int32_t number) {
  Job& job = jobs_.At(number);
  if (job.reserved < 0) return;
  const State& state = engine_.state();
  const Workload& workload = state.At(job.workload);
  recorder_.EndRun(now(), job.rule != Reason::kEmpty ? RunOutcome::kPreempted : RunOutcome::kEvicted, job,
                   columns().Row(number), job.last);
  job.held += now() - job.reserved;
  job.reserved = job.started = -1;
  job.losing = false;
  ++job.term;
  headway_.Drop(jobs_.IsFinite(number));
  Touch(job.queue);
  if (!workload.spec->active) {
    job.state = JobState::kDeactivated;
    job.end = now();
    return;
  }
  job.state = JobState::kWaiting;
  figures_.Wait(state, job.queue, jobs_.AsksOf(number), +1);
  recorder_.Decide(state, DecisionKind::kRequeued, job, columns().Row(number));
  if (workload.Status().requeue_at.value_or(0) > now())
    calendar_.Plan(*workload.Status().requeue_at, Happening::kTimer, number, job.term);
}

void JobRuns::End(int32_t number) {
  Job& job = jobs_.At(number);
  const WorkloadId id = job.workload;
  const Broken whole{std::max<Time>(0, job.wanted - job.done), 0, 0};
  Broken last = whole;
  last.overhead = now() - job.started - whole.kept;
  job.overhead += last.overhead;
  job.done = job.wanted;
  ++job.term;
  headway_.Note();
  if (Counts(number)) figures_.Spend(engine_.state().At(id), last);
  recorder_.EndRun(now(), RunOutcome::kFinished, job, columns().Row(number), last);
  job.held += now() - job.reserved;
  job.reserved = job.started = -1;
  job.end = now();
  job.state = JobState::kFinished;
  recorder_.Decide(engine_.state(), DecisionKind::kFinished, job, columns().Row(number));
  if (jobs_.IsOwn(number)) {
    engine_.Delete(id);
    jobs_.Unassign(id);
    jobs_.DropEnded(number);
  } else {
    engine_.Finish(id);
  }
  headway_.Drop(jobs_.IsFinite(number));
  ++stats_.finished;
  stats_.end = now();
}

void JobRuns::Finished(int32_t number) {
  Job& job = jobs_.At(number);
  if (job.state == JobState::kWaiting) figures_.Wait(engine_.state(), job.queue, jobs_.AsksOf(number), -1);
  if (job.reserved >= 0) {
    recorder_.EndRun(now(), RunOutcome::kFinished, job, columns().Row(number), {});
    job.held += now() - job.reserved;
    headway_.Drop(jobs_.IsFinite(number));
  }
  ++job.term;
  job.reserved = job.started = -1;
  job.end = now();
  job.state = JobState::kFinished;
  Touch(job.queue);
  recorder_.Decide(engine_.state(), DecisionKind::kFinished, job, columns().Row(number));
  ++stats_.finished;
  stats_.end = now();
}

void JobRuns::Touch(NodeId queue) {
  if (queue != kNoId && options_.record.metrics) touched_.Add(queue);
}

void JobRuns::Stir(NodeId queue) {
  Touch(queue);
  State& state = engine_.state();
  if (queue == kNoId || state.followed.held_back.empty()) return;
  state.followed.held_back.resize(state.forest().size());
  state.followed.held_back[queue] = false;
  if (HasCycle(state.forest(), queue)) return;
  for (NodeId other : state.forest().QueuesOfTree(state.forest().Root(queue))) {
    state.followed.held_back[other] = false;
  }
}

void JobRuns::QuotasChanged() {
  State& state = engine_.state();
  EndCall(state);
  EnsureBuilt(state);
  figures_.Rebuild(state);
  state.followed.held_back.clear();
  for (NodeId queue : state.forest().Queues()) Touch(queue);
}

void JobRuns::EndMoment() {
  State& state = engine_.state();
  Listen();
  touched_.Take([&](NodeId queue) { figures_.Look(state, queue, recorder_); });
  figures_.EndMoment(state.now, recorder_);
  if (state.config.admission_fair_sharing) recorder_.Consume(state);
}

void JobRuns::Close() {
  EndMoment();
  figures_.Close(options_.until == INT64_MAX ? now() : std::max(now(), options_.until));
  for (int32_t number = 0; number < columns().size(); ++number) {
    if (!jobs_.Has(number)) continue;
    const Job& job = jobs_.At(number);
    if (job.reserved >= 0) recorder_.EndRun(now(), RunOutcome::kRunning, job, columns().Row(number), {});
  }
}

}  // namespace kueue
