#include "scheduler/victims.h"

#include "preemption/fit.h"

namespace kueue {

void Victims::Clear() {
  trees_.clear();
  is_victim_.clear();
  all_.clear();
}

void Victims::Add(const State& state, NodeId root, WorkloadId id) {
  if (!is_victim_.insert(id).second) return;
  all_.push_back(id);
  Tree& tree = trees_[root];
  tree.workloads.push_back(id);
  const Workload& workload = state.At(id);
  for (const auto& [fr, amount] : workload.usage) {
    const auto [known, is_new] = tree.place.try_emplace({workload.charged, fr}, tree.usage.size());
    if (is_new) {
      tree.usage.push_back({workload.charged, fr, amount});
    } else {
      Amount& sum = tree.usage[known->second].amount;
      sum += amount;
      tree.overflows = tree.overflows || sum.IsUnlimited();
    }
  }
}

void Victims::Discharge(State& state, NodeId root) const {
  if (all_.empty()) return;
  if (!state.topology.made.capacity.empty()) {
    for (WorkloadId id : all_) kueue::Discharge(state, id);
  } else if (const auto found = trees_.find(root); found != trees_.end()) {
    const Tree& tree = found->second;
    if (tree.overflows) {
      for (WorkloadId id : tree.workloads) kueue::Discharge(state, id);
    } else {
      for (const QueueUsage& usage : tree.usage) state.quota.Remove(usage.queue, usage.fr, usage.amount);
    }
  }
}

}  // namespace kueue
