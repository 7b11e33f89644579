// Detection of preemption loops: the same workloads evict each other repeatedly while the simulated time does
// not advance.
#ifndef KUEUE_SIMULATION_LOOPS_H_
#define KUEUE_SIMULATION_LOOPS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "state/state.h"

namespace kueue {

// A preemption loop in one cohort tree.
struct LoopFound {
  NodeId root = kNoId;
  int64_t period = 0;  // Number of cycles after which the state repeats.
  // Workloads admitted or evicted in the loop, without duplicates, in arbitrary order.
  std::vector<WorkloadId> moved;
};

// Observes the cycles at one simulated time. After kPatience cycles with evictions, the fingerprint of each
// tree with evictions is compared with a stored fingerprint (Brent's algorithm: the stored fingerprint is
// replaced after 1, 2, 4, ... cycles). The algorithm finds the shortest period, regardless of the cycles
// before the loop.
class LoopWatch {
 public:
  // Number of cycles with evictions before detection starts.
  static constexpr int kPatience = 64;

  void BeginMoment() {
    evicting_cycles_ = 0;
    trees_.clear();
  }
  // Records that a workload of this tree gained or lost quota in the current cycle.
  void Note(NodeId root, WorkloadId workload, bool evicted);
  // Records that a workload of any tree was evicted in the current cycle.
  void NoteEviction() { evicted_ = true; }
  // Ends the observation of a cycle. Call this function after the victims of the cycle have stopped. Returns
  // the loops detected in this cycle.
  std::vector<LoopFound> EndCycle(const State& state);

 private:
  struct Tree {
    uint64_t kept = 0;
    int64_t power = 1, since = 0;
    bool begun = false;
    // Workloads that were admitted or evicted since the fingerprint was stored.
    std::vector<WorkloadId> moved;
  };
  int64_t evicting_cycles_ = 0;
  bool evicted_ = false;
  std::map<NodeId, Tree> trees_;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_LOOPS_H_
