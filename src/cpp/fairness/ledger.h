// Admission fair sharing: usage of each LocalQueue, decayed over time. Mirrors pkg/util/admissionfairsharing
// and pkg/cache/queue/afs (kueue ff69552e79).
#ifndef KUEUE_FAIRNESS_LEDGER_H_
#define KUEUE_FAIRNESS_LEDGER_H_

#include "state/state.h"

namespace kueue {

// Returns whether the workloads of the queue are ordered by the usage of their LocalQueues. Whether usage
// determines the order depends on the configuration and on the queue's admissionScope.
bool UsesAdmissionFairSharing(const State& state, NodeId queue);

// Returns the weighted usage of a LocalQueue, including pending penalties, divided by its weight. Returns
// infinity if the weight is 0.
inline double LocalQueueUsage(const State& state, LocalQueueId queue) { return (*state.ledger_usage)[queue]; }
// Recomputes the cached usage of the LocalQueue. Call this function after the weight or the ledger entry of
// the LocalQueue has changed.
void RefreshLocalQueueUsage(State& state, LocalQueueId queue);

// Returns whether the LocalQueue has a pending entry penalty. Returns false if the LocalQueue is stopped.
bool HasPendingPenalty(const State& state, LocalQueueId queue);

// AddPenalty() records an entry penalty when quota is reserved for the workload. The penalty stays pending
// until the workload is admitted. DropPenalty() removes the pending penalty.
void AddPenalty(State& state, WorkloadId id);
void DropPenalty(State& state, WorkloadId id);
// Adds the pending penalty to the consumed usage when the workload is admitted.
void SettlePenalty(State& state, WorkloadId id);
// Continues from the usage in the status of the LocalQueue and from the time at which Kueue sampled it, as
// the Kueue that wrote the status does. A Kueue that starts takes the usage over with its first sample
// instead.
void ContinueUsage(State& state, LocalQueueId queue, Time sampled);
// Samples every LocalQueue whose next sample is due: updates its decayed usage from its current usage, and
// reorders the workloads of its ClusterQueue.
void Sample(State& state);

}  // namespace kueue

#endif  // KUEUE_FAIRNESS_LEDGER_H_
