// Mirrors pkg/workload/resources.go:ValidateAdmissibility (kueue ff69552e79).
#include "lifecycle/admissibility.h"

#include "absl/strings/str_cat.h"
#include "lifecycle/queueing.h"

namespace kueue {

Inadmissibility ValidateAdmissibility(const State& state, const Workload& workload, NodeId queue) {
  const LocalQueue& local = state.Local(workload.local_queue);
  const Namespace& space = state.namespaces[static_cast<size_t>(local.namespace_id)];
  if (!space.exists) {
    return {absl::StrCat("workload namespace \"", local.ns, "\" does not exist: namespaces \"", local.ns,
                         "\" not found"),
            false};
  }
  if (!MayUse(state, queue, local.namespace_id)) {
    return {"workload namespace doesn't match ClusterQueue selector", true};
  }
  if (workload.cls == kNoId) return {};
  const EquivalenceClass& cls = state.Class(workload.cls);
  if (!cls.resource_error.empty()) return {"resources validation failed: " + cls.resource_error, false};
  if (space.limit_ranges.empty() || cls.adjusted.empty()) return {};
  std::vector<std::string> errors;
  for (size_t i = 0; i < cls.adjusted.size(); ++i) {
    const std::string path = absl::StrCat("spec.podSets[", i, "].template.spec");
    for (std::string& error : ValidateLimitRanges(cls.adjusted[i], path, space.limit_ranges)) {
      errors.push_back(std::move(error));
    }
  }
  if (errors.empty()) return {};
  return {"resources didn't satisfy LimitRange constraints: " + Aggregate(errors), false};
}

}  // namespace kueue
