// How many pods and slices each domain could take: the first phase of a placement.
// Mirrors pkg/cache/scheduler/tas_flavor_snapshot.go:fillInCounts (kueue ff69552e79).
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

// Of one domain. "With leader": what would still fit if a leader came here, too.
struct Counts {
  int32_t pods = 0, slices = 0;
  int32_t pods_with_leader = 0, slices_with_leader = 0;
  int32_t leaders = 0;   // 1 where the leader of a group fits
  int64_t affinity = 0;  // the sum of what preferred node affinity gives
};

// What is counted. Requests have `pods` in them, and are in the order of the resources' names.
struct CountQuery {
  PodAmounts requests;
  std::optional<PodAmounts> leader;
  std::shared_ptr<const EligibleLeaves> eligible;
  int32_t demand = 0;        // the number that stands for what `eligible` is of
  bool as_if_empty = false;  // as if no topology had placed any pod
  bool by_affinity = false;  // whether preferred affinity counts
  int32_t slice_size = 1;
  int slice_level = 0;
  // By level: pods of a domain count in multiples of this; 0: of one. Empty: there is one layer at most.
  std::vector<int32_t> inner_sizes;

  // Equal for queries with equal answers.
  std::vector<int64_t> Key() const;
};

// Counts of all domains of a tree for one query. Those of a flavor are kept, and brought up to date by
// looking at the leaves that changed, and what is above them.
class CountTable {
 public:
  explicit CountTable(CountQuery query) : query_(std::move(query)) {}

  // Of the capacity as it is now.
  void Refresh(const FlavorCapacity& capacity);
  // The same, where only the leaves at or below `within` count (a domain's values, joined).
  void CountWithin(const FlavorCapacity& capacity, const std::string& within);

  const Counts& At(int32_t domain) const { return counts_[static_cast<size_t>(domain)]; }
  const std::vector<Counts>& counts() const { return counts_; }
  const CountQuery& query() const { return query_; }
  // What leaves room for no pod in a leaf that satisfies the demand; kNoId: nothing.
  ResourceId LimitingOf(int32_t leaf) const { return limiting_[static_cast<size_t>(leaf)]; }

  // Recounts what is above the leaves: the domain's children first. `counts` is any table like this one's.
  void RollUp(const TopologyTree& tree, int level, int32_t domain, bool inner,
              std::vector<Counts>& counts) const;
  // Fills in whom the leaves were not counted for.
  void Explain(const FlavorCapacity& capacity, const Interner& resources, PlacementFailure& failure) const;

 private:
  struct Ask {
    int slot;  // kNoId: no node has the resource
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
  // From the pods of a domain at the level of slices.
  void CountSlices(Counts& counts) const {
    counts.slices = counts.pods / query_.slice_size;
    counts.slices_with_leader = counts.pods_with_leader / query_.slice_size;
  }
  // What remains of a resource after the leader has taken its part.
  int64_t LessLeader(int64_t remaining, ResourceId resource) const;
  // How often one request fits into what remains in a row of the capacity.
  int32_t HowOften(const FlavorCapacity& capacity, size_t row, const Ask& ask, bool less_leader) const;
  int32_t HowMany(const FlavorCapacity& capacity, int32_t leaf, const std::vector<Ask>& asks,
                  bool less_leader, ResourceId* limiting) const;

  CountQuery query_;
  const TopologyTree* tree_ = nullptr;  // of the last refresh
  std::vector<Ask> asks_, leader_asks_;
  std::vector<Counts> counts_;
  std::vector<ResourceId> limiting_;  // by leaf: what leaves room for no pod; kNoId: nothing
  std::vector<bool> outside_;         // by leaf, where only a part of the tree counts
  size_t used_position_ = 0, free_position_ = 0;
};

// The table that answers a query for the flavor, up to date.
const CountTable& CountsFor(FlavorCapacity& capacity, CountQuery query);

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_COUNTS_H_
