// From the claims and extended resources of a workload to what it is charged for its devices.
// Mirrors pkg/controller/core/workload_controller.go:handleDRA and pkg/dra/mapper.go (kueue ff69552e79).
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

// What the lookups below read; it outlives them.
struct DeviceContext {
  const DeviceObjects& objects;
  const Config& config;
};

// A pod set of the workload; defaults are filled in.
struct DevicePodSet {
  std::string name;
  const PodTemplate* pod;
};

// A source of a device class, with the logical resource that it charges.
struct ClassSource {
  const DeviceSource* source;
  const std::string* logical;
};

// The logical resource of a device class; null where no mapping names it.
const std::string* LogicalResource(const Config& config, const std::string& device_class);
// The counters, or the capacities, of a device class, in the order of the mappings.
std::vector<ClassSource> CountersOf(const Config& config, const std::string& device_class);
std::vector<ClassSource> CapacitiesOf(const Config& config, const std::string& device_class);
// Whether amounts of the resource are printed as those of memory: some counter or capacity is charged to it
// (pkg/resources/resource_formatter.go).
bool IsChargedBySource(const Config& config, absl::string_view resource);

// Whether the name is one of an extended resource (pkg/util/resource/resource.go:IsExtendedResourceName).
bool IsExtendedResource(absl::string_view name);
// Whether some device class has it as its extended resource.
bool IsBackedByDevices(const DeviceObjects& objects, absl::string_view resource);

// Either charges by pod set, or why there are none.
struct DeviceOutcome {
  std::shared_ptr<const DeviceCharges> charges;  // null: refused
  std::string refusal;
};
DeviceOutcome ResolveDevices(const DeviceContext& context, const std::string& ns,
                             const std::vector<DevicePodSet>& pod_sets);

// An injective text of all that the outcome depends on, beside the objects of devices and the configuration.
std::string CountingKey(const std::string& ns, const std::vector<DevicePodSet>& pod_sets);

// The steps of it. Each adds to the charges, or returns errors.
FieldErrors CountClaims(const DeviceContext& context, const std::string& ns,
                        const std::vector<DevicePodSet>& pod_sets, DeviceCharges* charges);
FieldErrors CountExtendedResources(const DeviceContext& context, const std::vector<DevicePodSet>& pod_sets,
                                   DeviceCharges* charges);
FieldErrors CountSources(const DeviceContext& context, const std::string& ns,
                         const std::vector<DevicePodSet>& pod_sets, bool capacities, DeviceCharges* charges);

}  // namespace kueue

#endif  // KUEUE_DEVICES_RESOLVE_H_
