// From a pod template to the integers that the scheduler counts.
// Mirrors pkg/workload/{resources,workload}.go, pkg/util/limitrange, and PodRequests of
// k8s.io/component-helpers (kueue ff69552e79).
#ifndef KUEUE_WORKLOAD_TOTALS_H_
#define KUEUE_WORKLOAD_TOTALS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/devices.h"
#include "model/pod.h"

namespace kueue {

// Counts a requested resource as others, too, or instead (KEP-2937).
struct ResourceTransformation {
  std::string input;
  bool replace = false;     // strategy Replace; otherwise Retain
  std::string multiply_by;  // empty: none
  ResourceList outputs;
};

// The part of Configuration.resources that changes requests; each input is transformed once.
struct RequestsConfig {
  std::vector<std::string> excluded_prefixes;
  std::vector<ResourceTransformation> transformations;
};

// The order in which a workload's resources are visited: the 64-bit FNV-1a hash of the name.
uint64_t ResourceOrder(absl::string_view name);

// Fills in what the pod leaves out: the overhead of its class, then the defaults of the namespace, then
// limits for missing requests. An unknown class changes nothing (pkg/workload/resources.go:AdjustResources).
PodTemplate Adjust(PodTemplate pod, const std::map<std::string, RuntimeClass>& runtime_classes,
                   const std::map<std::string, LimitRange>& limit_ranges);

// What one pod requests, exactly: containers and sidecars in sum, or what init containers need in turn where
// that is more; pod-level values in their place; and the overhead.
ResourceList PodRequests(const PodTemplate& adjusted);

// The same as integers, after exclusions and transformations: rounded up for each pod, nothing below 0, by
// ascending ResourceOrder. A charge for devices, if there is one, is added last.
std::vector<std::pair<std::string, int64_t>> PerPodRequests(const PodTemplate& adjusted,
                                                            const RequestsConfig& config,
                                                            const DeviceCharge* devices = nullptr);

// Requests above their limits. One text an error, as Kueue words it; `path` names the pod's spec.
std::vector<std::string> ValidateResources(const PodTemplate& adjusted, const std::string& path);

// Requests or limits outside what the namespace's LimitRanges allow.
std::vector<std::string> ValidateLimitRanges(const PodTemplate& adjusted, const std::string& path,
                                             const std::map<std::string, LimitRange>& limit_ranges);

// Several errors as one text: "[a, b]"; equal ones once, a single one bare.
std::string Aggregate(const std::vector<std::string>& errors);

}  // namespace kueue

#endif  // KUEUE_WORKLOAD_TOTALS_H_
