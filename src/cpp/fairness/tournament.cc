// Mirrors pkg/scheduler/fair_sharing_iterator.go (kueue ff69552e79).
#include "fairness/tournament.h"

#include <algorithm>

namespace kueue {
namespace {

constexpr size_t kNobody = static_cast<size_t>(-1);

}  // namespace

Tournament::Tournament(State& state, const std::vector<Contender>& contenders)
    : state_(state), contenders_(contenders), standings_(contenders.size()) {
  for (size_t i = 0; i < contenders.size(); ++i) by_queue_[state.forest().Name(contenders[i].queue)] = i;
}

size_t Tournament::Pop() {
  size_t winner = by_queue_.begin()->second;
  const NodeId queue = contenders_[winner].queue;
  if (state_.forest().Parent(queue) != kNoId) {
    const NodeId root = state_.forest().Root(queue);
    ComputeShares(root);
    winner = RunTournament(root);
  }
  by_queue_.erase(state_.forest().Name(contenders_[winner].queue));
  return winner;
}

void Tournament::ComputeShares(NodeId root) {
  const Forest& forest = state_.forest();
  for (const auto& [name, index] : by_queue_) {
    const Contender& contender = contenders_[index];
    if (forest.Root(contender.queue) != root) continue;
    const Trial trial(state_);
    for (size_t i = 0; i < contender.usage_size; ++i) {
      state_.quota.Add(contender.queue, contender.usage[i].cell, contender.usage[i].amount);
    }
    Standing& standing = standings_[index];
    standing.at.clear();
    for (NodeId node = contender.queue; forest.Parent(node) != kNoId; node = forest.Parent(node)) {
      standing.at.emplace_back(forest.Parent(node), DominantResourceShare(state_, node));
    }
  }
}

size_t Tournament::RunTournament(NodeId cohort) const {
  const Forest& forest = state_.forest();
  size_t best = kNobody;
  const auto consider = [&](size_t candidate) {
    if (candidate != kNobody && (best == kNobody || Less(candidate, best, cohort))) best = candidate;
  };
  for (NodeId child : forest.ChildCohorts(cohort)) consider(RunTournament(child));
  for (NodeId child : forest.ChildQueues(cohort)) {
    const auto entry = by_queue_.find(forest.Name(child));
    if (entry != by_queue_.end()) consider(entry->second);
  }
  return best;
}

const Share& Tournament::ShareAt(size_t contender, NodeId cohort) const {
  for (const auto& [node, share] : standings_[contender].at) {
    if (node == cohort) return share;
  }
  static const Share* const none = new Share;
  return *none;
}

bool Tournament::Less(size_t a, size_t b, NodeId cohort) const {
  const Contender &left = contenders_[a], &right = contenders_[b];
  const FeatureGates& gates = state_.config.gates;
  if (gates.prioritize_preemptor_workloads && left.is_preemptor != right.is_preemptor)
    return left.is_preemptor;
  const Share &left_share = ShareAt(a, cohort), &right_share = ShareAt(b, cohort);
  if (gates.fair_sharing_prioritize_non_borrowing) {
    const auto borrows = [](const Contender& contender, const Share& share) {
      return std::any_of(
          contender.usage, contender.usage + contender.usage_size, [&share](const CellAmount& entry) {
            return entry.amount > Amount(0) && std::find(share.borrowed.begin(), share.borrowed.end(),
                                                         entry.cell) != share.borrowed.end();
          });
    };
    const bool left_borrows = borrows(left, left_share), right_borrows = borrows(right, right_share);
    if (left_borrows != right_borrows) return right_borrows;
  }
  if (const int order = CompareShares(left_share, right_share); order != 0) return order < 0;
  if (gates.priority_sorting_within_cohort && left.priority != right.priority)
    return left.priority > right.priority;
  return left.queue_time < right.queue_time;
}

}  // namespace kueue
