// Functions shared by both preemption algorithms: charging, the fit test, and removal of unneeded targets.
#ifndef KUEUE_PREEMPTION_FIT_H_
#define KUEUE_PREEMPTION_FIT_H_

#include <vector>

#include "preemption/query.h"

namespace kueue {

// Add or remove the workload's usage of quota and topologies.
void Charge(State& state, WorkloadId id);
void Discharge(State& state, WorkloadId id);
// Same as the functions without `query`, but topology usage is changed only if the query includes pod sets to
// place.
void Charge(State& state, const PreemptionQuery& query, WorkloadId id);
void Discharge(State& state, const PreemptionQuery& query, WorkloadId id);

// Returns whether the queue would exceed its nominal quota with the request.
bool Borrows(const Quota& quota, const PreemptionQuery& query);

// Returns whether the request fits now. If `borrow` is false, the request must also stay within the queue's
// nominal quota. Mirrors pkg/scheduler/preemption/preemption.go:workloadFits.
bool Fits(const State& state, const PreemptionQuery& query, bool borrow);

// Removes targets that are not needed, from the second-to-last target back to the first. The last target is
// moved to the position of each removed target, so the order of the targets may change. Mirrors
// fillBackWorkloads.
void FillBack(State& state, const PreemptionQuery& query, bool borrow, std::vector<Target>& targets);

}  // namespace kueue

#endif  // KUEUE_PREEMPTION_FIT_H_
