// Mirrors pkg/cache/queue/{manager,cluster_queue,inadmissible_workloads}.go (kueue ff69552e79).
#include "lifecycle/queueing.h"

#include "lifecycle/conditions.h"
#include "lifecycle/devices.h"
#include "state/names.h"
#include "state/rebuild.h"
#include "state/variants.h"

namespace kueue {

bool MayUse(const State& state, NodeId queue, NamespaceId ns) {
  const Namespace& space = state.namespaces[ns];
  const std::optional<LabelSelector>& selector = state.Queue(queue).spec.namespace_selector;
  return space.exists && selector && selector->Matches(space.labels);
}

namespace {

// Adds a workload to its queue as active. Its place must be kNowhere.
void Activate(State& state, WorkloadId id) {
  const NodeId queue = state.At(id).queued;
  state.Queue(queue).pending.Insert(state.pending_tables(), id, PendingQueue::As::kActive);
  state.caches.heads.Add(queue);
}

}  // namespace

namespace {

// Assigns an admissible workload to the LocalQueue that its spec names, and lists it there
// (pkg/cache/queue/manager.go:AddOrUpdateWorkloadWithoutLock). If that queue does not run, the workload keeps
// only its assignment to this queue.
void List(const State& state, Workload& workload) {
  const bool runs = state.Local(workload.local_queue).IsRunning();
  if (!runs && workload.assigned != workload.local_queue) workload.assigned = kNoId;
  if (runs) workload.assigned = workload.local_queue;
  workload.listed = runs;
}

}  // namespace

bool ListIfAdmissible(const State& state, Workload& workload) {
  if (!IsAdmissible(state, workload)) return false;
  List(state, workload);
  return true;
}

namespace {

bool MayReturn(const State& state, const Workload& workload) {
  return IsAdmissible(state, workload) && state.Local(workload.local_queue).IsRunning();
}

// Lists a workload that a cycle requeues (pkg/cache/queue/manager.go:RequeueWorkload).
void ListAgain(const State& state, Workload& workload) {
  if (MayReturn(state, workload)) List(state, workload);
}

// Adds the workload to its queue, or handles a change of it.
void Place(State& state, WorkloadId id, bool changed) {
  Workload& workload = state.At(id);
  const NodeId node = state.Local(workload.local_queue).IsRunning() ? state.QueueOf(workload) : kNoId;
  const bool inflight = workload.place == QueuePlace::kInflight;
  // Without a LocalQueue that runs, Kueue ignores the event, and a head of a blocked cycle stays in flight.
  if (workload.queued != kNoId && workload.queued != node && !(inflight && node == kNoId))
    RemoveFromQueue(state, id);
  if (!ListIfAdmissible(state, workload) || node == kNoId) {
    if (workload.place != QueuePlace::kNowhere) return;
    workload.queued = kNoId;
    workload.progress = nullptr;  // Only a ClusterQueue that holds the workload carries the progress over.
    return;
  }
  PendingQueue& pending = state.Queue(node).pending;
  if (workload.place == QueuePlace::kInflight) return;
  if (!state.config.gates.flavor_fungibility_preserve_scan_progress) workload.progress = nullptr;
  const bool queued = workload.place != QueuePlace::kNowhere;
  const bool inadmissible = queued && pending.IsInadmissible(state.workloads, id);
  if (queued && !inadmissible) {
    if (changed) {
      pending.Update(state.pending_tables(), id, [&] { Classify(state, id); });
    } else {
      pending.Touch(state.pending_tables(), id);
    }
    return;
  }
  const bool expired = IsBackoffExpired(state, workload);
  // The workload stays inadmissible.
  if (inadmissible && !changed && expired && workload.place == QueuePlace::kQueued) return;
  if (queued) pending.Erase(state.pending_tables(), id);
  if (changed || !queued) Classify(state, id);
  workload.queued = node;
  const auto inadmissible_place = expired ? PendingQueue::As::kInadmissible : PendingQueue::As::kDelayed;
  if (inadmissible && !changed) {
    pending.Insert(state.pending_tables(), id, inadmissible_place);
  } else if (!expired) {
    pending.Insert(state.pending_tables(), id, PendingQueue::As::kDelayed);
  } else if (state.Queue(node).spec.queueing_strategy == QueueingStrategy::kBestEffortFIFO &&
             state.config.gates.scheduling_equivalence_hashing &&
             pending.InadmissibleReason(workload.hash) != nullptr) {
    pending.Insert(state.pending_tables(), id, PendingQueue::As::kInadmissible);
  } else {
    Activate(state, id);
  }
}

}  // namespace

void AssignLocalQueue(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  const LocalQueueId local = LocalQueueOf(state, *workload.spec);
  if (workload.local_queue == local) return;
  RemoveFromQueue(state, id);
  workload.listed = false;
  workload.local_queue = local;
}

void AddOrUpdate(State& state, WorkloadId id, bool changed) {
  Workload& workload = state.At(id);
  if (IsParent(state, workload)) {
    if (!IsParentIn(state, workload, state.QueueOf(workload))) ListIfAdmissible(state, workload);
    return;
  }
  if (NeedsDevices(state, workload)) {  // The workload controller enqueues it.
    if (changed) NoteChange(workload);
    return;
  }
  if (workload.devices != nullptr) AssignLocalQueue(state, id);
  if (workload.devices != nullptr && workload.devices->charges != nullptr) {
    AddOrUpdateUncounted(state, id);
  } else {
    Place(state, id, changed);
  }
}

void AddOrUpdateUncounted(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  const bool changed = workload.devices != nullptr && workload.devices->charges != nullptr;
  ForgetDevices(workload);
  Place(state, id, changed);
}

bool AddOrUpdateCounted(State& state, WorkloadId id, const std::shared_ptr<const DeviceCharges>& charges) {
  Workload& workload = state.At(id);
  AssignLocalQueue(state, id);
  if (!state.Local(workload.local_queue).IsRunning()) return false;
  const bool waits = workload.place != QueuePlace::kNowhere;
  const DeviceQueueing before = workload.devices ? *workload.devices : DeviceQueueing();
  // The scheduler requeues a copy with Requeued=False if the API object has it; the new copy never has it.
  const bool requeued_differs = !before.ignores_requeued && workload.IsFalse(ConditionType::kRequeued);
  const bool changed =
      !waits || before.changed || requeued_differs || !SameCharges(before.charges.get(), charges.get());
  DeviceQueueing& devices = EditDevices(workload);
  const bool failed = HasCheckIn(workload, CheckState::kRetry) || HasCheckIn(workload, CheckState::kRejected);
  devices = {charges, /*changed=*/false, /*ignores_requeued=*/true, failed};
  List(state, workload);
  if (state.QueueOf(workload) == kNoId) return false;
  if (workload.place == QueuePlace::kInflight) {
    devices.changed = before.changed;
    return true;
  }
  Place(state, id, changed);
  return true;
}

void Reclassify(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  if (workload.place == QueuePlace::kNowhere || workload.place == QueuePlace::kInflight)
    return Classify(state, id);
  PendingQueue& pending = state.Queue(workload.queued).pending;
  const bool delayed = workload.place == QueuePlace::kDelayed;
  if (!delayed && !pending.IsInadmissible(state.workloads, id)) {
    pending.Update(state.pending_tables(), id, [&] { Classify(state, id); });
    return;
  }
  pending.Erase(state.pending_tables(), id);
  Classify(state, id);
  pending.Insert(state.pending_tables(), id,
                 delayed ? PendingQueue::As::kDelayed : PendingQueue::As::kInadmissible);
}

void RemoveFromQueue(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  if (workload.queued == kNoId) return;
  PendingQueue& pending = state.Queue(workload.queued).pending;
  pending.Erase(state.pending_tables(), id);
  workload.progress = nullptr;
  if (pending.preemptor == id) {
    pending.preemptor = kNoId;
    pending.sticky = false;
  }
  workload.queued = kNoId;
}

namespace {

bool IsImmediate(RequeueReason why, QueueingStrategy strategy) {
  if (strategy == QueueingStrategy::kStrictFIFO) return why != RequeueReason::kNamespaceMismatch;
  return why == RequeueReason::kFailedAfterNomination || why == RequeueReason::kPendingPreemption;
}

bool HasPendingFlavors(const Workload& workload) {
  if (!workload.progress) return false;
  for (const auto& pod_set : workload.progress->tried) {
    for (const auto& [resource, index] : pod_set) {
      if (index != -1) return true;
    }
  }
  return false;
}

// Moves a head to the ClusterQueue of the LocalQueue that its spec names, if its queueName has changed since
// its devices were counted. The caller must then insert the workload there. Returns whether it moved.
bool FollowMove(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  const LocalQueueId before = workload.local_queue;
  std::shared_ptr<const ScanProgress> kept = workload.progress;
  AssignLocalQueue(state, id);
  if (workload.local_queue == before) return false;
  workload.progress = std::move(kept);
  workload.queued = state.Local(workload.local_queue).IsRunning() ? state.QueueOf(workload) : kNoId;
  return true;
}

}  // namespace

bool Requeue(State& state, WorkloadId id, RequeueReason why, Reason quota_reserved_reason) {
  Workload& workload = state.At(id);
  if (workload.devices == nullptr) ListAgain(state, workload);
  if (workload.place == QueuePlace::kQueued ||
      workload.place == QueuePlace::kDelayed)  // Queued again meanwhile.
    return !state.Queue(workload.queued).pending.IsInadmissible(state.workloads, id);
  if (workload.place == QueuePlace::kNowhere) {  // Its ClusterQueue may have been made again.
    if (!MayReturn(state, workload)) return false;
    workload.queued = state.QueueOf(workload);
  }
  const bool moved = workload.devices != nullptr && FollowMove(state, id);
  const NodeId node = workload.queued;
  if (workload.devices != nullptr) ListAgain(state, workload);
  if (node == kNoId) return false;
  ClusterQueue& queue = state.Queue(node);
  PendingQueue& pending = queue.pending;
  const bool best_effort = queue.spec.queueing_strategy == QueueingStrategy::kBestEffortFIFO;
  if (!MayReturn(state, workload) || state.QueueOf(workload) != node) {
    // Kueue requeues nothing, and the head stays in flight until the next pop.
    if (moved) RemoveFromQueue(state, id);
    state.caches.heads.Add(node);
    return false;
  }
  pending.Erase(state.pending_tables(), id);
  if (workload.devices != nullptr && workload.devices->changed) Classify(state, id);  // With known charges.
  TakeCopyOfApi(workload);
  if (why == RequeueReason::kPendingPreemption) {
    pending.preemptor = id;
    pending.sticky = best_effort;
  }
  const bool expired = IsBackoffExpired(state, workload);
  const bool immediate = IsImmediate(why, queue.spec.queueing_strategy);
  // Kueue counts the pops of all queues in a cycle, including that of the queue to which the workload moved.
  const bool requeued = !moved && pending.queue_inadmissible_cycle >= pending.pop_cycle;
  if (expired && (immediate || requeued || HasPendingFlavors(workload))) {
    Activate(state, id);
    return true;
  }
  pending.Insert(state.pending_tables(), id,
                 expired ? PendingQueue::As::kInadmissible : PendingQueue::As::kDelayed);
  if (!best_effort || !state.config.gates.scheduling_equivalence_hashing ||
      (why != RequeueReason::kNoFit && why != RequeueReason::kPreemptionNoCandidates))
    return false;
  const Reason kept =
      quota_reserved_reason == Reason::kEmpty ? Reason::kPendingEvaluation : quota_reserved_reason;
  pending.MarkInadmissible(state.pending_tables(), workload.hash, kept);
  return false;
}

namespace {

bool IsListable(const State& state, const Workload& workload) {
  return IsAdmissible(state, workload) && !NeedsDevices(state, workload);
}

// Adds a listed workload of a LocalQueue that runs to its ClusterQueue, unless it is there already.
void Enter(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  const NodeId node = state.QueueOf(workload);
  if (!workload.listed || node == kNoId || IsLabelledParent(state, workload)) return;
  if (workload.place == QueuePlace::kInflight && workload.queued != node) RemoveFromQueue(state, id);
  if (workload.place != QueuePlace::kNowhere) return;
  Classify(state, id);
  workload.queued = node;
  Activate(state, id);
  state.MarkDirty(id);
}

}  // namespace

void ListLocalQueue(State& state, LocalQueueId local_id) {
  for (WorkloadId id : state.Living()) {
    Workload& workload = state.At(id);
    if (workload.local_queue != local_id) continue;
    workload.assigned = local_id;
    if (!IsListable(state, workload)) continue;
    workload.listed = true;
    Enter(state, id);
  }
}

void TakeUpDelayed(State& state) {
  for (WorkloadId id : state.Living()) {
    Workload& workload = state.At(id);
    if (state.Local(workload.local_queue).IsRunning()) workload.assigned = workload.local_queue;
    if (workload.place != QueuePlace::kDelayed) continue;
    state.Queue(workload.queued).pending.Erase(state.pending_tables(), id);
    Activate(state, id);
  }
}

void AddFromLocalQueue(State& state, LocalQueueId local_id) {
  if (!state.Local(local_id).IsRunning()) return;
  for (WorkloadId id : state.Living()) {
    if (state.At(id).local_queue == local_id) Enter(state, id);
  }
}

void RemoveFromLocalQueue(State& state, LocalQueueId local_id, Progress progress) {
  for (WorkloadId id : state.Living()) {
    Workload& workload = state.At(id);
    if (workload.local_queue != local_id) continue;
    // Kueue removes what the LocalQueue lists: heads of a blocked cycle only if they changed since.
    const bool stays = workload.place == QueuePlace::kInflight && !workload.listed;
    if (progress == Progress::kForgotten) workload.listed = false;
    if (workload.queued == kNoId || stays) continue;
    std::shared_ptr<const ScanProgress> kept = workload.progress;
    RemoveFromQueue(state, id);
    if (progress == Progress::kKept) workload.progress = std::move(kept);
  }
}

void RequeueNotified(State& state) {
  if (state.to_requeue.empty()) return;
  EnsureBuilt(state);
  std::set<NodeId> roots;
  roots.swap(state.to_requeue);
  for (NodeId root : roots) {
    // The root may have changed since the notification.
    const NodeId now = state.RetryRoot(root);
    if (now == kNoId) continue;
    const bool one_tree = state.refused.empty();
    for (NodeId node : one_tree ? state.forest().QueuesOfTree(now) : state.forest().Queues()) {
      if (!one_tree && state.RetryRoot(node) != now) continue;
      const auto may_requeue = [&](LocalQueueId queue) {
        return MayUse(state, node, state.Local(queue).namespace_id);
      };
      const auto expired = [&](WorkloadId id) { return IsBackoffExpired(state, state.At(id)); };
      PendingQueue& pending = state.Queue(node).pending;
      pending.QueueInadmissible(state.pending_tables(), may_requeue, expired);
      if (pending.HasActive()) state.caches.heads.Add(node);
    }
  }
}

NodeId ManagedQueue(const State& state, const Workload& workload) {
  const LocalQueue& local = state.Local(workload.local_queue);
  return local.IsRunning() ? local.cluster_queue : kNoId;
}

}  // namespace kueue
