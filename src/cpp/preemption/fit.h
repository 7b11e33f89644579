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

// Puts back, last but one first, every target without whom the request still fits. A dropped target's place
// is taken by the last one, so the order of the targets may change. Mirrors fillBackWorkloads.
void FillBack(State& state, const PreemptionQuery& query, bool borrow, std::vector<Target>& targets);

// Whether all of `request` fits into the node's own quota; leaves what is to be asked of its parent.
bool FitsInQuota(const Quota& quota, NodeId node, Amounts& request);

// How a candidate of another queue counts where the preemptor has no hierarchical advantage.
Variant VariantOf(const Preemption& rules, const Workload& preemptor, const Workload& candidate);

}  // namespace kueue

#endif  // KUEUE_PREEMPTION_FIT_H_
