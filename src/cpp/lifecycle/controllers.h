// What Kueue's workload controller and the jobs' controllers do between cycles.
// Mirrors pkg/controller/core/workload_controller.go:Reconcile and
// pkg/controller/jobframework/reconciler.go:ReconcileGenericJob (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_CONTROLLERS_H_
#define KUEUE_LIFECYCLE_CONTROLLERS_H_

#include "state/state.h"

namespace kueue {

// Lets both controllers look at every workload that may need it, in the order of namespace/name, until a
// round changes nothing. Timeouts, backoffs and limits that have passed by State::now are acted on. With
// `all_devices`, every pending workload with devices is looked at, whether anything changed for it or not.
void Settle(State& state, bool all_devices = false);

// The workload controller's look at one workload; returns whether it changed anything.
bool ReconcileWorkload(State& state, WorkloadId id);
// Its job's controller: pods' readiness, then the stop if it was evicted.
bool ReconcileJob(State& state, WorkloadId id);

// Whether every workload that holds quota, of whatever queue, has its pods ready.
// Mirrors pkg/cache/scheduler/cache.go:PodsReadyForAllAdmittedWorkloads.
bool AllPodsReady(const State& state);
// Lets a cycle that waits for pods go on, with the next one that is asked for, if all are ready now: they
// need be so for a moment only (WaitForPodsReady there wakes at every change).
void ReleaseWaitingCycle(State& state);

// Completes an eviction: the job has stopped, the quota is given back, and the workload queues again.
void ReleaseEvicted(State& state, WorkloadId id);
// A workload that held quota is pending again: off its queue's account and, unless a backoff runs, queued.
void ReturnToPending(State& state, WorkloadId id);
// Gone for good or for now (finished, deactivated, deleted): out of queues and accounts, others are retried.
void LeaveEverything(State& state, WorkloadId id);
// What follows from any write of the workload's status or metadata: one that is over leaves everything once
// more (and wakes others), one that holds quota is counted anew, and one that waits is added to its queue if
// it is missing there. Mirrors the Update handler of pkg/controller/core/workload_controller.go.
void AfterWrite(State& state, WorkloadId id);
// The workload's quota became admitted: settles what is owed.
void AfterAdmission(State& state, WorkloadId id);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_CONTROLLERS_H_
