// Preemption victims of a scheduling cycle, which affect decisions about later entries of the cycle. Mirrors
// pkg/scheduler/scheduler.go:processEntry, `preemptedWorkloads` (kueue ff69552e79).
#ifndef KUEUE_SCHEDULER_VICTIMS_H_
#define KUEUE_SCHEDULER_VICTIMS_H_

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "state/state.h"

namespace kueue {

class Victims {
 public:
  void Clear();
  bool empty() const { return is_victim_.empty(); }
  bool Has(WorkloadId id) const { return is_victim_.contains(id); }
  // Adds a workload that is preempted for a preemptor in the tree with this root. Does nothing if the
  // workload was already added.
  void Add(const State& state, NodeId root, WorkloadId id);
  const absl::flat_hash_set<WorkloadId>& all() const { return is_victim_; }
  // Subtracts the usage of the victims whose preemption may free capacity in the tree. A victim frees
  // capacity on its nodes for all trees, but quota only for its own tree. If there are no topologies, the
  // cost does not depend on the number of victims, because their usage is summed for each queue in advance.
  void Discharge(State& state, NodeId root) const;

 private:
  struct QueueUsage {
    NodeId queue;
    FlavorResourceId fr;
    Amount amount;
  };
  struct Tree {
    std::vector<WorkloadId> workloads;
    std::vector<QueueUsage> usage;
    absl::flat_hash_map<std::pair<NodeId, FlavorResourceId>, size_t> place;  // In `usage`.
    // Whether a sum in `usage` has overflowed. If a sum has overflowed, Discharge() subtracts the usage of
    // each victim separately.
    bool overflows = false;
  };
  absl::flat_hash_map<NodeId, Tree> trees_;  // By root.
  absl::flat_hash_set<WorkloadId> is_victim_;
  std::vector<WorkloadId> all_;
};

}  // namespace kueue

#endif  // KUEUE_SCHEDULER_VICTIMS_H_
