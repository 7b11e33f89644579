// Where the pods of a pod set, or of a leader and its workers, go: the second phase, and both together.
// Mirrors pkg/cache/scheduler/tas_flavor_snapshot.go:findTopologyAssignment (kueue ff69552e79).
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
  const TopologyRequest* request = nullptr;  // null: implied by the queue's flavors
  bool implied = false;
  int32_t count = 0;                 // of workers
  PodAmounts requests;               // of one pod, with one of `pods`, by name of the resource
  std::optional<PodAmounts> leader;  // the same of the leader
  std::shared_ptr<const EligibleLeaves> eligible;
  int32_t demand = 0;  // the number that stands for the pods' demand
  // Those for the request, and for what a pod and a leader ask for; see known.h.
  int32_t request_number = kNoId, pod_number = kNoId, leader_number = kNoId;
  bool as_if_empty = false;
  bool forgets_affinity = false;  // see Placer::matched_ in flavor/placer.h
  // Where only a part of the tree counts: the joined values of its top.
  std::optional<std::string> within;
};

struct Placement {
  std::vector<DomainCount> workers, leader;
  std::shared_ptr<const PlacementFailure> failure;  // null: placed
};

Placement Place(FlavorCapacity& capacity, const PlacementQuery& query, const PlacementGates& gates,
                const Interner& resources);

// What Place counts for the query, whose parameters are resolved.
CountQuery CountsAsked(const PlacementQuery& query, const PlacementParameters& parameters,
                       const PlacementGates& gates);

// The second phase alone, on counts; `counts` is by domain.
class Descent {
 public:
  Descent(const TopologyTree& tree, const PlacementParameters& parameters, const PlacementGates& gates,
          const std::vector<Counts>& counts)
      : tree_(tree),
        parameters_(parameters),
        gates_(gates),
        counts_(counts),
        slices_(parameters.count / parameters.slice_size) {}

  struct Start {
    int level = 0;
    Choices domains;
    // Where nothing fits: how many do, and the level searched last.
    bool fits = true;
    int32_t fit = 0;
    bool no_domains = false;

    static Start In(int level, const Choice& domain) { return {level, {domain}}; }
    static Start NotFit(int level, int32_t fit) { return {level, {}, false, fit}; }
    static Start NoDomains(int level) { return {level, {}, false, 0, true}; }
  };
  // The level to start from and the domains there that can take all.
  Start FindLevel(int level) const;
  // From those domains down to the leaves, with what each gets.
  Choices Descend(Start start, bool balanced) const;

  DomainOrder Order(bool with_leader) const {
    return {with_leader, parameters_.least_free_capacity, gates_.respect_node_affinity_preferred};
  }
  Choices Domains(TopologyTree::Range range) const;
  void AddChildren(int32_t domain, Choices& choices) const;

 private:
  // What is not placed yet: pods or slices, and leaders.
  struct Remaining {
    int32_t count;
    int32_t leaders;
  };

  bool HoldsAll(const Counts& counts) const {
    return counts.slices_with_leader >= slices_ && counts.leaders >= parameters_.leaders;
  }
  // The place in the list of the domain with the least room that takes all; its size where none does.
  size_t LeastFree(OrderedChoices& list) const;
  // At the required level, where the first of the list does not take all: one less preferred that does.
  Start FindRequired(int level, OrderedChoices& list) const;
  // Where no single domain takes all: several of them, those that take a leader first.
  Start Spread(int level, Choices domains) const;
  // Chooses domains for the leaders. Returns those that are left.
  Choices SpreadLeaders(Choices domains, Remaining& remaining, Choices& chosen) const;

  // Pods of a slice in the domains below a level: those below the lowest layer of slices get single pods.
  int32_t UnitBelow(int level) const;
  // Above the level of slices: shares all out over the children of all domains, whatever each was given.
  Choices DistributeTogether(const Choices& parents) const;
  // Shares what a domain was given out over its children, in slices of `unit` pods.
  Choices DistributeBelow(const Choice& parent, int32_t unit) const;
  // Shares pods, or slices of `unit` pods, out over the domains of the list.
  Choices Distribute(OrderedChoices list, int32_t count, int32_t leaders, int32_t unit, Metric metric) const;
  // The place in the list of the domain for the next leader: the i-th, or another that takes all that remains
  // and fits it more closely.
  size_t ForLeader(OrderedChoices& list, size_t i, Metric metric, const Remaining& remaining) const;
  // Each gives a domain what it takes of what remains, the first with a leader. Returns whether that was all.
  bool PlaceLeader(OrderedChoices& list, size_t i, int32_t unit, Metric metric, Remaining& remaining,
                   Choices& chosen) const;
  bool PlaceRest(OrderedChoices& list, size_t i, int32_t unit, Metric metric, Remaining& remaining,
                 Choices& chosen) const;

  const TopologyTree& tree_;
  const PlacementParameters& parameters_;
  const PlacementGates& gates_;
  const std::vector<Counts>& counts_;
  const int32_t slices_;  // to be placed
};

// Balanced placement (balanced.cc): the domains to start from, placed evenly, and the counts to go on with;
// nothing where it cannot be had.
struct BalancedStart {
  Descent::Start start;
  std::vector<Counts> counts;
};
std::optional<BalancedStart> PlaceBalanced(const TopologyTree& tree, const PlacementParameters& parameters,
                                           const PlacementGates& gates, const CountTable& table);

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_PLACEMENT_H_
