// Extended resources backed by a device class. Mirrors
// pkg/dra/extended_resources.go:ResolveExtendedResourceQuota (kueue ff69552e79).
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "devices/resolve.h"
#include "workload/resource_list.h"

namespace kueue {
namespace {

// Requests of a container for extended resources, with the path of the container.
struct Requesting {
  std::string path;
  ResourceList requests;
};

std::vector<Requesting> Collect(const std::vector<Container>& containers, const std::string& path) {
  std::vector<Requesting> found;
  for (size_t i = 0; i < containers.size(); ++i) {
    ResourceList requests;
    for (const auto& [name, quantity] : containers[i].requests) {
      if (!quantity.IsZero() && !quantity.IsNegative() && IsExtendedResource(name))
        requests.emplace(name, quantity);
    }
    if (!requests.empty()) found.push_back({absl::StrCat(path, "[", i, "]"), std::move(requests)});
  }
  return found;
}

bool IsInt64(const Quantity& quantity) {
  static const Quantity* const most = new Quantity(INT64_MAX);
  return quantity.value().IsInteger() && quantity <= *most;
}

// Go parses a quantity with more digits into a representation that is never treated as an integer
// (k8s.io/apimachinery/pkg/api/resource/quantity.go:ParseQuantity,AsInt64).
bool IsReadAsInt64(const Quantity& quantity) {
  constexpr size_t kMostDigits = 18, kMostBits = 15;
  if (!IsInt64(quantity)) return false;
  const std::string text = quantity.ToText();
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const bool binary = !text.empty() && text.back() == 'i';
  if (!binary) return digits <= kMostDigits;
  const size_t exponent = 10 * (absl::string_view("KMGTPE").find(text[digits]) + 1);
  return digits + exponent * 3 / 10 + 1 <= kMostBits;
}

FieldError NotInteger(const std::string& container, const std::string& resource, const Quantity& quantity) {
  return Invalid(absl::StrCat(container, ".resources.requests.", resource),
                 "extended resource quantity must be an integer", GoQuote(quantity.ToText()));
}

// Returns the total of a pod: init containers run one after another, all other containers at the same time.
ResourceList PodTotal(const std::vector<Requesting>& init, const std::vector<Requesting>& regular) {
  ResourceList highest, sum;
  for (const Requesting& one : init) RaiseTo(&highest, one.requests);
  for (const Requesting& one : regular) AddTo(&sum, one.requests);
  RaiseTo(&highest, sum);
  return highest;
}

// Returns the class that Kubernetes selects: the class that was created last. Ties are broken by name.
// Creation times are compared in seconds.
const std::string* ClassBehind(const DeviceObjects& objects, const std::string& resource) {
  const std::string* selected = nullptr;
  Time created = 0;
  for (const auto& [name, device_class] : objects.classes) {
    if (device_class->extended_resource_name != resource) continue;
    const Time second = device_class->created / kSecond;
    if (selected != nullptr && second <= created) continue;
    selected = &name;
    created = second;
  }
  return selected;
}

class PodSetResources {
 public:
  PodSetResources(const DeviceContext& context, const DevicePodSet& pod_set, const std::string& path)
      : context_(context),
        init_(Collect(pod_set.pod->init_containers, path + ".initContainers")),
        regular_(Collect(pod_set.pod->containers, path + ".containers")) {}

  void Count(FieldErrors* errors, DeviceCharge* charge) const {
    for (const auto& [resource, quantity] : PodTotal(init_, regular_)) {
      FieldErrors found = Charge(resource, quantity, charge);
      errors->insert(errors->end(), found.begin(), found.end());
    }
  }

 private:
  FieldErrors Charge(const std::string& resource, const Quantity& quantity, DeviceCharge* charge) const {
    const std::string* const device_class = ClassBehind(context_.objects, resource);
    if (device_class == nullptr) return {};
    const std::string* logical = LogicalResource(context_.config, *device_class);
    FieldErrors errors = RefuseSources(resource, *device_class);
    if (errors.empty()) errors = RequireIntegers(resource);
    if (!errors.empty()) return errors;
    if (!IsInt64(quantity)) {
      return {Invalid(absl::StrCat(FirstPath(resource), ".resources.requests.", resource),
                      "total extended resource quantity overflows int64", GoQuote(quantity.ToText()))};
    }
    charge->replaced.insert(resource);
    charge->amounts[logical == nullptr ? resource : *logical] += Quantity(quantity.value().ToInt64());
    return {};
  }

  FieldErrors RefuseSources(const std::string& resource, const std::string& device_class) const {
    const FeatureGates& gates = context_.config.gates;
    const std::string resolves =
        absl::StrCat("extended resource ", resource, " resolves to DeviceClass ", device_class);
    if (gates.dra_partitionable_devices && !CountersOf(context_.config, device_class).empty()) {
      return {Invalid(FirstPath(resource),
                      absl::StrCat(resolves,
                                   " with counters configured; use ResourceClaimTemplates with CEL "
                                   "selectors for counter-based quota"),
                      GoQuote(resource))};
    }
    if (gates.dra_consumable_capacity && !CapacitiesOf(context_.config, device_class).empty()) {
      return {Invalid(FirstPath(resource),
                      absl::StrCat(resolves,
                                   " with capacity sources configured; use ResourceClaimTemplates "
                                   "with capacity.requests for capacity-based quota"),
                      GoQuote(resource))};
    }
    return {};
  }

  // Checks each container separately, so that fractions that add up to an integer are detected.
  FieldErrors RequireIntegers(const std::string& resource) const {
    FieldErrors errors;
    for (const std::vector<Requesting>* part : {&init_, &regular_}) {
      for (const Requesting& one : *part) {
        const auto found = one.requests.find(resource);
        if (found == one.requests.end() || IsReadAsInt64(found->second)) continue;
        errors.push_back(NotInteger(one.path, resource, found->second));
      }
    }
    return errors;
  }

  const std::string& FirstPath(const std::string& resource) const {
    for (const std::vector<Requesting>* part : {&init_, &regular_}) {
      for (const Requesting& one : *part) {
        if (one.requests.count(resource) != 0) return one.path;
      }
    }
    static const std::string* const none = new std::string;
    return *none;
  }

  const DeviceContext& context_;
  const std::vector<Requesting> init_, regular_;
};

// Returns the resource to which releases up to v0.17 charge an extended resource. If several classes with
// this resource are mapped, those releases use any of them; this function uses the first one by name.
const std::string& FirstMapped(const DeviceContext& context, const std::string& resource) {
  for (const auto& [name, device_class] : context.objects.classes) {
    if (device_class->extended_resource_name != resource) continue;
    if (const std::string* const logical = LogicalResource(context.config, name)) return *logical;
  }
  return resource;
}

// Counts the resources of one pod set as releases up to v0.17: the requests of each container are translated
// before the containers are combined (pkg/dra/extended_resources.go, kueue v0.17.8).
class ContainerResources {
 public:
  ContainerResources(const DeviceContext& context, FieldErrors* errors, DeviceCharge* charge)
      : context_(context), errors_(*errors), charge_(*charge) {}

  void Count(const PodTemplate& pod, const std::string& path) {
    ResourceList highest, sum;
    for (size_t i = 0; i < pod.init_containers.size(); ++i) {
      RaiseTo(&highest, Translate(pod.init_containers[i], absl::StrCat(path, ".initContainers[", i, "]")));
    }
    for (size_t i = 0; i < pod.containers.size(); ++i) {
      AddTo(&sum, Translate(pod.containers[i], absl::StrCat(path, ".containers[", i, "]")));
    }
    RaiseTo(&highest, sum);
    for (const auto& [resource, quantity] : highest) charge_.amounts[resource] += quantity;
  }

 private:
  ResourceList Translate(const Container& container, const std::string& path) {
    ResourceList translated;
    for (const auto& [resource, quantity] : container.requests) {
      if (quantity.IsZero() || !IsExtendedResource(resource)) continue;
      if (!IsBackedByDevices(context_.objects, resource)) continue;
      if (IsReadAsInt64(quantity)) {
        charge_.replaced.insert(resource);
        AddTo(&translated, {{FirstMapped(context_, resource), quantity}});
      } else {
        errors_.push_back(NotInteger(path, resource, quantity));
      }
    }
    return translated;
  }

  const DeviceContext& context_;
  FieldErrors& errors_;
  DeviceCharge& charge_;
};

}  // namespace

FieldErrors CountExtendedResources(const DeviceContext& context, const std::vector<DevicePodSet>& pod_sets,
                                   DeviceCharges* charges) {
  FieldErrors errors;
  for (size_t i = 0; i < pod_sets.size(); ++i) {
    const std::string path = absl::StrCat("spec.podSets[", i, "].template.spec");
    DeviceCharge* const charge = &charges->pod_sets[i];
    if (context.config.rules.devices_by_count_only) {
      ContainerResources(context, &errors, charge).Count(*pod_sets[i].pod, path);
    } else {
      PodSetResources(context, pod_sets[i], path).Count(&errors, charge);
    }
  }
  return errors;
}

}  // namespace kueue
