// Search for the placements of a workload's pod sets. Workloads may keep part of their topology assignment,
// because a node failed or an elastic slice is replaced. Mirrors
// pkg/cache/scheduler/clusterqueue_snapshot.go:FindTopologyAssignmentsForWorkload and
// pkg/cache/scheduler/{tas_flavor_snapshot,tas_elastic_workloads}.go (kueue ff69552e79).
#ifndef KUEUE_FLAVOR_PLACEMENT_SEARCH_H_
#define KUEUE_FLAVOR_PLACEMENT_SEARCH_H_

#include <memory>
#include <optional>
#include <vector>

#include "flavor/assignment.h"
#include "flavor/queries.h"
#include "state/state.h"
#include "topology/placement.h"

namespace kueue {

struct TopologyAnswer {
  int pod_set;
  FlavorId flavor;
  std::shared_ptr<const TopologyAssignment> assignment;  // Null on failure.
  std::shared_ptr<const PlacementFailure> failure;
};

using TopologyAnswers = absl::InlinedVector<TopologyAnswer, 1>;

// The workload whose pod sets are placed.
struct PlacementSubject {
  WorkloadId workload;
  bool as_if_empty;     // Whether the topology usage of all workloads is ignored.
  WorkloadId replaced;  // Elastic slice that the workload replaces, or kNoId.
};

// One search. Placements that it finds are assumed while it searches for those of later pod sets.
class PlacementSearch {
 public:
  PlacementSearch(State& state, PlacementQueries& queries, const PlacementSubject& subject)
      : state_(state),
        queries_(queries),
        workload_(subject.workload),
        as_if_empty_(subject.as_if_empty),
        replaced_(subject.replaced) {}

  // Returns the answers for the pod sets. If a pod set cannot be placed, the answers for earlier pod sets
  // still contain placements.
  TopologyAnswers Run(const TopologyDemands& demands);

 private:
  using Group = absl::InlinedVector<const TopologyDemand*, 2>;
  struct Assumed {
    FlavorId flavor;
    DomainId domain;
    PodAmounts requests;
    int32_t count;
  };

  // Places the pod sets of each flavor, and of each group, until a group cannot be placed.
  void PlaceAll(const TopologyDemands& demands);
  absl::InlinedVector<Group, 1> GroupsOf(const TopologyDemands& demands, size_t begin, size_t end) const;
  // Return whether all pod sets of the group were placed.
  bool PlaceGroup(const Group& group, bool is_last);
  bool ReplaceNode(const Group& group);
  // Returns nullopt if the workload replaces no slice or if the domains of the replaced slice no longer
  // exist.
  std::optional<bool> PlaceElastic(const TopologyDemand& workers, const TopologyDemand* leader);
  PlacementQuery Query(const TopologyDemand& demand, const TopologyDemand* leader,
                       std::shared_ptr<const PlacementFailure>& failure) {
    PlacementQuery query = queries_.For(demand, leader, workload_, failure);
    query.as_if_empty = as_if_empty_;
    return query;
  }
  void Answer(const TopologyDemand& demand, std::vector<DomainCount> domains);
  // Returns the resource `pods`, or kNoId in releases with the rule earlier_pod_sets_take_no_slot. Each pod
  // that is already placed for the same workload uses one unit of this resource in addition to its requests.
  ResourceId SlotResource() const;
  void Assume(const TopologyDemand& demand, const std::vector<DomainCount>& domains);
  void AssumeFromOthers(FlavorId flavor);

  State& state_;
  PlacementQueries& queries_;
  const WorkloadId workload_;
  const bool as_if_empty_;
  const WorkloadId replaced_;
  TopologyAnswers answers_;
  std::vector<Assumed> assumed_;  // Placements assumed for the workload.
};

}  // namespace kueue

#endif  // KUEUE_FLAVOR_PLACEMENT_SEARCH_H_
