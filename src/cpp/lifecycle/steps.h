// The steps of the workload controller's look at one workload, one after another.
// Mirrors pkg/controller/core/workload_controller.go (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_STEPS_H_
#define KUEUE_LIFECYCLE_STEPS_H_

#include "state/state.h"

namespace kueue {

// Of a step after which the look may be over.
enum class Outcome { kGoOn, kChanged, kWait };

// The reason of a condition, or Reason::kEmpty where there is none.
int32_t ReasonIn(const Workload& workload, ConditionType type);
bool IsRequeuedFalseBecause(const Workload& workload, Reason reason);
bool SetRequeued(State& state, WorkloadId id, bool status, Reason reason, Message message);
// The ClusterQueue that the queue manager knows for a workload: a LocalQueue that is stopped or missing has
// left it, so no ClusterQueue does. Mirrors pkg/cache/queue/manager.go:ClusterQueueForWorkload.
NodeId ManagedQueue(const State& state, const Workload& workload);

// Each of the steps below returns whether it changed anything, or its Outcome.

// Leaving and coming back: what a check in Retry asks to wait for; backoffs, deactivation and reactivation.
bool PropagateRetryTime(State& state, WorkloadId id);
Outcome ReconcileActive(State& state, WorkloadId id);
Outcome ReconcileInactive(State& state, WorkloadId id);

// Waiting: an admission gate, and what QuotaReserved says while it is false.
bool ReconcileGate(State& state, WorkloadId id);
bool SyncQuotaReservedFalse(State& state, WorkloadId id);
// Whether a reason tells nothing of a scheduling attempt, so that a bypass may replace it
// (shouldCheckEquivalenceHash).
bool IsStale(int32_t reason);

// Holding quota: its checks, what they, its queues' stop policies, its pods and its clock do to it.
bool SyncChecks(State& state, WorkloadId id, NodeId node);
bool EvictByChecks(State& state, WorkloadId id);
bool ActOnQueues(State& state, WorkloadId id);
bool ReconcilePodsReadyTimeout(State& state, WorkloadId id);
bool ReconcileExecutionTime(State& state, WorkloadId id);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_STEPS_H_
