// Mirrors pkg/workload/resources.go:ValidateAdmissibility (kueue ff69552e79).
#include "lifecycle/admissibility.h"

#include "absl/strings/str_cat.h"
#include "lifecycle/queueing.h"

namespace kueue {

namespace {

// Returns the errors that a rule finds in the pod templates. The class of a workload in a blocked cycle may
// belong to an earlier version of its pod sets.
template <typename Rule>
std::string Errors(const Workload& workload, const EquivalenceClass& cls, PodTemplates templates, Rule rule) {
  std::vector<std::string> errors;
  const bool adjusted = templates == PodTemplates::kAdjusted || cls.adjusted.empty();
  const size_t count = adjusted ? cls.adjusted.size() : workload.spec->pod_sets.size();
  for (size_t i = 0; i < count; ++i) {
    const PodTemplate& pod = adjusted ? cls.adjusted[i] : *workload.spec->pod_sets[i].pod_template;
    for (std::string& error : rule(pod, absl::StrCat("spec.podSets[", i, "].template.spec"))) {
      errors.push_back(std::move(error));
    }
  }
  return errors.empty() ? std::string() : Aggregate(errors);
}

}  // namespace

Message Inadmissibility::ConditionMessage() const {
  switch (kind) {
    case Kind::kNone:
      return nullptr;
    case Kind::kFailedChecks:
      return Say(Sentence::kFailedChecks);
    case Kind::kNamespaceMissing:
      return Say(of_v0_17 ? Sentence::kNamespaceMissingOfV017 : Sentence::kNamespaceMissing, {what});
    case Kind::kNamespaceMismatch:
      return Say(of_v0_17 ? Sentence::kNamespaceMismatchOfV017 : Sentence::kNamespaceMismatch);
    case Kind::kResources:
      return Say(Sentence::kInvalidResources, {what});
    case Kind::kLimitRange:
      return Say(Sentence::kLimitRangesViolated, {what});
  }
  return nullptr;
}

Inadmissibility ValidateAdmissibility(const State& state, const Workload& workload, NodeId queue,
                                      PodTemplates templates) {
  const LocalQueue& local = state.Local(workload.local_queue);
  const Namespace& space = state.namespaces[local.namespace_id];
  const bool old_texts = state.config.rules.nomination_texts_of_v0_17;
  if (!space.exists) {
    return {Inadmissibility::Kind::kNamespaceMissing, local.ns, old_texts};
  }
  if (!MayUse(state, queue, local.namespace_id)) {
    return {Inadmissibility::Kind::kNamespaceMismatch, local.ns, old_texts};
  }
  if (workload.cls == kNoId) return {};
  const EquivalenceClass& cls = state.Class(workload.cls);
  // If no LimitRange adds defaults, both kinds of templates have the same errors.
  const bool as_written = templates == PodTemplates::kAsWritten && !cls.adjusted.empty();
  if (as_written) {
    std::string resources = Errors(workload, cls, templates, ValidateResources);
    if (!resources.empty()) return {Inadmissibility::Kind::kResources, std::move(resources)};
  } else if (!cls.resource_error.empty()) {
    return {Inadmissibility::Kind::kResources, cls.resource_error};
  }
  if (space.limit_ranges.empty()) return {};
  std::string limits = Errors(workload, cls, templates, [&](const PodTemplate& pod, const std::string& path) {
    return ValidateLimitRanges(pod, path, space.limit_ranges);
  });
  if (limits.empty()) return {};
  return {Inadmissibility::Kind::kLimitRange, std::move(limits)};
}

}  // namespace kueue
