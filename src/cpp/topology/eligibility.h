// Which nodes of a flavor a pod may run on at all: taints, node selector, node affinity.
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

// What a pod demands of its node, but for resources. Tolerations of the flavor are among them.
struct NodeDemand {
  std::vector<Toleration> tolerations;
  std::map<std::string, std::string> node_selector;
  bool has_affinity = false;
  std::vector<NodeSelectorTerm> affinity_terms;          // ORed
  std::vector<PreferredSchedulingTerm> preferred_terms;  // counted with TASRespectNodeAffinityPreferred only

  // A text that differs where the demands do.
  std::string Key() const;
};

// `compares`: the operators Gt and Lt count.
bool Tolerates(const Toleration& toleration, const Taint& taint, bool compares = true);
bool IsSchedulingTaint(const Taint& taint);

// The leaves that satisfy a demand. Leaves that are no nodes all do.
struct EligibleLeaves {
  std::vector<bool> eligible;
  std::vector<int64_t> affinity;  // the sum of the weights of matching preferred terms; empty: all 0
  int32_t node_selector = 0, node_affinity = 0;  // how many leaves failed at first for which reason
  std::map<std::string, int32_t> taints;

  EligibleLeaves(const TopologyTree& tree, const NodeDemand& demand);
};

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_ELIGIBILITY_H_
