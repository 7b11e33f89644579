// Free and used capacity of the leaves of each flavor's topology. All flavors share one undo log. Mirrors
// pkg/cache/scheduler/tas_flavor_snapshot.go:leafCapacity (kueue ff69552e79).
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

// Requests of one pod, sorted by resource name, in millicores for cpu and in whole units for all other
// resources.
using PodAmounts = Requests;

// Log of changed leaves. Each reader of the log stores the position up to which it has read.
class ChangeLog {
 public:
  void Push(int32_t leaf) { leaves_.push_back(leaf); }
  size_t end() const { return begin_ + leaves_.size(); }
  size_t begin() const { return begin_; }
  int32_t At(size_t position) const { return leaves_[position - begin_]; }
  // Clears the log if it has more than `most` entries. After that, a reader whose position is before begin()
  // must read all leaves again.
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
struct Choice;
// Results derived from the capacity of the leaves: counts of domains by query (counts.h), eligible leaves by
// id of the NodeDemand (eligibility.h), and placements (known.h). Also memory that is reused between
// placements. Copies start empty.
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
  std::vector<Choice> spare;
};

// Capacity of the leaves of one flavor.
struct FlavorCapacity {
  // Tree of the flavor's topology; null if the flavor has no topology.
  std::shared_ptr<const TopologyTree> tree;
  std::string topology;  // Name of the topology.
  // Tables with one row per leaf and one column per slot. `free`: allocatable capacity minus usage of pods
  // without a topology assignment. `used`: usage of workloads with a quota reservation. `assumed`: usage of
  // the pod sets that were placed earlier for the workload being placed.
  std::vector<int64_t> free, used, assumed;
  ChangeLog changed_used, changed_free;  // `changed_free` also records changes of `assumed`.
  // Version numbers: one for the contents of `used`, one for the contents of `free` and `assumed` together.
  // Equal versions imply equal contents: each change assigns a new version, and undoing the change restores
  // the previous version.
  uint64_t used_version = 0, free_version = 0;
  CapacityCache cache;

  int64_t Remaining(size_t at, bool as_if_empty) const {
    const int64_t unused = as_if_empty ? free[at] : SaturatingSub(free[at], used[at]);
    return assumed[at] == 0 ? unused : SaturatingSub(unused, assumed[at]);
  }
};

// Capacities of all flavors. Pointers returned by Find() are invalidated by Clear() and Set().
class TopologyCapacity {
 public:
  const FlavorCapacity* Find(FlavorId flavor) const {
    return flavors_.Contains(flavor) && flavors_[flavor].tree != nullptr ? &flavors_[flavor] : nullptr;
  }
  FlavorCapacity* Find(FlavorId flavor) {
    return const_cast<FlavorCapacity*>(std::as_const(*this).Find(flavor));
  }
  bool empty() const { return flavors_.empty(); }
  IdRange<FlavorId> Ids() const { return flavors_.Ids(); }

  void Clear() { flavors_.clear(); }
  void Set(FlavorId flavor, std::shared_ptr<const TopologyTree> tree, std::string topology);
  // Subtracts (`sign` is 1) or adds back (`sign` is -1) the usage of a pod that has no topology assignment.
  // The requests include one unit of the resource `pods`.
  void TakeForeign(FlavorCapacity& capacity, int32_t leaf, const PodAmounts& requests, int64_t sign);

  // Adds the usage of `count` pods, including the resource `pods`, to a domain; a negative `count` subtracts
  // usage. Does nothing if the flavor's tree does not contain the domain.
  void Add(FlavorId flavor, DomainId domain, const PodAmounts& requests, ResourceId pods, int32_t count);

  // Adds pods of the workload being placed to the assumed usage; ClearAssumed() removes these pods.
  void Assume(FlavorId flavor, DomainId domain, const PodAmounts& requests, ResourceId pods, int32_t count);
  void ClearAssumed();

  // Starts a trial. Rollback(mark) undoes all changes of `used` made after the matching Mark(), latest first.
  // The trees must not change during a trial, because the log contains their slots.
  size_t Mark() {
    ++open_;
    return log_.size();
  }
  void Rollback(size_t mark);

 private:
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
  IdVector<FlavorId, FlavorCapacity> flavors_;
  std::vector<Change> log_;
  std::vector<Assumption> assumed_;
  uint64_t versions_ = 0;  // The version number that was assigned last.
  int open_ = 0;
};

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_CAPACITY_H_
