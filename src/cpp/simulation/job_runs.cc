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

// Returns the nodes of the trees that have changed since the last call, parents before children.
std::vector<NodeId> TakeRebuilt(State& state) {
  std::vector<NodeId> nodes = state.forest().NodesOf(state.caches.rebuilt);
  state.caches.rebuilt.emplace();
  return nodes;
}

}  // namespace

JobRuns::JobRuns(Engine engine, std::shared_ptr<const JobColumns> columns, SimulationOptions options)
    : data_(std::move(engine), std::move(columns), std::move(options)),
      frees_by_hand_(!data_.options.has_controllers || HasGrace(data_.jobs.columns(), data_.options)) {
  State& state = data_.engine.state();
  state.followed.on = true;
  state.record_events = false;
  // The workloads of a fleet, and workloads that exist at the start, are found by their keys.
  if (data_.options.site == kNoId && state.workloads.living() == 0 && !data_.jobs.columns().HasReplacements())
    DropKeys(state);
  if (frees_by_hand_) data_.engine.SetStopDelay(kNever);
  data_.engine.SetNow(data_.start);
  EnsureBuilt(state);
  state.caches.rebuilt.reset();
  data_.figures.Rebuild(state, TakeRebuilt(state));
  for (NodeId queue : state.forest().Queues()) data_.figures.Look(state, queue, data_.recorder);
}

void JobRuns::Settle() {
  do {
    acted_ = false;
    if (data_.options.has_controllers) data_.engine.Settle();
    Listen();
    if (!to_free_.empty()) {
      data_.engine.ReleaseEvictedNow(to_free_);
      to_free_.clear();
      acted_ = true;
      Listen();
    }
  } while (acted_ && data_.options.has_controllers);
}

void JobRuns::Listen() {
  std::vector<Step>& steps = data_.engine.state().followed.steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step step = steps[i];
    const int32_t job = data_.jobs.JobOf(step.workload);
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
        if (data_.options.site == kManager) Finished(job);
        break;
      default:
        break;
    }
    if (listener_ != nullptr)
      listener_->Happened(data_.options.site, step.kind, job, data_.jobs.JobOf(step.by));
  }
  steps.clear();
}

void JobRuns::Enter(int32_t number, WorkloadId id) {
  Job& job = data_.jobs.At(number);
  data_.jobs.Assign(number, id);
  job.queue = data_.engine.state().QueueOf(data_.engine.state().At(id));
  job.state = JobState::kWaiting;
}

void JobRuns::Adopt(int32_t number, WorkloadId id) {
  State& state = data_.engine.state();
  Enter(number, id);
  if (!data_.jobs.HasAsks(number)) data_.jobs.NoteAsks(state, number);
  Await(number, data_.jobs.At(number).queue);
  const Workload& workload = state.At(id);
  if (workload.HasQuotaReservation()) Reserve(number);
  if (workload.IsAdmitted()) Admit(number);
  if (workload.IsEvicted() && workload.HasQuotaReservation()) Evicted(number, kNoId);
}

void JobRuns::Await(int32_t job, NodeId queue) {
  ++data_.stats.workloads;
  data_.figures.Wait(data_.engine.state(), queue, data_.jobs.AsksOf(job), +1);
  Stir(queue);
}

void JobRuns::Reserve(int32_t number) {
  Job& job = data_.jobs.At(number);
  const State& state = data_.engine.state();
  const Workload& workload = state.At(job.workload);
  data_.figures.Wait(state, job.queue, data_.jobs.AsksOf(number), -1);
  ++job.term;
  ++job.runs;
  job.state = JobState::kRunning;
  job.reserved = now();
  job.started = -1;
  job.losing = false;
  data_.headway.Hold(data_.jobs.IsFinite(number));
  if (workload.admission == nullptr) return;
  job.queue = workload.admission->cluster_queue;
  job.assigned = data_.recorder.AssignedOf(*workload.admission);
  job.flavor = FirstFlavor(*workload.admission);
  job.borrowed =
      data_.options.record.metrics &&
      std::any_of(workload.usage.begin(), workload.usage.end(), [&](const auto& use) {
        return state.quota.Usage(job.queue, use.first) > state.quota.limits().nominal(job.queue, use.first);
      });
  Touch(job.queue);
  data_.watch.Note(state.forest().Root(job.queue), job.workload, /*evicted=*/false);
  data_.recorder.Decide(state, DecisionKind::kReserved, job, columns().Row(number));
  const std::vector<Provisioning>& checks = data_.options.delays.checks;
  if (checks.empty() || state.Queue(job.queue).checks.empty()) return;
  for (CheckId required : RequiredChecks(state, job.queue, workload)) {
    for (size_t i = 0; i < checks.size(); ++i) {
      if (checks[i].check != state.check_names.Name(required)) continue;
      const Time delay =
          checks[i].IsNeeded(workload) ? checks[i].delay.Of(columns().Row(number), job.runs - 1) : 0;
      data_.calendar.Plan(SaturatingAdd(now(), delay), Happening::kAnswer,
                          number * static_cast<int32_t>(checks.size()) + static_cast<int32_t>(i), job.term);
    }
  }
}

void JobRuns::Admit(int32_t number) {
  data_.recorder.Decide(data_.engine.state(), DecisionKind::kAdmitted, data_.jobs.At(number),
                        columns().Row(number));
  const JobPlace place = data_.WorkloadOf(number).Status().dispatched.job;
  if (place == JobPlace::kHere || place == JobPlace::kCopied) return Start(number);
  PlanExecutionLimit(number);
}

// The execution time limit starts at the admission.
void JobRuns::PlanExecutionLimit(int32_t number) {
  const Workload& workload = data_.WorkloadOf(number);
  const auto limit = workload.spec->maximum_execution_time_seconds;
  if (!limit) return;
  const Time left =
      SaturatingMul(SaturatingSub(*limit, workload.Status().past_execution_seconds.value_or(0)), kSecond);
  const Time admitted = workload.Find(ConditionType::kAdmitted)->transition;
  data_.calendar.Plan(std::max(now(), SaturatingAdd(admitted, std::max<Time>(0, left))), Happening::kTimer,
                      number, data_.jobs.At(number).term);
}

void JobRuns::Start(int32_t number) {
  Job& job = data_.jobs.At(number);
  const State& state = data_.engine.state();
  const Workload& workload = state.At(job.workload);
  const RunModel model = data_.jobs.ModelOf(number, data_.options.model);
  job.started = now();
  data_.jobs.NoteFirstStart(number, now());
  Time until_ready = 0;
  for (const Startup& startup : data_.options.delays.startups) {
    if (job.flavor != kNoId && startup.flavor == state.flavor_names.Name(job.flavor))
      until_ready = startup.delay.Of(columns().Row(number), job.runs - 1);
  }
  job.startup = SaturatingAdd(until_ready, job.runs > 1 || job.done > 0 ? model.restore : 0);
  if (state.config.wait_for_pods_ready) {
    data_.calendar.Plan(SaturatingAdd(now(), until_ready), Happening::kPodsReady, number, job.term);
    const auto& timeouts = *state.config.wait_for_pods_ready;
    if (timeouts.timeout > 0)
      data_.calendar.Plan(SaturatingAdd(now(), timeouts.timeout), Happening::kTimer, number, job.term);
    if (until_ready == 0) {
      data_.engine.SetPodsReady(job.workload, true);
      acted_ = true;
    }
  }
  if (data_.jobs.IsFinite(number)) {
    job.wanted = data_.jobs.RuntimeOf(number, workload);
    const Time length = LengthOfRun(model, std::max<Time>(0, job.wanted - job.done), job.startup);
    data_.calendar.Plan(SaturatingAdd(now(), length), Happening::kEnd, number, job.term);
  }
  PlanExecutionLimit(number);
}

void JobRuns::Evicted(int32_t number, WorkloadId by) {
  Job& job = data_.jobs.At(number);
  const State& state = data_.engine.state();
  const Workload& workload = state.At(job.workload);
  const Condition* evicted = workload.Find(ConditionType::kEvicted);
  const Condition* preempted = workload.Find(ConditionType::kPreempted);
  const bool is_preemption = evicted != nullptr && evicted->reason == Reason::kPreempted;
  if (job.reserved < 0) {
    if (workload.spec->active || job.state != JobState::kWaiting) return;
    data_.figures.Wait(state, job.queue, data_.jobs.AsksOf(number), -1);
    job.outcome_reason = evicted == nullptr ? Reason::kEmpty : evicted->reason;
    job.state = JobState::kDeactivated;
    job.end = now();
    return data_.recorder.Decide(state, DecisionKind::kDeactivated, job, columns().Row(number));
  }
  ++job.term;
  ++job.evictions;
  ++data_.stats.evictions;
  const int32_t preemptor = data_.jobs.JobOf(by);
  job.preemptor = preemptor < 0 ? -1 : columns().Row(preemptor);
  job.outcome_reason = evicted == nullptr ? Reason::kEmpty : evicted->reason;
  job.rule = is_preemption && preempted != nullptr ? preempted->reason : Reason::kEmpty;
  const RunModel model = data_.jobs.ModelOf(number, data_.options.model);
  job.last = {};
  if (job.started >= 0) {
    job.last = BreakRun(model, now() - job.started, job.startup);
    job.done = model.on_eviction == OnEviction::kRestart ? 0 : job.done + job.last.kept;
    job.lost += job.last.lost;
    job.overhead += job.last.overhead;
  }
  job.losing = job.reserved >= 0;
  data_.headway.NoteEviction(now(), job.last.kept > 0);
  if (data_.Counts(number))
    data_.figures.Evict(job.queue, by == kNoId ? kNoId : state.QueueOf(state.At(by)), job.rule, workload,
                        job.last);
  data_.watch.Note(state.forest().Root(job.queue), job.workload, /*evicted=*/true);
  data_.recorder.Decide(state, workload.spec->active ? DecisionKind::kEvicted : DecisionKind::kDeactivated,
                        job, columns().Row(number));
  const JobPlace place = data_.WorkloadOf(number).Status().dispatched.job;
  if (!frees_by_hand_ || place == JobPlace::kElsewhere || place == JobPlace::kNone) return;
  if (model.grace > 0 && job.started >= 0 && data_.options.has_controllers) {
    data_.calendar.Plan(SaturatingAdd(now(), model.grace), Happening::kFreed, number, job.term);
  } else {
    to_free_.push_back(job.workload);
    acted_ = true;
  }
}

void JobRuns::Release(int32_t number) {
  Job& job = data_.jobs.At(number);
  if (job.reserved < 0) return;
  const State& state = data_.engine.state();
  const Workload& workload = state.At(job.workload);
  data_.recorder.EndRun(now(), job.rule != Reason::kEmpty ? RunOutcome::kPreempted : RunOutcome::kEvicted,
                        job, columns().Row(number), job.last);
  job.held += now() - job.reserved;
  job.reserved = job.started = -1;
  job.losing = false;
  ++job.term;
  data_.headway.Drop(data_.jobs.IsFinite(number));
  Touch(job.queue);
  if (!workload.spec->active) {
    job.state = JobState::kDeactivated;
    job.end = now();
    return;
  }
  job.state = JobState::kWaiting;
  data_.figures.Wait(state, job.queue, data_.jobs.AsksOf(number), +1);
  data_.recorder.Decide(state, DecisionKind::kRequeued, job, columns().Row(number));
  if (workload.Status().requeue_at.value_or(0) > now())
    data_.calendar.Plan(*workload.Status().requeue_at, Happening::kTimer, number, job.term);
}

void JobRuns::End(int32_t number) {
  Job& job = data_.jobs.At(number);
  const WorkloadId id = job.workload;
  const Broken whole{std::max<Time>(0, job.wanted - job.done), 0, 0};
  Broken last = whole;
  last.overhead = now() - job.started - whole.kept;
  job.overhead += last.overhead;
  job.done = job.wanted;
  ++job.term;
  data_.headway.Note();
  if (data_.Counts(number)) data_.figures.Spend(data_.engine.state().At(id), last);
  data_.recorder.EndRun(now(), RunOutcome::kFinished, job, columns().Row(number), last);
  job.held += now() - job.reserved;
  job.reserved = job.started = -1;
  job.end = now();
  job.state = JobState::kFinished;
  data_.recorder.Decide(data_.engine.state(), DecisionKind::kFinished, job, columns().Row(number));
  if (data_.jobs.IsOwn(number)) {
    data_.engine.Delete(id);
    data_.jobs.Unassign(id);
  } else {
    data_.engine.Finish(id);
  }
  data_.headway.Drop(data_.jobs.IsFinite(number));
  ++data_.stats.finished;
  data_.stats.end = now();
}

void JobRuns::Finished(int32_t number) {
  Job& job = data_.jobs.At(number);
  if (job.state == JobState::kWaiting)
    data_.figures.Wait(data_.engine.state(), job.queue, data_.jobs.AsksOf(number), -1);
  if (job.reserved >= 0) {
    data_.recorder.EndRun(now(), RunOutcome::kFinished, job, columns().Row(number), {});
    job.held += now() - job.reserved;
    data_.headway.Drop(data_.jobs.IsFinite(number));
  }
  ++job.term;
  job.reserved = job.started = -1;
  job.end = now();
  job.state = JobState::kFinished;
  Touch(job.queue);
  data_.recorder.Decide(data_.engine.state(), DecisionKind::kFinished, job, columns().Row(number));
  ++data_.stats.finished;
  data_.stats.end = now();
}

void JobRuns::Touch(NodeId queue) {
  if (queue != kNoId && data_.options.record.metrics) touched_.Add(queue);
}

void JobRuns::Stir(NodeId queue) {
  Touch(queue);
  State& state = data_.engine.state();
  if (queue == kNoId || state.followed.held_back.empty()) return;
  state.followed.held_back.resize(state.forest().size());
  state.followed.held_back[queue] = false;
  if (HasCycle(state.forest(), queue)) return;
  for (NodeId other : state.forest().QueuesOfTree(state.forest().Root(queue))) {
    state.followed.held_back[other] = false;
  }
}

void JobRuns::QuotasChanged() {
  State& state = data_.engine.state();
  EndCall(state);
  EnsureBuilt(state);
  const std::vector<NodeId> nodes = TakeRebuilt(state);
  data_.figures.Rebuild(state, nodes);
  state.followed.held_back.clear();
  for (NodeId node : nodes) {
    if (state.forest().IsClusterQueue(node)) Touch(node);
  }
}

void JobRuns::EndMoment() {
  State& state = data_.engine.state();
  Listen();
  touched_.Take([&](NodeId queue) { data_.figures.Look(state, queue, data_.recorder); });
  data_.figures.EndMoment(state.now, data_.recorder);
  if (state.config.admission_fair_sharing) data_.recorder.Consume(state);
}

void JobRuns::Close() {
  EndMoment();
  data_.figures.Close(data_.options.until == INT64_MAX ? now() : std::max(now(), data_.options.until));
  for (int32_t number = 0; number < columns().size(); ++number) {
    if (!data_.jobs.Has(number)) continue;
    const Job& job = data_.jobs.At(number);
    if (job.reserved >= 0) data_.recorder.EndRun(now(), RunOutcome::kRunning, job, columns().Row(number), {});
  }
}

}  // namespace kueue
