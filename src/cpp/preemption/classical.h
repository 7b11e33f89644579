// Preemption without fair sharing: within the queue, by reclaim in the cohort, and with borrowing. Mirrors
// pkg/scheduler/preemption/preemption.go:classicalPreemptions and pkg/scheduler/preemption/classical (kueue
// ff69552e79).
#ifndef KUEUE_PREEMPTION_CLASSICAL_H_
#define KUEUE_PREEMPTION_CLASSICAL_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "preemption/query.h"

namespace kueue {

// Returns the targets; empty if preemption cannot help. The workloads in `already_preempted` are no
// candidates; a null set is empty. Usage changes during the call. `trace` may be null.
std::vector<Target> ClassicalTargets(State& state, const PreemptionQuery& query,
                                     const absl::flat_hash_set<WorkloadId>* already_preempted,
                                     CandidateScratch& scratch, SearchTrace* trace);

}  // namespace kueue

#endif  // KUEUE_PREEMPTION_CLASSICAL_H_
