// Waiting for quota: admission gates, and what QuotaReserved says while it is false.
// Mirrors pkg/controller/core/workload_controller.go (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_WAITING_H_
#define KUEUE_LIFECYCLE_WAITING_H_

#include <string>

#include "state/state.h"

namespace kueue {

// Why the workload cannot wait in its queue, as the workload controller sees it; kNone: it can. Mirrors
// getQueueBlocker.
struct QueueBlocker {
  enum class Kind : uint8_t {
    kNone,
    kLocalQueueMissing,
    kLocalQueueStopped,
    kClusterQueueMissing,
    kClusterQueueInactive,
  };
  Kind kind = Kind::kNone;
  std::string queue;  // the name of that LocalQueue or ClusterQueue

  bool IsNone() const { return kind == Kind::kNone; }
  // The reason and the message of QuotaReserved while it lasts.
  Reason ConditionReason() const;
  Message ConditionMessage() const;
};
QueueBlocker QueueBlockerOf(const State& state, const Workload& workload);

// Brings QuotaReserved in line with the workload's admission gate; returns whether anything changed.
bool ReconcileGate(State& state, WorkloadId id);
// Says in QuotaReserved why the workload waits, where that is not the scheduler's to say; returns whether
// anything changed.
bool SyncQuotaReservedFalse(State& state, WorkloadId id);
// Whether a reason says nothing of a scheduling attempt, so that a bypass may replace it
// (shouldCheckEquivalenceHash).
bool IsStale(int32_t reason);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_WAITING_H_
