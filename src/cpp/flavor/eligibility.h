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

bool Tolerates(const Toleration& toleration, const Taint& taint);

// The labels that any of the flavors has: what counts in releases with label_keys_of_whole_group.
using LabelKeys = std::set<std::string>;
LabelKeys GroupLabelKeys(const State& state, const std::vector<FlavorId>& flavors);

// The first thing that keeps the pod set off the flavor; nothing where it may run there. Of its node
// selection only label keys of the flavor count, or those that are given.
std::optional<Refusal> Ineligibility(const PodSetSpec& pod_set, FlavorId id, const ResourceFlavor* flavor,
                                     const LabelKeys* group_keys = nullptr);
// All of them.
std::vector<Refusal> Ineligibilities(const PodSetSpec& pod_set, FlavorId id, const ResourceFlavor* flavor,
                                     const LabelKeys* group_keys = nullptr);

// Whether the labels satisfy the requirement (In, NotIn, Exists, DoesNotExist, Gt, Lt).
bool SatisfiesRequirement(const std::map<std::string, std::string>& labels, const std::string& key,
                          const std::string& op, const std::vector<std::string>& values);

}  // namespace kueue

#endif  // KUEUE_FLAVOR_ELIGIBILITY_H_
