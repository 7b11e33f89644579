// The places that a workload's pod sets ask for, once quota has given them flavors.
// Mirrors pkg/scheduler/flavorassigner/tas_flavorassigner.go and
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
  std::shared_ptr<const TopologyAssignment> assignment;  // null where there is a failure
  std::shared_ptr<const PlacementFailure> failure;
};

// What the workload was admitted with for the pod set of this name; null: nothing.
const PodSetAdmission* AdmittedAs(const Workload& workload, const std::string& pod_set);

class Placer {
 public:
  explicit Placer(State& state) : state_(state) {}

  // A new cycle: what was found out about nodes no longer holds.
  void BeginCycle() { matched_.clear(); }

  // Whether a workload of the queue is placed at all: asked for by a pod set, or implied by the queue.
  bool Concerns(NodeId queue, const EquivalenceClass& cls) const;
  // What of the queue and the flavor counts for a pod set's topology.
  TopologyMatch MatchOf(NodeId queue, int resource_group, FlavorId flavor, ClassId cls, int pod_set);
  bool HasTree(FlavorId flavor) const { return state_.topology.made.capacity.Find(flavor) != nullptr; }

  // What is to be placed of an assignment whose flavors are chosen. Marks in it which pod sets wait for a
  // provisioning check, and which cannot be placed for a fault of the request; `replaced` is the elastic
  // slice that the workload takes the place of, or kNoId.
  TopologyDemands DemandsOf(Assignment& assignment, NodeId queue, WorkloadId workload) const;

  // Where the pod sets go; on a failure, those before it have a place. With `as_if_empty`, as if no workload
  // were placed anywhere.
  std::vector<TopologyAnswer> Find(const TopologyDemands& demands, WorkloadId workload, bool as_if_empty,
                                   WorkloadId replaced);
  bool Fits(const TopologyDemands& demands, WorkloadId workload, WorkloadId replaced);

  // The answer that stands for the failure; null: all are placed. Of several the first by the pod set's name.
  const TopologyAnswer* FailureIn(const std::vector<TopologyAnswer>& answers, ClassId cls) const;
  // Writes the places into the assignment, and its usage.
  void Apply(const std::vector<TopologyAnswer>& answers, Assignment& assignment, WorkloadId workload) const;
  // Usage beyond what the workload's admission has charged already.
  std::vector<TopologyUsage> NetUsage(const Assignment& assignment, WorkloadId workload) const;
  // Whether each domain of the usage, taken alone, has room for its pods now.
  bool HasRoom(const std::vector<TopologyUsage>& usage) const;
  // What is asked of the flavor's topology for a pod set, and for the leader that comes along, if any; or
  // what is wrong with it.
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
  // One search: for whom, on which terms, and what it has found so far.
  struct Search {
    WorkloadId workload;
    bool as_if_empty;
    WorkloadId replaced;
    std::vector<TopologyAnswer> answers;
  };
  // The query of a pod set, with the leader that comes along, if any; or a failure of the request.
  PlacementQuery QueryFor(const TopologyDemand& demand, const TopologyDemand* leader, const Search& search,
                          std::shared_ptr<const PlacementFailure>& failure);
  int32_t DemandIdFor(const TopologyDemand& demand, WorkloadId workload,
                      std::shared_ptr<const PlacementFailure>& failure);
  const PodDemand& PodOf(const TopologyDemand& demand, WorkloadId workload) const;
  // Each returns whether all of the group is placed.
  bool PlaceGroup(const Group& group, bool is_last, Search& search);
  bool ReplaceNode(const Group& group, Search& search);
  // Nothing where the workload takes no slice's place, or the slice's domains are gone.
  std::optional<bool> PlaceElastic(const TopologyDemand& workers, const TopologyDemand* leader,
                                   Search& search);
  void Answer(const TopologyDemand& demand, std::vector<DomainCount> domains, Search& search) const;
  std::vector<TopologyUsage> UsageByQuota(const Assignment& assignment, WorkloadId workload) const;
  // Of what a pod that is placed in the midst of a workload takes one; kNoId: of nothing.
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
  std::vector<Assumed> assumed_;  // in the midst of a workload
  // Pod sets (workload, name, flavor) whose nodes were matched before in this cycle: Kueue remembers the
  // match, but not what preferred affinity gave.
  std::set<std::tuple<WorkloadId, int, FlavorId>> matched_;
};

}  // namespace kueue

#endif  // KUEUE_FLAVOR_PLACER_H_
