// Topology placement of a workload's pod sets, after the flavors have been assigned by quota. Mirrors
// pkg/scheduler/flavorassigner/tas_flavorassigner.go and
// pkg/cache/scheduler/clusterqueue_snapshot.go:FindTopologyAssignmentsForWorkload (kueue ff69552e79).
#ifndef KUEUE_FLAVOR_PLACER_H_
#define KUEUE_FLAVOR_PLACER_H_

#include <memory>

#include "flavor/assignment.h"
#include "flavor/eligibility.h"
#include "flavor/placement_search.h"
#include "flavor/queries.h"
#include "state/state.h"

namespace kueue {

class Placer {
 public:
  explicit Placer(State& state) : state_(state), queries_(state) {}

  // Starts a new cycle and clears the record of node matches.
  void BeginCycle() { queries_.BeginCycle(); }

  // Returns whether workloads of the class need a placement in the queue, because a pod set requests a
  // topology or the queue implies one.
  bool Concerns(NodeId queue, const EquivalenceClass& cls) const;
  // Returns the properties of the queue and the flavor that affect the topology of the pod set.
  TopologyMatch MatchOf(NodeId queue, int resource_group, FlavorId flavor, ClassId cls, int pod_set);

  // Searches for a placement of each pod set; see PlacementSearch::Run(). If `as_if_empty` is true, ignores
  // the topology usage of all workloads.
  TopologyAnswers Find(const TopologyDemands& demands, WorkloadId workload, bool as_if_empty,
                       WorkloadId replaced) {
    return PlacementSearch(state_, queries_, {workload, as_if_empty, replaced}).Run(demands);
  }
  bool Fits(const TopologyDemands& demands, WorkloadId workload, WorkloadId replaced);

  // Returns the failure to report, or null if all pod sets are placed. If there are several failures, returns
  // the first one in the order of pod set names.
  const TopologyAnswer* FailureIn(const TopologyAnswers& found, ClassId cls) const;
  // Stores the placements and their usage in the assignment.
  void Apply(const TopologyAnswers& found, Assignment& assignment, WorkloadId workload) const;
  // Returns the query for a pod set and, if `leader` is not null, its leader. Sets `failure` if the request
  // is invalid.
  PlacementQuery Asked(const TopologyDemand& demand, const TopologyDemand* leader, WorkloadId workload,
                       std::shared_ptr<const PlacementFailure>& failure) {
    return queries_.For(demand, leader, workload, failure);
  }
  bool ForgetsAffinity() const { return queries_.ForgetsAffinity(); }

 private:
  State& state_;
  PlacementQueries queries_;
};

}  // namespace kueue

#endif  // KUEUE_FLAVOR_PLACER_H_
