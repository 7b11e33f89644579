// Mirrors pkg/scheduler/flavorassigner/flavorassigner.go:checkFlavorForPodSets, flavorSelector (kueue
// ff69552e79).
#include "flavor/eligibility.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace kueue {
namespace {

bool Contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool Compares(const std::string& left, const std::string& right, bool greater) {
  int64_t a = 0, b = 0;
  if (!absl::SimpleAtoi(left, &a) || !absl::SimpleAtoi(right, &b)) return false;
  return greater ? a > b : a < b;
}

bool IsTolerated(const Taint& taint, const PodTemplate& pod, const ResourceFlavor& flavor) {
  const auto tolerates = [&taint](const Toleration& toleration) { return Tolerates(toleration, taint); };
  return std::any_of(pod.tolerations.begin(), pod.tolerations.end(), tolerates) ||
         std::any_of(flavor.tolerations.begin(), flavor.tolerations.end(), tolerates);
}

// Only label keys that the flavor itself declares are looked at; or those of the group, where they are given.
bool MatchesNodeSelection(const PodTemplate& pod, const std::map<std::string, std::string>& labels,
                          const LabelKeys* group_keys) {
  const auto counts = [&](const std::string& key) {
    return group_keys != nullptr ? group_keys->count(key) > 0 : labels.count(key) > 0;
  };
  for (const auto& [key, value] : pod.node_selector) {
    if (!counts(key)) continue;
    const auto label = labels.find(key);
    if (label == labels.end() || label->second != value) return false;
  }
  if (!pod.has_affinity) return true;
  bool any_matches = false;
  for (const NodeSelectorTerm& term : pod.affinity_terms) {
    bool declared = false, matches = true;
    for (const NodeSelectorRequirement& requirement : term.match_expressions) {
      if (!counts(requirement.key)) continue;
      declared = true;
      matches = matches && SatisfiesRequirement(labels, requirement.key, requirement.op, requirement.values);
    }
    if (!declared) return true;  // a term that asks nothing of this flavor makes the whole affinity void
    any_matches = any_matches || matches;
  }
  return pod.affinity_terms.empty() || any_matches;
}

// Tells what keeps the pod set off the flavor, one thing after the other, until `enough` says so.
template <typename Enough>
void Refuse(const PodSetSpec& pod_set, FlavorId id, const ResourceFlavor* flavor, const LabelKeys* group_keys,
            Enough enough) {
  const auto refusal = [id](RefusalKind kind, std::string text = {}) {
    return Refusal{kind, id, kNoId, {}, {}, {}, std::move(text)};
  };
  if (flavor == nullptr) {
    enough(refusal(RefusalKind::kFlavorNotFound));
    return;
  }
  if (flavor->topology_name.empty() == pod_set.requests_topology) {
    const bool required = !pod_set.requests_topology;
    if (enough(refusal(required ? RefusalKind::kTopologyRequired : RefusalKind::kTopologyUnsupported)))
      return;
  }
  for (const Taint& taint : flavor->node_taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    if (IsTolerated(taint, *pod_set.pod_template, *flavor)) continue;
    const std::string text = absl::StrCat("{", taint.key, " ", taint.value, " ", taint.effect, " <nil>}");
    if (enough(refusal(RefusalKind::kUntoleratedTaint, text))) return;
  }
  if (MatchesNodeSelection(*pod_set.pod_template, flavor->node_labels, group_keys)) return;
  enough(refusal(RefusalKind::kNodeAffinity));
}

}  // namespace

bool SatisfiesRequirement(const std::map<std::string, std::string>& labels, const std::string& key,
                          const std::string& op, const std::vector<std::string>& values) {
  const auto label = labels.find(key);
  const bool present = label != labels.end();
  if (op == "In") return present && Contains(values, label->second);
  if (op == "NotIn") return !present || !Contains(values, label->second);
  if (op == "Exists") return present;
  if (op == "DoesNotExist") return !present;
  if (op == "Gt" || op == "Lt")
    return present && !values.empty() && Compares(label->second, values[0], op == "Gt");
  return false;
}

bool LabelSelector::Matches(const std::map<std::string, std::string>& labels) const {
  for (const auto& [key, value] : match_labels) {
    const auto label = labels.find(key);
    if (label == labels.end() || label->second != value) return false;
  }
  return std::all_of(match_expressions.begin(), match_expressions.end(),
                     [&](const LabelSelectorRequirement& entry) {
                       return SatisfiesRequirement(labels, entry.key, entry.op, entry.values);
                     });
}

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op.empty() || toleration.op == "Equal") return toleration.value == taint.value;
  if (toleration.op == "Exists") return true;
  if (toleration.op == "Gt" || toleration.op == "Lt") {
    return Compares(taint.value, toleration.value, toleration.op == "Gt");
  }
  return false;
}

LabelKeys GroupLabelKeys(const State& state, const std::vector<FlavorId>& flavors) {
  LabelKeys keys;
  for (FlavorId flavor : flavors) {
    const ResourceFlavor* spec = state.Flavor(flavor);
    if (spec == nullptr) continue;
    for (const auto& [key, value] : spec->node_labels) keys.insert(key);
  }
  return keys;
}

std::optional<Refusal> Ineligibility(const PodSetSpec& pod_set, FlavorId id, const ResourceFlavor* flavor,
                                     const LabelKeys* group_keys) {
  std::optional<Refusal> first;
  Refuse(pod_set, id, flavor, group_keys, [&first](Refusal refusal) {
    first = std::move(refusal);
    return true;
  });
  return first;
}

std::vector<Refusal> Ineligibilities(const PodSetSpec& pod_set, FlavorId id, const ResourceFlavor* flavor,
                                     const LabelKeys* group_keys) {
  std::vector<Refusal> all;
  Refuse(pod_set, id, flavor, group_keys, [&all](Refusal refusal) {
    all.push_back(std::move(refusal));
    return false;
  });
  return all;
}

}  // namespace kueue
