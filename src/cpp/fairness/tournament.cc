// Mirrors pkg/scheduler/fair_sharing_iterator.go (kueue ff69552e79).
#include "fairness/tournament.h"

#include <algorithm>
#include <optional>

#include "absl/types/span.h"

namespace kueue {
namespace {

constexpr size_t kNobody = static_cast<size_t>(-1);

// Returns whether the head requests a flavor resource that the node with this share borrows.
bool Borrows(const Head& head, const Share& share) {
  return std::any_of(head.usage, head.usage + head.usage_size, [&share](const FlavorResourceAmount& entry) {
    return entry.amount > Amount(0) &&
           std::find(share.borrowed.begin(), share.borrowed.end(), entry.fr) != share.borrowed.end();
  });
}

}  // namespace

Tournament::Tournament(State& state, const std::vector<Head>& heads)
    : state_(state), heads_(heads), standings_(heads.size()) {
  head_of_.assign(static_cast<size_t>(state.forest().size()), kNobody);
  for (size_t i = 0; i < heads.size(); ++i) head_of_[static_cast<size_t>(heads[i].queue)] = i;
  for (size_t i = 0; i < heads.size(); ++i) {
    if (IsLeft(i)) by_name_.push_back(i);
  }
  const auto precedes = [&](size_t a, size_t b) {
    return state.forest().Name(heads[a].queue) < state.forest().Name(heads[b].queue);
  };
  if (!std::is_sorted(by_name_.begin(), by_name_.end(), precedes))
    std::sort(by_name_.begin(), by_name_.end(), precedes);
  remaining_ = by_name_.size();
  order_ = by_name_;
  std::stable_sort(order_.begin(), order_.end(), [&heads](size_t a, size_t b) {
    if (heads[a].fits != heads[b].fits) return heads[a].fits;
    return heads[a].queue_time < heads[b].queue_time;
  });
}

size_t Tournament::Pop() {
  while (!IsLeft(order_[next_])) ++next_;
  size_t winner = order_[next_];
  const NodeId queue = heads_[winner].queue;
  if (state_.forest().Parent(queue) != kNoId) {
    const NodeId root = state_.forest().Root(queue);
    ComputeShares(root);
    winner = RunTournament(root);
  }
  head_of_[static_cast<size_t>(heads_[winner].queue)] = kNobody;
  --remaining_;
  return winner;
}

void Tournament::ComputeShares(NodeId root) {
  for (size_t index : by_name_) {
    if (state_.forest().Root(heads_[index].queue) == root && IsLeft(index)) ComputeSharesOf(index);
  }
}

bool Tournament::UpdateSeen(const Head& head, AncestorShares& standing) const {
  const Forest& forest = state_.forest();
  const int columns = state_.quota.flavor_resources();
  bool changed = standing.at.empty();
  size_t at = 0;
  for (NodeId node = head.queue; forest.Parent(node) != kNoId; node = forest.Parent(node)) {
    if (standing.seen.size() == at) standing.seen.resize(at + static_cast<size_t>(columns));
    for (FlavorResourceId fr = 0; fr < columns; ++fr, ++at) {
      const Amount used = state_.quota.Usage(node, fr);
      changed = changed || used != standing.seen[at];
      standing.seen[at] = used;
    }
  }
  return changed;
}

void Tournament::ComputeSharesOf(size_t index) {
  const Forest& forest = state_.forest();
  const Head& head = heads_[index];
  // Kueue subtracts the usage again, which does not restore saturated values. Undoing is faster and gives the
  // same result if nothing saturates.
  const bool saturates = Saturates(head);
  AncestorShares& standing = standings_[index];
  if (!UpdateSeen(head, standing) && !saturates) return;
  std::optional<Trial> trial;
  if (!saturates) trial.emplace(state_);
  const absl::Span<const FlavorResourceAmount> usage(head.usage, head.usage_size);
  for (const FlavorResourceAmount& entry : usage) state_.quota.Add(head.queue, entry.fr, entry.amount);
  standing.at.clear();
  for (NodeId node = head.queue; forest.Parent(node) != kNoId; node = forest.Parent(node)) {
    standing.at.emplace_back(forest.Parent(node), DominantResourceShare(state_, node));
  }
  if (!saturates) return;
  for (const FlavorResourceAmount& entry : usage) state_.quota.Remove(head.queue, entry.fr, entry.amount);
}

bool Tournament::Saturates(const Head& head) const {
  return std::any_of(head.usage, head.usage + head.usage_size, [&](const FlavorResourceAmount& entry) {
    return state_.quota.WouldSaturate(head.queue, entry.fr, entry.amount);
  });
}

size_t Tournament::RunTournament(NodeId cohort) const {
  const Forest& forest = state_.forest();
  size_t best = kNobody;
  const auto consider = [&](size_t candidate) {
    if (candidate != kNobody && (best == kNobody || Less(candidate, best, cohort))) best = candidate;
  };
  for (NodeId child : forest.ChildCohorts(cohort)) consider(RunTournament(child));
  for (NodeId child : forest.ChildQueues(cohort)) {
    consider(head_of_[static_cast<size_t>(child)]);
  }
  return best;
}

const Share& Tournament::ShareAt(size_t head, NodeId cohort) const {
  for (const auto& [node, share] : standings_[head].at) {
    if (node == cohort) return share;
  }
  static const Share* const none = new Share;
  return *none;
}

bool Tournament::Less(size_t a, size_t b, NodeId cohort) const {
  const Head &left = heads_[a], &right = heads_[b];
  const FeatureGates& gates = state_.config.gates;
  if (gates.prioritize_preemptor_workloads && left.is_preemptor != right.is_preemptor)
    return left.is_preemptor;
  const Share &left_share = ShareAt(a, cohort), &right_share = ShareAt(b, cohort);
  if (gates.fair_sharing_prioritize_non_borrowing) {
    const bool left_borrows = Borrows(left, left_share), right_borrows = Borrows(right, right_share);
    if (left_borrows != right_borrows) return right_borrows;
  }
  if (const int order = CompareShares(left_share, right_share); order != 0) return order < 0;
  if (gates.priority_sorting_within_cohort && left.priority != right.priority)
    return left.priority > right.priority;
  return left.queue_time < right.queue_time;
}

}  // namespace kueue
