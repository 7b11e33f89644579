// Leaving and coming back: what a check in Retry asks to wait for, backoffs, deactivation and reactivation.
// Mirrors pkg/controller/core/workload_controller.go (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_RETURNING_H_
#define KUEUE_LIFECYCLE_RETURNING_H_

#include "state/state.h"

namespace kueue {

bool IsRequeuedFalseBecause(const Workload& workload, Reason reason);
// Writes Requeued and does what follows from the write; returns whether anything changed.
bool SetRequeued(State& state, WorkloadId id, bool status, Reason reason, const Message& message);

// Of a step after which the controller may be done with the workload for now.
enum class Outcome { kGoOn, kChanged, kWait };

// Takes over the time for which a check in Retry asks; returns whether anything changed.
bool PropagateRetryTime(State& state, WorkloadId id);
Outcome ReconcileActive(State& state, WorkloadId id);
Outcome ReconcileInactive(State& state, WorkloadId id);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_RETURNING_H_
