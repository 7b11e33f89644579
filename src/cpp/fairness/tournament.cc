// Mirrors pkg/scheduler/fair_sharing_iterator.go (kueue ff69552e79). Kueue computes the shares of all heads
// of a tree again for each head. Admitting a head changes only the usage of the nodes above its queue. The
// share of any other node is therefore computed once, and each cohort keeps its contenders in a heap.
#include "fairness/tournament.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace kueue {
namespace {

absl::Span<const FlavorResourceAmount> UsageOf(const Head& head) { return {head.usage, head.usage_size}; }

bool Borrows(const Head& head, const Share& share) {
  const absl::Span<const FlavorResourceAmount> usage = UsageOf(head);
  return std::any_of(usage.begin(), usage.end(), [&share](const FlavorResourceAmount& entry) {
    return entry.amount > Amount(0) &&
           std::find(share.borrowed.begin(), share.borrowed.end(), entry.fr) != share.borrowed.end();
  });
}

}  // namespace

Tournament::Tournament(State& state, const std::vector<Head>& heads)
    : state_(state), heads_(heads), is_left_(heads.size()) {
  const Forest& forest = state.forest();
  order_.resize(heads.size());
  std::iota(order_.begin(), order_.end(), size_t{0});
  const auto by_name = [&](size_t a, size_t b) {
    return forest.Name(heads[a].queue) < forest.Name(heads[b].queue);
  };
  // Most heads are given in the order of their queues.
  if (!std::is_sorted(order_.begin(), order_.end(), by_name))
    std::stable_sort(order_.begin(), order_.end(), by_name);
  for (size_t i = 0; i < order_.size(); ++i) {
    const NodeId queue = heads[order_[i]].queue;
    if (i + 1 < order_.size() && heads[order_[i + 1]].queue == queue) continue;
    order_[remaining_++] = order_[i];
    is_left_[order_[i]] = true;
    if (forest.Parent(queue) == kNoId) continue;
    const NodeId root = forest.Root(queue);
    std::vector<size_t>& of_tree = trees_[root].heads;
    if (of_tree.empty()) of_tree.reserve(std::min(heads.size(), forest.QueuesOfTree(root).size()));
    of_tree.push_back(order_[i]);
  }
  order_.resize(remaining_);
  std::stable_sort(order_.begin(), order_.end(), [&heads](size_t a, size_t b) {
    if (heads[a].fits != heads[b].fits) return heads[a].fits;
    return heads[a].queue_time < heads[b].queue_time;
  });
}

size_t Tournament::Pop() {
  while (!is_left_[order_[next_]]) ++next_;
  size_t winner = order_[next_];
  const NodeId queue = heads_[winner].queue;
  if (state_.forest().Parent(queue) != kNoId) winner = PopFrom(state_.forest().Root(queue));
  is_left_[winner] = false;
  --remaining_;
  return winner;
}

size_t Tournament::PopFrom(NodeId root) {
  Tree& tree = trees_[root];
  if (!tree.is_built || tree.may_saturate) {
    Build(root, tree);
  } else {
    Replace(tree.last);
  }
  const size_t winner = brackets_[root].front().head;
  tree.last = heads_[winner].queue;
  return winner;
}

void Tournament::Build(NodeId root, Tree& tree) {
  const Forest& forest = state_.forest();
  if (!tree.is_built) {
    tree.is_built = true;
    tree.may_saturate = MaySaturate(tree);
  }
  if (tree.may_saturate) computed_.resize(heads_.size());
  absl::InlinedVector<std::pair<int, NodeId>, 4> cohorts;  // Sorted by their distance from the root, negated.
  for (size_t head : tree.heads) {
    if (!is_left_[head]) continue;
    if (tree.may_saturate) ComputeShares(head);
    int above = 0;
    for (NodeId node = forest.Parent(heads_[head].queue); node != root; node = forest.Parent(node)) ++above;
    for (NodeId node = forest.Parent(heads_[head].queue); node != kNoId; node = forest.Parent(node)) {
      const std::pair<int, NodeId> cohort(-above--, node);
      if (cohorts.empty() || cohorts.back() != cohort) cohorts.push_back(cohort);
    }
  }
  std::sort(cohorts.begin(), cohorts.end());
  cohorts.erase(std::unique(cohorts.begin(), cohorts.end()), cohorts.end());
  for (const auto& [distance, cohort] : cohorts) {
    Bracket& bracket = brackets_[cohort];
    bracket.clear();
    const size_t children = forest.ChildQueues(cohort).size() + forest.ChildCohorts(cohort).size();
    bracket.reserve(std::min(children, tree.heads.size()));
  }
  for (size_t head : tree.heads) {
    if (is_left_[head]) Enter(head, heads_[head].queue);
  }
  for (const auto& [distance, cohort] : cohorts) {
    if (cohort != root) Enter(brackets_[cohort].front().head, cohort);
  }
}

void Tournament::Replace(NodeId queue) {
  const Forest& forest = state_.forest();
  NodeId cohort = forest.Parent(queue);
  RemoveFirst(brackets_[cohort]);
  for (NodeId above = forest.Parent(cohort); above != kNoId; cohort = above, above = forest.Parent(above)) {
    RemoveFirst(brackets_[above]);
    const Bracket& below = brackets_[cohort];
    if (!below.empty()) Enter(below.front().head, cohort);
  }
}

void Tournament::Enter(size_t head, NodeId child) {
  const Share share = ShareWith(head, child);
  Bracket& bracket = brackets_[state_.forest().Parent(child)];
  bracket.push_back({head, child, RankOf(share), Borrows(heads_[head], share)});
  std::push_heap(bracket.begin(), bracket.end(),
                 [this](const Contender& a, const Contender& b) { return IsBefore(b, a); });
}

void Tournament::RemoveFirst(Bracket& bracket) {
  std::pop_heap(bracket.begin(), bracket.end(),
                [this](const Contender& a, const Contender& b) { return IsBefore(b, a); });
  bracket.pop_back();
}

Share Tournament::ShareWith(size_t head, NodeId node) {
  if (!computed_.empty()) {
    for (const auto& [computed, share] : computed_[head]) {
      if (computed == node) return share;
    }
  }
  if (node == heads_[head].queue) return DominantResourceShare(state_, node, UsageOf(heads_[head]));
  const Trial trial(state_, kNoId);
  for (const FlavorResourceAmount& entry : UsageOf(heads_[head]))
    state_.quota.Add(heads_[head].queue, entry.fr, entry.amount);
  return DominantResourceShare(state_, node);
}

// Kueue subtracts the usage again, which does not restore saturated values, and the rest of the cycle sees
// the difference.
void Tournament::ComputeShares(size_t head) {
  const Forest& forest = state_.forest();
  const NodeId queue = heads_[head].queue;
  const absl::Span<const FlavorResourceAmount> usage = UsageOf(heads_[head]);
  for (const FlavorResourceAmount& entry : usage) state_.quota.Add(queue, entry.fr, entry.amount);
  computed_[head].clear();
  for (NodeId node = queue; forest.Parent(node) != kNoId; node = forest.Parent(node)) {
    computed_[head].emplace_back(node, DominantResourceShare(state_, node));
  }
  for (const FlavorResourceAmount& entry : usage) state_.quota.Remove(queue, entry.fr, entry.amount);
}

bool Tournament::MaySaturate(const Tree& tree) const {
  Amount total;  // An upper bound of the sums below, which rules out most cases.
  for (size_t head : tree.heads) {
    for (const FlavorResourceAmount& entry : UsageOf(heads_[head])) {
      const Amount added = Max(Amount(0), entry.amount);
      total = total + added + added;
    }
  }
  const bool may_saturate = std::any_of(tree.heads.begin(), tree.heads.end(), [&](size_t head) {
    const absl::Span<const FlavorResourceAmount> usage = UsageOf(heads_[head]);
    return std::any_of(usage.begin(), usage.end(), [&](const FlavorResourceAmount& entry) {
      return WouldSaturate(state_.quota, heads_[head].queue, entry.fr, total);
    });
  });
  if (!may_saturate) return false;
  absl::flat_hash_map<FlavorResourceId, Amount> most;
  for (size_t head : tree.heads) {
    for (const FlavorResourceAmount& entry : UsageOf(heads_[head])) {
      Amount& sum = most[entry.fr];
      sum += entry.amount;
      sum += entry.amount;  // The head is admitted, and its addition is tried once more.
    }
  }
  return std::any_of(tree.heads.begin(), tree.heads.end(), [&](size_t head) {
    const absl::Span<const FlavorResourceAmount> usage = UsageOf(heads_[head]);
    return std::any_of(usage.begin(), usage.end(), [&](const FlavorResourceAmount& entry) {
      return WouldSaturate(state_.quota, heads_[head].queue, entry.fr, most.at(entry.fr));
    });
  });
}

// Contenders that are equal are ordered as Kueue visits them: child Cohorts, then ClusterQueues, by name.
bool Tournament::IsBefore(const Contender& a, const Contender& b) const {
  const Head &left = heads_[a.head], &right = heads_[b.head];
  const FeatureGates& gates = state_.config.gates;
  if (gates.prioritize_preemptor_workloads && left.is_preemptor != right.is_preemptor)
    return left.is_preemptor;
  if (gates.fair_sharing_prioritize_non_borrowing && a.borrows != b.borrows) return b.borrows;
  if (const int order = CompareRanks(a.share, b.share); order != 0) return order < 0;
  if (gates.priority_sorting_within_cohort && left.priority != right.priority)
    return left.priority > right.priority;
  if (left.queue_time != right.queue_time) return left.queue_time < right.queue_time;
  const Forest& forest = state_.forest();
  if (forest.IsClusterQueue(a.child) != forest.IsClusterQueue(b.child)) return forest.IsClusterQueue(b.child);
  return forest.Name(a.child) < forest.Name(b.child);
}

}  // namespace kueue
