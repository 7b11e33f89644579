// Checks whether the taints, node labels and topology of a flavor allow a pod set to use the flavor. Mirrors
// pkg/scheduler/flavorassigner/flavorassigner.go:checkFlavorForPodSets (kueue ff69552e79).
#ifndef KUEUE_FLAVOR_ELIGIBILITY_H_
#define KUEUE_FLAVOR_ELIGIBILITY_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/message.h"
#include "model/queue.h"
#include "model/workload.h"
#include "state/state.h"

namespace kueue {

// Properties of a queue and a flavor that affect the topology of a pod set.
struct TopologyMatch {
  bool enabled = true;  // Feature gate TopologyAwareScheduling.
  // Whether the queue implies a topology request, because all its flavors have a topology.
  bool implied = false;
  // Whether the pods request at least one resource of the flavor's resource group.
  bool asks_of_group = true;
  // Levels of the flavor's topology; null if the levels are unknown.
  const std::vector<std::string>* levels = nullptr;
};

// Returns whether the pod set requests a topology explicitly.
inline bool RequestsTopology(const PodSetSpec& pod_set) {
  return pod_set.topology != nullptr && pod_set.topology->is_explicit;
}

// Returns whether neither the pod set nor the flavor restricts the nodes.
inline bool IsPlain(const PodSetSpec& pod_set, const ResourceFlavor& flavor) {
  const PodTemplate& pod = *pod_set.pod_template;
  return pod.node_selector.empty() && !pod.has_affinity && !RequestsTopology(pod_set) &&
         flavor.node_taints.empty() && flavor.topology_name.empty();
}

// Union of the label keys of several flavors. Releases with the rule label_keys_of_whole_group use the union.
using LabelKeys = std::set<std::string>;
LabelKeys GroupLabelKeys(const State& state, const std::vector<FlavorId>& flavors);

// Returns the first reason why the pod set may not use the flavor, or nullopt if the pod set may use it. From
// the node selectors of the pod set, this function checks only the keys in `group_keys` or, if `group_keys`
// is null, the label keys of the flavor.
std::optional<Refusal> Ineligibility(const PodSetSpec& pod_set, FlavorId id, const ResourceFlavor* flavor,
                                     const TopologyMatch& match, const LabelKeys* group_keys = nullptr);
// Returns all reasons.
std::vector<Refusal> Ineligibilities(const PodSetSpec& pod_set, FlavorId id, const ResourceFlavor* flavor,
                                     const TopologyMatch& match, const LabelKeys* group_keys = nullptr);

}  // namespace kueue

#endif  // KUEUE_FLAVOR_ELIGIBILITY_H_
