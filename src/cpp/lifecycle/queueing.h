// Kueue's queue manager. The manager updates the contents of the queues whenever a workload or a queue
// changes. Mirrors pkg/cache/queue/{manager,cluster_queue,inadmissible_workloads}.go (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_QUEUEING_H_
#define KUEUE_LIFECYCLE_QUEUEING_H_

#include "state/state.h"

namespace kueue {

enum class RequeueReason : uint8_t {
  kGeneric,
  kNamespaceMismatch,
  kFailedAfterNomination,
  kPendingPreemption,
  kNoFit,
  kPreemptionNoCandidates,
  kPreemptionGated,
};

// Returns the effective priority of a workload with this spec.
int64_t PriorityOf(const State& state, const WorkloadSpec& spec);
// Sets the workload's priority and its equivalence class, which includes its total requests.
void Classify(State& state, WorkloadId id);
// Returns the class of a new workload without devices if its template determines the class, otherwise kNoId.
ClassId KnownClassOf(const State& state, const WorkloadSpec& spec, NamespaceId ns);
// Classifies a hypothetical workload. If no existing class fits, appends a new class that is not shared with
// other workloads.
void ClassifyHypothetical(State& state, WorkloadId id);
// Assigns an equivalence class to a workload that was never queued. The destructor removes the class, so that
// no changes remain.
class TemporaryClass {
 public:
  TemporaryClass(State& state, WorkloadId id);
  ~TemporaryClass();
  TemporaryClass(const TemporaryClass&) = delete;
  TemporaryClass& operator=(const TemporaryClass&) = delete;

 private:
  State& state_;
  const WorkloadId id_;
  const bool is_needed_;
  const int64_t priority_;
  const size_t classes_;
};
// Like Classify(), but the workload may be in a queue and keeps its position there.
void Reclassify(State& state, WorkloadId id);

// Adds the workload to its queue, or updates the workload if it is already there. Does nothing if the
// workload may not be queued or its queue is unknown. `changed` is true if the spec, the reclaimable pods, or
// the condition Evicted or Requeued of the workload has changed.
void AddOrUpdate(State& state, WorkloadId id, bool changed);
// Lists a workload in its LocalQueue, if it may be queued. Returns whether it may.
bool ListIfAdmissible(const State& state, Workload& workload);
// Same as AddOrUpdate(), but uses the given charges for devices, which the workload controller has just
// computed. Returns whether a queue exists for the workload.
bool AddOrUpdateCounted(State& state, WorkloadId id, const std::shared_ptr<const DeviceCharges>& charges);
// Assigns the workload to the LocalQueue that its spec names. If this changes the LocalQueue, removes the
// workload from the queue in which it waits. A workload with devices whose queueName has changed stays in its
// queue until the workload controller counts its devices, or until a cycle requeues it.
void AssignLocalQueue(State& state, WorkloadId id);
// Same as AddOrUpdateCounted(), but without a charge for devices.
void AddOrUpdateUncounted(State& state, WorkloadId id);
// Removes the workload from its queue and drops its role as preemptor and its scan progress.
void RemoveFromQueue(State& state, WorkloadId id);
// Requeues a head that a cycle has processed. Returns whether the head is active.
bool Requeue(State& state, WorkloadId id, RequeueReason why, Reason quota_reserved_reason);
// Adds a LocalQueue to the queue manager: assigns and lists its workloads, and adds the listed ones to its
// ClusterQueue. A workload in a backoff becomes active, too, because Kueue lists all workloads that exist
// when a LocalQueue is added (pkg/cache/queue/manager.go:addLocalQueueLocked).
void ListLocalQueue(State& state, LocalQueueId queue);
// Makes the workloads in a backoff active, as when Kueue starts and adds the LocalQueues of workloads that
// exist.
void TakeUpDelayed(State& state);
// Adds every listed workload of the LocalQueue to the heap of its ClusterQueue.
void AddFromLocalQueue(State& state, LocalQueueId queue);
// Removes the workloads of the LocalQueue from its ClusterQueue. Use kKept if the LocalQueue only moves to
// another ClusterQueue; the workloads of the LocalQueue then keep their scan progress.
enum class Progress : uint8_t { kForgotten, kKept };
void RemoveFromLocalQueue(State& state, LocalQueueId queue, Progress progress);
// Requeues the inadmissible workloads of all trees that were notified since the last call.
void RequeueNotified(State& state);

// Returns whether the queue's selector matches the namespace, which must exist.
bool MayUse(const State& state, NodeId queue, NamespaceId ns);

// Returns the ClusterQueue with which the queue manager associates a workload, or kNoId if there is none. A
// stopped or missing LocalQueue is not registered with any ClusterQueue. Mirrors
// pkg/cache/queue/manager.go:ClusterQueueForWorkload.
NodeId ManagedQueue(const State& state, const Workload& workload);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_QUEUEING_H_
