// Checks a pod's requirements against a single node. Mirrors
// pkg/cache/scheduler/scheduling_simulator_default.go:FindFeasibleNodes (kueue ff69552e79).
#ifndef KUEUE_TOPOLOGY_REFUSAL_H_
#define KUEUE_TOPOLOGY_REFUSAL_H_

#include <optional>
#include <string>

#include "model/topology.h"
#include "topology/eligibility.h"

namespace kueue {

// Returns whether all expressions and fields of the term match. An empty term matches nothing.
bool MatchesTerm(const NodeSelectorTerm& term, const Node& node);

// The first requirement that a node does not satisfy. RefusalOf() returns nullopt if the node satisfies all
// requirements.
struct NodeRefusal {
  PlacementFailure::Exclusion why;
  std::string taint;  // The taint in the format used in messages.
};
std::optional<NodeRefusal> RefusalOf(const Node& node, const NodeDemand& demand);

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_REFUSAL_H_
