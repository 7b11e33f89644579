// What is free and what is used in the leaves of each flavor's topology, with one undo over all of them.
// Mirrors pkg/cache/scheduler/tas_flavor_snapshot.go:leafCapacity (kueue ff69552e79).
#ifndef KUEUE_TOPOLOGY_CAPACITY_H_
#define KUEUE_TOPOLOGY_CAPACITY_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/ids.h"
#include "model/workload.h"
#include "quantity/amount.h"
#include "topology/tree.h"

namespace kueue {

// What one pod asks of its node, by name of the resource: thousandths of cpu, units of all else.
using PodAmounts = Requests;

// One change after another, of which readers remember how far they have come.
class ChangeLog {
 public:
  void Push(int32_t leaf) { leaves_.push_back(leaf); }
  size_t end() const { return begin_ + leaves_.size(); }
  size_t begin() const { return begin_; }
  int32_t At(size_t position) const { return leaves_[position - begin_]; }
  // Forgets what lies far back; a reader that still is there has to read all leaves.
  void Shorten(size_t most) {
    if (leaves_.size() <= most) return;
    begin_ += leaves_.size();
    leaves_.clear();
  }

 private:
  size_t begin_ = 0;
  std::vector<int32_t> leaves_;
};

class CountTable;
struct EligibleLeaves;
struct KnownPlacements;
// What was found out about the leaves: counts of domains by what was counted (counts.h), which leaves satisfy
// a demand, by its number (eligibility.h), and placements (known.h). A copy starts without.
struct CapacityCache {
  CapacityCache();
  ~CapacityCache();
  CapacityCache(const CapacityCache& other);
  CapacityCache& operator=(const CapacityCache& other);
  CapacityCache(CapacityCache&& other) noexcept;
  CapacityCache& operator=(CapacityCache&& other) noexcept;
  absl::flat_hash_map<std::vector<int64_t>, std::unique_ptr<CountTable>> tables;
  std::vector<std::shared_ptr<const EligibleLeaves>> eligible;
  std::unique_ptr<KnownPlacements> placements;
};

// The leaves of one flavor.
struct FlavorCapacity {
  std::shared_ptr<const TopologyTree> tree;  // null: no flavor with a topology
  std::string topology;                      // its name
  // By leaf, by slot. `free`: allocatable less the pods that no topology placed; `used` by workloads that
  // hold quota; `assumed` for pod sets placed before others of the same workload.
  std::vector<int64_t> free, used, assumed;
  ChangeLog changed_used, changed_free;  // the latter also of `assumed`
  // Equal where `used`, or `free` and `assumed`, are: a change gives a new number, and undoing it the former.
  uint64_t used_version = 0, free_version = 0;
  CapacityCache cache;

  int64_t Remaining(size_t at, bool as_if_empty) const {
    const int64_t unused = as_if_empty ? free[at] : SaturatingSub(free[at], used[at]);
    return assumed[at] == 0 ? unused : SaturatingSub(unused, assumed[at]);
  }
};

// All of them, by flavor.
class TopologyCapacity {
 public:
  const FlavorCapacity* Find(FlavorId flavor) const {
    const size_t at = static_cast<size_t>(flavor);
    return at < flavors_.size() && flavors_[at].tree != nullptr ? &flavors_[at] : nullptr;
  }
  FlavorCapacity* Find(FlavorId flavor) {
    return const_cast<FlavorCapacity*>(std::as_const(*this).Find(flavor));
  }
  bool empty() const { return flavors_.empty(); }
  int32_t size() const { return static_cast<int32_t>(flavors_.size()); }

  void Clear() { flavors_.clear(); }
  void Set(FlavorId flavor, std::shared_ptr<const TopologyTree> tree, std::string topology);
  // Pods on a node that no topology placed; a pod also takes one of `pods`.
  void TakeForeign(FlavorCapacity& capacity, int32_t leaf, const PodAmounts& requests, int64_t sign);

  // `count` pods more, or with a negative count less, in a domain, `pods` included; nothing where the flavor
  // has no such domain now.
  void Add(FlavorId flavor, DomainId domain, const PodAmounts& requests, ResourceId pods, int32_t count);

  // What is placed in the midst of a workload; see ClearAssumed.
  void Assume(FlavorId flavor, DomainId domain, const PodAmounts& requests, ResourceId pods, int32_t count);
  void ClearAssumed();

  // Changes of usage after Mark() are undone, last first, by Rollback(mark).
  size_t Mark() {
    ++open_;
    return log_.size();
  }
  void Rollback(size_t mark);

 private:
  void AddTo(FlavorId flavor, int32_t leaf, int slot, int64_t amount);
  struct Change {
    FlavorId flavor;
    int32_t leaf, slot;
    int64_t before;
    uint64_t version_before;
  };
  struct Assumption {
    FlavorId flavor;
    int32_t leaf;
    uint64_t version_before;
  };
  std::vector<FlavorCapacity> flavors_;
  std::vector<Change> log_;
  std::vector<Assumption> assumed_;
  uint64_t versions_ = 0;  // the last that was given
  int open_ = 0;
};

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_CAPACITY_H_
