// Creation, change and deletion of device objects. ResourceClaimTemplates are not watched. Mirrors
// pkg/controller/core/workload_controller.go:deviceClassHandler and
// pkg/controller/core/resourceslice_controller.go (kueue ff69552e79).
#include "lifecycle/devices.h"

#include <algorithm>
#include <set>

#include "engine/engine.h"
#include "lifecycle/conditions.h"
#include "lifecycle/queueing.h"

namespace kueue {

// Copies the objects before a change, since states share them.
DeviceObjects& Engine::EditDeviceObjects() {
  auto own =
      state_.devices ? std::make_shared<DeviceObjects>(*state_.devices) : std::make_shared<DeviceObjects>();
  DeviceObjects& edited = *own;
  state_.devices = std::move(own);
  state_.devices_changed = true;
  state_.caches.devices.Clear();
  return edited;
}

// Schedules pending workloads that request the resource for reconciliation. Workloads that need no devices,
// or no longer need them, are enqueued immediately.
void Engine::RetryRequesting(const std::string& resource) {
  if (resource.empty() || !state_.config.gates.dra_extended_resource) return;
  for (WorkloadId id : state_.Living()) {
    const Workload& workload = state_.At(id);
    if (workload.HasQuotaReservation() || !RequestsResource(*workload.spec, resource)) continue;
    if (IsAdmissible(state_, workload) && !NeedsDevices(state_, workload))
      AddOrUpdate(state_, id, /*changed=*/false);
    state_.MarkDirty(id);
  }
}

void Engine::ApplyDeviceClass(const std::string& name, DeviceClass device_class,
                              std::optional<Time> created) {
  std::string before;
  DeviceObjects& objects = EditDeviceObjects();
  std::shared_ptr<const DeviceClass>& known = objects.classes[name];
  device_class.created = created.value_or(known ? known->created : state_.now);
  if (known) before = known->extended_resource_name;
  const std::string after = device_class.extended_resource_name;
  known = std::make_shared<const DeviceClass>(std::move(device_class));
  RetryRequesting(before);
  if (after != before) RetryRequesting(after);
}

void Engine::DeleteDeviceClass(const std::string& name) {
  if (state_.devices == nullptr || state_.devices->classes.count(name) == 0) return;
  const std::string resource = state_.devices->classes.at(name)->extended_resource_name;
  EditDeviceObjects().classes.erase(name);
  RetryRequesting(resource);
}

void Engine::ApplyResourceClaimTemplate(const std::string& ns, const std::string& name,
                                        ResourceClaimTemplate spec) {
  EditDeviceObjects().templates[ns + "/" + name] =
      std::make_shared<const ResourceClaimTemplate>(std::move(spec));
}

void Engine::DeleteResourceClaimTemplate(const std::string& ns, const std::string& name) {
  if (state_.devices != nullptr) EditDeviceObjects().templates.erase(ns + "/" + name);
}

// Retries queues after a change of a slice. If sources refer to its driver, retries the queues that cover the
// resources charged by these sources.
void Engine::RetryForSlice(const std::string& driver) {
  const FeatureGates& gates = state_.config.gates;
  if (!gates.dra_partitionable_devices && !gates.dra_consumable_capacity) return;
  std::set<std::string> charged;
  bool named = false;
  for (const DeviceClassMapping& mapping : state_.config.device_class_mappings) {
    for (const DeviceSource& source : mapping.sources) {
      charged.insert(mapping.name);
      named = named || source.driver == driver;
    }
  }
  if (!named) return;
  for (NodeId node : state_.forest().Queues()) {
    const std::vector<ResourceGroup>& groups = state_.Queue(node).spec.resource_groups;
    const bool covers = std::any_of(groups.begin(), groups.end(), [&charged](const ResourceGroup& group) {
      return std::any_of(group.covered_resources.begin(), group.covered_resources.end(),
                         [&charged](const std::string& name) { return charged.count(name) != 0; });
    });
    if (covers) state_.NotifyRetry(node);
  }
}

void Engine::ApplyResourceSlice(const std::string& name, ResourceSlice slice, bool changed) {
  if (!changed && state_.devices != nullptr && state_.devices->slices.count(name) != 0) return;
  const std::string driver = slice.driver;
  EditDeviceObjects().slices[name] = std::make_shared<const ResourceSlice>(std::move(slice));
  RetryForSlice(driver);
}

void Engine::DeleteResourceSlice(const std::string& name) {
  if (state_.devices == nullptr || state_.devices->slices.count(name) == 0) return;
  const std::string driver = state_.devices->slices.at(name)->driver;
  EditDeviceObjects().slices.erase(name);
  RetryForSlice(driver);
}

}  // namespace kueue
