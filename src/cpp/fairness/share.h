// How much more than its own a node uses: the dominant resource share.
// Mirrors pkg/cache/scheduler/fair_sharing.go (kueue ff69552e79).
#ifndef KUEUE_FAIRNESS_SHARE_H_
#define KUEUE_FAIRNESS_SHARE_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "model/ids.h"
#include "state/state.h"

namespace kueue {

struct Share {
  double weight = 1.0;
  double ratio = 0.0;  // of the dominant resource, in thousandths of what could be borrowed
  ResourceId dominant = kNoId;
  bool borrowing = false;  // uses more than its quota of some flavor resource
  absl::InlinedVector<FlavorResourceId, 4> borrowed;

  // Borrows with weight 0: above every finite share.
  bool IsZeroWeightBorrowing() const { return weight == 0 && ratio != 0; }
  // ratio / weight; infinite for a zero weight that borrows.
  double Weighted() const;
  // The value of status.fairSharing.weightedShare: rounded up, INT64_MAX for infinity.
  int64_t Rounded() const;
};

// Below 0 where `a` has the lower share, 0 where they are equal as doubles.
int CompareShares(const Share& a, const Share& b);

// The share of a queue or Cohort at the current usage; nothing for a root.
Share DominantResourceShare(const State& state, NodeId node);

// Sums per resource what a node may borrow from (the denominators of its share): FS calculateLendable.
Amount Lendable(const State& state, NodeId parent, ResourceId resource);

}  // namespace kueue

#endif  // KUEUE_FAIRNESS_SHARE_H_
