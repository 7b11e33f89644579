#include "simulation/simulation.h"

#include <algorithm>
#include <utility>

#include "model/poll.h"
#include "state/names.h"

namespace kueue {
namespace {

// A flavor scan that takes this number of cycles without any other change is treated as a loop.
constexpr int64_t kLongestScan = 64;

}  // namespace

Simulation::Simulation(Engine engine, std::shared_ptr<const JobColumns> jobs, SimulationOptions options)
    : runs_(std::move(engine), std::move(jobs), std::move(options)),
      arrivals_(columns().size()),
      failures_(data().options.delays.failures.size()),
      has_capacity_(data().options.delays.checks.size()) {
  data().engine.state().config.gates.concurrent_admission = false;  // Its objects belong to a Scheduler.
  const std::vector<TimedChange>& changes = data().options.changes;
  for (size_t i = 0; i < changes.size(); ++i) {
    data().calendar.Plan(std::max(changes[i].at, data().start), Happening::kChange, static_cast<int32_t>(i),
                         0);
  }
  for (size_t i = 0; i < data().options.delays.failures.size(); ++i) failures_.Plan(runs_, i);
}

bool Simulation::Run(int64_t work, Time until) {
  const PollsMuted muted;
  for (work_ = work; work_ > 0 && !stopped_;) {
    if (closed_ || IsEndless(until) || GoOn(until) == Went::kNothing) return false;
  }
  return !stopped_;
}

Went Simulation::RunMoment(int64_t work, Time until) {
  const PollsMuted muted;
  for (work_ = work; work_ > 0 && !stopped_ && !closed_;) {
    if (const Went went = GoOn(until); went != Went::kOn) return went;
  }
  return stopped_ || closed_ ? Went::kNothing : Went::kOn;
}

Went Simulation::GoOn(Time until) {
  if (!in_moment_ && !Begin(std::min(until, data().options.until))) return Went::kNothing;
  runs_.Settle();
  in_moment_ = DecideSettled();
  if (in_moment_) return Went::kOn;
  runs_.EndMoment();
  return Went::kOver;
}

bool Simulation::Begin(Time until) {
  const std::optional<Time> next = Next(IsOver());
  // Times that saturated at INT64_MAX never occur.
  if (!next || *next > until || *next == INT64_MAX) return false;
  Enter(*next);
  TakeUntil(Happening::kPodsReady);
  TakeArrivals();
  TakeUntil(Happening::kCycle);
  return true;
}

// Returns the time of the next event. Skips stale events of jobs that have lost their quota in the meantime;
// in a preemption loop, there would always be more such events. Without controllers, stale events count.
std::optional<Time> Simulation::Next(bool is_over) {
  SkipOthers();
  while (!data().calendar.empty() && data().options.has_controllers) {
    const Planned planned = data().calendar.Next();
    const Happening kind = planned.kind;
    int32_t job = planned.what;
    if (kind == Happening::kAnswer) job /= static_cast<int32_t>(data().options.delays.checks.size());
    const bool of_job = kind == Happening::kEnd || kind == Happening::kFreed || kind == Happening::kAnswer ||
                        kind == Happening::kPodsReady || kind == Happening::kTimer;
    const bool is_void = (of_job && !data().jobs.IsCurrent(job, planned.term)) ||
                         (kind == Happening::kCycle && !runs_.stirred()) ||
                         (kind == Happening::kFailure && is_over);
    if (!is_void) break;
    data().calendar.Drop();
  }
  std::optional<Time> next;
  if (!data().calendar.empty()) next = data().calendar.Next().at;
  if (const int32_t job = arrivals_.Next(data().jobs); job >= 0)
    next = std::min(next.value_or(INT64_MAX), std::max(SubmitOf(job), data().start));
  if (next && data().engine.state().config.admission_fair_sharing) {
    if (const std::optional<Time> sample = NextSample()) next = std::min(*next, *sample);
  }
  return next;
}

std::optional<Time> Simulation::NextSample() const {
  const State& state = data().engine.state();
  const Time interval = state.config.admission_fair_sharing->usage_sampling_interval;
  std::optional<Time> next;
  for (const LedgerEntry& entry : state.ledger) {
    const Time due = SaturatingAdd(entry.last_update, interval);
    if (entry.exists && due > state.now) next = std::min(next.value_or(INT64_MAX), due);
  }
  return next;
}

void Simulation::Enter(Time at) {
  // Immediate consequences of a decision, such as pods that become ready, do not start a new time, since a
  // preemption loop may include them.
  const bool is_later = at > entered_;
  entered_ = at;
  data().engine.SetNow(at);
  idle_cycles_ = 0;
  if (is_later) {
    cycles_at_moment_ = 0;
    data().watch.BeginMoment();
  }
}

void Simulation::TakeUntil(Happening last) {
  while (!data().calendar.empty()) {
    const Planned planned = data().calendar.Next();
    if (planned.at > now() || planned.kind > last) return;
    data().calendar.Drop();
    Happen(planned);
    --work_;
  }
}

void Simulation::TakeArrivals() {
  bool arrived = false;
  SkipOthers();
  for (int32_t job = arrivals_.Next(data().jobs); job >= 0 && SubmitOf(job) <= now();
       job = arrivals_.Next(data().jobs)) {
    arrivals_.Take(data().jobs);
    arrived = true;
    const bool known = !columns().known.empty() && columns().known[static_cast<size_t>(job)] != 0;
    if (!known) Arrive(job);
    --work_;
    SkipOthers();
  }
  if (arrived && arrivals_.Next(data().jobs) < 0) data().figures.EndSubmissions(now());
}

bool Simulation::HasDue() const {
  const Calendar& calendar = data().calendar;
  if (!calendar.empty() && calendar.Next().at <= now()) return true;
  const int32_t job = arrivals_.Next(data().jobs);
  return job >= 0 && SubmitOf(job) <= now();
}

// Skips the jobs of other clusters of a fleet.
void Simulation::SkipOthers() {
  if (data().options.site == kNoId) return;
  arrivals_.SkipOthers(data().jobs);
}

void Simulation::Happen(const Planned& planned) {
  runs_.SetStirred(true);
  int32_t job = planned.what;
  size_t check = 0;
  switch (planned.kind) {
    case Happening::kChange:
      return Change(data().options.changes[static_cast<size_t>(planned.what)]);
    case Happening::kFailure:
      return failures_.Fail(runs_, static_cast<size_t>(planned.what), arrivals_.arrived());
    case Happening::kRepair:
      return failures_.Repair(runs_, static_cast<size_t>(planned.what));
    case Happening::kCycle:
      return;
    case Happening::kAnswer:
      check = static_cast<size_t>(job) % data().options.delays.checks.size();
      job /= static_cast<int32_t>(data().options.delays.checks.size());
      break;
    default:
      break;
  }
  if (!data().jobs.IsCurrent(job, planned.term)) return;
  if (planned.kind != Happening::kPodsReady)
    runs_.Stir(data().jobs.At(job).queue);  // The job frees no quota, so no other workload is affected.
  switch (planned.kind) {
    case Happening::kEnd:
      return runs_.End(job);
    case Happening::kFreed:
      return runs_.FreeSoon(job);
    case Happening::kAnswer:
      return Answer(job, check);
    case Happening::kPodsReady:
      return data().engine.SetPodsReady(data().jobs.At(job).workload, true);
    default:
      return;  // A timer: the next settle handles it.
  }
}

void Simulation::Arrive(int32_t number) {
  data().headway.Note();
  runs_.SetStirred(true);
  data().jobs.Take(number);
  runs_.Adopt(number, Submit(number));
  if (data().options.record.metrics) data().jobs.At(number).promised = FitsNominal(number);
  data().stats.end = now();
}

WorkloadId Simulation::Submit(int32_t job) {
  return data().engine.Submit({columns().NameOf(job), columns().UidOf(job),
                               columns().CreationOf(job, data().start), false, columns().ShapeOf(job)});
}

// Returns whether the unused nominal quota of the job's queue is enough for the job.
bool Simulation::FitsNominal(int32_t job) const {
  const NodeId queue = data().jobs.At(job).queue;
  if (queue == kNoId) return false;
  const State& state = data().engine.state();
  for (const auto& [resource, amount] : data().jobs.AsksOf(job)) {
    bool fits = false;
    for (FlavorResourceId fr : state.quota.FlavorResources()) {
      fits =
          fits || (state.flavor_resources[fr].second == resource &&
                   state.quota.Usage(queue, fr) + Amount(amount) <= state.quota.limits().nominal(queue, fr));
    }
    if (!fits) return false;
  }
  return true;
}

void Simulation::Change(const TimedChange& change) {
  State& state = data().engine.state();
  if (change.what == TimedChange::What::kApply) {
    change.apply(data().engine);
    failures_.LowerAgain(runs_, change.queues);
    return runs_.QuotasChanged();
  }
  if (!data().jobs.Has(change.job)) return;  // The job was not submitted yet.
  Job& job = data().jobs.At(change.job);
  if (job.state != JobState::kWaiting && job.state != JobState::kRunning) return;
  runs_.Stir(job.queue);
  runs_.Report(change.job);
  if (change.what == TimedChange::What::kEvict) {
    data().engine.Evict(job.workload, Reason::kNodeFailures, "Evicted by hand");
    runs_.Listen();
  } else if (change.what == TimedChange::What::kPriority) {
    const Workload& workload = state.At(job.workload);
    auto spec = std::make_shared<WorkloadSpec>(*workload.spec);
    spec->priority = change.value;
    data().engine.Update(job.workload,
                         {workload.name, workload.uid, workload.created, false, std::move(spec)});
  } else if (data().WorkloadOf(change.job).Status().dispatched.job == JobPlace::kElsewhere) {
    data().engine.Finish(job.workload);
  } else if (job.started >= 0) {
    job.wanted = std::max<Time>(job.done, job.done + now() - job.started - job.startup);
    runs_.End(change.job);
  } else {
    if (job.state == JobState::kWaiting)
      data().figures.Wait(state, job.queue, data().jobs.AsksOf(change.job), -1);
    if (job.reserved < 0) {
      job.reserved = now();
      data().headway.Hold(data().jobs.IsFinite(change.job));
    }
    job.started = now();
    job.wanted = job.done;
    runs_.End(change.job);
  }
}

void Simulation::Answer(int32_t number, size_t check) {
  const Provisioning& by = data().options.delays.checks[check];
  const Job& job = data().jobs.At(number);
  const Workload& workload = data().WorkloadOf(number);
  const int32_t row = columns().Row(number), run = job.runs - 1;
  const auto plan = [&](Time after, Happening kind, int32_t what) {
    data().calendar.Plan(SaturatingAdd(now(), after), kind, what, job.term);
  };
  const CheckId id = data().engine.state().check_names.Find(by.check);
  const std::vector<WorkloadCheck>& states = workload.Status().checks;
  const auto known =
      std::find_if(states.begin(), states.end(), [&](const auto& one) { return one.check == id; });
  const int64_t attempt = known == states.end() ? 1 : known->retry_count.value_or(0) + 1;
  const bool is_needed = by.IsNeeded(workload);
  CheckState answer = CheckState::kReady;
  std::optional<int64_t> seconds;
  const Time ready_for = now() - job.reserved - by.delay.Of(row, run);
  const bool was_ready = ready_for > 0 || (known != states.end() && known->state == CheckState::kReady);
  const bool has_expired = was_ready && by.expires && ready_for == by.expires->Of(row, run);
  if (has_expired && workload.IsAdmitted()) return;
  if (was_ready && !has_expired) {
    answer = CheckState::kRejected;  // The capacity is revoked.
  } else if (has_expired || (is_needed && by.Fails(row, run))) {
    if (by.config) seconds = by.config->RetryAfter(attempt);
    answer = by.config && !seconds ? CheckState::kRejected : CheckState::kRetry;
    if (seconds) plan(SaturatingMul(*seconds, kSecond), Happening::kTimer, number);
  } else if (is_needed) {
    const auto checks = static_cast<int32_t>(data().options.delays.checks.size());
    for (Time end : by.EndsOf(row, run))
      plan(end, Happening::kAnswer, number * checks + static_cast<int32_t>(check));
  }
  data().engine.SetCheckState(job.workload, by.check, answer, std::nullopt, seconds);
  runs_.Report(number);
  if (answer != CheckState::kReady || !is_needed || has_capacity_[check]) return;
  has_capacity_[check] = true;
  for (const auto& apply : by.capacity) apply(data().engine);
  failures_.LowerAgain(runs_, by.queues);
  if (!by.capacity.empty()) runs_.QuotasChanged();
}

bool Simulation::DecideSettled() {
  if (busy_until_ > now()) return false;
  const CycleResult result = data().engine.RunCycle();
  if (!result.idle) {
    ++data().stats.cycles;
    work_ -= result.heads;
    data().stats.admissions += result.admitted;
    data().recorder.Count(now(), data().engine.state().scheduling_cycle, result.heads, result.admitted,
                          result.evicted);
  }
  const int64_t evictions = data().stats.evictions;
  runs_.Listen();
  if (!data().options.has_controllers && !result.idle) runs_.Settle();
  if (result.idle) return runs_.acted();
  if (!data().options.clock.IsZero()) {
    const Time length =
        SaturatingAdd(data().options.clock.cycle, SaturatingMul(data().options.clock.per_head, result.heads));
    busy_until_ = SaturatingAdd(now(), length);
    runs_.SetStirred(FollowsCycle(result));
    data().calendar.Plan(busy_until_, Happening::kCycle, 0, 0);
    return false;
  }
  if (!FollowsCycle(result)) return false;
  const bool has_evicted = data().stats.evictions > evictions;
  if (has_evicted || cycles_at_moment_ >= LoopWatch::kPatience) {
    if (data().options.has_controllers) runs_.Settle();
    if (has_evicted) data().watch.NoteEviction();
    for (const LoopFound& found : data().watch.EndCycle(data().engine.state())) RecordLoop(found);
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
  if (!data().options.has_controllers) return false;
  if (result.made_inadmissible || runs_.acted()) return true;
  return (result.scanning || !data().engine.state().to_requeue.empty()) && ++idle_cycles_ < kLongestScan;
}

// Records the loop. Then stops the simulation, or holds back all queues of its tree until JobRuns::Stir() or
// JobRuns::QuotasChanged() releases them.
void Simulation::RecordLoop(const LoopFound& found) {
  Loop loop{now(), found.period, 1, {}};
  for (WorkloadId workload : found.moved) {
    if (data().jobs.JobOf(workload) >= 0) loop.jobs.push_back(columns().Row(data().jobs.JobOf(workload)));
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
  if (data().options.on_loop != OnLoop::kHold) {
    stopped_ = true;
    return;
  }
  State& state = data().engine.state();
  state.followed.held_back.resize(state.forest().size());
  if (state.forest().IsClusterQueue(found.root)) state.followed.held_back[found.root] = true;
  for (NodeId queue : state.forest().QueuesOfTree(found.root)) state.followed.held_back[queue] = true;
}

bool Simulation::IsEndless(Time until) {
  is_endless_ = data().headway.IsEndless(now(), std::min(until, data().options.until));
  return is_endless_;
}

void Simulation::Plan(TimedChange change) {
  change.at = std::max(change.at, now());
  data().headway.Note();
  data().calendar.Plan(change.at, Happening::kChange, static_cast<int32_t>(data().options.changes.size()), 0);
  data().options.changes.push_back(std::move(change));
}

void Simulation::Extend(JobColumns jobs) {
  const int32_t before = columns().size();
  if (jobs.HasReplacements()) RestoreKeys(data().engine.state());
  data().jobs.Append(std::move(jobs));
  for (int32_t job = before; job < columns().size(); ++job) arrivals_.Add(data().jobs, job);
  data().headway.Note();
}

void Simulation::Close() {
  if (!std::exchange(closed_, true)) runs_.Close();
}

bool Simulation::CountRefusals(const Wait& wait) {
  if (cycles_at_moment_ >= LoopWatch::kPatience) return false;
  CountCycles(data().engine.state(), wait, 1);
  if (wait.cycles == 0) return true;
  ++data().stats.cycles;
  ++cycles_at_moment_;
  data().recorder.Count(now(), data().engine.state().scheduling_cycle, 1, 0, 0);
  return true;
}

}  // namespace kueue
