// Dominant resource share of a node, which measures how much of the lendable quota the node borrows. Mirrors
// pkg/cache/scheduler/fair_sharing.go (kueue ff69552e79).
#ifndef KUEUE_FAIRNESS_SHARE_H_
#define KUEUE_FAIRNESS_SHARE_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "model/ids.h"
#include "state/state.h"

namespace kueue {

struct Share {
  double weight = 1.0;
  double ratio = 0.0;  // Borrowed amount of the dominant resource, in thousandths of the lendable amount.
  ResourceId dominant = kNoId;
  bool borrowing = false;  // Whether the usage of at least one flavor resource exceeds its quota.
  absl::InlinedVector<FlavorResourceId, 4> borrowed;

  // Returns whether the node borrows with weight 0. The share of a node that borrows with weight 0 is higher
  // than every finite share.
  bool IsZeroWeightBorrowing() const { return weight == 0 && ratio != 0; }
  // Returns ratio / weight, or infinity if a node with weight 0 borrows.
  double Weighted() const;
  // Returns Weighted() in the form of status.fairSharing.weightedShare: rounded up, with INT64_MAX for
  // infinity.
  int64_t Rounded() const;
};

// What orders a share: the weighted share, or the ratio of a node that borrows with weight 0.
struct ShareRank {
  bool is_zero_weight_borrowing;
  double value;
};
inline ShareRank RankOf(const Share& share) {
  const bool is_zero = share.IsZeroWeightBorrowing();
  return {is_zero, is_zero ? share.ratio : share.Weighted()};
}

// Return a negative number if share `a` is lower, a positive number if share `b` is lower, and 0 if both
// shares are equal as doubles.
inline int CompareRanks(ShareRank a, ShareRank b) {
  if (a.is_zero_weight_borrowing != b.is_zero_weight_borrowing) return a.is_zero_weight_borrowing ? 1 : -1;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}
int CompareShares(const Share& a, const Share& b);

// Returns the share of a queue or Cohort at the current usage, plus the usage `added`. The share of a root is
// zero.
Share DominantResourceShare(const State& state, NodeId node,
                            absl::Span<const FlavorResourceAmount> added = {});

// Returns the total amount of a resource that children of `parent` may borrow. The shares of the children are
// computed relative to this total.
Amount Lendable(const State& state, NodeId parent, ResourceId resource);

}  // namespace kueue

#endif  // KUEUE_FAIRNESS_SHARE_H_
