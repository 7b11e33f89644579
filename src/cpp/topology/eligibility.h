// Determines the nodes of a flavor on which taints, node selector and node affinity allow a pod to run.
// Mirrors pkg/cache/scheduler/scheduling_simulator_default.go:FindFeasibleNodes (kueue ff69552e79).
#ifndef KUEUE_TOPOLOGY_ELIGIBILITY_H_
#define KUEUE_TOPOLOGY_ELIGIBILITY_H_

#include <map>
#include <string>
#include <vector>

#include "model/pod.h"
#include "model/topology.h"
#include "topology/tree.h"

namespace kueue {

// Requirements of a pod for its node, other than resource requests. `tolerations` includes the flavor's
// tolerations.
struct NodeDemand {
  std::vector<Toleration> tolerations;
  std::map<std::string, std::string> node_selector;
  bool has_affinity = false;
  // Terms of the required node affinity; at least one term must match.
  std::vector<NodeSelectorTerm> affinity_terms;
  // Preferred node affinity terms, used only with the feature gate TASRespectNodeAffinityPreferred.
  std::vector<PreferredSchedulingTerm> preferred_terms;

  // Returns a string. Two demands have the same string only if they are equal.
  std::string Key() const;
};

// Returns whether the toleration tolerates the taint. If `compares` is false, the operators Gt and Lt never
// match.
bool Tolerates(const Toleration& toleration, const Taint& taint, bool compares = true);
bool IsSchedulingTaint(const Taint& taint);

// The leaves that satisfy a demand. Leaves that are not nodes satisfy every demand.
struct EligibleLeaves {
  std::vector<bool> eligible;
  // For each leaf, the sum of the weights of the matching preferred terms; an empty list means 0 for all
  // leaves.
  std::vector<int64_t> affinity;
  // Numbers of excluded leaves. A leaf is counted at the first requirement that it does not satisfy.
  int32_t node_selector = 0, node_affinity = 0;
  std::map<std::string, int32_t> taints;

  EligibleLeaves(const TopologyTree& tree, const NodeDemand& demand);
};

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_ELIGIBILITY_H_
