// Converts pod templates to the integers that the scheduler counts. Mirrors
// pkg/workload/{resources,workload}.go, pkg/util/limitrange, and PodRequests of k8s.io/component-helpers
// (kueue ff69552e79).
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

// Converts the request for a resource into requests for other resources. The original request is either kept
// or dropped (KEP-2937).
struct ResourceTransformation {
  std::string input;
  bool replace = false;     // True if the strategy is Replace, false if the strategy is Retain.
  std::string multiply_by;  // Empty: none.
  ResourceList outputs;
};

// The settings in Configuration.resources that change requests. Each input resource has at most one
// transformation.
struct RequestsConfig {
  std::vector<std::string> excluded_prefixes;
  std::vector<ResourceTransformation> transformations;
};

// Returns the 64-bit FNV-1a hash of the resource name. Resources of a workload are visited in the order of
// this hash.
uint64_t ResourceOrder(absl::string_view name);

// Fills in missing fields of a pod: the overhead of its RuntimeClass and the defaults of the namespace. Sets
// each missing request to the limit of the resource. An unknown RuntimeClass is ignored
// (pkg/workload/resources.go:AdjustResources).
PodTemplate Adjust(PodTemplate pod, const std::map<std::string, RuntimeClass>& runtime_classes,
                   const std::map<std::string, LimitRange>& limit_ranges);

// Returns the exact requests of one pod: the sum of containers and sidecars or, if higher, the requests of
// the init containers. Pod-level values replace the result for the containers, and the overhead is added.
ResourceList PodRequests(const PodTemplate& adjusted);

// Returns PodRequests() as integers after exclusions and transformations, sorted by ResourceOrder. Values are
// rounded up for each pod and are at least 0. The charge for devices, if any, is added last.
std::vector<std::pair<std::string, int64_t>> PerPodRequests(const PodTemplate& adjusted,
                                                            const RequestsConfig& config,
                                                            const DeviceCharge* devices = nullptr);

// Returns an error for each request that exceeds its limit, in Kueue's wording. `path` is the path of the pod
// spec.
std::vector<std::string> ValidateResources(const PodTemplate& adjusted, const std::string& path);

// Returns an error for each request or limit that the namespace's LimitRanges do not allow.
std::vector<std::string> ValidateLimitRanges(const PodTemplate& adjusted, const std::string& path,
                                             const std::map<std::string, LimitRange>& limit_ranges);

// Joins errors into one string, "[a, b]". Removes duplicate errors; a single error is not put in brackets.
std::string Aggregate(const std::vector<std::string>& errors);

}  // namespace kueue

#endif  // KUEUE_WORKLOAD_TOTALS_H_
