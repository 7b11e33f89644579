#include "simulation/loops.h"

#include <algorithm>

#include "engine/fingerprint.h"

namespace kueue {

void LoopWatch::Note(NodeId root, WorkloadId workload, bool evicted) {
  evicted_ = evicted_ || evicted;
  if (evicting_cycles_ < kPatience) return;
  const auto tree = trees_.find(root);
  if (tree != trees_.end()) {
    tree->second.moved.push_back(workload);
  } else if (evicted) {
    trees_[root].moved.push_back(workload);
  }
}

std::vector<LoopFound> LoopWatch::EndCycle(const State& state) {
  if (evicted_) ++evicting_cycles_;
  evicted_ = false;
  std::vector<LoopFound> found;
  for (auto tree = trees_.begin(); tree != trees_.end();) {
    Tree& watch = tree->second;
    const uint64_t print = Fingerprint(state, tree->first);
    ++watch.since;
    if (watch.begun && print == watch.kept && !watch.moved.empty()) {
      std::sort(watch.moved.begin(), watch.moved.end());
      watch.moved.erase(std::unique(watch.moved.begin(), watch.moved.end()), watch.moved.end());
      found.push_back({tree->first, watch.since, std::move(watch.moved)});
      tree = trees_.erase(tree);
      continue;
    }
    if (!watch.begun || watch.since == watch.power) {
      watch.power = watch.begun ? watch.power * 2 : 1;
      watch.begun = true;
      watch.kept = print;
      watch.since = 0;
      watch.moved.clear();
    }
    ++tree;
  }
  return found;
}

}  // namespace kueue
