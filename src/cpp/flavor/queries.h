// Queries for the placement of pod sets: the requests of the pods and their requirements on nodes. Mirrors
// pkg/scheduler/flavorassigner/tas_flavorassigner.go and pkg/podset/podset.go:Merge (kueue ff69552e79).
#ifndef KUEUE_FLAVOR_QUERIES_H_
#define KUEUE_FLAVOR_QUERIES_H_

#include <memory>
#include <set>
#include <tuple>

#include "flavor/assignment.h"
#include "state/state.h"
#include "topology/placement.h"

namespace kueue {

class PlacementQueries {
 public:
  explicit PlacementQueries(State& state) : state_(state) {}

  // Starts a new cycle and clears the record of node matches.
  void BeginCycle() { matched_.clear(); }
  // Returns the query for a pod set and, if `leader` is not null, its leader. Sets `failure` if the request
  // is invalid.
  PlacementQuery For(const TopologyDemand& demand, const TopologyDemand* leader, WorkloadId workload,
                     std::shared_ptr<const PlacementFailure>& failure);
  // Returns whether the first query for a pod set in a cycle may give another placement than later ones,
  // because only the first one knows the affinity scores of the nodes.
  bool ForgetsAffinity() const {
    const FeatureGates& gates = state_.config.gates;
    return gates.tas_respect_node_affinity_preferred && gates.tas_cache_node_match_results;
  }

 private:
  // Returns the id of the pod's node demand, including the flavor's tolerations and the updates of ready
  // checks.
  int32_t DemandIdFor(const TopologyDemand& demand, WorkloadId workload, ClassDemands& demands,
                      std::shared_ptr<const PlacementFailure>& failure);

  State& state_;
  // Pod sets (workload, index, flavor) whose nodes were matched earlier in this cycle. Kueue caches the
  // matching nodes, but not their affinity scores.
  std::set<std::tuple<WorkloadId, int, FlavorId>> matched_;
};

// Returns the pods of a pod set.
inline const PodDemand& PodOf(State& state, const TopologyDemand& demand, WorkloadId workload) {
  return DemandsOf(state, state.At(workload).cls)[static_cast<size_t>(demand.pod_set)];
}

}  // namespace kueue

#endif  // KUEUE_FLAVOR_QUERIES_H_
