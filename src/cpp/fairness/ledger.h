// Admission fair sharing: what each LocalQueue has used, decayed over time.
// Mirrors pkg/util/admissionfairsharing and pkg/cache/queue/afs (kueue ff69552e79).
#ifndef KUEUE_FAIRNESS_LEDGER_H_
#define KUEUE_FAIRNESS_LEDGER_H_

#include "state/state.h"

namespace kueue {

// Whether the configuration and the queue's admissionScope order it by LocalQueue usage.
bool UsesAdmissionFairSharing(const State& state, NodeId queue);

// Weighted usage of a LocalQueue, pending penalties included, over its weight; infinite for a weight of 0.
inline double LocalQueueUsage(const State& state, LocalQueueId queue) {
  return state.ledger_usage[static_cast<size_t>(queue)];
}
// The weight or the ledger entry of the LocalQueue has changed: works its usage out again.
void RefreshLocalQueueUsage(State& state, LocalQueueId queue);

// Whether a workload of the LocalQueue, which must not be stopped, owes an entry penalty.
bool HasPendingPenalty(const State& state, LocalQueueId queue);

// Quota was reserved for the workload: its LocalQueue owes an entry penalty until it is admitted.
void AddPenalty(State& state, WorkloadId id);
void DropPenalty(State& state, WorkloadId id);
// The workload was admitted: the penalty becomes consumed usage.
void SettlePenalty(State& state, WorkloadId id);
// Decays every LocalQueue's usage towards what its workloads use now, where a sample is due, and puts its
// ClusterQueue in the order of it.
void Sample(State& state);

}  // namespace kueue

#endif  // KUEUE_FAIRNESS_LEDGER_H_
