// A search for workloads to preempt: its input, its result and its record. Mirrors
// pkg/scheduler/preemption/preemption.go (kueue ff69552e79).
#ifndef KUEUE_PREEMPTION_QUERY_H_
#define KUEUE_PREEMPTION_QUERY_H_

#include <vector>

#include "fairness/share.h"
#include "flavor/assignment.h"
#include "flavor/placer.h"
#include "preemption/candidates.h"
#include "state/state.h"

namespace kueue {

struct Target {
  WorkloadId workload;
  PreemptionReason reason;
};

// A search for targets whose preemption makes `request` fit in `queue`. `contested` contains the flavor
// resources that lack quota.
struct PreemptionQuery {
  NodeId queue;
  WorkloadId preemptor;
  FlavorResources contested;
  Amounts request;
  // Pod sets that must also be placed in a topology; null if there are none.
  const TopologyDemands* topology = nullptr;
  Placer* placer = nullptr;
  WorkloadId replaced = kNoId;
};

// A comparison of shares by a fair sharing strategy. The result of the comparison decides whether the
// candidate may be preempted.
struct FairComparison {
  WorkloadId candidate;
  FairSharingStrategy strategy;
  NodeId ours, theirs;  // The compared nodes, which are children of the lowest common ancestor.
  Share our_share;      // Share of `ours` including the request.
  Share their_share;    // Share of `theirs` with the candidate.
  Share final_share;    // Share of `theirs` without the candidate; used by LessThanOrEqualToFinalShare.
  bool holds;
};

// Record of a search, for explanations.
struct SearchTrace {
  std::vector<FairComparison> comparisons;  // With fair sharing.
  // Without fair sharing: candidates of other queues that may be preempted, and candidates that may not be
  // preempted because the preemptor would have to borrow.
  std::vector<WorkloadId> allowed, needing_to_borrow;
};

}  // namespace kueue

#endif  // KUEUE_PREEMPTION_QUERY_H_
