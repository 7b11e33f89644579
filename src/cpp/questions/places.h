// Facts about topologies: the domains, the pods placed in them, and why the pods of a workload do not fit.
#ifndef KUEUE_QUESTIONS_PLACES_H_
#define KUEUE_QUESTIONS_PLACES_H_

#include <memory>
#include <string>
#include <vector>

#include "flavor/placer.h"
#include "state/state.h"
#include "topology/placement.h"

namespace kueue {

// Maximum number of alternatives in an answer.
inline constexpr size_t kMostAlternatives = 6;

// A domain, and the number of pods of a pod set that fit in it. Only whole slices count. If the pod set has a
// leader, the leader must fit as well.
struct DomainFacts {
  int32_t domain;  // Index in the flavor's tree.
  int level;
  int32_t pods, pods_if_empty;  // `pods_if_empty` ignores the usage of pods placed by topology assignments.
  std::vector<PlacementFailure::Excluded>
      excluded;  // Leaves in the domain that fit no pod, by the first reason.
};
inline constexpr size_t kMostDomains = 1000;

// Placement of a pod set, or of a leader and its workers, in the topology of one flavor.
struct PlaceFacts {
  int pod_set = 0;  // Pod set of the workers.
  int leader = kNoId;
  FlavorId flavor = kNoId;
  int32_t count = 0;  // Number of workers.
  bool implied = false;
  // Request of the workers; null: none. The workload's spec owns the request.
  const TopologyRequest* request = nullptr;
  PlacementParameters parameters;  // Valid unless `unresolved`.
  bool unresolved = false;         // The request is invalid for this topology.
  // Failure in the current and in the empty tree; null: the pods fit.
  std::shared_ptr<const PlacementFailure> failure, if_empty;
  std::vector<DomainCount> workers, leaders;  // Current placement, if the pods fit.
  int32_t largest = 0, largest_if_empty = 0;  // Largest number of workers that would fit, in whole slices.
  int32_t most_on_a_node = 0;  // Largest number of workers that would fit in a single empty leaf.
  // From the highest level down to the requested one. Sorted by decreasing number of pods within each level,
  // and limited to kMostDomains per level.
  std::vector<DomainFacts> domains;
  int32_t nearest = kNoId;  // With a required level: the domain in which most pods fit.
  // Workloads whose removal alone would be sufficient; limited to a few.
  std::vector<WorkloadId> sufficient_alone;
};

// Explains the pod sets of one workload one after another. Each is placed in addition to those passed to
// Assume(). All references must outlive this object.
class PlaceExplainer {
 public:
  PlaceExplainer(State& state, Placer& placer, WorkloadId workload)
      : state_(state), placer_(placer), workload_(workload) {}
  ~PlaceExplainer() { state_.topology.made.capacity.ClearAssumed(); }
  PlaceExplainer(const PlaceExplainer&) = delete;
  PlaceExplainer& operator=(const PlaceExplainer&) = delete;

  // `leader` is null or has the same flavor.
  PlaceFacts Explain(const TopologyDemand& workers, const TopologyDemand* leader);
  // Treats the pods as placed for all later pod sets.
  void Assume(const PlaceFacts& facts);

 private:
  // Computes the current placement or the reason why there is none.
  void SetPlace(FlavorCapacity& capacity, const PlacementQuery& query, PlaceFacts& facts) const;
  // Computes the pods per domain, the numbers of pods that would fit, and the workloads whose removal is
  // sufficient.
  void AddRoom(FlavorCapacity& capacity, const PlacementQuery& query, PlaceFacts& facts) const;
  void AddDomains(FlavorCapacity& capacity, PlacementQuery query, PlaceFacts& facts) const;
  int32_t Largest(FlavorCapacity& capacity, PlacementQuery query, const PlaceFacts& facts) const;
  std::vector<WorkloadId> SufficientAlone(FlavorId flavor, FlavorCapacity& capacity,
                                          const PlacementQuery& query) const;

  State& state_;
  Placer& placer_;
  const WorkloadId workload_;
};

// Pods of a workload with a quota reservation in one leaf of a flavor's tree.
struct LeafUse {
  int32_t leaf;
  WorkloadId workload;
  int32_t pods;
  PodAmounts requests;  // Of one pod.
};
// Sorted by leaf, then by order of submission.
std::vector<LeafUse> LeafUses(State& state, FlavorId flavor);

// Returns for each domain of the flavor's tree the number of pods with these requests that fit. The pods have
// the flavor's tolerations and no other requirements. `requests` do not include the resource `pods`.
std::vector<int32_t> PodsByDomain(State& state, FlavorId flavor, PodAmounts requests, bool as_if_empty);

}  // namespace kueue

#endif  // KUEUE_QUESTIONS_PLACES_H_
