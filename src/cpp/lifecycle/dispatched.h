// Workloads dispatched by MultiKueue: jobs that run on workers, and preemption gates. Mirrors
// pkg/workload/workload.go, pkg/controller/jobframework/reconciler.go (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_DISPATCHED_H_
#define KUEUE_LIFECYCLE_DISPATCHED_H_

#include "state/state.h"

namespace kueue {

// Returns the id of the reason with this name. The reason need not be an enumerator of Reason.
Reason InternReason(State& state, const char* name);

// Returns whether a workload is a slice of an elastic job (pkg/workloadslicing:IsElasticWorkload).
inline bool IsElastic(const State& state, const WorkloadSpec& spec) {
  return spec.elastic && state.config.gates.elastic_jobs_via_workload_slices;
}

// Returns whether a closed preemption gate prevents the workload from preempting others.
bool HasClosedPreemptionGate(const State& state, const Workload& workload);
// Opens a preemption gate. If no other gate of a pending workload is closed, the workload is retried.
void OpenPreemptionGate(State& state, WorkloadId id, const std::string& gate);
// Records that a closed gate prevents preemption. Returns whether the condition BlockedOnPreemptionGates
// changed.
bool BlockOnPreemptionGates(State& state, WorkloadId id);

// Performs the MultiKueue steps of an eviction: clears the cluster and the nominations, and closes the gates.
void ForgetDispatch(State& state, Workload& workload, Reason reason, const Message& message);

// Runs the job controller of a dispatched workload: suspends and unsuspends the job, and completes an
// eviction once the job has no pods. Returns whether the call changed anything.
bool ReconcileDispatchedJob(State& state, WorkloadId id);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_DISPATCHED_H_
