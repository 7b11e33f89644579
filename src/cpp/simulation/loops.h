// Preemption that goes round: at one moment the same workloads evict each other again and again.
#ifndef KUEUE_SIMULATION_LOOPS_H_
#define KUEUE_SIMULATION_LOOPS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "state/state.h"

namespace kueue {

// What was found in one tree of cohorts.
struct LoopFound {
  NodeId root = kNoId;
  int64_t period = 0;             // cycles until all is as it was
  std::vector<WorkloadId> moved;  // who is admitted or evicted meanwhile, each once, in no order
};

// Watches the cycles of one moment. After many in which somebody was evicted, the state of each tree in which
// that happens is compared with one kept print (Brent's algorithm: what is kept is renewed after 1, 2, 4, ...
// cycles), so that the shortest period is found whatever came before it.
class LoopWatch {
 public:
  // How many evicting cycles there are before anybody looks.
  static constexpr int kPatience = 64;

  void BeginMoment() {
    evicting_cycles_ = 0;
    trees_.clear();
  }
  // Somebody of this tree got quota or lost it in the cycle under way.
  void Note(NodeId root, WorkloadId workload, bool evicted);
  // A cycle is over, and its victims have left; the loops that were found in it.
  std::vector<LoopFound> EndCycle(const State& state);

 private:
  struct Tree {
    uint64_t kept = 0;
    int64_t power = 1, since = 0;
    bool begun = false;
    std::vector<WorkloadId> moved;  // since the print was kept
  };
  int64_t evicting_cycles_ = 0;
  bool evicted_ = false;
  std::map<NodeId, Tree> trees_;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_LOOPS_H_
