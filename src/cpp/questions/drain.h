// Who would have to leave for every queue to be within its quota again.
#ifndef KUEUE_QUESTIONS_DRAIN_H_
#define KUEUE_QUESTIONS_DRAIN_H_

#include <vector>

#include "state/state.h"

namespace kueue {

// Kueue evicts nobody when quota shrinks (reserved quota stays). These are the workloads that a preemptor
// would take to bring every queue back to what it may have: of queues that borrow first, by lower priority
// and later reservation; none of them can be spared. Changes nothing.
std::vector<WorkloadId> MustLeave(State& state);

}  // namespace kueue

#endif  // KUEUE_QUESTIONS_DRAIN_H_
