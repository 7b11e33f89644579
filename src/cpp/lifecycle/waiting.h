// Functions for pending workloads: admission gates, and the QuotaReserved condition with the status False.
// Mirrors pkg/controller/core/workload_controller.go (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_WAITING_H_
#define KUEUE_LIFECYCLE_WAITING_H_

#include <string>

#include "state/state.h"

namespace kueue {

// The reason why the workload controller does not queue the workload; kNone if there is no such reason.
// Mirrors getQueueBlocker.
struct QueueBlocker {
  enum class Kind : uint8_t {
    kNone,
    kLocalQueueMissing,
    kLocalQueueStopped,
    kClusterQueueMissing,
    kClusterQueueInactive,
  };
  Kind kind = Kind::kNone;
  std::string queue;  // Name of the LocalQueue or ClusterQueue.

  bool IsNone() const { return kind == Kind::kNone; }
  // Return the reason and the message of the QuotaReserved condition.
  Reason ConditionReason() const;
  Message ConditionMessage() const;
};
QueueBlocker QueueBlockerOf(const State& state, const Workload& workload);

// Updates QuotaReserved for the workload's admission gate. Returns whether the call changed anything.
bool ReconcileGate(State& state, WorkloadId id);
// Writes the reason why the workload is pending to the QuotaReserved condition, unless the scheduler writes
// it. Returns whether the call changed anything.
bool SyncQuotaReservedFalse(State& state, WorkloadId id);
// Returns true if the reason was written without a scheduling attempt; such a reason may be overwritten when
// the workload is bypassed (shouldCheckEquivalenceHash).
bool IsStale(Reason reason);
// Returns whether it is certain that a reconciliation changes nothing: the workload is pending in its queue,
// and its conditions are those of a workload that no cycle has considered yet or that the last cycle has
// refused.
bool WaitsUnchanged(const State& state, const Workload& workload);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_WAITING_H_
