// Placement of a pod set, or of a leader and its workers. Declares the second phase of a placement, and the
// function that performs both phases. Mirrors
// pkg/cache/scheduler/tas_flavor_snapshot.go:findTopologyAssignment (kueue ff69552e79).
#ifndef KUEUE_TOPOLOGY_PLACEMENT_H_
#define KUEUE_TOPOLOGY_PLACEMENT_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "topology/capacity.h"
#include "topology/counts.h"
#include "topology/order.h"
#include "topology/parameters.h"

namespace kueue {

// A pod set, or a leader and its workers, to be placed in one flavor.
struct PlacementQuery {
  // Topology request; null if the flavors of the queue imply the topology instead of an explicit request.
  const TopologyRequest* request = nullptr;
  bool implied = false;
  int32_t count = 0;  // Number of workers.
  // Requests of one pod, including one unit of the resource `pods`, sorted by resource name. Must outlive the
  // query.
  const PodAmounts* requests = nullptr;
  const PodAmounts* leader = nullptr;  // Requests of the leader, in the same form as `requests`, or null.
  std::shared_ptr<const EligibleLeaves> eligible;
  int32_t demand = 0;  // Id of the NodeDemand.
  // Ids of the topology request, of a worker's requests and of the leader's requests; see known.h.
  int32_t request_number = kNoId, pod_number = kNoId, leader_number = kNoId;
  bool as_if_empty = false;
  bool forgets_affinity = false;  // See PlacementQueries in flavor/queries.h.
  // Joined level values of a domain; if set, only domains below this domain are considered.
  std::optional<std::string> within;
};

struct Placement {
  std::vector<DomainCount> workers, leader;
  std::shared_ptr<const PlacementFailure> failure;  // Null: placed.
};

Placement Place(FlavorCapacity& capacity, const PlacementQuery& query, const PlacementGates& gates,
                const Interner<ResourceId>& resources);

// The part of a placement that does not depend on the capacity.
struct PreparedPlacement {
  PlacementParameters parameters;
  CountTable* table = nullptr;  // Owned by the cache of the flavor's capacity.
};
// Same as the function above, for repeated placements with the same query. The first call fills `prepared`.
// The query must not be restricted to a domain.
Placement Place(FlavorCapacity& capacity, const PlacementQuery& query, const PlacementGates& gates,
                const Interner<ResourceId>& resources, PreparedPlacement& prepared);

// Returns the count query that Place() uses for `query`. `parameters` must be resolved.
CountQuery CountsAsked(const PlacementQuery& query, const PlacementParameters& parameters,
                       const PlacementGates& gates);

// The second phase of a placement, based on given counts. `counts` is indexed by domain. `spare` is an empty
// list whose memory is reused. All referenced objects must outlive this object.
class Descent {
 public:
  Descent(const TopologyTree& tree, const PlacementParameters& parameters, const PlacementGates& gates,
          const std::vector<Counts>& counts, Choices& spare)
      : tree_(tree),
        parameters_(parameters),
        gates_(gates),
        counts_(counts),
        spare_(spare),
        slices_(parameters.count / parameters.slice_size) {}

  struct Start {
    int level = 0;
    Choices domains;
    // `fits` is false if not all pods fit. If `fits` is false, `fit` is the number of slices that fit at the
    // level searched last.
    bool fits = true;
    int32_t fit = 0;
    bool no_domains = false;

    static Start In(int level, const Choice& domain) { return {level, {domain}}; }
    static Start NotFit(int level, int32_t fit) { return {level, {}, false, fit}; }
    static Start NoDomains(int level) { return {level, {}, false, 0, true}; }
  };
  // Returns the level to start from, and domains at that level that together have capacity for all pods.
  Start FindLevel(int level) const;
  // Distributes the pods from the start domains down to the leaves.
  Choices Descend(Start start, bool balanced) const;

  DomainOrder Order(bool with_leader) const {
    return {with_leader, parameters_.least_free_capacity, gates_.respect_node_affinity_preferred};
  }
  Choices Domains(TopologyTree::Range range) const;
  void AddChildren(int32_t domain, Choices& choices) const;

 private:
  // Numbers of pods (or slices) and of leaders that are not placed yet.
  struct Remaining {
    int32_t count;
    int32_t leaders;
  };

  bool HoldsAll(const Counts& counts) const {
    return counts.slices_with_leader >= slices_ && counts.leaders >= parameters_.leaders;
  }
  // Returns the position of the domain with the least free capacity in which all pods fit, or list.size() if
  // there is none.
  size_t LeastFree(OrderedChoices& list) const;
  // This function is called if the pods do not all fit in the first domain at the required level. With
  // preferred affinity, returns a domain with a lower affinity in which all pods fit.
  Start FindRequired(int level, OrderedChoices& list) const;
  // This function is called if the pods do not all fit in any single domain. Returns several domains; the
  // domains for the leaders come first.
  Start Spread(int level, Choices domains) const;
  // Chooses domains for the leaders and returns the remaining domains.
  Choices SpreadLeaders(Choices domains, Remaining& remaining, Choices& chosen) const;

  // Returns the slice size to use for the children of domains at `level`; 1 below the lowest slice layer.
  int32_t UnitBelow(int level) const;
  // This function is used above the slice level. Distributes all pods over the children of all parents
  // together, ignoring how many pods each parent was assigned.
  Choices DistributeTogether(const Choices& parents) const;
  // Distributes the pods of one domain over its children, in slices of `unit` pods. Adds the chosen children
  // to `chosen`.
  void DistributeBelow(const Choice& parent, int32_t unit, Choices& chosen) const;
  // Returns the domain that Distribute() chooses if one of the domains is sufficient for `need` pods or
  // slices without a leader, or kNoId if it may choose several.
  int32_t OnlyDomain(TopologyTree::Range domains, int32_t need, Metric metric) const;
  TopologyTree::Range ChildrenOf(int32_t domain) const {
    const TopologyTree::Domain& at = tree_.At(domain);
    return {at.children_begin, at.children_end};
  }
  // Distributes `count` pods, or slices of `unit` pods, over the domains of the list.
  Choices Distribute(OrderedChoices& list, int32_t count, int32_t leaders, int32_t unit, Metric metric) const;
  // Returns the position of the domain for the next leader: the best fit if everything that remains fits in
  // the i-th domain, and `i` otherwise.
  size_t ForLeader(OrderedChoices& list, size_t i, Metric metric, const Remaining& remaining) const;
  // Assign to a domain as many of the remaining pods as fit in it. PlaceLeader() also assigns a leader.
  // Return true if nothing remains to be placed.
  bool PlaceLeader(OrderedChoices& list, size_t i, int32_t unit, Metric metric, Remaining& remaining,
                   Choices& chosen) const;
  bool PlaceRest(OrderedChoices& list, size_t i, int32_t unit, Metric metric, Remaining& remaining,
                 Choices& chosen) const;

  const TopologyTree& tree_;
  const PlacementParameters& parameters_;
  const PlacementGates& gates_;
  const std::vector<Counts>& counts_;
  Choices& spare_;
  const int32_t slices_;  // Number of slices to place.
};

// Result of the search for a balanced placement (balanced.cc): the evenly loaded start domains, and the
// counts that the second phase uses. Returns nullopt if no balanced placement exists.
struct BalancedStart {
  Descent::Start start;
  std::vector<Counts> counts;
};
std::optional<BalancedStart> PlaceBalanced(const TopologyTree& tree, const PlacementParameters& parameters,
                                           const PlacementGates& gates, const CountTable& table);

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_PLACEMENT_H_
