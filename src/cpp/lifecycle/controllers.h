// Kueue's workload controller and job controllers. Both controllers run between cycles. Mirrors
// pkg/controller/core/workload_controller.go:Reconcile and
// pkg/controller/jobframework/reconciler.go:ReconcileGenericJob (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_CONTROLLERS_H_
#define KUEUE_LIFECYCLE_CONTROLLERS_H_

#include <vector>

#include "state/state.h"

namespace kueue {

// Runs both controllers on every workload that may need them, in the order of `namespace/name`, and repeats
// these runs until nothing changes. Handles timeouts, backoffs and limits that have expired at State::now. If
// `all_devices` is true, reconciles every pending workload with devices, even if nothing changed for that
// workload.
void Settle(State& state, bool all_devices = false);

// Runs the workload controller for one workload. Returns whether the call changed anything.
bool ReconcileWorkload(State& state, WorkloadId id);
// Runs the job controller for one workload: reports the readiness of its pods, and stops the job if the
// workload was evicted. Returns whether the call changed anything.
bool ReconcileJob(State& state, WorkloadId id);

// Returns true if the pods of all workloads with a quota reservation, in all queues, are ready. Mirrors
// pkg/cache/scheduler/cache.go:PodsReadyForAllAdmittedWorkloads.
bool AllPodsReady(const State& state);
// Releases a blocked cycle if all pods are ready now. The next call that runs a cycle continues the blocked
// cycle, even if pods are no longer ready by then (Kueue's WaitForPodsReady wakes up at every change).
void ReleaseWaitingCycle(State& state);

// Notes the time at which the retention of the workload is over, if it is finished or Kueue deactivated it.
void NoteRetention(State& state, WorkloadId id);
// Returns the workloads whose retention (objectRetentionPolicies) is over, in the order of these times. The
// caller deletes them.
std::vector<WorkloadId> ExpiredWorkloads(State& state);

// Completes an eviction whose job has stopped: releases the quota and requeues the workload.
void ReleaseEvicted(State& state, WorkloadId id);
// Makes a workload that held quota pending again: subtracts its usage from its queue and, unless a
// backoff is running, enqueues it.
void ReturnToPending(State& state, WorkloadId id);
// Handles a workload that is finished, deactivated or deleted: removes it from its queue, subtracts
// its usage, and schedules a retry of inadmissible workloads.
void LeaveEverything(State& state, WorkloadId id);
// Handles a write of the workload's status or metadata. If the workload is finished, removes it from its
// queue, subtracts its usage, and triggers retries. If the workload holds quota, updates its usage. If the
// workload is pending and not in its queue, enqueues it. Mirrors the Update handler of
// pkg/controller/core/workload_controller.go.
void AfterWrite(State& state, WorkloadId id);
// Handles the admission of a workload with a quota reservation: adds its pending entry penalty to the
// consumed usage.
void AfterAdmission(State& state, WorkloadId id);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_CONTROLLERS_H_
