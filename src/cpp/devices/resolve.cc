// Mirrors pkg/controller/core/workload_controller.go:handleDRA and pkg/dra/mapper.go (kueue ff69552e79).
#include "devices/resolve.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/key.h"

namespace kueue {
namespace {

bool Names(const DeviceClassMapping& mapping, const std::string& device_class) {
  const std::vector<std::string>& names = mapping.device_class_names;
  return std::find(names.begin(), names.end(), device_class) != names.end();
}

std::vector<ClassSource> SourcesOf(const Config& config, const std::string& device_class, bool capacities) {
  std::vector<ClassSource> sources;
  for (const DeviceClassMapping& mapping : config.device_class_mappings) {
    if (!Names(mapping, device_class)) continue;
    for (const DeviceSource& source : mapping.sources) {
      if (source.is_capacity == capacities) sources.push_back({&source, &mapping.name});
    }
  }
  return sources;
}

bool HasClaimByName(const std::vector<DevicePodSet>& pod_sets) {
  return std::any_of(pod_sets.begin(), pod_sets.end(), [](const DevicePodSet& pod_set) {
    const std::vector<PodResourceClaim>& claims = pod_set.pod->resource_claims;
    return std::any_of(claims.begin(), claims.end(),
                       [](const PodResourceClaim& claim) { return claim.claim_name.has_value(); });
  });
}

}  // namespace

const std::string* LogicalResource(const Config& config, const std::string& device_class) {
  for (const DeviceClassMapping& mapping : config.device_class_mappings) {
    if (Names(mapping, device_class)) return &mapping.name;
  }
  return nullptr;
}

std::vector<ClassSource> CountersOf(const Config& config, const std::string& device_class) {
  return SourcesOf(config, device_class, /*capacities=*/false);
}

// All capacities of a class are charged to the resource of the first mapping that contains the class.
std::vector<ClassSource> CapacitiesOf(const Config& config, const std::string& device_class) {
  std::vector<ClassSource> sources = SourcesOf(config, device_class, /*capacities=*/true);
  for (ClassSource& source : sources) source.logical = LogicalResource(config, device_class);
  return sources;
}

bool IsChargedBySource(const Config& config, absl::string_view resource) {
  for (const DeviceClassMapping& mapping : config.device_class_mappings) {
    for (const DeviceSource& source : mapping.sources) {
      if (!source.is_capacity && mapping.name == resource) return true;
      if (!source.is_capacity) continue;
      for (const std::string& device_class : mapping.device_class_names) {
        if (*LogicalResource(config, device_class) == resource) return true;
      }
    }
  }
  return false;
}

bool IsExtendedResource(absl::string_view name) {
  return absl::StrContains(name, "/") && !absl::StartsWith(name, "kubernetes.io/") &&
         !absl::StartsWith(name, "hugepages-");
}

bool IsBackedByDevices(const DeviceObjects& objects, absl::string_view resource) {
  return std::any_of(objects.classes.begin(), objects.classes.end(),
                     [&](const auto& entry) { return entry.second->extended_resource_name == resource; });
}

namespace {

void AppendName(std::string* key, const std::optional<std::string>& name) {
  if (name) AppendPart(*key, *name);
  *key += ';';
}

void AppendRequests(std::string* key, const std::vector<Container>& containers) {
  for (const Container& container : containers) {
    for (const auto& [name, quantity] : container.requests) {
      if (!IsExtendedResource(name)) continue;
      AppendPart(*key, name);
      AppendPart(*key, quantity.ToText());
    }
    *key += '|';
  }
  *key += ';';
}

}  // namespace

std::string CountingKey(const std::string& ns, const std::vector<DevicePodSet>& pod_sets) {
  std::string key;
  AppendPart(key, ns);
  for (const DevicePodSet& pod_set : pod_sets) {
    AppendPart(key, pod_set.name);
    for (const PodResourceClaim& claim : pod_set.pod->resource_claims) {
      AppendName(&key, claim.template_name);
      AppendName(&key, claim.claim_name);
    }
    key += '/';
    AppendRequests(&key, pod_set.pod->init_containers);
    AppendRequests(&key, pod_set.pod->containers);
  }
  return key;
}

DeviceOutcome ResolveDevices(const DeviceContext& context, const std::string& ns,
                             const std::vector<DevicePodSet>& pod_sets) {
  const FeatureGates& gates = context.config.gates;
  if (HasClaimByName(pod_sets)) {
    const char* const feature =
        context.config.rules.devices_by_count_only ? "DynamicResourceAllocation" : "KueueDRAIntegration";
    return {nullptr, absl::StrCat(feature, " feature does not support use of resource claims")};
  }
  auto charges = std::make_shared<DeviceCharges>();
  charges->pod_sets.resize(pod_sets.size());
  FieldErrors errors = CountClaims(context, ns, pod_sets, charges.get());
  if (errors.empty() && gates.dra_extended_resource)
    errors = CountExtendedResources(context, pod_sets, charges.get());
  if (errors.empty() && gates.dra_partitionable_devices)
    errors = CountSources(context, ns, pod_sets, /*capacities=*/false, charges.get());
  if (errors.empty() && gates.dra_consumable_capacity)
    errors = CountSources(context, ns, pod_sets, /*capacities=*/true, charges.get());
  if (!errors.empty()) return {nullptr, Aggregated(errors)};
  return {std::move(charges), ""};
}

}  // namespace kueue
