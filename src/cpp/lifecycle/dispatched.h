// Workloads that MultiKueue dispatches: jobs that run elsewhere, and preemption gates.
// Mirrors pkg/workload/workload.go, pkg/controller/jobframework/reconciler.go (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_DISPATCHED_H_
#define KUEUE_LIFECYCLE_DISPATCHED_H_

#include "state/state.h"

namespace kueue {

// The id of a reason that has no value of Reason.
Reason InternReason(State& state, const char* name);

// Whether a preemption gate of the workload is closed, so that it must not preempt.
bool HasClosedPreemptionGate(const State& state, const Workload& workload);
// Opens a preemption gate. A pending workload is tried again if that was the last closed one.
void OpenPreemptionGate(State& state, WorkloadId id, const std::string& gate);
// Records that a closed gate keeps the workload from preempting; returns whether that is new.
bool BlockOnPreemptionGates(State& state, WorkloadId id);

// What an eviction does beside the condition: cluster and nominations are cleared, and gates are closed.
void ForgetDispatch(State& state, Workload& workload, Reason reason, const Message& message);

// What the controller of a dispatched workload's job does: it suspends and unsuspends the job, and completes
// an eviction once the job has no pods.
bool ReconcileDispatchedJob(State& state, WorkloadId id);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_DISPATCHED_H_
