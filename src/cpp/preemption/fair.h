// Preemption with fair sharing: a tournament of shares selects the queue that loses a workload. Mirrors
// pkg/scheduler/preemption/preemption.go:fairPreemptions and pkg/scheduler/preemption/fairsharing (kueue
// ff69552e79).
#ifndef KUEUE_PREEMPTION_FAIR_H_
#define KUEUE_PREEMPTION_FAIR_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "preemption/query.h"

namespace kueue {

// Returns the targets; empty if preemption cannot help. The workloads in `already_preempted` are no
// candidates; a null set is empty. Usage changes during the call. `trace` may be null.
std::vector<Target> FairTargets(State& state, const PreemptionQuery& query,
                                const absl::flat_hash_set<WorkloadId>* already_preempted, SearchTrace* trace);

}  // namespace kueue

#endif  // KUEUE_PREEMPTION_FAIR_H_
