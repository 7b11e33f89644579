#include "fleet/fleet_run.h"

#include <algorithm>
#include <utility>

#include "model/poll.h"

namespace kueue {

FleetRun::FleetRun(std::vector<std::shared_ptr<Simulation>> sites, FleetOptions options)
    : sites_(std::move(sites)),
      options_(std::move(options)),
      dispatcher_(options_.dispatcher, options_.checks),
      queue_(static_cast<size_t>(sites_[0]->data().jobs.columns().size()), options_.sync,
             options_.connections),
      deferred_(sites_.size()),
      results_(sites_),
      awake_(sites_.size(), 0),
      entered_(sites_.size(), 0),
      next_(sites_.size(), kNoTime),
      now_(sites_[0]->data().now()) {
  for (const std::string& name : options_.names) clusters_.push_back({name, nullptr, true, 0});
  Attach();
  dispatcher_.RefreshChecks();
  for (size_t i = 0; i < sites_.size(); ++i) ExpectNext(i);
}

FleetRun::FleetRun(const FleetRun& other)
    : RunListener(other),
      DispatchListener(other),
      options_(other.options_),
      dispatcher_(other.dispatcher_),
      clusters_(other.clusters_),
      queue_(other.queue_),
      deferred_(other.deferred_),
      results_(other.results_),
      awake_(other.awake_),
      entered_(other.entered_),
      present_(other.present_),
      due_(other.due_),
      to_decide_(other.to_decide_),
      next_(other.next_),
      external_(other.external_),
      to_look_(other.to_look_),
      has_changed_(other.has_changed_),
      now_(other.now_),
      stage_(other.stage_),
      has_begun_(other.has_begun_),
      is_submitting_(other.is_submitting_) {
  for (const auto& site : other.sites_) sites_.push_back(std::make_shared<Simulation>(*site));
  Attach();
  SetExternal(external_);
}

void FleetRun::Attach() {
  for (size_t i = 0; i < sites_.size(); ++i) {
    sites_[i]->runs().Follow(this);
    if (i > 0) clusters_[i - 1].engine = &sites_[i]->data().engine;
  }
  dispatcher_.Attach(&manager().data().engine, &clusters_, this);
  deferred_.Attach(&sites_, &dispatcher_, &queue_);
  results_.Attach(&sites_);
}

void FleetRun::SetExternal(External external) {
  external_ = std::move(external);
  if (!external_) return;
  dispatcher_.SetExternal([this](const Local& local, std::vector<int32_t> clusters) {
    return external_(*this, jobs().JobOf(local.id), std::move(clusters));
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
  all.workloads = -results_.created();
  all.finished = manager().data().stats.finished;
  for (const auto& site : sites_) {
    const SimulationStats& stats = site->data().stats;
    all.workloads += stats.workloads;
    all.cycles += stats.cycles;
    all.admissions += stats.admissions;
    all.evictions += stats.evictions;
    all.end = std::max(all.end, stats.end);
    for (int32_t job = 0; site != sites_[0] && job < site->data().jobs.columns().size(); ++job) {
      const JobStore& there = site->data().jobs;
      if (there.IsOwn(job) && there.Has(job) && there.At(job).state == JobState::kFinished) ++all.finished;
    }
  }
  return all;
}

bool FleetRun::Run(int64_t work, Time until) {
  const PollsMuted muted;
  bool is_left = true;
  for (work_ = work; work_ > 0 && is_left && !stopped();) is_left = GoOn(until);
  deferred_.RealizeAll();
  return is_left && !stopped();
}

bool FleetRun::RunMoment(Time until) {
  const PollsMuted muted;
  const bool is_left = GoOn(until);
  deferred_.RealizeAll();
  return is_left;
}

Time FleetRun::Next() {
  const std::optional<Time> own = queue_.Next();
  // Failures of nodes alone do not continue a simulation, but an idle worker can receive copies again.
  const auto is_over = [](const auto& site) { return site->IsOver(); };
  if (!own && std::all_of(sites_.begin(), sites_.end(), is_over)) {
    for (size_t i = 0; i < sites_.size(); ++i) next_[i] = sites_[i]->Next(/*is_over=*/true).value_or(kNoTime);
  }
  return std::min(own.value_or(kNoTime), *std::min_element(next_.begin(), next_.end()));
}

// An exception of the External leaves the stage of the current time, and the next call continues there.
bool FleetRun::GoOn(Time until) {
  if (stage_ == Stage::kOver) {
    const Time next = Next();
    if (next == kNoTime || next > std::min(until, options_.until) || IsEndless(until)) return false;
    BeginMoment(std::max(next, now_));
    stage_ = Stage::kChanges;
  }
  const int64_t before = manager().data().stats.cycles;
  if (stage_ == Stage::kChanges) {
    Take(Happening::kChange);
    stage_ = Stage::kPodsReady;
  }
  if (stage_ == Stage::kPodsReady) {
    Take(Happening::kPodsReady);
    for (size_t site : due_) sites_[site]->TakeArrivals();
    EndSubmissions();
    stage_ = Stage::kCycle;
  }
  if (stage_ == Stage::kCycle) {
    Take(Happening::kCycle);
    stage_ = Stage::kDecisions;
  }
  Decide();
  EndMoment();
  stage_ = Stage::kOver;
  work_ -= 1 + manager().data().stats.cycles - before;
  return true;
}

void FleetRun::EndMoment() {
  std::sort(present_.begin(), present_.end());
  for (size_t site : present_) {
    sites_[site]->runs().EndMoment();
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
      deferred_.RealizeFirst(i);
    }
    if (next_[i] <= at || !has_begun_) Wake(static_cast<int32_t>(i));
  }
  has_begun_ = true;
}

// Processes the events and reconciliations of the current time up to and including the kind `last`.
void FleetRun::Take(Happening last) {
  if (to_look_.empty()) {
    for (size_t site : due_) TakeUntil(site, last);
    const auto connect = [this](const ConnectionChange& change) { Connect(change); };
    to_look_ = queue_.TakeDue(now_, last, connect);
    std::reverse(to_look_.begin(), to_look_.end());
  }
  LookAtRest();
  has_changed_ = false;  // Each change has woken the manager.
}

// Ends of jobs only free quota. Other events may change queues, so they need all copies.
void FleetRun::TakeUntil(size_t site, Happening last) {
  if (!deferred_.IsEmpty(site)) {
    sites_[site]->TakeUntil(Happening::kEnd);
    if (sites_[site]->HasDue()) deferred_.Realize(site);
  }
  sites_[site]->TakeUntil(last);
}

// Ends the metrics of the period in which jobs arrive, in all clusters at the same time.
void FleetRun::EndSubmissions() {
  const auto submits = [](const auto& site) { return site->arrivals().Next(site->data().jobs) >= 0; };
  if (!is_submitting_ || submits(sites_[due_.empty() ? 0 : due_.front()])) return;
  if (std::any_of(sites_.begin(), sites_.end(), submits)) return;
  is_submitting_ = false;
  for (const auto& site : sites_) site->data().figures.EndSubmissions(now_);
}

void FleetRun::Connect(const ConnectionChange& change) {
  if (clusters_[static_cast<size_t>(change.cluster)].connected == change.connected) return;
  deferred_.Realize(SiteOf(change.cluster));
  dispatcher_.SetConnected(change.cluster, change.connected);
  Wake(kManager);
  for (int32_t job = 0; job < jobs().columns().size(); ++job) {
    const Fate& fate = results_.At(job);
    if (fate.dispatched < 0 && fate.reserved < 0) continue;
    if (change.connected) {
      queue_.AddObserved(job, change.cluster, now_);
    } else if (fate.runs && fate.cluster == change.cluster) {
      queue_.Add(job);
    }
  }
}

void FleetRun::Decide() {
  for (bool goes_on = true; goes_on;) {
    while (awake_[0] != 0 || queue_.HasChanged() || !to_look_.empty()) {
      if (to_look_.empty()) {
        awake_[0] = 0;
        manager().runs().Settle();
      }
      if (LookAtChanged() || manager().DecideSettled()) awake_[0] = 1;
    }
    std::vector<size_t>& workers = deciding_;
    workers.clear();
    workers.swap(to_decide_);
    std::sort(workers.begin(), workers.end());
    for (size_t site : workers) {
      awake_[site] = 0;
      DecideOn(site);
    }
    goes_on = !workers.empty();
  }
}

void FleetRun::DecideOn(size_t site) {
  if (deferred_.Decide(site, now_)) return;
  do {
    sites_[site]->runs().Settle();
  } while (sites_[site]->DecideSettled());
}

// Reconciles the jobs that changed at the current time, in the order of their keys. Returns whether anything
// changed. A change that requires another reconciliation produces an event when the manager settles.
bool FleetRun::LookAtChanged() {
  while (!to_look_.empty() || queue_.HasChanged()) {
    if (to_look_.empty()) {
      to_look_ = queue_.TakeChanged();
      to_look_.erase(
          std::remove_if(to_look_.begin(), to_look_.end(), [this](int32_t job) { return IsOver(job); }),
          to_look_.end());
      const State& manager_state = state();
      std::sort(to_look_.begin(), to_look_.end(), [&](int32_t a, int32_t b) {
        const Workload& left = manager_state.At(jobs().At(a).workload);
        const Workload& right = manager_state.At(jobs().At(b).workload);
        if (left.spec->ns != right.spec->ns) return left.spec->ns + "/" > right.spec->ns + "/";
        return left.name > right.name;
      });
    }
    LookAtRest();
  }
  return std::exchange(has_changed_, false);
}

// A job stays in the list until its reconciliation has ended: if the External raises an exception, the next
// call reconciles the job again.
void FleetRun::LookAtRest() {
  for (; !to_look_.empty(); to_look_.pop_back()) has_changed_ = LookAt(to_look_.back()) || has_changed_;
}

// Returns whether the manager has no workload of the job, because it was not created yet or was deleted.
bool FleetRun::IsOver(int32_t job) const {
  const WorkloadId id = jobs().At(job).workload;
  return id == kNoId || jobs().JobOf(id) != job;
}

bool FleetRun::LookAt(int32_t job) {
  if (IsOver(job)) return false;
  const WorkloadId id = jobs().At(job).workload;
  --work_;
  const bool changed = dispatcher_.Look(id);
  const Local* local = dispatcher_.looked();
  if (local == nullptr) return changed;
  results_.SetRounds(job, local->rounds);
  queue_.SetAgain(job, local->again && *local->again > now_ ? *local->again : -1);
  if (changed) Wake(kManager);
  if (local->copies.empty()) DropFinished(job, id);
  return changed;
}

// Deletes a finished workload once it has no copies.
void FleetRun::DropFinished(int32_t job, WorkloadId id) {
  const Workload& workload = state().At(id);
  if (!workload.IsFinished() || jobs().At(job).state != JobState::kFinished) return;
  const Serial serial = workload.serial;
  ForgetWorkload(manager().runs(), job);
  dispatcher_.Forget(serial);
}

void FleetRun::Close() {
  deferred_.RealizeAll();
  for (size_t i = 0; i < sites_.size(); ++i) {
    Enter(i);
    sites_[i]->Close();
  }
  results_.Close(now_);
}

void FleetRun::Happened(int32_t site, EventKind kind, int32_t job, int32_t by) {
  // These events explain a cycle that changed nothing, so the cluster need not decide again.
  if (kind == EventKind::kPreemptionSkipped || kind == EventKind::kTargetsRecomputed) return;
  Wake(site);
  if (site == kManager) {
    results_.HappenedOnManager(kind, job, now_);
    // kCreated is also reported for other changes.
    if (kind == EventKind::kCreated || kind == EventKind::kReserved || kind == EventKind::kEvicted ||
        kind == EventKind::kReleased || kind == EventKind::kFinished) {
      queue_.Add(job);
    }
    return;
  }
  results_.HappenedOnWorker(site, kind, job, by, now_);
  const JobStore& there = Site(site).data().jobs;
  if (there.IsOwn(job) || !there.Has(job)) return;
  if (kind == EventKind::kAdmitted && there.At(job).started == now_) Start(site, job);
  queue_.AddObserved(job, site - 1, now_);
}

void FleetRun::Moved(Move move, const Local& local, const Copy& copy) {
  const int32_t site = copy.cluster + 1, job = jobs().JobOf(local.id);
  Wake(site);
  if (job < 0) return;
  switch (move) {
    case Move::kCreated:
      Create(copy, job);
      break;
    case Move::kStarted:
      StartCopy(Site(site).runs(), job);
      if (Site(site).data().jobs.At(job).started == now_) Start(site, job);
      break;
    case Move::kDeleted:
      return Remove(local, copy, job);
    default:
      return;
  }
  queue_.AddObserved(job, copy.cluster, now_);
}

void FleetRun::Create(const Copy& copy, int32_t job) {
  const size_t site = SiteOf(copy.cluster);
  Job before;
  before.runs = results_.At(job).starts;
  before.done = results_.At(job).done;
  if (copy.deferred) {
    AddDeferred(sites_[site]->runs(), job, deferred_.WaitOf(site), before);
  } else {
    AddCopy(sites_[site]->runs(), job, copy.id, before);
  }
  results_.Created(copy.cluster + 1, job, now_);
}

// Handles the start of a run on a worker: the manager's job counts as active from now on.
void FleetRun::Start(int32_t site, int32_t job) {
  results_.Started(site, job, now_);
  state().EditStatus(state().At(jobs().At(job).workload)).dispatched.active = true;
}

void FleetRun::Remove(const Local& local, const Copy& copy, int32_t job) {
  const int32_t site = copy.cluster + 1;
  const OpenCopy open = results_.CopyAt(site, job);
  const CopyOutcome outcome = open.ran ? CopyOutcome::kWon : OutcomeOf(local, copy);
  const bool ran = Site(site).data().jobs.At(job).started >= 0;
  const Job ended = RemoveCopy(Site(site).runs(), job);
  results_.Ended(job, open, ended);
  if (ran && results_.At(job).cluster == copy.cluster) results_.Stopped(job, now_);
  // An older run continues on a worker that reconnected.
  for (const Copy& other : local.copies) {
    if (results_.At(job).starts == 0) break;
    if (other.removed || other.cluster == copy.cluster) continue;
    if (Site(other.cluster + 1).data().jobs.At(job).started >= 0) results_.Continued(other.cluster + 1, job);
  }
  results_.Record(site, job, open, ended, outcome, now_);
}

// Returns the outcome of a copy that did not run and is being removed.
CopyOutcome FleetRun::OutcomeOf(const Local& local, const Copy& copy) const {
  if (!copy.deferred && dispatcher_.WorkloadOf(copy).IsEvicted()) return CopyOutcome::kEvicted;
  const Workload& workload = state().At(local.id);
  const bool waits = workload.HasQuotaReservation() && !workload.IsEvicted() && !workload.IsFinished();
  return waits ? CopyOutcome::kLost : CopyOutcome::kWithdrawn;
}

// Without a delay until the manager observes a change, the refusal of a copy causes a reconciliation at the
// same time. An external dispatcher may inspect the workers.
bool FleetRun::Defers(const Local& local, int32_t cluster, const WorkloadSpec& made) {
  const size_t site = SiteOf(cluster);
  const int32_t job = jobs().JobOf(local.id);
  if (external_ || options_.sync[static_cast<size_t>(cluster)] == 0 || job < 0 || awake_[site] != 0) {
    return false;
  }
  return deferred_.Add(site, {job, local.serial, now_, std::nullopt}, made);
}

void FleetRun::Needs(int32_t cluster, bool queues_stay) {
  queues_stay ? deferred_.RealizeFirst(SiteOf(cluster)) : deferred_.Realize(SiteOf(cluster));
}

}  // namespace kueue
