// Recording of events of jobs and copies in a fleet.
#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "fleet/fleet_run.h"
#include "lifecycle/conditions.h"

namespace kueue {

void FleetRun::Happened(int32_t site, EventKind kind, int32_t job, int32_t by) {
  // These events explain a cycle that changed nothing, so the cluster need not decide again.
  if (kind == EventKind::kPreemptionSkipped || kind == EventKind::kTargetsRecomputed) return;
  Wake(site);
  if (site == kManager) {
    OfManager(kind, job);
  } else {
    OfWorker(site, kind, job, by);
  }
}

void FleetRun::OfManager(EventKind kind, int32_t job) {
  Fate& fate = At(job);
  const auto stop_idling = [&] {
    if (fate.idle_since >= 0) fate.idle += now_ - fate.idle_since;
    fate.idle_since = -1;
  };
  switch (kind) {
    case EventKind::kReserved:
      fate.reserved = now_;
      if (!fate.runs) fate.idle_since = now_;
      return Change(job);
    case EventKind::kReleased:
      stop_idling();
      fate.reserved = -1;
      return Change(job);
    case EventKind::kFinished:
      stop_idling();
      fate.reserved = -1;
      fate.closed = now_;
      ++finished_;
      return Change(job);
    case EventKind::kEvicted: {
      const State& state = manager().engine().state();
      const Workload& workload = state.At(manager().JobAt(job).workload);
      const Condition* evicted = workload.Find(ConditionType::kEvicted);
      if (evicted != nullptr && evicted->reason == Reason::kAdmissionCheck) Retried(job);
      return Change(job);
    }
    case EventKind::kCreated:  // Also reported for other changes.
      return Change(job);
    default:
      return;
  }
}

void FleetRun::OfWorker(int32_t site, EventKind kind, int32_t job, int32_t by) {
  const Simulation& run = Site(site);
  if (kind == EventKind::kEvicted && by >= 0 && !run.IsOwn(by) && run.HasCopy(by)) {
    Open& preemptor = OpenOf(site, by);
    ++preemptor.preempted;
    preemptor.preempted_lost += run.JobAt(job).last.lost;
  }
  if (run.IsOwn(job) || !run.HasCopy(job)) return;
  Open& open = OpenOf(site, job);
  switch (kind) {
    case EventKind::kReserved:
      if (open.reserved < 0) open.reserved = now_;
      break;
    case EventKind::kAdmitted:
      if (open.admitted < 0) open.admitted = now_;
      if (run.JobAt(job).started == now_) Started(site, job);
      break;
    case EventKind::kEvicted:
      Stopped(job);
      break;
    case EventKind::kFinished:
      At(job).end = now_;
      Stopped(job);
      break;
    default:
      break;
  }
  PlanLook(job, site - 1);
}

// Handles the start of a run on a worker: the manager's job counts as active from now on.
void FleetRun::Started(int32_t site, int32_t job) {
  Fate& fate = At(job);
  if (fate.idle_since >= 0) fate.idle += now_ - fate.idle_since;
  fate.idle_since = -1;
  if (fate.first_start < 0) fate.first_start = now_;
  ++fate.starts;
  fate.runs = true;
  fate.cluster = site - 1;
  if (fate.reserved >= 0) dispatch_wait_ += now_ - fate.reserved;
  Open& open = OpenOf(site, job);
  open.ran = true;
  fate.admitted = open.admitted;
  State& state = manager().engine().state();
  state.EditStatus(state.At(manager().JobAt(job).workload)).dispatched.active = true;
}

void FleetRun::Stopped(int32_t job) {
  Fate& fate = At(job);
  if (!fate.runs) return;
  fate.runs = false;
  if (fate.reserved >= 0) fate.idle_since = now_;
}

void FleetRun::Moved(Move move, const Local& local, const Copy& copy) {
  const int32_t site = copy.cluster + 1, job = manager().JobOf(local.id);
  Simulation& run = Site(site);
  Wake(site);
  if (job < 0) return;
  switch (move) {
    case Move::kCreated: {
      Fate& fate = At(job);
      Job before;
      before.runs = fate.starts;
      before.done = fate.done;
      if (copy.deferred) {
        run.AddDeferred(job, deferred_[static_cast<size_t>(site)].wait, before);
      } else {
        run.AddCopy(job, copy.id, before);
      }
      Open& open = OpenOf(site, job);
      open = Open();
      open.made = now_;
      if (fate.dispatched < 0) fate.dispatched = now_;
      ++fate.copies;
      ++made_;
      return PlanLook(job, copy.cluster);
    }
    case Move::kStarted:
      run.StartCopy(job);
      if (run.JobAt(job).started == now_) Started(site, job);
      return PlanLook(job, copy.cluster);
    case Move::kDeleted:
      return Remove(local, copy, job);
    default:
      return;
  }
}

// Without a delay until the manager observes a change, the refusal of a copy causes a reconciliation at the
// same time. An external dispatcher may inspect the workers.
bool FleetRun::Defers(const Local& local, int32_t cluster, const WorkloadSpec& made) {
  if (external_ || options_.sync[static_cast<size_t>(cluster)] == 0) return false;
  const auto site = static_cast<size_t>(cluster) + 1;
  const int32_t job = manager().JobOf(local.id);
  if (job < 0 || awake_[site] != 0 || !sites_[site]->CanDefer(job)) return false;
  const std::optional<Engine::Wait> wait = sites_[site]->engine().FindWait(made);
  if (!wait) return false;
  Waiting& waiting = deferred_[site];
  if (waiting.copies.empty()) {
    waiting.wait = *wait;
  } else if (!waiting.decided || waiting.wait.queue != wait->queue || waiting.wait.cls != wait->cls) {
    return false;
  }
  waiting.copies.push_back({job, local.serial, now_, std::nullopt});
  return true;
}

// Submits all deferred copies of a worker. If they are inadmissible, the cycles of the refused copy make the
// following copies inadmissible, too.
void FleetRun::Realize(int32_t site) {
  if (deferred_[static_cast<size_t>(site)].copies.empty()) return;
  const Waiting waiting = std::exchange(deferred_[static_cast<size_t>(site)], Waiting());
  Engine& engine = Site(site).engine();
  if (waiting.copies.front().refused) engine.CountCycles(waiting.wait, -1);
  for (const Deferred& copy : waiting.copies) RealizeOne(site, copy, !waiting.decided && !waiting.stirred);
}

// Submits the first of the deferred copies of a worker, if the others need not be submitted before a change
// that frees quota or has no effect on queues: no workload can get between the copies, or be evicted.
void FleetRun::RealizeFirst(int32_t site) {
  Waiting& waiting = deferred_[static_cast<size_t>(site)];
  if (waiting.copies.empty()) return;
  if ((!waiting.decided && !waiting.stirred) || !CanBeLeft(site)) return Realize(site);
  waiting.decided = false;
  waiting.stirred = true;
  if (!waiting.copies.front().refused) return;  // A submitted workload is the first of the queue.
  Site(site).engine().CountCycles(waiting.wait, -1);
  SubmitFirst(site);
}

// Returns whether all deferred copies, or all but the first, need not be submitted before such a change.
bool FleetRun::CanBeLeft(int32_t site) {
  const Waiting& waiting = deferred_[static_cast<size_t>(site)];
  Engine& engine = Site(site).engine();
  if (!engine.IsAlone(waiting.wait.queue)) return false;
  const Deferred& first = waiting.copies.front();
  const bool is_empty = engine.CountPending(waiting.wait.queue) == 0;
  if (!first.refused) {
    // Without a submitted workload, the copies become active again because one was deleted.
    return is_empty ? waiting.stirred
                    : engine.HasOnlyBefore(waiting.wait.queue, waiting.wait.cls, first.created);
  }
  return is_empty && waiting.copies.size() > 1 && first.created < waiting.copies[1].created;
}

void FleetRun::RealizeOne(int32_t site, const Deferred& copy, bool is_new) {
  State& state = Site(site).engine().state();
  const CopyStage stage = copy.refused ? CopyStage::kRefused : is_new ? CopyStage::kNew : CopyStage::kSeen;
  // The copies were refused before the present retries became due.
  std::set<NodeId> retries = std::exchange(state.to_requeue, {});
  Site(site).Realize(copy.job, copy.created, stage, copy.refused.value_or(copy.created),
                     [&] { return dispatcher_.Realize(copy.serial, site - 1); });
  state.to_requeue.merge(retries);
}

// Submits the first of the deferred copies of a worker. The others follow it in the queue, and stay deferred.
void FleetRun::SubmitFirst(int32_t site) {
  Waiting& waiting = deferred_[static_cast<size_t>(site)];
  RealizeOne(site, waiting.copies.front(), /*is_new=*/false);
  waiting.copies.erase(waiting.copies.begin());
  waiting.wait.cycles = 0;
  if (waiting.copies.empty()) waiting = Waiting();
}

void FleetRun::RealizeAll() {
  for (int32_t site = 1; site < static_cast<int32_t>(sites_.size()); ++site) Realize(site);
}

bool FleetRun::MayPass(int32_t cluster) {
  const Waiting& waiting = deferred_[static_cast<size_t>(cluster) + 1];
  if (waiting.decided || waiting.stirred) return true;
  Realize(cluster + 1);
  return false;
}

// The deletion of a workload makes the inadmissible workloads of its queue active again.
void FleetRun::Pass(const Local& local, int32_t cluster) {
  Waiting& waiting = deferred_[static_cast<size_t>(cluster) + 1];
  auto& copies = waiting.copies;
  copies.erase(std::find_if(copies.begin(), copies.end(),
                            [&local](const Deferred& copy) { return copy.serial == local.serial; }));
  Site(cluster + 1).engine().Pass(waiting.wait);
  waiting.decided = false;
  waiting.stirred = true;
  if (copies.empty()) waiting = Waiting();
}

void FleetRun::Remove(const Local& local, const Copy& copy, int32_t job) {
  const int32_t site = copy.cluster + 1;
  const Open open = OpenOf(site, job);
  const CopyOutcome outcome = OutcomeOf(local, copy, open);
  const bool ran = Site(site).JobAt(job).started >= 0;
  const Job ended = Site(site).RemoveCopy(job);
  Fate& fate = At(job);
  if (open.ran) fate.done = ended.done;
  fate.lost += ended.lost;
  fate.overhead += ended.overhead;
  if (ran && fate.cluster == copy.cluster) Stopped(job);
  // An older run continues on a worker that reconnected.
  for (const Copy& other : local.copies) {
    if (fate.starts == 0) break;
    if (other.removed || other.cluster == copy.cluster || Site(other.cluster + 1).JobAt(job).started < 0)
      continue;
    fate.runs = true;
    fate.cluster = other.cluster;
    fate.idle_since = -1;
  }
  Record(site, job, open, ended, outcome);
}

CopyOutcome FleetRun::OutcomeOf(const Local& local, const Copy& copy, const Open& open) const {
  if (open.ran) return CopyOutcome::kWon;
  if (!copy.deferred && dispatcher_.WorkloadOf(copy).IsEvicted()) return CopyOutcome::kEvicted;
  const Workload& workload = manager().engine().state().At(local.id);
  const bool waits = workload.HasQuotaReservation() && !workload.IsEvicted() && !workload.IsFinished();
  return waits ? CopyOutcome::kLost : CopyOutcome::kWithdrawn;
}

void FleetRun::Record(int32_t site, int32_t job, const Open& open, const Job& ended, CopyOutcome outcome) {
  const auto seconds = [this](Time at) {
    return at < 0 ? std::numeric_limits<double>::quiet_NaN() : manager().recorder().Seconds(at);
  };
  const bool present = outcome == CopyOutcome::kPresent;
  table_.job.push_back(manager().columns().Row(job));
  table_.cluster.push_back(site - 1);
  table_.made.push_back(seconds(open.made));
  table_.reserved.push_back(seconds(open.reserved));
  table_.admitted.push_back(seconds(open.admitted));
  table_.removed.push_back(seconds(present ? -1 : now_));
  table_.outcome.push_back(static_cast<int32_t>(present && open.ran ? CopyOutcome::kWon : outcome));
  table_.preempted.push_back(open.preempted);
  table_.preempted_lost.push_back(static_cast<double>(open.preempted_lost) / 1e9);
  const Time held = ended.held + (present && ended.reserved >= 0 ? now_ - ended.reserved : 0);
  table_.held.push_back(static_cast<double>(held) / 1e9);
  table_.assigned.push_back(ended.assigned);
}

FleetRun::Open& FleetRun::OpenOf(int32_t site, int32_t job) {
  std::vector<Open>& open = open_[static_cast<size_t>(site)];
  const size_t place = Site(site).PlaceOf(job);
  if (open.size() <= place) open.resize(place + 1);
  return open[place];
}

}  // namespace kueue
