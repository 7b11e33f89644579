// Events at one time that precede the decisions: completions, changes, answers, arrivals.
#include <algorithm>

#include "fairness/ledger.h"
#include "lifecycle/devices.h"
#include "lifecycle/queueing.h"
#include "simulation/simulation.h"

namespace kueue {

// Returns the time of the next event. Skips stale events of jobs that have lost their quota in the meantime;
// in a preemption loop, there would always be more such events. In a performance test, stale events count.
std::optional<Time> Simulation::Next(bool is_over) {
  SkipOthers();
  while (!calendar_.empty() && !options_.as_performance_test) {
    const Planned planned = calendar_.Next();
    const Happening kind = planned.kind;
    int32_t job = planned.what;
    if (kind == Happening::kAnswer) job /= static_cast<int32_t>(options_.delays.checks.size());
    const bool of_job = kind == Happening::kEnd || kind == Happening::kFreed || kind == Happening::kAnswer ||
                        kind == Happening::kPodsReady || kind == Happening::kTimer;
    const bool is_void = (of_job && !IsCurrent(job, planned.term)) ||
                         (kind == Happening::kCycle && !stirred_) || (kind == Happening::kFailure && is_over);
    if (!is_void) break;
    calendar_.Drop();
  }
  std::optional<Time> next;
  if (!calendar_.empty()) next = calendar_.Next().at;
  if (const int32_t job = NextArrival(); job >= 0)
    next = std::min(next.value_or(INT64_MAX), std::max(SubmitOf(job), start_));
  if (next && engine_.state().config.admission_fair_sharing) {
    if (const std::optional<Time> sample = NextSample()) next = std::min(*next, *sample);
  }
  return next;
}

std::optional<Time> Simulation::NextSample() const {
  const State& state = engine_.state();
  const Time interval = state.config.admission_fair_sharing->usage_sampling_interval;
  std::optional<Time> next;
  for (const LedgerEntry& entry : state.ledger) {
    const Time due = SaturatingAdd(entry.last_update, interval);
    if (entry.exists && due > state.now) next = std::min(next.value_or(INT64_MAX), due);
  }
  return next;
}

bool Simulation::Begin(Time until) {
  const std::optional<Time> next = Next();
  // Times that saturated at INT64_MAX never occur.
  if (!next || *next > until || *next == INT64_MAX) return false;
  Enter(*next);
  TakeUntil(Happening::kPodsReady);
  TakeArrivals();
  TakeUntil(Happening::kCycle);
  return true;
}

void Simulation::Enter(Time at) {
  // Immediate consequences of a decision, such as pods that become ready, do not start a new time, since a
  // preemption loop may include them.
  const bool is_later = at > entered_;
  entered_ = at;
  engine_.SetNow(at);
  idle_cycles_ = 0;
  if (is_later) {
    cycles_at_moment_ = 0;
    watch_.BeginMoment();
  }
}

void Simulation::TakeUntil(Happening last) {
  while (!calendar_.empty()) {
    const Planned planned = calendar_.Next();
    if (planned.at > now() || planned.kind > last) return;
    calendar_.Drop();
    Happen(planned);
    --work_;
  }
}

void Simulation::TakeArrivals() {
  bool arrived = false;
  SkipOthers();
  for (int32_t job = NextArrival(); job >= 0 && SubmitOf(job) <= now(); job = NextArrival()) {
    TakeArrival();
    arrived = true;
    const bool known = !columns_->known.empty() && columns_->known[static_cast<size_t>(job)] != 0;
    if (!known) Arrive(job);
    --work_;
    SkipOthers();
  }
  if (arrived && NextArrival() < 0) figures_.EndSubmissions(now());
}

// Skips the jobs of other clusters of a fleet.
void Simulation::SkipOthers() {
  if (options_.site == kNoId) return;
  while (next_ < given_ && !IsOwn(next_)) ++next_;
}

// Returns whether an event of a job is still valid.
bool Simulation::IsCurrent(int32_t job, int32_t term) const {
  return (slots_.empty() || HasCopy(job)) && JobAt(job).term == term;
}

void Simulation::Happen(const Planned& planned) {
  stirred_ = true;
  int32_t job = planned.what;
  size_t check = 0;
  switch (planned.kind) {
    case Happening::kChange:
      return Change(options_.changes[static_cast<size_t>(planned.what)]);
    case Happening::kFailure:
      return Fail(static_cast<size_t>(planned.what));
    case Happening::kRepair:
      return Repair(static_cast<size_t>(planned.what));
    case Happening::kCycle:
      return;
    case Happening::kAnswer:
      check = static_cast<size_t>(job) % options_.delays.checks.size();
      job /= static_cast<int32_t>(options_.delays.checks.size());
      break;
    default:
      break;
  }
  if (!IsCurrent(job, planned.term)) return;
  if (planned.kind != Happening::kPodsReady)
    Stir(At(job).queue);  // The job frees no quota, so no other workload is affected.
  switch (planned.kind) {
    case Happening::kEnd:
      return End(job);
    case Happening::kFreed:
      return to_free_.push_back(At(job).workload);
    case Happening::kAnswer:
      return Answer(job, check);
    case Happening::kPodsReady:
      return engine_.SetPodsReady(At(job).workload, true);
    default:
      return;  // A timer: the next settle handles it.
  }
}

// Stores the total requests of the shape, taken from the class of the workload. If its devices are not
// counted yet, counts them first.
void Simulation::NoteAsks(WorkloadId id, size_t shape) {
  State& state = engine_.state();
  const std::shared_ptr<const DeviceQueueing> kept = state.At(id).devices;
  if (state.At(id).cls == kNoId) {
    if (!NeedsDevices(state, state.At(id)) || !state.config.gates.dra_integration) return;
    const std::shared_ptr<const DeviceOutcome> outcome = CountDevices(state, state.At(id));
    if (outcome->charges == nullptr) return;
    EditDevices(state.At(id)).charges = outcome->charges;
  }
  const TemporaryClass cls(state, id);
  for (const PodSetTotals& totals : state.Class(state.At(id).cls).totals) {
    for (const auto& [resource, amount] : totals.requests) asks_[shape].emplace_back(resource, amount);
  }
  state.At(id).devices = kept;
  has_asks_[shape] = true;
}

void Simulation::Adopt(int32_t number, WorkloadId id) {
  Job& job = At(number);
  State& state = engine_.state();
  job.workload = id;
  job_of_.GrowTo(id, -1);
  job_of_[id] = number;
  const Workload& workload = state.At(id);
  job.queue = state.QueueOf(workload);
  job.state = JobState::kWaiting;
  ++stats_.workloads;
  const auto shape = static_cast<size_t>(columns_->shape[static_cast<size_t>(number)]);
  if (!has_asks_[shape]) NoteAsks(id, shape);
  figures_.Wait(state, job.queue, asks_[shape], +1);
  Stir(job.queue);
  if (workload.HasQuotaReservation()) Reserve(number);
  if (workload.IsAdmitted()) Admit(number);
  if (workload.IsEvicted() && workload.HasQuotaReservation()) Evicted(number, kNoId);
}

void Simulation::Arrive(int32_t number) {
  const auto place = static_cast<size_t>(number);
  Time created = columns_->created.empty() ? kAtSubmission : columns_->created[place];
  if (created == kAtSubmission) created = std::max(columns_->submit[place], start_);
  WorkloadObject object{columns_->NameOf(number), columns_->UidOf(number), created, false,
                        columns_->shapes[static_cast<size_t>(columns_->shape[place])]};
  fruitless_ = 0;
  stirred_ = true;
  TakeSlot(number);
  Adopt(number, engine_.Submit(std::move(object)));
  Job& job = At(number);
  const State& state = engine_.state();
  job.promised = job.queue != kNoId;
  for (const auto& [resource, amount] : AsksOf(columns_->shape[place])) {
    bool fits = false;
    for (FlavorResourceId cell : state.quota.FlavorResources()) {
      if (!job.promised || state.flavor_resources[cell].second != resource) continue;
      fits =
          fits || state.quota.Usage(job.queue, cell) + Amount(amount) <= state.quota.Nominal(job.queue, cell);
    }
    job.promised = job.promised && fits;
  }
  stats_.end = state.now;
}

void Simulation::End(int32_t number) {
  Job& job = At(number);
  const WorkloadId id = job.workload;
  const Broken whole{std::max<Time>(0, job.wanted - job.done), 0, 0};
  Broken last = whole;
  last.overhead = now() - job.started - whole.kept;
  job.overhead += last.overhead;
  job.done = job.wanted;
  ++job.term;
  --holding_;
  fruitless_ = 0;
  if (Counts(number)) figures_.Spend(engine_.state().At(id), last);
  recorder_.EndRun(now(), RunOutcome::kFinished, job, columns_->Row(number), last);
  job.held += now() - job.reserved;
  job.reserved = job.started = -1;
  job.end = now();
  job.state = JobState::kFinished;
  recorder_.Decide(engine_.state(), DecisionKind::kFinished, job, columns_->Row(number));
  if (IsOwn(number)) {
    engine_.Delete(id);
    job_of_[id] = -1;
  } else {
    engine_.Finish(id);
  }
  if (columns_->runtime[static_cast<size_t>(number)] >= 0) --ending_;
  ++stats_.finished;
  stats_.end = now();
}

void Simulation::Change(const TimedChange& change) {
  State& state = engine_.state();
  if (change.what == TimedChange::What::kApply) {
    change.apply(engine_);
    LowerAgain(change.queues);
    return QuotasChanged();
  }
  if (IsWorker() && !HasCopy(change.job)) return;  // The job was not submitted yet.
  Job& job = At(change.job);
  if (job.state != JobState::kWaiting && job.state != JobState::kRunning) return;
  Stir(job.queue);
  if (listener_ != nullptr) listener_->Happened(options_.site, EventKind::kCreated, change.job, -1);
  if (change.what == TimedChange::What::kEvict) {
    engine_.Evict(job.workload, Reason::kNodeFailures, "Evicted by hand");
    Listen();
  } else if (change.what == TimedChange::What::kPriority) {
    const Workload& workload = state.At(job.workload);
    auto spec = std::make_shared<WorkloadSpec>(*workload.spec);
    spec->priority = change.value;
    engine_.Update(job.workload, {workload.name, workload.uid, workload.created, false, std::move(spec)});
  } else if (PlaceOfJob(change.job) == JobPlace::kElsewhere) {
    engine_.Finish(job.workload);
  } else if (job.started >= 0) {
    job.wanted = std::max<Time>(job.done, job.done + now() - job.started - job.startup);
    End(change.job);
  } else {
    if (job.state == JobState::kWaiting)
      figures_.Wait(state, job.queue, AsksOf(columns_->shape[static_cast<size_t>(change.job)]), -1);
    if (job.reserved < 0) {
      job.reserved = now();
      ++holding_;
      if (columns_->runtime[static_cast<size_t>(change.job)] >= 0) ++ending_;
    }
    job.started = now();
    job.wanted = job.done;
    End(change.job);
  }
}

void Simulation::QuotasChanged() {
  State& state = engine_.state();
  state.EndCall();
  state.EnsureBuilt();
  figures_.Rebuild(state);
  state.followed.held_back.clear();
  for (NodeId queue : state.forest().Queues()) Touch(queue);
}

void Simulation::Answer(int32_t number, size_t check) {
  const Provisioning& by = options_.delays.checks[check];
  const int32_t row = columns_->Row(number), run = At(number).runs - 1;
  const bool fails = by.failing > 0 && by.fails.Of(row, run) < by.failing;
  engine_.SetCheckState(At(number).workload, by.check, fails ? CheckState::kRetry : CheckState::kReady);
  if (listener_ != nullptr) listener_->Happened(options_.site, EventKind::kCreated, number, -1);
  if (fails || has_capacity_[check]) return;
  has_capacity_[check] = true;
  for (const auto& apply : by.capacity) apply(engine_);
  LowerAgain(by.queues);
  if (!by.capacity.empty()) QuotasChanged();
}

}  // namespace kueue
