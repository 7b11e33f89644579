// What a topology has, who is where in it, and why the pods of a workload find no place: facts, without
// prose.
#ifndef KUEUE_QUESTIONS_PLACES_H_
#define KUEUE_QUESTIONS_PLACES_H_

#include <memory>
#include <string>
#include <vector>

#include "flavor/placer.h"
#include "state/state.h"
#include "topology/placement.h"

namespace kueue {

// How many alternatives an answer lists at most.
inline constexpr size_t kMostAlternatives = 6;

// One domain, and how many pods of a pod set it would hold in whole slices, beside a leader if there is one.
struct DomainFacts {
  int32_t domain;  // of the flavor's tree
  int level;
  int32_t pods, pods_if_empty;  // the latter as if no topology had placed any pod
  std::vector<PlacementFailure::Excluded>
      excluded;  // leaves in it that hold none, by what is first in the way
};
inline constexpr size_t kMostDomains = 1000;

// A pod set, or a leader and its workers, in the topology of one flavor.
struct PlaceFacts {
  int pod_set = 0;  // of the workers
  int leader = kNoId;
  FlavorId flavor = kNoId;
  int32_t count = 0;  // of workers
  bool implied = false;
  const TopologyRequest* request = nullptr;                   // of the workers; null: none
  PlacementParameters parameters;                             // as resolved; see `unresolved`
  bool unresolved = false;                                    // the request makes no sense in this topology
  std::shared_ptr<const PlacementFailure> failure, if_empty;  // null: there is a place now; in the empty tree
  std::vector<DomainCount> workers, leaders;                  // that place
  int32_t largest = 0, largest_if_empty = 0;  // the most workers that would have a place, in whole slices
  int32_t most_on_a_node = 0;  // the most workers that a single leaf would hold if it was empty
  // From the highest level down to the one that is asked for; those that hold most first, at most
  // kMostDomains of each level.
  std::vector<DomainFacts> domains;
  int32_t nearest = kNoId;  // of a required level, the domain that holds most
  // Workloads each of which alone would make room by leaving; at most a few.
  std::vector<WorkloadId> sufficient_alone;
};

// Explains the pod sets of one workload one after the other, each beside those before it.
class PlaceExplainer {
 public:
  PlaceExplainer(State& state, Placer& placer, WorkloadId workload)
      : state_(state), placer_(placer), workload_(workload) {}
  ~PlaceExplainer() { state_.topology.made.capacity.ClearAssumed(); }
  PlaceExplainer(const PlaceExplainer&) = delete;
  PlaceExplainer& operator=(const PlaceExplainer&) = delete;

  // `leader` is null, or of the same flavor.
  PlaceFacts Explain(const TopologyDemand& workers, const TopologyDemand* leader);
  // Its pods are where they have a place, for all that come after.
  void Assume(const PlaceFacts& facts);

 private:
  // Where there is a place now, or why there is none.
  void SetPlace(FlavorCapacity& capacity, const PlacementQuery& query, PlaceFacts& facts) const;
  // What the domains hold, how many pods would have a place, and who would make room.
  void AddRoom(FlavorCapacity& capacity, const PlacementQuery& query, PlaceFacts& facts) const;
  void AddDomains(FlavorCapacity& capacity, PlacementQuery query, PlaceFacts& facts) const;
  int32_t Largest(FlavorCapacity& capacity, PlacementQuery query, const PlaceFacts& facts) const;
  std::vector<WorkloadId> SufficientAlone(FlavorId flavor, FlavorCapacity& capacity,
                                          const PlacementQuery& query) const;

  State& state_;
  Placer& placer_;
  const WorkloadId workload_;
};

// So many pods of a workload that holds quota in one leaf of a flavor's tree.
struct LeafUse {
  int32_t leaf;
  WorkloadId workload;
  int32_t pods;
  PodAmounts requests;  // of one of them
};
// In the order of leaves, then of the workloads' submission.
std::vector<LeafUse> LeafUses(State& state, FlavorId flavor);

// How many pods that ask for so much each domain of the flavor's tree would hold; they tolerate what the
// flavor does, and are not choosy otherwise. `requests` are without `pods`.
std::vector<int32_t> PodsByDomain(State& state, FlavorId flavor, PodAmounts requests, bool as_if_empty);

}  // namespace kueue

#endif  // KUEUE_QUESTIONS_PLACES_H_
