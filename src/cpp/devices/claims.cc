// Mirrors pkg/dra/claims.go:GetResourceRequestsForResourceClaimTemplates,countDevicesPerClass (kueue
// ff69552e79).
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "devices/matching.h"
#include "devices/resolve.h"
#include "workload/totals.h"

namespace kueue {
namespace {

using ClassCounts = std::map<std::string, int64_t>;

// Errors of releases up to v0.17, which support neither selectors nor ResourceSlices.
FieldErrors RefuseUncounted(const ResourceClaimTemplate& spec) {
  if (spec.has_constraints)
    return {Invalid("devices.constraints", "device constraints (MatchAttribute) are not supported")};
  if (spec.has_config) return {Invalid("devices.config", "device config is not supported")};
  return {};
}

FieldErrors CheckRequestSelectors(const DeviceRequest& request, const std::string& path, bool by_count_only) {
  if (by_count_only) {
    if (request.selectors.empty()) return {};
    return {Invalid(path, "CEL selectors are not supported")};
  }
  const FieldErrors errors = CompileSelectors(request.selectors, path, "CEL compilation failed", nullptr);
  if (errors.empty()) return {};
  return {Invalid(path, Aggregated(errors))};
}

// Adds the devices of one request. Returns an error if the request is of an unsupported kind.
FieldErrors CountRequest(const DeviceRequest& request, const std::string& path, const ReleaseRules& rules,
                         ClassCounts* counts) {
  if (request.first_available) return {Invalid(path, "FirstAvailable device selection is not supported")};
  if (!request.exactly) return {Invalid(path, "Exactly must be set if FirstAvailable is nil")};
  const std::string exactly = path + ".exactly";
  FieldErrors errors = CheckRequestSelectors(request, exactly + ".selectors", rules.devices_by_count_only);
  if (!errors.empty()) return errors;
  if (request.admin_access) {
    if (!rules.device_admin_access_refused) return {};
    return {Invalid(exactly + ".adminAccess", "AdminAccess is not supported")};
  }
  const std::string mode_path = exactly + ".allocationMode", mode = GoQuote(request.allocation_mode);
  if (request.allocation_mode == "All")
    return {Invalid(mode_path, "AllocationMode 'All' is not supported", mode)};
  if (request.allocation_mode != "ExactCount") {
    return {Invalid(mode_path, absl::StrCat("unsupported allocation mode: ", request.allocation_mode), mode)};
  }
  if (request.device_class_name.empty()) return {};
  int64_t& count = (*counts)[request.device_class_name];
  count = SaturatingAdd(count, request.count);
  return {};
}

FieldErrors CountTemplate(const ResourceClaimTemplate& spec, const ReleaseRules& rules, ClassCounts* counts) {
  if (rules.devices_by_count_only) {
    FieldErrors errors = RefuseUncounted(spec);
    if (!errors.empty()) return errors;
  }
  for (size_t i = 0; i < spec.requests.size(); ++i) {
    FieldErrors errors = CountRequest(spec.requests[i], RequestPath("", i), rules, counts);
    if (!errors.empty()) return errors;
  }
  return {};
}

// Moves errors of a template to the path of the claim that refers to it.
FieldErrors WithTemplate(FieldErrors errors, const std::string& name, const std::string& prefix) {
  for (FieldError& error : errors) {
    if (!prefix.empty()) error.path = absl::StrCat(prefix, ".", error.path);
    error.detail = absl::StrCat("ResourceClaimTemplate ", name, ": ", error.detail);
  }
  return errors;
}

// Classes are visited in the order of resources.
std::vector<std::pair<std::string, int64_t>> InOrder(const ClassCounts& counts) {
  std::vector<std::pair<std::string, int64_t>> ordered(counts.begin(), counts.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return ResourceOrder(a.first) < ResourceOrder(b.first);
  });
  return ordered;
}

FieldErrors ChargeClasses(const DeviceContext& context, const ClassCounts& counts, const std::string& pod_set,
                          const std::string& claim_path, DeviceCharge* charge) {
  const FeatureGates& gates = context.config.gates;
  for (const auto& [device_class, count] : InOrder(counts)) {
    const std::string* const logical = LogicalResource(context.config, device_class);
    if (logical == nullptr) {
      return {NotFound(claim_path + ".resourceClaimTemplateName",
                       absl::StrCat("DeviceClass ", device_class,
                                    " is not mapped in DRA configuration for podset ", pod_set))};
    }
    if (gates.dra_partitionable_devices && !CountersOf(context.config, device_class).empty()) continue;
    if (gates.dra_consumable_capacity && !CapacitiesOf(context.config, device_class).empty()) continue;
    charge->amounts[*logical] += Quantity(count);
  }
  return {};
}

FieldErrors CountClaim(const DeviceContext& context, const std::string& ns, const std::string& name,
                       const std::string& pod_set, const std::string& path, DeviceCharge* charge) {
  const ResourceClaimTemplate* const spec = FindTemplate(context, ns, name);
  if (spec == nullptr) {
    return {Internal(path,
                     absl::StrCat("failed to get claim spec for ResourceClaimTemplate ", name, " in podset ",
                                  pod_set, ": ", NotFoundText("resourceclaimtemplates", name)))};
  }
  ClassCounts counts;
  FieldErrors errors = CountTemplate(*spec, context.config.rules, &counts);
  if (!errors.empty()) return WithTemplate(std::move(errors), name, path);
  if (!context.config.rules.devices_by_count_only) errors = CheckSelectors(context, *spec, path);
  if (!errors.empty()) return WithTemplate(std::move(errors), name, "");
  return ChargeClasses(context, counts, pod_set, path, charge);
}

}  // namespace

FieldErrors CountClaims(const DeviceContext& context, const std::string& ns,
                        const std::vector<DevicePodSet>& pod_sets, DeviceCharges* charges) {
  for (size_t i = 0; i < pod_sets.size(); ++i) {
    const std::vector<PodResourceClaim>& claims = pod_sets[i].pod->resource_claims;
    for (size_t j = 0; j < claims.size(); ++j) {
      if (!claims[j].template_name) continue;
      FieldErrors errors = CountClaim(context, ns, *claims[j].template_name, pod_sets[i].name,
                                      ClaimPath(i, j), &charges->pod_sets[i]);
      if (!errors.empty()) return errors;
    }
  }
  return {};
}

}  // namespace kueue
