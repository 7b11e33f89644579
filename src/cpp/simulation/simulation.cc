// Effects of cycles on jobs, and the conditions under which time advances. `as_performance_test` follows
// Kueue's generator files (test/performance/scheduler, kueue ff69552e79).
#include "simulation/simulation.h"

#include <algorithm>
#include <utility>

#include "fairness/ledger.h"
#include "lifecycle/conditions.h"

namespace kueue {
namespace {

constexpr Time kNever = INT64_MAX / 4;
// A flavor scan that takes this number of cycles without any other change is treated as a loop.
constexpr int64_t kLongestScan = 64;

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

Simulation::Simulation(Engine engine, std::shared_ptr<const JobColumns> jobs, SimulationOptions options)
    : engine_(std::move(engine)),
      columns_(std::move(jobs)),
      options_(std::move(options)),
      jobs_(options_.site > kManager ? 0 : static_cast<size_t>(columns_->size())),
      slots_(options_.site > kManager ? static_cast<size_t>(columns_->size()) : 0, -1),
      asks_(columns_->shapes.size()),
      has_asks_(columns_->shapes.size()),
      given_(columns_->size()),
      start_(StartOf(engine_, *columns_, options_)),
      frees_by_hand_(options_.as_performance_test || HasGrace(*columns_, options_)),
      has_capacity_(options_.delays.checks.size()),
      failures_(options_.delays.failures.size()),
      broken_(options_.delays.failures.size()),
      recorder_(options_.record, start_),
      figures_(SaturatingAdd(start_, options_.warmup)) {
  recorder_.Reserve(static_cast<size_t>(columns_->size()));
  State& state = engine_.state();
  state.followed.on = true;
  state.record_events = false;
  // The workloads of a fleet, and workloads that exist at the start, are found by their keys.
  if (options_.site == kNoId && state.workloads.living() == 0 && !columns_->HasReplacements())
    state.DropKeys();
  if (frees_by_hand_) engine_.SetStopDelay(kNever);
  engine_.SetNow(start_);
  state.EnsureBuilt();
  figures_.Rebuild(state);
  LookAtAll();
  for (size_t i = 0; i < options_.changes.size(); ++i) {
    calendar_.Plan(std::max(options_.changes[i].at, start_), Happening::kChange, static_cast<int32_t>(i), 0);
  }
  for (size_t i = 0; i < options_.delays.failures.size(); ++i) PlanFailure(i);
}

int32_t Simulation::JobOf(WorkloadId workload) const {
  return job_of_.Contains(workload) ? job_of_[workload] : -1;
}

const std::vector<std::pair<ResourceId, int64_t>>& Simulation::AsksOf(int32_t shape) {
  return asks_[static_cast<size_t>(shape)];
}

void Simulation::Settle() {
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

bool Simulation::Decide() {
  Settle();
  return DecideSettled();
}

bool Simulation::DecideSettled() {
  if (busy_until_ > now()) return false;
  const CycleOutcome outcome = RunCycle();
  return Follow(outcome);
}

CycleOutcome Simulation::RunCycle() {
  CycleOutcome outcome{engine_.RunCycle()};
  const CycleResult& result = outcome.result;
  if (!result.idle) {
    ++stats_.cycles;
    work_ -= result.heads;
    stats_.admissions += result.admitted;
    recorder_.Count(now(), engine_.state().scheduling_cycle, result.heads, result.admitted, result.evicted);
  }
  const int64_t evictions = stats_.evictions;
  Listen();
  if (options_.as_performance_test && !result.idle) Settle();
  outcome.evicted = stats_.evictions > evictions;
  return outcome;
}

bool Simulation::Follow(const CycleOutcome& outcome) {
  const CycleResult& result = outcome.result;
  if (result.idle) return acted_;
  if (!options_.clock.IsZero()) {
    const Time length =
        SaturatingAdd(options_.clock.cycle, SaturatingMul(options_.clock.per_head, result.heads));
    busy_until_ = SaturatingAdd(now(), length);
    stirred_ = FollowsCycle(result);
    calendar_.Plan(busy_until_, Happening::kCycle, 0, 0);
    return false;
  }
  if (!FollowsCycle(result)) return false;
  if (outcome.evicted || cycles_at_moment_ >= LoopWatch::kPatience) {
    if (!options_.as_performance_test) Settle();
    if (outcome.evicted) watch_.NoteEviction();
    for (const LoopFound& found : watch_.EndCycle(engine_.state())) FoundLoop(found);
  }
  ++cycles_at_moment_;
  return !stopped_;
}

// Returns whether the cycle changed anything, so that the next cycle may decide differently.
bool Simulation::FollowsCycle(const CycleResult& result) {
  if (result.admitted > 0 || result.evicted > 0) {
    idle_cycles_ = 0;
    return true;
  }
  if (options_.as_performance_test) return false;
  if (result.made_inadmissible || acted_) return true;
  return (result.scanning || !engine_.state().to_requeue.empty()) && ++idle_cycles_ < kLongestScan;
}

void Simulation::FoundLoop(const LoopFound& found) {
  Loop loop{now(), found.period, 1, {}};
  for (WorkloadId workload : found.moved) {
    if (JobOf(workload) >= 0) loop.jobs.push_back(columns_->Row(JobOf(workload)));
  }
  std::sort(loop.jobs.begin(), loop.jobs.end());
  const auto known = std::find_if(loops_.begin(), loops_.end(), [&](const Loop& other) {
    return other.period == loop.period && other.jobs == loop.jobs;
  });
  if (known == loops_.end()) {
    loops_.push_back(std::move(loop));
  } else {
    ++known->times;
  }
  if (options_.on_loop != OnLoop::kHold) {
    stopped_ = true;
    return;
  }
  State& state = engine_.state();
  state.followed.held_back.resize(state.forest().size());
  if (state.forest().IsClusterQueue(found.root)) state.followed.held_back[found.root] = true;
  for (NodeId queue : state.forest().QueuesOfTree(found.root)) state.followed.held_back[queue] = true;
}

// Processes the steps recorded by the engine.
void Simulation::Listen() {
  std::vector<Step>& steps = engine_.state().followed.steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step step = steps[i];
    const int32_t job = JobOf(step.workload);
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
    if (listener_ != nullptr) listener_->Happened(options_.site, step.kind, job, JobOf(step.by));
  }
  steps.clear();
}

void Simulation::Reserve(int32_t number) {
  Job& job = At(number);
  const State& state = engine_.state();
  const Workload& workload = state.At(job.workload);
  figures_.Wait(state, job.queue, AsksOf(columns_->shape[static_cast<size_t>(number)]), -1);
  ++job.term;
  ++job.runs;
  ++holding_;
  job.state = JobState::kRunning;
  job.reserved = now();
  job.started = -1;
  job.losing = false;
  if (columns_->runtime[static_cast<size_t>(number)] >= 0) ++ending_;
  if (workload.admission == nullptr) return;
  job.queue = workload.admission->cluster_queue;
  job.assigned = recorder_.AssignedOf(*workload.admission);
  job.flavor = FirstFlavor(*workload.admission);
  job.borrowed = std::any_of(workload.usage.begin(), workload.usage.end(), [&](const auto& use) {
    return state.quota.Usage(job.queue, use.first) > state.quota.Nominal(job.queue, use.first);
  });
  Touch(job.queue);
  watch_.Note(state.forest().Root(job.queue), job.workload, /*evicted=*/false);
  recorder_.Decide(state, DecisionKind::kReserved, job, columns_->Row(number));
  const std::vector<Provisioning>& checks = options_.delays.checks;
  if (checks.empty() || state.Queue(job.queue).checks.empty()) return;
  for (CheckId required : RequiredChecks(state, job.queue, workload)) {
    for (size_t i = 0; i < checks.size(); ++i) {
      if (checks[i].check != state.check_names.Name(required)) continue;
      const Time delay = checks[i].delay.Of(columns_->Row(number), job.runs - 1);
      calendar_.Plan(SaturatingAdd(now(), delay), Happening::kAnswer,
                     number * static_cast<int32_t>(checks.size()) + static_cast<int32_t>(i), job.term);
    }
  }
}

void Simulation::Evicted(int32_t number, WorkloadId by) {
  Job& job = At(number);
  const State& state = engine_.state();
  const Workload& workload = state.At(job.workload);
  const Condition* evicted = workload.Find(ConditionType::kEvicted);
  const Condition* preempted = workload.Find(ConditionType::kPreempted);
  const bool is_preemption = evicted != nullptr && evicted->reason == Reason::kPreempted;
  if (job.reserved < 0) {
    if (workload.spec->active || job.state != JobState::kWaiting) return;
    figures_.Wait(state, job.queue, AsksOf(columns_->shape[static_cast<size_t>(number)]), -1);
    job.outcome_reason = evicted == nullptr ? Reason::kEmpty : evicted->reason;
    job.state = JobState::kDeactivated;
    job.end = now();
    return recorder_.Decide(state, DecisionKind::kDeactivated, job, columns_->Row(number));
  }
  ++job.term;
  ++job.evictions;
  ++stats_.evictions;
  const int32_t preemptor = JobOf(by);
  job.preemptor = preemptor < 0 ? -1 : columns_->Row(preemptor);
  job.outcome_reason = evicted == nullptr ? Reason::kEmpty : evicted->reason;
  job.rule = is_preemption && preempted != nullptr ? preempted->reason : Reason::kEmpty;
  const RunModel model = ModelOf(number);
  job.last = {};
  if (job.started >= 0) {
    job.last = BreakRun(model, now() - job.started, job.startup);
    job.done = model.on_eviction == OnEviction::kRestart ? 0 : job.done + job.last.kept;
    job.lost += job.last.lost;
    job.overhead += job.last.overhead;
  }
  job.losing = job.reserved >= 0;
  if (fruitless_ == 0) fruitless_since_ = now();
  fruitless_ = job.last.kept > 0 ? 0 : fruitless_ + 1;
  if (Counts(number))
    figures_.Evict(job.queue, by == kNoId ? kNoId : state.QueueOf(state.At(by)), job.rule, workload,
                   job.last);
  watch_.Note(state.forest().Root(job.queue), job.workload, /*evicted=*/true);
  recorder_.Decide(state, workload.spec->active ? DecisionKind::kEvicted : DecisionKind::kDeactivated, job,
                   columns_->Row(number));
  const JobPlace place = PlaceOfJob(number);
  if (!frees_by_hand_ || place == JobPlace::kElsewhere || place == JobPlace::kNone) return;
  if (model.grace > 0 && job.started >= 0 && !options_.as_performance_test) {
    calendar_.Plan(SaturatingAdd(now(), model.grace), Happening::kFreed, number, job.term);
  } else {
    to_free_.push_back(job.workload);
    acted_ = true;
  }
}

void Simulation::Release(int32_t number) {
  Job& job = At(number);
  if (job.reserved < 0) return;
  const State& state = engine_.state();
  const Workload& workload = state.At(job.workload);
  recorder_.EndRun(now(), job.rule != Reason::kEmpty ? RunOutcome::kPreempted : RunOutcome::kEvicted, job,
                   columns_->Row(number), job.last);
  job.held += now() - job.reserved;
  job.reserved = job.started = -1;
  job.losing = false;
  --holding_;
  ++job.term;
  if (columns_->runtime[static_cast<size_t>(number)] >= 0) --ending_;
  Touch(job.queue);
  if (!workload.spec->active) {
    job.state = JobState::kDeactivated;
    job.end = now();
    return;
  }
  job.state = JobState::kWaiting;
  figures_.Wait(state, job.queue, AsksOf(columns_->shape[static_cast<size_t>(number)]), +1);
  recorder_.Decide(state, DecisionKind::kRequeued, job, columns_->Row(number));
  if (workload.Status().requeue_at.value_or(0) > now())
    calendar_.Plan(*workload.Status().requeue_at, Happening::kTimer, number, job.term);
}

RunModel Simulation::ModelOf(int32_t job) const {
  RunModel model = options_.model;
  const auto own = [job](Times column, Time& value) {
    if (!column.empty() && column[static_cast<size_t>(job)] >= 0) value = column[static_cast<size_t>(job)];
  };
  own(columns_->every, model.every);
  own(columns_->cost, model.cost);
  own(columns_->restore, model.restore);
  own(columns_->grace, model.grace);
  if (!columns_->every.empty() && columns_->every[static_cast<size_t>(job)] > 0)
    model.on_eviction = OnEviction::kCheckpoint;
  return model;
}

// The runtime of an elastic job is extended in proportion if it has fewer pods than requested.
Time Simulation::RuntimeOf(int32_t job, const Workload& workload) const {
  const Time runtime = columns_->runtime[static_cast<size_t>(job)];
  if (columns_->elastic.empty() || columns_->elastic[static_cast<size_t>(job)] == 0 || !workload.admission)
    return runtime;
  int64_t wanted = 0, given = 0;
  for (const PodSetSpec& pod_set : workload.spec->pod_sets) wanted += pod_set.count;
  for (const PodSetAdmission& pod_set : workload.admission->pod_sets) given += pod_set.count;
  if (given <= 0 || given == wanted) return runtime;
  const Int128 longer = static_cast<Int128>(runtime) * wanted / given;
  return longer > INT64_MAX ? INT64_MAX : static_cast<Time>(longer);
}

void Simulation::Touch(NodeId queue) {
  if (queue != kNoId) touched_.Add(queue);
}

// Ends the hold on the heads of the queue's tree, since its state changed.
void Simulation::Stir(NodeId queue) {
  Touch(queue);
  State& state = engine_.state();
  if (queue == kNoId || state.followed.held_back.empty()) return;
  state.followed.held_back.resize(state.forest().size());
  state.followed.held_back[queue] = false;
  if (state.forest().HasCycle(queue)) return;
  for (NodeId other : state.forest().QueuesOfTree(state.forest().Root(queue))) {
    state.followed.held_back[other] = false;
  }
}

}  // namespace kueue
