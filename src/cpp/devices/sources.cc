// Counters of partitionable devices, and capacities of devices shared by several claims. Mirrors
// pkg/dra/counters.go and pkg/dra/capacity.go (kueue ff69552e79).
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "devices/matching.h"
#include "devices/resolve.h"

namespace kueue {
namespace {

using Devices = std::vector<const Device*>;

int64_t Units(const Quantity& quantity) { return quantity.value().ToInt64(); }

// Returns the charge for `count` devices that use up to `value` each.
Quantity ChargeOf(const Quantity& value, int64_t count) {
  const int64_t units = value.IsNegative() ? 0 : Units(value);
  return Quantity(count > 1 ? SaturatingMul(units, count) : units, value.format());
}

// A request, and the path that its error messages contain.
struct RequestAt {
  const DeviceRequest& request;
  const std::string& path;
};

FieldErrors ChargeCounter(const DeviceSource& source, const Devices& matched, RequestAt at,
                          Quantity* charge) {
  const Quantity* highest = nullptr;
  for (const Device* device : matched) {
    const auto counter = device->counters.find(source.name);
    if (counter == device->counters.end()) continue;
    if (highest == nullptr || counter->second > *highest) highest = &counter->second;
  }
  if (highest == nullptr) {
    return {Internal(at.path, absl::StrCat("matched devices have no consumesCounters entry for counter ",
                                           GoQuote(source.name)))};
  }
  *charge = ChargeOf(*highest, at.request.count);
  return {};
}

std::optional<Quantity> RoundToRange(const Quantity& base, const CapacityRange& range) {
  int64_t value = Units(base);
  if (range.min) value = std::max(value, Units(*range.min));
  if (range.step && range.min && Units(*range.step) > 0) {
    const int64_t step = Units(*range.step), min = Units(*range.min);
    const int64_t offset = SaturatingSub(value, min);
    if (offset % step != 0) value = SaturatingAdd(min, SaturatingMul(SaturatingAdd(offset / step, 1), step));
  }
  if (range.max && value > Units(*range.max)) return std::nullopt;
  return Quantity(value, base.format());
}

// Rounds the amount as the device's policy requires. Returns nullopt if the policy does not allow it.
std::optional<Quantity> RoundToPolicy(const Quantity& base,
                                      const std::optional<CapacityRequestPolicy>& policy) {
  if (!policy) return base;
  for (const Quantity& valid : policy->valid_values) {
    if (valid >= base) return valid;
  }
  if (!policy->valid_values.empty()) return std::nullopt;
  return policy->valid_range ? RoundToRange(base, *policy->valid_range) : base;
}

const Quantity& BaseOf(const DeviceCapacity& capacity, const Quantity* requested) {
  if (requested != nullptr) return *requested;
  const std::optional<CapacityRequestPolicy>& policy = capacity.request_policy;
  return policy && policy->default_request ? *policy->default_request : capacity.value;
}

FieldErrors ChargeCapacity(const DeviceSource& source, const Devices& matched, RequestAt at,
                           Quantity* charge) {
  const auto explicitly = at.request.capacity.find(source.name);
  const Quantity* const requested = explicitly == at.request.capacity.end() ? nullptr : &explicitly->second;
  bool has_dimension = false;
  std::optional<Quantity> highest;
  for (const Device* device : matched) {
    const auto found = device->capacity.find(source.name);
    if (found == device->capacity.end()) continue;
    has_dimension = true;
    const DeviceCapacity& capacity = found->second;
    const std::optional<Quantity> rounded =
        RoundToPolicy(BaseOf(capacity, requested), capacity.request_policy);
    if (rounded && (!highest || *rounded > *highest)) highest = rounded;
  }
  const std::string dimension = GoQuote(source.name);
  if (!has_dimension)
    return {Internal(at.path, absl::StrCat("matched devices have no capacity dimension ", dimension))};
  if (!highest) {
    return {Invalid(at.path,
                    absl::StrCat("capacity request cannot be satisfied by any matched device's RequestPolicy "
                                 "for dimension ",
                                 dimension))};
  }
  *charge = ChargeOf(*highest, at.request.count);
  return {};
}

FieldErrors ChargeRequest(const DeviceContext& context, RequestAt at, const std::vector<ClassSource>& sources,
                          DeviceCharge* charge) {
  std::vector<std::string> of_class, of_request;
  FieldErrors errors = CompileClass(context, at.request.device_class_name, at.path, &of_class);
  if (errors.empty()) {
    errors = CompileSelectors(at.request.selectors, at.path + ".exactly.selectors", "CEL compilation failed",
                              &of_request);
  }
  for (size_t i = 0; errors.empty() && i < sources.size(); ++i) {
    const DeviceSource& source = *sources[i].source;
    Devices matched;
    errors = MatchSource(context, source, of_class, of_request, at.path, &matched);
    if (!errors.empty()) break;
    if (static_cast<int64_t>(matched.size()) < at.request.count) {
      const char* const kind = source.is_capacity ? "capacity" : "counter";
      return {Internal(at.path,
                       absl::StrCat("insufficient matching devices for ", kind, " driver: ", matched.size(),
                                    " device(s) match but ", at.request.count, " requested"))};
    }
    Quantity amount;
    errors = source.is_capacity ? ChargeCapacity(source, matched, at, &amount)
                                : ChargeCounter(source, matched, at, &amount);
    if (errors.empty()) charge->amounts[*sources[i].logical] += amount;
  }
  return errors;
}

FieldErrors CountClaimSources(const DeviceContext& context, const ResourceClaimTemplate& spec,
                              const std::string& claim_path, bool capacities, DeviceCharge* charge) {
  for (size_t i = 0; i < spec.requests.size(); ++i) {
    const DeviceRequest& request = spec.requests[i];
    if (!request.exactly || request.admin_access) continue;
    const std::vector<ClassSource> sources = capacities
                                                 ? CapacitiesOf(context.config, request.device_class_name)
                                                 : CountersOf(context.config, request.device_class_name);
    if (sources.empty()) continue;
    const std::string path = RequestPath(claim_path, i);
    FieldErrors errors = ChargeRequest(context, {request, path}, sources, charge);
    if (!errors.empty()) return errors;
  }
  return {};
}

}  // namespace

FieldErrors CountSources(const DeviceContext& context, const std::string& ns,
                         const std::vector<DevicePodSet>& pod_sets, bool capacities, DeviceCharges* charges) {
  for (size_t i = 0; i < pod_sets.size(); ++i) {
    const std::vector<PodResourceClaim>& claims = pod_sets[i].pod->resource_claims;
    for (size_t j = 0; j < claims.size(); ++j) {
      if (!claims[j].template_name) continue;
      const ResourceClaimTemplate* const spec = FindTemplate(context, ns, *claims[j].template_name);
      if (spec == nullptr) continue;  // CountClaims() has already refused it.
      FieldErrors errors =
          CountClaimSources(context, *spec, ClaimPath(i, j), capacities, &charges->pod_sets[i]);
      if (!errors.empty()) return errors;
    }
  }
  return {};
}

}  // namespace kueue
