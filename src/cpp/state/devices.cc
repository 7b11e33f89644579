// Mirrors pkg/dra/extended_resources.go:NeedsDRAReconcile and pkg/workload/workload.go:HasDRA (kueue
// ff69552e79).
#include "state/devices.h"

#include <algorithm>

namespace kueue {
namespace {

template <typename Holds>
bool AnyContainer(const PodTemplate& pod, Holds holds) {
  return std::any_of(pod.init_containers.begin(), pod.init_containers.end(), holds) ||
         std::any_of(pod.containers.begin(), pod.containers.end(), holds);
}

bool HasRequest(const PodTemplate& pod, absl::string_view resource) {
  return AnyContainer(pod, [name = std::string(resource)](const Container& container) {
    const auto found = container.requests.find(name);
    return found != container.requests.end() && !found->second.IsZero();
  });
}

bool HasExtendedRequest(const PodTemplate& pod) {
  return AnyContainer(pod, [](const Container& container) {
    return std::any_of(container.requests.begin(), container.requests.end(), [](const auto& request) {
      return !request.second.IsZero() && IsExtendedResource(request.first);
    });
  });
}

template <typename Holds>
bool AnyPod(const WorkloadSpec& spec, Holds holds) {
  return std::any_of(spec.pod_sets.begin(), spec.pod_sets.end(),
                     [&](const PodSetSpec& pod_set) { return holds(*pod_set.pod_template); });
}

}  // namespace

bool HasClaims(const WorkloadSpec& spec) {
  const auto is_named = [](const PodResourceClaim& claim) { return claim.template_name || claim.claim_name; };
  return AnyPod(spec, [&](const PodTemplate& pod) {
    return std::any_of(pod.resource_claims.begin(), pod.resource_claims.end(), is_named);
  });
}

bool RequestsResource(const WorkloadSpec& spec, absl::string_view resource) {
  return IsExtendedResource(resource) &&
         AnyPod(spec, [&resource](const PodTemplate& pod) { return HasRequest(pod, resource); });
}

bool RequestsDevices(const State& state, const PodTemplate& pod) {
  // Releases up to v0.17 look up the class only when they count the devices.
  if (state.config.rules.devices_by_count_only) return HasExtendedRequest(pod);
  for (const auto& [name, device_class] : state.devices->classes) {
    const std::string& resource = device_class->extended_resource_name;
    if (IsExtendedResource(resource) && HasRequest(pod, resource)) return true;
  }
  return false;
}

bool CountsExtendedResources(const State& state) {
  return state.config.gates.dra_extended_resource &&
         (state.devices != nullptr || state.config.rules.devices_by_count_only);
}

bool AsksForDevices(const State& state, const WorkloadSpec& spec) {
  const FeatureGates& gates = state.config.gates;
  // If the integration is off, a workload with claims is reconciled in order to refuse it.
  if (HasClaims(spec)) return gates.dra_integration || gates.dra_reject_workloads_when_disabled;
  return CountsExtendedResources(state) &&
         AnyPod(spec, [&state](const PodTemplate& pod) { return RequestsDevices(state, pod); });
}

}  // namespace kueue
