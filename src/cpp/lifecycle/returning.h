// Requeuing of workloads: retry delays of checks, backoffs, deactivation and reactivation. Mirrors
// pkg/controller/core/workload_controller.go (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_RETURNING_H_
#define KUEUE_LIFECYCLE_RETURNING_H_

#include "state/state.h"

namespace kueue {

bool IsRequeuedFalseBecause(const Workload& workload, Reason reason);
// Sets the Requeued condition and handles the write. Returns whether the call changed anything.
bool SetRequeued(State& state, WorkloadId id, bool status, Reason reason, const Message& message);

// Next action of the reconciliation after a step: continue, stop because of a change, or stop and wait.
// Sets the field spec.active. Returns whether it changed.
bool SetActive(State& state, WorkloadId id, bool active);

enum class Reconciled { kGoOn, kChanged, kWait };

// Applies the retry delay requested by a check in state Retry. Returns whether the call changed anything.
bool PropagateRetryTime(State& state, WorkloadId id);
Reconciled ReconcileActive(State& state, WorkloadId id);
Reconciled ReconcileInactive(State& state, WorkloadId id);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_RETURNING_H_
