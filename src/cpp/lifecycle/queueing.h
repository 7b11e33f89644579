// Into the queues and out of them: what Kueue's queue manager does on every change of a workload or a queue.
// Mirrors pkg/cache/queue/{manager,cluster_queue,inadmissible_workloads}.go (kueue ff69552e79).
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

// The class of workloads that the scheduler cannot tell from this one, with its totals; also its priority.
void Classify(State& state, WorkloadId id);
// For one that is only asked about: a class that nobody else will find, the last one, unless it is known.
void ClassifyHypothetical(State& state, WorkloadId id);
// A class for one that was never queued, for as long as this lives: that it is asked about leaves no trace.
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
// The same as Classify for one that may be queued: it keeps its place there.
void Reclassify(State& state, WorkloadId id);

// Adds the workload to its queue, or follows a change of it; nothing where it may not wait or its queue is
// unknown. `changed` says whether its spec, reclaimable pods, or Evicted or Requeued condition changed.
void AddOrUpdate(State& state, WorkloadId id, bool changed);
// The same with the devices that the workload controller has just counted; whether there is a queue for it.
bool AddOrUpdateCounted(State& state, WorkloadId id, const std::shared_ptr<const DeviceCharges>& charges);
// The same without any charge for devices.
void AddOrUpdateUncounted(State& state, WorkloadId id);
// Takes it out of the queue and forgets it as a preemptor, and how far its scan of flavors had come.
void RemoveFromQueue(State& state, WorkloadId id);
// Puts a popped workload back after a cycle; whether it is active then.
bool Requeue(State& state, WorkloadId id, RequeueReason why, Reason quota_reserved_reason);
// Every admissible workload of the LocalQueue comes (back) into its ClusterQueue's heap.
void AddFromLocalQueue(State& state, LocalQueueId queue);
// They go with it; how far their scans of flavors had come is kept where it only moves to another
// ClusterQueue.
enum class Progress : uint8_t { kForgotten, kKept };
void RemoveFromLocalQueue(State& state, LocalQueueId queue, Progress progress);
// Retries the inadmissible workloads of all trees that were notified since the last time.
void RequeueNotified(State& state);

// Whether the queue's selector matches the namespace (which must exist).
bool MayUse(const State& state, NodeId queue, NamespaceId ns);

// The ClusterQueue that the queue manager knows for a workload: a LocalQueue that is stopped or missing has
// left it, so no ClusterQueue does. Mirrors pkg/cache/queue/manager.go:ClusterQueueForWorkload.
NodeId ManagedQueue(const State& state, const Workload& workload);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_QUEUEING_H_
