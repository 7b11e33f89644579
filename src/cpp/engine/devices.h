// Creation, change and deletion of device objects. ResourceClaimTemplates are not watched. Mirrors
// pkg/controller/core/workload_controller.go:deviceClassHandler and
// pkg/controller/core/resourceslice_controller.go (kueue ff69552e79).
#ifndef KUEUE_ENGINE_DEVICES_H_
#define KUEUE_ENGINE_DEVICES_H_

#include <optional>
#include <string>

#include "model/devices.h"
#include "state/state.h"

namespace kueue {

// Create or replace objects, or delete them. If `created` is omitted, the creation time is the time at which
// the class is first applied. `changed` is true if the slice differs from the previously applied one.
void ApplyDeviceClass(State& state, const std::string& name, DeviceClass device_class,
                      std::optional<Time> created);
void DeleteDeviceClass(State& state, const std::string& name);
void ApplyResourceClaimTemplate(State& state, const std::string& ns, const std::string& name,
                                ResourceClaimTemplate spec);
void DeleteResourceClaimTemplate(State& state, const std::string& ns, const std::string& name);
void ApplyResourceSlice(State& state, const std::string& name, ResourceSlice slice, bool changed);
void DeleteResourceSlice(State& state, const std::string& name);

}  // namespace kueue

#endif  // KUEUE_ENGINE_DEVICES_H_
