// Whether a workload asks for devices.
// Mirrors pkg/dra/extended_resources.go:NeedsDRAReconcile and pkg/workload/workload.go:HasDRA (kueue
// ff69552e79).
#ifndef KUEUE_STATE_DEVICES_H_
#define KUEUE_STATE_DEVICES_H_

#include <vector>

#include "state/state.h"

namespace kueue {

// Whether the workload has claims of devices, by template or by name.
bool HasClaims(const WorkloadSpec& spec);
// Whether some container requests this extended resource.
bool RequestsResource(const WorkloadSpec& spec, absl::string_view resource);
// Whether some pod requests an extended resource that a device class has.
bool RequestsDevices(const State& state, const PodTemplate& pod);
// Whether such requests count as devices at all.
bool CountsExtendedResources(const State& state);
// Whether the workload controller has a say in this workload's devices.
bool AsksForDevices(const State& state, const WorkloadSpec& spec);

}  // namespace kueue

#endif  // KUEUE_STATE_DEVICES_H_
