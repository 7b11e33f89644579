// Number of pods and slices that fit in each domain: the first phase of a placement. Mirrors
// pkg/cache/scheduler/tas_flavor_snapshot.go:fillInCounts (kueue ff69552e79).
#ifndef KUEUE_TOPOLOGY_COUNTS_H_
#define KUEUE_TOPOLOGY_COUNTS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/topology.h"
#include "topology/capacity.h"
#include "topology/eligibility.h"

namespace kueue {

// Counts of one domain. The fields `*_with_leader` contain the counts if a leader is also placed in the
// domain.
struct Counts {
  int32_t pods = 0, slices = 0;
  int32_t pods_with_leader = 0, slices_with_leader = 0;
  int32_t leaders = 0;   // Number of leaders that fit: 1 if the leader of a group fits, otherwise 0.
  int64_t affinity = 0;  // Sum of the weights of matching preferred node affinity terms.
};

// A query for the counts of the domains of a tree. Requests include the resource `pods` and are sorted by
// resource name.
struct CountQuery {
  PodAmounts requests;
  std::optional<PodAmounts> leader;
  std::shared_ptr<const EligibleLeaves> eligible;
  int32_t demand = 0;        // Id of the NodeDemand from which `eligible` was computed.
  bool as_if_empty = false;  // Whether to ignore the usage of pods placed by topology assignments.
  bool by_affinity = false;  // Whether to sum up the weights of preferred node affinity terms.
  int32_t slice_size = 1;
  int slice_level = 0;
  // For each level, the rounding unit: the number of pods in a domain is rounded down to a multiple of this
  // unit; 0 means no rounding. The list is empty if there is at most one slice layer.
  std::vector<int32_t> inner_sizes;

  // Returns a cache key. Queries with equal keys have equal results.
  std::vector<int64_t> Key() const;
};

// Counts of all domains of a tree for one query. Tables of a flavor are cached and updated incrementally, by
// recounting changed leaves and their ancestors.
class CountTable {
 public:
  explicit CountTable(CountQuery query) : query_(std::move(query)) {}

  // Updates the counts to the current capacity.
  void Refresh(const FlavorCapacity& capacity);
  // Counts only the leaves at or below a domain. `within` contains the joined level values of the domain.
  void CountWithin(const FlavorCapacity& capacity, const std::string& within);

  const Counts& At(int32_t domain) const { return counts_[static_cast<size_t>(domain)]; }
  const std::vector<Counts>& counts() const { return counts_; }
  const CountQuery& query() const { return query_; }
  // Returns the resource that is insufficient for a single pod in an eligible leaf, or kNoId if a pod fits.
  ResourceId LimitingOf(int32_t leaf) const { return limiting_[static_cast<size_t>(leaf)]; }

  // Recounts the subtree of `domain`, children first. `counts` is indexed like the counts of this table and
  // already contains the pods of the leaves.
  void RollUp(const TopologyTree& tree, int level, int32_t domain, bool inner,
              std::vector<Counts>& counts) const;
  // Adds the number of excluded nodes for each reason to `failure`.
  void Explain(const FlavorCapacity& capacity, const Interner<ResourceId>& resources,
               PlacementFailure& failure) const;

 private:
  struct Ask {
    int slot;  // Slot of the resource; kNoId if no node has the resource.
    ResourceId resource;
    int64_t amount;
  };
  static std::vector<Ask> Compile(const TopologyTree& tree, const PodAmounts& requests);
  void Begin(const FlavorCapacity& capacity);
  void CountAll(const FlavorCapacity& capacity);
  void Follow(const FlavorCapacity& capacity, const ChangeLog& log, size_t from);
  void CountLeaf(const FlavorCapacity& capacity, int32_t leaf);
  void RollUpOne(const TopologyTree& tree, int level, int32_t domain, bool inner,
                 std::vector<Counts>& counts) const;
  // Returns the unit to which the pods of the children of domains at `level` are rounded down; 0: none.
  int32_t UnitBelow(int level) const {
    const size_t below = static_cast<size_t>(level) + 1;
    return below < query_.inner_sizes.size() ? query_.inner_sizes[below] : 0;
  }
  // Updates the counts of a domain at `level` after the counts of one of its children have changed. The query
  // must have no leader.
  void AddDifference(int level, const Counts& before, const Counts& now, Counts& counts) const;
  // Derives the slices from the pods of a domain at the slice level.
  void CountSlices(Counts& counts) const {
    counts.slices = counts.pods / query_.slice_size;
    counts.slices_with_leader = counts.pods_with_leader / query_.slice_size;
  }
  // Returns the amount of the resource that remains after the leader's requests are subtracted.
  int64_t LessLeader(int64_t remaining, ResourceId resource) const;
  // Returns how many times the request `ask` fits in the remaining capacity of a row.
  int32_t HowOften(const FlavorCapacity& capacity, size_t row, const Ask& ask, bool less_leader) const;
  int32_t HowMany(const FlavorCapacity& capacity, int32_t leaf, const std::vector<Ask>& asks,
                  bool less_leader, ResourceId* limiting) const;

  CountQuery query_;
  const TopologyTree* tree_ = nullptr;  // Tree that the last Refresh() used.
  std::vector<Ask> asks_, leader_asks_;
  std::vector<Counts> counts_;
  // For each leaf, the resource that is insufficient for a single pod, or kNoId.
  std::vector<ResourceId> limiting_;
  // For each leaf, whether the leaf is outside the subtree that is counted. The list is empty if all leaves
  // are counted.
  std::vector<bool> outside_;
  std::vector<bool> is_recounted_;  // For each leaf, within Follow().
  size_t used_position_ = 0, free_position_ = 0;
};

// Returns the up-to-date table that answers the query. The reference is invalidated when the flavor's cache
// is cleared or its capacity is replaced.
CountTable& CountsFor(FlavorCapacity& capacity, CountQuery query);

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_COUNTS_H_
