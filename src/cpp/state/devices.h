// Functions that determine whether a workload requests devices. Mirrors
// pkg/dra/extended_resources.go:NeedsDRAReconcile and pkg/workload/workload.go:HasDRA (kueue ff69552e79).
#ifndef KUEUE_STATE_DEVICES_H_
#define KUEUE_STATE_DEVICES_H_

#include <vector>

#include "state/state.h"

namespace kueue {

// Returns whether the workload has resource claims, either from a template or by name.
bool HasClaims(const WorkloadSpec& spec);
// Returns whether `resource` is an extended resource and a container requests it.
bool RequestsResource(const WorkloadSpec& spec, absl::string_view resource);
// Returns whether the pod requests an extended resource that is backed by a device class; in releases up to
// v0.17, whether it requests any extended resource. Requires CountsExtendedResources().
bool RequestsDevices(const State& state, const PodTemplate& pod);
// Returns whether requests for extended resources are counted as devices.
bool CountsExtendedResources(const State& state);
// Returns whether the workload controller must process the devices of the workload.
bool AsksForDevices(const State& state, const WorkloadSpec& spec);

}  // namespace kueue

#endif  // KUEUE_STATE_DEVICES_H_
