// Which of a pod's demands a node does not satisfy.
// Mirrors pkg/cache/scheduler/scheduling_simulator_default.go:FindFeasibleNodes (kueue ff69552e79).
#ifndef KUEUE_TOPOLOGY_REFUSAL_H_
#define KUEUE_TOPOLOGY_REFUSAL_H_

#include <optional>
#include <string>

#include "model/topology.h"
#include "topology/eligibility.h"

namespace kueue {

// Whether all expressions and fields of the term hold; an empty term matches nothing.
bool MatchesTerm(const NodeSelectorTerm& term, const Node& node);

// What of a demand the node does not satisfy, first of all; nothing where it satisfies all of it.
struct NodeRefusal {
  PlacementFailure::Exclusion why;
  std::string taint;  // as texts name it
};
std::optional<NodeRefusal> RefusalOf(const Node& node, const NodeDemand& demand);

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_REFUSAL_H_
