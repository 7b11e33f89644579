// Mirrors pkg/cache/scheduler/fair_sharing.go (kueue ff69552e79).
#include "fairness/share.h"

#include <cmath>
#include <limits>

namespace kueue {

double Share::Weighted() const {
  if (ratio == 0) return 0;
  if (weight == 0) return std::numeric_limits<double>::infinity();
  return ratio / weight;
}

int64_t Share::Rounded() const {
  if (IsZeroWeightBorrowing()) return std::numeric_limits<int64_t>::max();
  const double rounded = std::ceil(Weighted());
  // Values of 2^63 and above do not fit in an int64.
  return rounded >= 9223372036854775808.0 ? std::numeric_limits<int64_t>::max()
                                          : static_cast<int64_t>(rounded);
}

int CompareShares(const Share& a, const Share& b) { return CompareRanks(RankOf(a), RankOf(b)); }

Amount Lendable(const State& state, NodeId parent, ResourceId resource) {
  const NodeId root = state.forest().Root(parent);
  Amount sum;
  for (FlavorResourceId fr : state.quota.FlavorResources()) {
    if (state.flavor_resources[fr].second != resource) continue;
    if (state.quota.limits().defined(root, fr)) sum += state.quota.limits().potential(parent, fr);
  }
  return sum;
}

namespace {

using BorrowedAmounts = absl::InlinedVector<std::pair<ResourceId, Amount>, 4>;

// Returns the usage of the node above its quota by resource, and stores the borrowed flavor resources in
// `share`.
BorrowedAmounts Borrowed(const State& state, NodeId node, absl::Span<const FlavorResourceAmount> added,
                         Share& share) {
  BorrowedAmounts borrowed;
  for (FlavorResourceId fr : state.quota.FlavorResources()) {
    if (!state.quota.limits().defined(node, fr)) continue;
    Amount used = state.quota.Usage(node, fr);
    for (const FlavorResourceAmount& entry : added) {
      if (entry.fr == fr) used += entry.amount;
    }
    const Amount excess = used - state.quota.limits().subtree(node, fr);
    if (excess <= Amount(0)) continue;
    share.borrowed.push_back(fr);
    const ResourceId resource = state.flavor_resources[fr].second;
    auto entry = borrowed.begin();
    while (entry != borrowed.end() && entry->first != resource) ++entry;
    if (entry == borrowed.end()) {
      borrowed.emplace_back(resource, excess);
    } else {
      entry->second += excess;
    }
  }
  return borrowed;
}

// The dominant resource has the highest ratio; ties are broken by name.
void TakeDominant(const State& state, NodeId parent, const BorrowedAmounts& borrowed, Share& share) {
  for (const auto& [resource, excess] : borrowed) {
    const Amount lendable = Lendable(state, parent, resource);
    if (lendable <= Amount(0)) continue;
    const double ratio = static_cast<double>(excess.value()) * 1000.0 / static_cast<double>(lendable.value());
    const bool earlier_name = share.dominant != kNoId &&
                              state.resource_names.Name(resource) < state.resource_names.Name(share.dominant);
    if (ratio > share.ratio || (ratio == share.ratio && earlier_name)) {
      share.ratio = ratio;
      share.dominant = resource;
    }
  }
}

}  // namespace

Share DominantResourceShare(const State& state, NodeId node, absl::Span<const FlavorResourceAmount> added) {
  const Forest& forest = state.forest();
  Share share;
  share.weight =
      forest.IsClusterQueue(node) ? state.Queue(node).spec.fair_weight : state.cohorts[node].fair_weight;
  const NodeId parent = forest.Parent(node);
  if (parent == kNoId) return share;
  const BorrowedAmounts borrowed = Borrowed(state, node, added, share);
  share.borrowing = !borrowed.empty();
  TakeDominant(state, parent, borrowed, share);
  return share;
}

}  // namespace kueue
