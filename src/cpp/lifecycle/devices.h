// Workloads that request devices. Only the workload controller adds workloads that request devices to queues;
// the event handlers do not. The workload controller counts the devices of these workloads at each
// reconciliation. Mirrors pkg/controller/core/workload_controller.go:handleDRA,markDRAInadmissible and
// pkg/dra/extended_resources.go:NeedsDRAReconcile (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_DEVICES_H_
#define KUEUE_LIFECYCLE_DEVICES_H_

#include "devices/resolve.h"
#include "state/devices.h"
#include "state/state.h"

namespace kueue {

// Returns whether only the workload controller enqueues the workload while it is pending.
bool NeedsDevices(const State& state, const Workload& workload);
// Same as the overload above, but for the given pod templates, which may have defaults filled in.
bool NeedsDevices(const State& state, const Workload& workload, const std::vector<PodTemplate>& templates);

// Returns the current quota charge for the devices of the workload, or the reason why it cannot be computed.
// Never returns null.
std::shared_ptr<const DeviceOutcome> CountDevices(State& state, const Workload& workload);
// Returns the charge of a pod set from the last successful count, or null if there is none. The next call of
// EditDevices() for the workload invalidates the pointer.
const DeviceCharge* ChargeOf(const Workload& workload, size_t pod_set);

// Result of the first steps of reconciling a pending workload. If `is_over` is true, the reconciliation ends
// after these steps. `changed` is true if these steps changed anything.
struct DeviceLook {
  bool is_over = false;
  bool changed = false;
};
DeviceLook LookAtDevices(State& state, WorkloadId id);

// Counts the devices of a hypothetical workload. If the devices cannot be counted, adds the condition
// QuotaReserved=False with the reason.
void CountForQuestion(State& state, WorkloadId id);
// Returns whether the message is one that LookAtDevices() writes.
bool IsDeviceRefusal(const Message& message);

// Returns a reference to an entry that no other workload shares. Copies the current entry, because other
// workloads may share it, or adds an entry if there is none. The next call of EditDevices() for the same
// workload invalidates the reference.
DeviceQueueing& EditDevices(Workload& workload);
// Records that a workload with devices has changed, so that its next reconciliation requeues it. Workloads
// without devices are requeued immediately instead.
void NoteChange(Workload& workload);
// Removes the recorded devices of a workload that is not in its queue.
void ForgetDevices(Workload& workload);
// Records that the queue's copy of the workload matches the API object again.
void TakeCopyOfApi(Workload& workload);
// Returns whether an admission check of the queue's copy of the workload is Retry or Rejected. Events do not
// update the copies of workloads with devices.
bool HasFailedChecks(const Workload& workload);

// Marks all pending workloads with devices for reconciliation if a device object changed, or unconditionally
// if `all` is set.
void MarkDevicesDirty(State& state, bool all);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_DEVICES_H_
