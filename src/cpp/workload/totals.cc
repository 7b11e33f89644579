// Requests of one pod. Mirrors PodRequests of k8s.io/component-helpers/resource/helpers.go and
// pkg/workload/{resources,workload}.go:AdjustResources, dropExcludedResources (kueue ff69552e79).
#include "workload/totals.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "workload/limit_range.h"
#include "workload/resource_list.h"
#include "workload/transformation.h"

namespace kueue {
namespace {

void AdjustContainer(Container* container, const std::optional<LimitRange::Item>& defaults) {
  if (defaults) {
    FillIn(&container->limits, defaults->default_limit);
    FillIn(&container->requests, defaults->default_request);
  }
  FillIn(&container->requests, container->limits);
}

// Resources that a pod-level request may contain.
bool IsPodLevelResource(absl::string_view name) {
  return name == "cpu" || name == "memory" || absl::StartsWith(name, "hugepages-");
}

// While an init container runs, the sidecars started before it run too. Sidecars also run while the
// containers run.
void AddInitContainers(const std::vector<Container>& init_containers, ResourceList* sum) {
  ResourceList sidecars, highest;
  for (const Container& container : init_containers) {
    if (container.restarts_always) {
      AddTo(sum, container.requests);
      AddTo(&sidecars, container.requests);
      RaiseTo(&highest, sidecars);
    } else {
      ResourceList need = container.requests;
      AddTo(&need, sidecars);
      RaiseTo(&highest, need);
    }
  }
  RaiseTo(sum, highest);
}

// Fast path for the most common kind of pod, which has a single container with requests and nothing else.
const ResourceList* OnlyRequests(const PodTemplate& pod) {
  const bool usual = pod.containers.size() == 1 && pod.init_containers.empty() && !pod.has_resources;
  return usual && pod.overhead.empty() ? &pod.containers.front().requests : nullptr;
}

bool IsExcluded(absl::string_view name, const RequestsConfig& config) {
  return std::any_of(config.excluded_prefixes.begin(), config.excluded_prefixes.end(),
                     [name](const std::string& prefix) { return absl::StartsWith(name, prefix); });
}

ResourceList WithoutExcluded(const ResourceList& requests, const RequestsConfig& config) {
  ResourceList counted;
  for (const auto& [name, quantity] : requests) {
    if (!IsExcluded(name, config)) counted.emplace_hint(counted.end(), name, quantity);
  }
  return counted;
}

std::vector<std::pair<std::string, int64_t>> ToIntegers(const ResourceList& requests) {
  std::vector<std::pair<std::string, int64_t>> integers;
  integers.reserve(requests.size());
  for (const auto& [name, quantity] : requests) {
    integers.emplace_back(name, std::max<int64_t>(ResourceValue(name, quantity), 0));
  }
  std::sort(integers.begin(), integers.end(), [](const auto& a, const auto& b) {
    const uint64_t left = ResourceOrder(a.first), right = ResourceOrder(b.first);
    return left != right ? left < right : a.first < b.first;
  });
  return integers;
}

}  // namespace

uint64_t ResourceOrder(absl::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

PodTemplate Adjust(PodTemplate pod, const std::map<std::string, RuntimeClass>& runtime_classes,
                   const std::map<std::string, LimitRange>& limit_ranges) {
  if (pod.overhead.empty() && !pod.runtime_class_name.empty()) {
    const auto runtime_class = runtime_classes.find(pod.runtime_class_name);
    if (runtime_class != runtime_classes.end()) pod.overhead = runtime_class->second.pod_fixed;
  }
  const std::optional<LimitRange::Item> defaults = Summarize(limit_ranges, "Container");
  for (Container& container : pod.init_containers) AdjustContainer(&container, defaults);
  for (Container& container : pod.containers) AdjustContainer(&container, defaults);
  if (pod.has_resources) AdjustContainer(&pod.resources, Summarize(limit_ranges, "Pod"));
  return pod;
}

ResourceList PodRequests(const PodTemplate& pod) {
  ResourceList sum;
  for (const Container& container : pod.containers) AddTo(&sum, container.requests);
  AddInitContainers(pod.init_containers, &sum);
  if (pod.has_resources) {
    for (const auto& [name, quantity] : pod.resources.requests) {
      if (IsPodLevelResource(name)) sum[name] = quantity;
    }
  }
  AddTo(&sum, pod.overhead);
  return sum;
}

std::vector<std::pair<std::string, int64_t>> PerPodRequests(const PodTemplate& pod,
                                                            const RequestsConfig& config,
                                                            const DeviceCharge* devices) {
  const ResourceList* const only = OnlyRequests(pod);
  const bool as_they_are = config.excluded_prefixes.empty() && config.transformations.empty();
  if (only != nullptr && as_they_are && devices == nullptr) return ToIntegers(*only);
  ResourceList requests = only != nullptr ? *only : PodRequests(pod);
  if (!as_they_are) requests = Transform(WithoutExcluded(requests, config), config.transformations);
  if (devices != nullptr) {
    for (const std::string& name : devices->replaced) requests.erase(name);
    AddTo(&requests, devices->amounts);
  }
  return ToIntegers(requests);
}

}  // namespace kueue
