// Workloads that ask for devices: the workload controller counts the devices at each look, and puts the
// workload into its queue with that count. No event handler does. Mirrors
// pkg/controller/core/workload_controller.go:handleDRA,markDRAInadmissible and
// pkg/dra/extended_resources.go:NeedsDRAReconcile (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_DEVICES_H_
#define KUEUE_LIFECYCLE_DEVICES_H_

#include "devices/resolve.h"
#include "state/devices.h"
#include "state/state.h"

namespace kueue {

// Whether the workload controller, and it alone, puts the workload into its queue while it is pending.
bool NeedsDevices(const State& state, const Workload& workload);
// The same if its pods were those: some defaults may be filled in.
bool NeedsDevices(const State& state, const Workload& workload, const std::vector<PodTemplate>& templates);

// What the workload is charged for its devices as of now, or why it is refused.
std::shared_ptr<const DeviceOutcome> CountDevices(State& state, const Workload& workload);
// The charge of a pod set as of the last count; null where there is none.
const DeviceCharge* ChargeOf(const Workload& workload, size_t pod_set);

// The steps of a look at a pending workload that come before all others: whether the look is over, and
// whether it changed anything.
struct DeviceLook {
  bool is_over = false;
  bool changed = false;
};
DeviceLook LookAtDevices(State& state, WorkloadId id);

// The same of a workload that is only asked about: its devices are counted, or its condition says why they
// are not.
void CountForQuestion(State& state, WorkloadId id);
// Whether the message is one that such a look leaves.
bool IsDeviceRefusal(const Message& message);

// For writing; a workload that had none gets an entry.
DeviceQueueing& EditDevices(Workload& workload);
// An event that would put an ordinary workload back into its queue, or move it there.
void NoteChange(Workload& workload);
// It is in no queue and no LocalQueue's list any more, and nothing is known of its devices.
void ForgetDevices(Workload& workload);
// Its spec changed. Whether it did since the last time that this was asked.
void NoteSpec(const State& state, Workload& workload);
bool TakeNoteOfSpec(Workload& workload);
// It is in no LocalQueue's list any more.
void Unlist(Workload& workload);
// The queue has a copy of the workload as the API has it.
void TakeCopyOfApi(Workload& workload);

// The controllers look again at every pending workload with devices, if something changed that devices depend
// on, or in any case.
void MarkDevicesDirty(State& state, bool all);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_DEVICES_H_
