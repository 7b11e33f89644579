// Computes the quota charge for the devices of a workload from its claims and extended resources. Mirrors
// pkg/controller/core/workload_controller.go:handleDRA and pkg/dra/mapper.go (kueue ff69552e79).
#ifndef KUEUE_DEVICES_RESOLVE_H_
#define KUEUE_DEVICES_RESOLVE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "devices/faults.h"
#include "model/config.h"
#include "model/devices.h"

namespace kueue {

// Input of the functions that compute the charges for devices. The referenced objects must outlive the
// context.
struct DeviceContext {
  const DeviceObjects& objects;
  const Config& config;
};

// A pod set of the workload, with defaults filled in.
struct DevicePodSet {
  std::string name;
  const PodTemplate* pod;
};

// A source of a device class, and the logical resource that the source charges.
struct ClassSource {
  const DeviceSource* source;
  const std::string* logical;
};

// Returns the logical resource of a device class, or null if no mapping contains the class.
const std::string* LogicalResource(const Config& config, const std::string& device_class);
// Return the counters or the capacities of a device class, in the order of the mappings.
std::vector<ClassSource> CountersOf(const Config& config, const std::string& device_class);
std::vector<ClassSource> CapacitiesOf(const Config& config, const std::string& device_class);
// Returns whether amounts of the resource are printed in bytes, like memory. Amounts are printed in bytes if
// a counter or a capacity is charged to the resource (pkg/resources/resource_formatter.go).
bool IsChargedBySource(const Config& config, absl::string_view resource);

// Returns whether `name` is the name of an extended resource
// (pkg/util/resource/resource.go:IsExtendedResourceName).
bool IsExtendedResource(absl::string_view name);
// Returns whether a device class declares this name as its extended resource.
bool IsBackedByDevices(const DeviceObjects& objects, absl::string_view resource);

// Outcome of ResolveDevices(): the charges by pod set, or the reason why they cannot be computed.
struct DeviceOutcome {
  std::shared_ptr<const DeviceCharges> charges;  // Null: refused.
  std::string refusal;
};
DeviceOutcome ResolveDevices(const DeviceContext& context, const std::string& ns,
                             const std::vector<DevicePodSet>& pod_sets);

// Returns a cache key for ResolveDevices(). Equal keys imply equal outcomes as long as the device objects and
// the configuration do not change.
std::string CountingKey(const std::string& ns, const std::vector<DevicePodSet>& pod_sets);

// Steps of ResolveDevices(). Each step adds amounts to the charges or returns errors.
FieldErrors CountClaims(const DeviceContext& context, const std::string& ns,
                        const std::vector<DevicePodSet>& pod_sets, DeviceCharges* charges);
FieldErrors CountExtendedResources(const DeviceContext& context, const std::vector<DevicePodSet>& pod_sets,
                                   DeviceCharges* charges);
FieldErrors CountSources(const DeviceContext& context, const std::string& ns,
                         const std::vector<DevicePodSet>& pod_sets, bool capacities, DeviceCharges* charges);

}  // namespace kueue

#endif  // KUEUE_DEVICES_RESOLVE_H_
