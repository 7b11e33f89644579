// Reconciliation of a workload with a quota reservation: its checks, queues, pods and time limits. Each
// function returns whether the call changed anything. Mirrors pkg/controller/core/workload_controller.go
// (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_HOLDING_H_
#define KUEUE_LIFECYCLE_HOLDING_H_

#include "state/state.h"

namespace kueue {

bool SyncChecks(State& state, WorkloadId id, NodeId node);
bool EvictByChecks(State& state, WorkloadId id);
bool ActOnQueues(State& state, WorkloadId id);
bool ReconcilePodsReadyTimeout(State& state, WorkloadId id);
bool ReconcileExecutionTime(State& state, WorkloadId id);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_HOLDING_H_
