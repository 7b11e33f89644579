#include "engine/devices.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "lifecycle/conditions.h"
#include "lifecycle/devices.h"
#include "lifecycle/queueing.h"

namespace kueue {
namespace {

// Copies the objects before a change, since states share them.
DeviceObjects& EditDeviceObjects(State& state) {
  auto own =
      state.devices ? std::make_shared<DeviceObjects>(*state.devices) : std::make_shared<DeviceObjects>();
  DeviceObjects& edited = *own;
  state.devices = std::move(own);
  state.devices_changed = true;
  state.caches.devices.Clear();
  return edited;
}

// Schedules pending workloads that request the resource for reconciliation. Workloads that need no devices,
// or no longer need them, are enqueued immediately.
void RetryRequesting(State& state, const std::string& resource) {
  if (resource.empty() || !state.config.gates.dra_extended_resource) return;
  for (WorkloadId id : state.Living()) {
    const Workload& workload = state.At(id);
    if (workload.HasQuotaReservation() || !RequestsResource(*workload.spec, resource)) continue;
    if (IsAdmissible(state, workload) && !NeedsDevices(state, workload))
      AddOrUpdate(state, id, /*changed=*/false);
    state.MarkDirty(id);
  }
}

// Retries queues after a change of a slice. If sources refer to its driver, retries the queues that cover the
// resources charged by these sources.
void RetryForSlice(State& state, const std::string& driver) {
  const FeatureGates& gates = state.config.gates;
  if (!gates.dra_partitionable_devices && !gates.dra_consumable_capacity) return;
  std::set<std::string> charged;
  bool named = false;
  for (const DeviceClassMapping& mapping : state.config.device_class_mappings) {
    for (const DeviceSource& source : mapping.sources) {
      charged.insert(mapping.name);
      named = named || source.driver == driver;
    }
  }
  if (!named) return;
  for (NodeId node : state.forest().Queues()) {
    const std::vector<ResourceGroup>& groups = state.Queue(node).spec.resource_groups;
    const bool covers = std::any_of(groups.begin(), groups.end(), [&charged](const ResourceGroup& group) {
      return std::any_of(group.covered_resources.begin(), group.covered_resources.end(),
                         [&charged](const std::string& name) { return charged.count(name) != 0; });
    });
    if (covers) state.NotifyRetry(node);
  }
}

}  // namespace

void ApplyDeviceClass(State& state, const std::string& name, DeviceClass device_class,
                      std::optional<Time> created) {
  std::string before;
  DeviceObjects& objects = EditDeviceObjects(state);
  std::shared_ptr<const DeviceClass>& known = objects.classes[name];
  device_class.created = created.value_or(known ? known->created : state.now);
  if (known) before = known->extended_resource_name;
  const std::string after = device_class.extended_resource_name;
  known = std::make_shared<const DeviceClass>(std::move(device_class));
  RetryRequesting(state, before);
  if (after != before) RetryRequesting(state, after);
}

void DeleteDeviceClass(State& state, const std::string& name) {
  if (state.devices == nullptr || state.devices->classes.count(name) == 0) return;
  const std::string resource = state.devices->classes.at(name)->extended_resource_name;
  EditDeviceObjects(state).classes.erase(name);
  RetryRequesting(state, resource);
}

void ApplyResourceClaimTemplate(State& state, const std::string& ns, const std::string& name,
                                ResourceClaimTemplate spec) {
  EditDeviceObjects(state).templates[ns + "/" + name] =
      std::make_shared<const ResourceClaimTemplate>(std::move(spec));
}

void DeleteResourceClaimTemplate(State& state, const std::string& ns, const std::string& name) {
  if (state.devices != nullptr) EditDeviceObjects(state).templates.erase(ns + "/" + name);
}

void ApplyResourceSlice(State& state, const std::string& name, ResourceSlice slice, bool changed) {
  if (!changed && state.devices != nullptr && state.devices->slices.count(name) != 0) return;
  const std::string driver = slice.driver;
  EditDeviceObjects(state).slices[name] = std::make_shared<const ResourceSlice>(std::move(slice));
  RetryForSlice(state, driver);
}

void DeleteResourceSlice(State& state, const std::string& name) {
  if (state.devices == nullptr || state.devices->slices.count(name) == 0) return;
  const std::string driver = state.devices->slices.at(name)->driver;
  EditDeviceObjects(state).slices.erase(name);
  RetryForSlice(state, driver);
}

}  // namespace kueue
