// Workloads that would have to be evicted to bring every queue within its quota.
#ifndef KUEUE_QUESTIONS_DRAIN_H_
#define KUEUE_QUESTIONS_DRAIN_H_

#include <vector>

#include "state/state.h"

namespace kueue {

// Kueue does not evict workloads when quota is reduced. Returns the workloads that a preemptor would select
// to bring every queue back to its allowed usage. The selection prefers workloads of borrowing queues, then
// workloads with lower priority, then workloads with a later reservation. The eviction of each returned
// workload is necessary. The call leaves no visible changes in the state.
std::vector<WorkloadId> MustLeave(State& state);

}  // namespace kueue

#endif  // KUEUE_QUESTIONS_DRAIN_H_
