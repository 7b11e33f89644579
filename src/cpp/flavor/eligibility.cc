// Mirrors pkg/scheduler/flavorassigner/flavorassigner.go:checkFlavorForPodSets, flavorSelector (kueue
// ff69552e79).
#include "flavor/eligibility.h"

#include <algorithm>

#include "topology/eligibility.h"
#include "topology/parameters.h"

namespace kueue {
namespace {

bool IsTolerated(const Taint& taint, const PodTemplate& pod, const ResourceFlavor& flavor) {
  const auto tolerates = [&taint](const Toleration& toleration) { return Tolerates(toleration, taint); };
  return std::any_of(pod.tolerations.begin(), pod.tolerations.end(), tolerates) ||
         std::any_of(flavor.tolerations.begin(), flavor.tolerations.end(), tolerates);
}

// Considers only the keys in `group_keys` or, if `group_keys` is null, the label keys of the flavor.
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
    if (!declared) return true;  // A term without any considered key matches every flavor.
    any_matches = any_matches || matches;
  }
  return pod.affinity_terms.empty() || any_matches;
}

// Mirrors pkg/scheduler/flavorassigner/tas_flavorassigner.go:checkPodSetAndFlavorMatchForTAS.
std::optional<RefusalKind> TopologyMismatch(const PodSetSpec& pod_set, const ResourceFlavor& flavor,
                                            const TopologyMatch& match) {
  if (!match.enabled || match.implied) return std::nullopt;
  const bool has_topology = !flavor.topology_name.empty();
  if (!RequestsTopology(pod_set)) {
    return has_topology ? std::optional(RefusalKind::kTopologyRequired) : std::nullopt;
  }
  if (!has_topology) {
    return match.asks_of_group ? std::optional(RefusalKind::kTopologyUnsupported) : std::nullopt;
  }
  if (match.levels == nullptr) return RefusalKind::kTopologyUnknown;
  if (!HasLevels(*match.levels, pod_set.topology.get())) return RefusalKind::kTopologyLevelMissing;
  return std::nullopt;
}

// Calls `enough` with each reason why the pod set may not use the flavor, until `enough` returns true.
template <typename Enough>
void Refuse(const PodSetSpec& pod_set, FlavorId id, const ResourceFlavor* flavor, const TopologyMatch& match,
            const LabelKeys* group_keys, Enough enough) {
  const auto refusal = [id](RefusalKind kind) { return Refusal{kind, id}; };
  if (flavor == nullptr) {
    enough(refusal(RefusalKind::kFlavorNotFound));
    return;
  }
  if (const auto mismatch = TopologyMismatch(pod_set, *flavor, match)) {
    if (enough(refusal(*mismatch))) return;
  }
  for (const Taint& taint : flavor->node_taints) {
    if (!IsSchedulingTaint(taint)) continue;
    if (IsTolerated(taint, *pod_set.pod_template, *flavor)) continue;
    Refusal untolerated = refusal(RefusalKind::kUntoleratedTaint);
    untolerated.detail = std::make_shared<const Taint>(taint);
    if (enough(std::move(untolerated))) return;
  }
  if (MatchesNodeSelection(*pod_set.pod_template, flavor->node_labels, group_keys)) return;
  enough(refusal(RefusalKind::kNodeAffinity));
}

}  // namespace

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
                                     const TopologyMatch& match, const LabelKeys* group_keys) {
  std::optional<Refusal> first;
  Refuse(pod_set, id, flavor, match, group_keys, [&first](Refusal refusal) {
    first = std::move(refusal);
    return true;
  });
  return first;
}

std::vector<Refusal> Ineligibilities(const PodSetSpec& pod_set, FlavorId id, const ResourceFlavor* flavor,
                                     const TopologyMatch& match, const LabelKeys* group_keys) {
  std::vector<Refusal> all;
  Refuse(pod_set, id, flavor, match, group_keys, [&all](Refusal refusal) {
    all.push_back(std::move(refusal));
    return false;
  });
  return all;
}

}  // namespace kueue
