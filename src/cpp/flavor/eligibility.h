// Whether a pod set may run on a flavor at all: taints, node labels, topology.
// Mirrors pkg/scheduler/flavorassigner/flavorassigner.go:checkFlavorForPodSets (kueue ff69552e79).
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

// What of a queue and a flavor counts for a pod set's topology.
struct TopologyMatch {
  bool enabled = true;        // the gate TopologyAwareScheduling
  bool implied = false;       // asked for by the queue, whose flavors all have a topology
  bool asks_of_group = true;  // the pods request a resource of the flavor's resource group
  const std::vector<std::string>* levels = nullptr;  // of the flavor's topology; null: unknown
};

// Whether the pod set itself asks for a topology.
inline bool RequestsTopology(const PodSetSpec& pod_set) {
  return pod_set.topology != nullptr && pod_set.topology->is_explicit;
}

// Whether neither the pod set nor the flavor says anything about where pods may run.
inline bool IsPlain(const PodSetSpec& pod_set, const ResourceFlavor& flavor) {
  const PodTemplate& pod = *pod_set.pod_template;
  return pod.node_selector.empty() && !pod.has_affinity && !RequestsTopology(pod_set) &&
         flavor.node_taints.empty() && flavor.topology_name.empty();
}

// The labels that any of the flavors has: what counts in releases with label_keys_of_whole_group.
using LabelKeys = std::set<std::string>;
LabelKeys GroupLabelKeys(const State& state, const std::vector<FlavorId>& flavors);

// The first thing that keeps the pod set off the flavor; nothing where it may run there. Of its node
// selection only label keys of the flavor count, or those that are given.
std::optional<Refusal> Ineligibility(const PodSetSpec& pod_set, FlavorId id, const ResourceFlavor* flavor,
                                     const TopologyMatch& match, const LabelKeys* group_keys = nullptr);
// All of them.
std::vector<Refusal> Ineligibilities(const PodSetSpec& pod_set, FlavorId id, const ResourceFlavor* flavor,
                                     const TopologyMatch& match, const LabelKeys* group_keys = nullptr);

}  // namespace kueue

#endif  // KUEUE_FLAVOR_ELIGIBILITY_H_
