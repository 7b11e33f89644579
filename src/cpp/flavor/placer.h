// Topology placement of a workload's pod sets, after the flavors have been assigned by quota. Mirrors
// pkg/scheduler/flavorassigner/tas_flavorassigner.go and
// pkg/cache/scheduler/clusterqueue_snapshot.go:FindTopologyAssignmentsForWorkload (kueue ff69552e79).
#ifndef KUEUE_FLAVOR_PLACER_H_
#define KUEUE_FLAVOR_PLACER_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "flavor/assignment.h"
#include "flavor/eligibility.h"
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

// Returns the entry for the pod set with this name in the workload's admission, or null if there is none. The
// admission owns the entry.
const PodSetAdmission* AdmittedAs(const Workload& workload, const std::string& pod_set);

class Placer {
 public:
  explicit Placer(State& state) : state_(state) {}

  // Starts a new cycle and clears the record of node matches.
  void BeginCycle() { matched_.clear(); }

  // Returns whether workloads of the class need a placement in the queue, because a pod set requests a
  // topology or the queue implies one.
  bool Concerns(NodeId queue, const EquivalenceClass& cls) const;
  // Returns the properties of the queue and the flavor that affect the topology of the pod set.
  TopologyMatch MatchOf(NodeId queue, int resource_group, FlavorId flavor, ClassId cls, int pod_set);
  bool HasTree(FlavorId flavor) const { return state_.topology.made.capacity.Find(flavor) != nullptr; }

  // Returns the pod sets to place for an assignment whose flavors have been chosen. Marks in the assignment
  // the pod sets with an invalid request and the pod sets whose placement waits for a provisioning check.
  // `replaced` is the elastic slice that the workload replaces, or kNoId.
  TopologyDemands DemandsOf(Assignment& assignment, NodeId queue, WorkloadId workload) const;

  // Searches for a placement of each pod set. If a pod set cannot be placed, the answers for earlier pod sets
  // still contain placements. If `as_if_empty` is true, ignores the topology usage of all workloads.
  TopologyAnswers Find(const TopologyDemands& demands, WorkloadId workload, bool as_if_empty,
                       WorkloadId replaced);
  bool Fits(const TopologyDemands& demands, WorkloadId workload, WorkloadId replaced);
  // Returns whether the first search for a pod set in a cycle may give another placement than later ones,
  // because only the first one knows the affinity scores of the nodes.
  bool ForgetsAffinity() const {
    const FeatureGates& gates = state_.config.gates;
    return gates.tas_respect_node_affinity_preferred && gates.tas_cache_node_match_results;
  }

  // Returns the failure to report, or null if all pod sets are placed. If there are several failures, returns
  // the first one in the order of pod set names.
  const TopologyAnswer* FailureIn(const TopologyAnswers& found, ClassId cls) const;
  // Stores the placements and their usage in the assignment.
  void Apply(const TopologyAnswers& found, Assignment& assignment, WorkloadId workload) const;
  // Returns the usage that exceeds the usage already charged for the workload's admission.
  TopologyUsages NetUsage(const Assignment& assignment, WorkloadId workload) const;
  // Returns whether the pods of each domain currently fit, checking each domain separately.
  bool HasRoom(const TopologyUsages& usage) const;
  // Returns the query for a pod set and, if `leader` is not null, its leader. Sets `failure` if the request
  // is invalid.
  PlacementQuery Asked(const TopologyDemand& demand, const TopologyDemand* leader, WorkloadId workload,
                       std::shared_ptr<const PlacementFailure>& failure) {
    return QueryFor(demand, leader, {workload, false, kNoId, {}}, failure);
  }

 private:
  using Group = absl::InlinedVector<const TopologyDemand*, 2>;
  absl::InlinedVector<Group, 1> GroupsOf(const TopologyDemands& demands, size_t begin, size_t end,
                                         ClassId cls) const;
  std::optional<RefusalKind> FlavorError(const PodSetAssignment& pod_set, FlavorId& flavor,
                                         std::string& names) const;
  // State of one search for placements.
  struct Search {
    WorkloadId workload;
    bool as_if_empty;
    WorkloadId replaced;
    TopologyAnswers answers;
  };
  // Returns the query for a pod set and, if `leader` is not null, its leader. Sets `failure` if the request
  // is invalid.
  PlacementQuery QueryFor(const TopologyDemand& demand, const TopologyDemand* leader, const Search& search,
                          std::shared_ptr<const PlacementFailure>& failure);
  int32_t DemandIdFor(const TopologyDemand& demand, WorkloadId workload, ClassDemands& demands,
                      std::shared_ptr<const PlacementFailure>& failure);
  const PodDemand& PodOf(const TopologyDemand& demand, WorkloadId workload) const;
  // Return whether all pod sets of the group were placed.
  bool PlaceGroup(const Group& group, bool is_last, Search& search);
  bool ReplaceNode(const Group& group, Search& search);
  // Returns nullopt if the workload replaces no slice or if the domains of the replaced slice no longer
  // exist.
  std::optional<bool> PlaceElastic(const TopologyDemand& workers, const TopologyDemand* leader,
                                   Search& search);
  void Answer(const TopologyDemand& demand, std::vector<DomainCount> domains, Search& search) const;
  TopologyUsages UsageByQuota(const Assignment& assignment, WorkloadId workload) const;
  // Returns the resource `pods`, or kNoId in releases with the rule earlier_pod_sets_take_no_slot. Each pod
  // that is already placed for the same workload uses one unit of this resource in addition to its requests.
  ResourceId SlotResource() const;
  void Assume(const TopologyDemand& demand, const std::vector<DomainCount>& domains, WorkloadId workload);
  void AssumeFromOthers(FlavorId flavor);

  State& state_;
  struct Assumed {
    FlavorId flavor;
    DomainId domain;
    PodAmounts requests;
    int32_t count;
  };
  std::vector<Assumed> assumed_;  // Placements assumed for the workload being placed.
  // Pod sets (workload, index, flavor) whose nodes were matched earlier in this cycle. Kueue caches the
  // matching nodes, but not their affinity scores.
  std::set<std::tuple<WorkloadId, int, FlavorId>> matched_;
};

}  // namespace kueue

#endif  // KUEUE_FLAVOR_PLACER_H_
