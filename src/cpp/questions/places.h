// Facts about topologies: the domains, the pods placed in them, and why the pods of a workload do not fit.
#ifndef KUEUE_QUESTIONS_PLACES_H_
#define KUEUE_QUESTIONS_PLACES_H_

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "flavor/placer.h"
#include "questions/by_name.h"
#include "state/state.h"
#include "topology/placement.h"

namespace kueue {

// Maximum number of workloads listed in `sufficient_alone`.
inline constexpr size_t kMostAlternatives = 6;

// A domain, and the number of pods of a pod set that fit in it. Only pods in whole slices are counted. If the
// pod set has a leader, the leader must fit as well.
struct DomainFacts {
  int32_t domain;  // Index of the domain in the flavor's tree.
  int level;
  int32_t pods, pods_if_empty;  // `pods_if_empty` ignores the usage of pods placed by topology assignments.
  std::vector<PlacementFailure::Excluded>
      excluded;  // Numbers of leaves in which no pod fits, by the first reason.
  // The pods that Kueue does not place and that hold the missing resource of these leaves, largest first.
  std::vector<std::string> unmanaged;
};
inline constexpr size_t kMostDomains = 1000;
inline constexpr size_t kMostUnmanaged = 3;

// Placement of a pod set, or of a leader and its workers, in the topology of one flavor.
struct PlaceFacts {
  int pod_set = 0;  // Pod set of the workers.
  int leader = kNoId;
  FlavorId flavor = kNoId;
  int32_t count = 0;  // Number of workers.
  bool implied = false;
  // Topology request of the workers; null if there is none. The workload's spec owns the request.
  const TopologyRequest* request = nullptr;
  PlacementParameters parameters;  // Valid unless `unresolved`.
  bool unresolved = false;         // Whether the request is invalid for this topology.
  // The reason why the pods do not fit now, and the reason why they would not fit in an empty tree; null if
  // they fit.
  std::shared_ptr<const PlacementFailure> failure, if_empty;
  std::vector<DomainCount> workers, leaders;  // Current placement, if the pods fit.
  int32_t largest = 0, largest_if_empty = 0;  // Largest number of workers that would fit, in whole slices.
  int32_t most_on_a_node = 0;  // Largest number of workers that would fit in a single empty leaf.
  // Domains from the highest level down to the requested level. Within each level, the domains are sorted by
  // decreasing number of pods and limited to kMostDomains.
  std::vector<DomainFacts> domains;
  int32_t nearest = kNoId;  // If a level is required: the domain in which the largest number of pods fits.
  // Some of the workloads whose individual removal would make the pods fit.
  std::vector<WorkloadId> sufficient_alone;
};

// The same facts with names instead of ids. kueuepy.engine.places documents the fields.
struct PlaceFailureView {
  PlacementFailure::Kind kind;
  int32_t fit, of;
  bool in_slices;
  std::string first, second;
  int32_t total_nodes;
};
struct PlaceDomainView {
  std::string level;
  NameTuple values;
  int32_t pods, pods_if_empty, nodes;
  std::vector<std::tuple<PlacementFailure::Exclusion, std::string, int32_t>> excluded;
  std::vector<std::string> unmanaged;
};
struct PlaceView {
  std::string topology;
  NameTuple levels;
  int32_t count;
  bool has_leader, is_resolved;
  const char* mode;
  std::string level;
  int32_t slice_size;
  std::string slice_level;
  std::optional<PlaceFailureView> failure, failure_if_empty;
  int32_t largest, largest_if_empty, most_on_a_node;
  std::vector<PlaceDomainView> domains;
  std::vector<int32_t> domain_counts;
  std::optional<NameTuple> nearest;
  std::vector<std::string> sufficient_alone;
  std::vector<std::pair<std::string, const char*>> absent;
};
// The tree of the flavor must be the one for which the facts were computed.
PlaceView ViewPlace(const State& state, const PlaceFacts& facts);

// Explains the pod sets of one workload one after another. Explain() places each pod set in addition to the
// pod sets passed to Assume(). All referenced objects must outlive this object.
class PlaceExplainer {
 public:
  PlaceExplainer(State& state, Placer& placer, WorkloadId workload)
      : state_(state), placer_(placer), workload_(workload) {}
  ~PlaceExplainer() { state_.topology.made.capacity.ClearAssumed(); }
  PlaceExplainer(const PlaceExplainer&) = delete;
  PlaceExplainer& operator=(const PlaceExplainer&) = delete;

  // `leader` is null or has the same flavor as `workers`.
  PlaceFacts Explain(const TopologyDemand& workers, const TopologyDemand* leader);
  // Later calls of Explain() treat the pods in `facts` as placed.
  void Assume(const PlaceFacts& facts);

 private:
  // Computes the current placement, or the reason why the pods cannot be placed.
  void SetPlace(FlavorCapacity& capacity, const PlacementQuery& query, PlaceFacts& facts) const;
  // Computes the number of pods that fit in each domain, the largest numbers of workers that would fit, and
  // the workloads whose removal would be sufficient.
  void AddRoom(FlavorCapacity& capacity, const PlacementQuery& query, PlaceFacts& facts) const;
  void AddDomains(FlavorCapacity& capacity, PlacementQuery query, PlaceFacts& facts) const;
  int32_t Largest(FlavorCapacity& capacity, PlacementQuery query, const PlaceFacts& facts) const;
  std::vector<WorkloadId> SufficientAlone(FlavorId flavor, FlavorCapacity& capacity,
                                          const PlacementQuery& query) const;

  State& state_;
  Placer& placer_;
  const WorkloadId workload_;
};

// Returns whether pods of the workload are placed in the tree, which must be the flavor's.
bool UsesTree(const State& state, const Workload& workload, FlavorId flavor, const TopologyTree& tree);

}  // namespace kueue

#endif  // KUEUE_QUESTIONS_PLACES_H_
