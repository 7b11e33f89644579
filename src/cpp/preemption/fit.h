// What both kinds of preemption share: charging, the fit test, and putting back whom it can spare.
#ifndef KUEUE_PREEMPTION_FIT_H_
#define KUEUE_PREEMPTION_FIT_H_

#include <vector>

#include "preemption/preemption.h"

namespace kueue {

// Adds a workload's usage to, or takes it from, the tables.
void Charge(State& state, WorkloadId id);
void Discharge(State& state, WorkloadId id);
// The same of what the query looks at: of quota alone where nothing is to be placed.
void Charge(State& state, const PreemptionQuery& query, WorkloadId id);
void Discharge(State& state, const PreemptionQuery& query, WorkloadId id);

// Whether the request fits now; without `borrow` it must stay within the queue's nominal quota, too.
// Mirrors pkg/scheduler/preemption/preemption.go:workloadFits.
bool Fits(const State& state, const PreemptionQuery& query, bool borrow);

// Drops the targets that are not needed, scanning backwards from the last but one. A dropped target's place
// is taken by the last one, so the order of the targets may change. Mirrors fillBackWorkloads.
void FillBack(State& state, const PreemptionQuery& query, bool borrow, std::vector<Target>& targets);

}  // namespace kueue

#endif  // KUEUE_PREEMPTION_FIT_H_
