// Main loop of a fleet: events in all clusters, reconciliations, decisions.
#include "fleet/fleet_run.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"

namespace kueue {
namespace {

constexpr Time kDispatchLoop = 3600 * kSecond;
// Maximum number of retries of one workload within kDispatchLoop without progress.
constexpr int32_t kMostRetries = 64;

}  // namespace

FleetRun::FleetRun(std::vector<std::shared_ptr<Simulation>> sites, FleetOptions options)
    : sites_(std::move(sites)),
      options_(std::move(options)),
      dispatcher_(options_.dispatcher, options_.checks),
      fates_(static_cast<size_t>(sites_[0]->columns().size())),
      open_(sites_.size()),
      deferred_(sites_.size()),
      awake_(sites_.size(), 0),
      entered_(sites_.size(), 0),
      next_(sites_.size(), kNoTime),
      now_(sites_[0]->now()) {
  for (const std::string& name : options_.names) clusters_.push_back({name, nullptr, true, 0});
  Attach();
  dispatcher_.RefreshChecks();
  for (size_t i = 0; i < sites_.size(); ++i) ExpectNext(i);
  for (size_t i = 0; i < options_.connections.size(); ++i) {
    calendar_.Plan(options_.connections[i].at, Happening::kChange, static_cast<int32_t>(i), 0);
  }
}

FleetRun::FleetRun(const FleetRun& other)
    : RunListener(other),
      DispatchListener(other),
      options_(other.options_),
      dispatcher_(other.dispatcher_),
      clusters_(other.clusters_),
      fates_(other.fates_),
      open_(other.open_),
      deferred_(other.deferred_),
      calendar_(other.calendar_),
      changed_(other.changed_),
      awake_(other.awake_),
      entered_(other.entered_),
      present_(other.present_),
      to_decide_(other.to_decide_),
      next_(other.next_),
      table_(other.table_),
      external_(other.external_),
      loops_(other.loops_),
      now_(other.now_),
      dispatch_wait_(other.dispatch_wait_),
      finished_(other.finished_),
      made_(other.made_),
      has_begun_(other.has_begun_),
      is_submitting_(other.is_submitting_) {
  for (const auto& site : other.sites_) sites_.push_back(std::make_shared<Simulation>(*site));
  Attach();
  SetExternal(external_);
}

void FleetRun::Attach() {
  for (size_t i = 0; i < sites_.size(); ++i) {
    sites_[i]->Follow(this);
    if (i > 0) clusters_[i - 1].engine = &sites_[i]->engine();
  }
  dispatcher_.Attach(&manager().engine(), &clusters_, this);
}

void FleetRun::SetExternal(External external) {
  external_ = std::move(external);
  if (!external_) return;
  dispatcher_.SetExternal([this](const Local& local, std::vector<int32_t> clusters) {
    return external_(*this, manager().JobOf(local.id), std::move(clusters));
  });
}

bool FleetRun::stopped() const {
  return std::any_of(sites_.begin(), sites_.end(), [](const auto& site) { return site->stopped(); });
}

bool FleetRun::IsEndless(Time until) {
  return std::any_of(sites_.begin(), sites_.end(),
                     [until](const auto& site) { return site->IsEndless(until); });
}

int64_t FleetRun::fruitless() const {
  int64_t evictions = 0;
  for (const auto& site : sites_) evictions += site->fruitless();
  return evictions;
}

SimulationStats FleetRun::stats() const {
  SimulationStats all;
  all.workloads = -made_;
  all.finished = manager().stats().finished;
  for (const auto& site : sites_) {
    const SimulationStats& stats = site->stats();
    all.workloads += stats.workloads;
    all.cycles += stats.cycles;
    all.admissions += stats.admissions;
    all.evictions += stats.evictions;
    all.end = std::max(all.end, stats.end);
    for (int32_t job = 0; site != sites_[0] && job < site->columns().size(); ++job) {
      if (site->IsOwn(job) && site->HasCopy(job) && site->JobAt(job).state == JobState::kFinished)
        ++all.finished;
    }
  }
  return all;
}

Fate FleetRun::FateOf(int32_t job) const {
  Fate fate = fates_[static_cast<size_t>(job)];
  for (size_t i = 1; i < sites_.size(); ++i) {
    const Simulation& run = *sites_[i];
    if (run.IsOwn(job) || !run.HasCopy(job)) continue;
    const Job& copy = run.JobAt(job);
    fate.lost += copy.lost;
    fate.overhead += copy.overhead;
    if (fate.cluster != static_cast<int32_t>(i) - 1) continue;
    fate.done = copy.done;
    if (copy.started >= 0 && !copy.losing) fate.done += now_ - copy.started;
  }
  if (fate.idle_since >= 0) fate.idle += now_ - fate.idle_since;
  return fate;
}

bool FleetRun::Run(int64_t work, Time until) {
  bool is_left = true;
  for (work_ = work; work_ > 0 && is_left && !stopped();) is_left = GoOn(until);
  RealizeAll();
  return is_left && !stopped();
}

bool FleetRun::RunMoment(Time until) {
  const bool is_left = GoOn(until);
  RealizeAll();
  return is_left;
}

Time FleetRun::Next() {
  while (!calendar_.empty()) {  // Reconciliations that are no longer due do not count as events.
    const Planned planned = calendar_.Next();
    const bool is_look = planned.kind != Happening::kChange;
    const Fate& fate = fates_[is_look ? static_cast<size_t>(planned.what) : 0];
    const Time wanted = planned.kind == Happening::kTimer ? fate.again : fate.due;
    if (!is_look || wanted == planned.at) break;
    calendar_.Drop();
  }
  // Failures of nodes alone do not continue a simulation, but an idle worker can receive copies again.
  const auto is_over = [](const auto& site) { return site->IsOver(); };
  if (calendar_.empty() && std::all_of(sites_.begin(), sites_.end(), is_over)) {
    for (size_t i = 0; i < sites_.size(); ++i) next_[i] = sites_[i]->Next().value_or(kNoTime);
  }
  const Time own = calendar_.empty() ? kNoTime : calendar_.Next().at;
  return std::min(own, *std::min_element(next_.begin(), next_.end()));
}

bool FleetRun::GoOn(Time until) {
  const Time next = Next();
  if (next == kNoTime || next > std::min(until, options_.until) || IsEndless(until)) return false;
  const int64_t before = manager().stats().cycles;
  BeginMoment(std::max(next, now_));
  Decide();
  EndMoment();
  work_ -= 1 + manager().stats().cycles - before;
  return true;
}

void FleetRun::EndMoment() {
  std::sort(present_.begin(), present_.end());
  for (size_t site : present_) {
    sites_[site]->EndMoment();
    entered_[site] = 0;
    ExpectNext(site);
  }
  present_.clear();
}

void FleetRun::BeginMoment(Time at) {
  now_ = at;
  Wake(kManager);
  due_.clear();
  for (size_t i = 0; i < next_.size(); ++i) {
    if (next_[i] <= at) {
      due_.push_back(i);
      RealizeFirst(static_cast<int32_t>(i));
    }
    if (next_[i] <= at || !has_begun_) Wake(static_cast<int32_t>(i));
  }
  has_begun_ = true;
  const auto take = [this](Happening last) {
    for (size_t site : due_) TakeUntil(site, last);
    TakeOwn(last);
  };
  take(Happening::kChange);
  take(Happening::kPodsReady);
  for (size_t site : due_) sites_[site]->TakeArrivals();
  EndSubmissions();
  take(Happening::kCycle);
}

// Ends of jobs only free quota. Other events may change queues, so they need all copies.
void FleetRun::TakeUntil(size_t site, Happening last) {
  if (!deferred_[site].copies.empty()) {
    sites_[site]->TakeUntil(Happening::kEnd);
    if (sites_[site]->HasDue()) Realize(static_cast<int32_t>(site));
  }
  sites_[site]->TakeUntil(last);
}

// Ends the metrics of the period in which jobs arrive, in all clusters at the same time.
void FleetRun::EndSubmissions() {
  const auto submits = [](const auto& site) { return site->HasArrivals(); };
  if (!is_submitting_ || submits(sites_[due_.empty() ? 0 : due_.front()])) return;
  if (std::any_of(sites_.begin(), sites_.end(), submits)) return;
  is_submitting_ = false;
  for (const auto& site : sites_) site->EndSubmissions(now_);
}

// Processes connection changes, then reconciliations in the order of their jobs.
void FleetRun::TakeOwn(Happening last) {
  std::vector<int32_t> looks;
  while (!calendar_.empty()) {
    const Planned planned = calendar_.Next();
    if (planned.at > now_ || planned.kind > last) break;
    calendar_.Drop();
    if (planned.kind == Happening::kChange) {
      Connect(options_.connections[static_cast<size_t>(planned.what)]);
      continue;
    }
    Fate& fate = At(planned.what);
    Time& wanted = planned.kind == Happening::kTimer ? fate.again : fate.due;
    if (wanted != planned.at) continue;
    wanted = -1;
    looks.push_back(planned.what);
  }
  std::sort(looks.begin(), looks.end());
  looks.erase(std::unique(looks.begin(), looks.end()), looks.end());
  for (int32_t job : looks) LookAt(job);
}

void FleetRun::Connect(const ConnectionChange& change) {
  if (clusters_[static_cast<size_t>(change.cluster)].connected == change.connected) return;
  Realize(change.cluster + 1);
  dispatcher_.SetConnected(change.cluster, change.connected);
  Wake(kManager);
  for (int32_t job = 0; job < static_cast<int32_t>(fates_.size()); ++job) {
    const Fate& fate = At(job);
    if (fate.dispatched < 0 && fate.reserved < 0) continue;
    if (change.connected) {
      PlanLook(job, change.cluster);
    } else if (fate.runs && fate.cluster == change.cluster) {
      Change(job);
    }
  }
}

void FleetRun::Decide() {
  for (bool goes_on = true; goes_on;) {
    while (awake_[0] != 0 || !changed_.empty()) {
      awake_[0] = 0;
      manager().Settle();
      if (LookAtChanged() || manager().DecideSettled()) awake_[0] = 1;
    }
    std::vector<size_t>& workers = deciding_;
    workers.clear();
    workers.swap(to_decide_);
    std::sort(workers.begin(), workers.end());
    auto next = workers.begin();
    // After an interrupt, the remaining workers still have decisions to make.
    const absl::Cleanup restore = [&] {
      for (; next != workers.end(); ++next) {
        awake_[*next] = 0;
        Wake(static_cast<int32_t>(*next));
      }
    };
    for (; next != workers.end(); ++next) {
      awake_[*next] = 0;
      DecideOn(*next);
    }
    goes_on = !workers.empty();
  }
}

void FleetRun::DecideOn(size_t site) {
  if (DecideOnDeferred(site)) return;
  while (sites_[site]->Decide()) {
  }
}

// Makes the decisions on a worker with deferred copies. Submits a copy only if it may be admitted. Returns
// false if there are no deferred copies, or no longer, and decisions are still to be made.
bool FleetRun::DecideOnDeferred(size_t site) {
  Waiting& waiting = deferred_[site];
  if (waiting.copies.empty()) return false;
  if (waiting.decided) return true;  // A new copy became inadmissible at once.
  if (!waiting.stirred && !Refuse(site, waiting.wait)) Realize(static_cast<int32_t>(site));
  while (waiting.stirred) {
    sites_[site]->Settle();
    if (PrepareHead(site)) DecideOnHead(site);
  }
  return waiting.decided;
}

// Returns whether the next head of the queue is a submitted workload and deferred copies follow it.
// Otherwise, the deferred copies are refused or all submitted.
bool FleetRun::PrepareHead(size_t site) {
  const auto number = static_cast<int32_t>(site);
  Waiting& waiting = deferred_[site];
  const Deferred& first = waiting.copies.front();
  Engine& engine = sites_[site]->engine();
  const NodeId queue = waiting.wait.queue;
  if (engine.CountPending(queue) != 0) {
    if (engine.HasOnlyBefore(queue, waiting.wait.cls, first.created)) return true;
    Realize(number);
    return false;
  }
  const std::optional<Engine::Wait> wait = engine.RetryAndFindWait(waiting.wait);
  if (wait && Refuse(site, *wait)) return false;
  // The queue compares the uids of copies with the same creation time.
  const bool is_tied = waiting.copies.size() > 1 && waiting.copies[1].created == first.created;
  if (first.refused || is_tied) {
    Realize(number);
    engine.state().NotifyRetry(queue);
    return false;
  }
  SubmitFirst(number);
  return !waiting.copies.empty();
}

// Runs a cycle with a submitted head that deferred copies of its class follow.
void FleetRun::DecideOnHead(size_t site) {
  Waiting& waiting = deferred_[site];
  const Engine& engine = sites_[site]->engine();
  if (sites_[site]->DecideSettled() || engine.CountPending(waiting.wait.queue) == 0) return;
  if (!engine.IsInadmissible(waiting.wait.queue, waiting.wait.cls)) {
    return Realize(static_cast<int32_t>(site));
  }
  waiting.wait.cycles = 0;
  waiting.decided = true;
  waiting.stirred = false;
}

// Counts the cycles that refuse the first deferred copy of a worker. Returns false if it must be submitted.
bool FleetRun::Refuse(size_t site, const Engine::Wait& wait) {
  if (!sites_[site]->CountRefusals(wait)) return false;
  Waiting& waiting = deferred_[site];
  waiting.wait = wait;
  waiting.decided = true;
  waiting.stirred = false;
  Deferred& first = waiting.copies.front();
  // The first refusal of a copy that was made inadmissible together with others writes a condition.
  if (wait.cycles > 0 && !first.refused) {
    first.refused = now_;
    PlanLook(first.job, static_cast<int32_t>(site) - 1);
  }
  return true;
}

// Reconciles the jobs that changed at the current time, in the order of their keys. Returns whether anything
// changed. A change that requires another reconciliation produces an event when the manager settles.
bool FleetRun::LookAtChanged() {
  bool any = false;
  while (!changed_.empty()) {
    std::vector<int32_t> jobs;
    jobs.swap(changed_);
    for (int32_t job : jobs) At(job).changed = false;
    jobs.erase(std::remove_if(jobs.begin(), jobs.end(), [this](int32_t job) { return IsOver(job); }),
               jobs.end());
    if (jobs.size() > 1) {
      const State& state = manager().engine().state();
      std::sort(jobs.begin(), jobs.end(), [&](int32_t a, int32_t b) {
        const Workload& left = state.At(manager().JobAt(a).workload);
        const Workload& right = state.At(manager().JobAt(b).workload);
        if (left.spec->ns != right.spec->ns) return left.spec->ns + "/" < right.spec->ns + "/";
        return left.name < right.name;
      });
    }
    for (int32_t job : jobs) any = LookAt(job) || any;
  }
  return any;
}

// Returns whether the manager has no workload of the job, because it was not created yet or was deleted.
bool FleetRun::IsOver(int32_t job) const {
  const WorkloadId id = manager().JobAt(job).workload;
  return id == kNoId || manager().JobOf(id) != job;
}

bool FleetRun::LookAt(int32_t job) {
  if (IsOver(job)) return false;
  const WorkloadId id = manager().JobAt(job).workload;
  --work_;
  const bool changed = dispatcher_.Look(id);
  const Local* local = dispatcher_.looked();
  Fate& fate = At(job);
  if (local == nullptr) return changed;
  fate.rounds = local->rounds;
  const Time again = local->again && *local->again > now_ ? *local->again : -1;
  if (again >= 0 && again != fate.again) calendar_.Plan(again, Happening::kTimer, job, 0);
  fate.again = again;
  if (changed) Wake(kManager);
  if (local->copies.empty()) DropFinished(job, id);
  return changed;
}

// Deletes a finished workload once it has no copies.
void FleetRun::DropFinished(int32_t job, WorkloadId id) {
  const Workload& workload = manager().engine().state().At(id);
  if (!workload.IsFinished() || manager().JobAt(job).state != JobState::kFinished) return;
  const Serial serial = workload.serial;
  manager().Forget(job);
  dispatcher_.Forget(serial);
}

void FleetRun::Close() {
  RealizeAll();
  for (size_t i = 0; i < sites_.size(); ++i) {
    Enter(i);
    sites_[i]->Close();
  }
  for (size_t site = 1; site < sites_.size(); ++site) {
    const Simulation& run = *sites_[site];
    for (int32_t job = 0; job < run.columns().size(); ++job) {
      if (run.IsOwn(job) || !run.HasCopy(job)) continue;
      Record(static_cast<int32_t>(site), job, OpenOf(static_cast<int32_t>(site), job), run.JobAt(job),
             CopyOutcome::kPresent);
    }
  }
}

void FleetRun::Change(int32_t job) {
  Fate& fate = At(job);
  if (fate.changed) return;
  fate.changed = true;
  changed_.push_back(job);
}

// Schedules a reconciliation for the time at which the manager observes a change on a worker, unless an
// earlier reconciliation is scheduled.
void FleetRun::PlanLook(int32_t job, int32_t cluster) {
  const Time sync = options_.sync[static_cast<size_t>(cluster)];
  if (sync == 0) return Change(job);
  Fate& fate = At(job);
  const Time due = SaturatingAdd(now_, sync);
  if (fate.due >= 0 && fate.due <= due) return;
  fate.due = due;
  calendar_.Plan(fate.due, Happening::kPodsReady, job, 0);
}

// Detects workloads that are dispatched repeatedly without progress.
void FleetRun::Retried(int32_t job) {
  Fate& fate = At(job);
  ++fate.retries;
  if (fate.retried_since < 0 || now_ - fate.retried_since > kDispatchLoop) {
    fate.retried_since = now_;
    fate.retries_since = 0;
  }
  if (++fate.retries_since <= kMostRetries || fate.loops) return;
  fate.loops = true;
  loops_.push_back(job);
}

}  // namespace kueue
