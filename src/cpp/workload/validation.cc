// Validation errors for which a pod would be rejected. Mirrors pkg/workload/resources.go:ValidateResources,
// ValidateLimitRange and pkg/util/limitrange/limitrange.go:ValidatePodSpec (kueue ff69552e79).
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "workload/limit_range.h"
#include "workload/resource_list.h"
#include "workload/totals.h"

namespace kueue {
namespace {

constexpr absl::string_view kAboveLimits = "requests must not exceed its limits";
constexpr absl::string_view kAboveMax = "requests must not be above the limitRange max";
constexpr absl::string_view kBelowMin = "requests must not be below the limitRange min";

// Adds an error for the resources that are in both lists and whose value in `values` exceeds their value in
// `bounds`.
void RequireNoGreater(const ResourceList& values, const ResourceList& bounds, const std::string& path,
                      absl::string_view message, std::vector<std::string>* errors) {
  std::vector<std::string> names;
  for (const auto& [name, quantity] : values) {
    const auto bound = bounds.find(name);
    if (bound == bounds.end()) continue;
    if (ResourceValue(name, quantity) > ResourceValue(name, bound->second)) names.push_back(name);
  }
  if (names.empty()) return;
  errors->push_back(
      absl::StrCat(path, ": Invalid value: [\"", absl::StrJoin(names, "\",\""), "\"]: ", message));
}

template <typename Visit>
void ForEachContainer(const PodTemplate& pod, const std::string& path, Visit visit) {
  for (size_t i = 0; i < pod.init_containers.size(); ++i) {
    visit(pod.init_containers[i], absl::StrCat(path, ".initContainers[", i, "]"));
  }
  for (size_t i = 0; i < pod.containers.size(); ++i) {
    visit(pod.containers[i], absl::StrCat(path, ".containers[", i, "]"));
  }
}

void ValidateContainer(const Container& container, const LimitRange::Item& limits, const std::string& path,
                       std::vector<std::string>* errors) {
  ResourceList highest = container.requests, lowest = container.requests;
  RaiseTo(&highest, container.limits);
  LowerTo(&lowest, container.limits);
  RequireNoGreater(highest, limits.max, path, kAboveMax, errors);
  RequireNoGreater(limits.min, lowest, path, kBelowMin, errors);
}

}  // namespace

std::vector<std::string> ValidateResources(const PodTemplate& pod, const std::string& path) {
  std::vector<std::string> errors;
  ForEachContainer(pod, path, [&errors](const Container& container, const std::string& at) {
    RequireNoGreater(container.requests, container.limits, at, kAboveLimits, &errors);
  });
  if (pod.has_resources) {
    RequireNoGreater(pod.resources.requests, pod.resources.limits, path + ".resources", kAboveLimits,
                     &errors);
  }
  return errors;
}

std::vector<std::string> ValidateLimitRanges(const PodTemplate& pod, const std::string& path,
                                             const std::map<std::string, LimitRange>& limit_ranges) {
  std::vector<std::string> errors;
  if (const std::optional<LimitRange::Item> limits = Summarize(limit_ranges, "Container")) {
    ForEachContainer(pod, path, [&](const Container& container, const std::string& at) {
      ValidateContainer(container, *limits, at, &errors);
    });
  }
  if (const std::optional<LimitRange::Item> limits = Summarize(limit_ranges, "Pod")) {
    const ResourceList total = PodRequests(pod);
    RequireNoGreater(total, limits->max, path, kAboveMax, &errors);
    RequireNoGreater(limits->min, total, path, kBelowMin, &errors);
  }
  return errors;
}

std::string Aggregate(const std::vector<std::string>& errors) {
  std::set<absl::string_view> seen;
  std::vector<absl::string_view> distinct;
  for (const std::string& error : errors) {
    if (seen.insert(error).second) distinct.push_back(error);
  }
  if (distinct.size() <= 1) return std::string(distinct.empty() ? "" : distinct.front());
  return absl::StrCat("[", absl::StrJoin(distinct, ", "), "]");
}

}  // namespace kueue
