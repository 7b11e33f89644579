// Workloads with quota that the scheduler looks at once more: a topology that waited for admission checks, or
// a node that failed. Mirrors pkg/workload/workload.go:NeedsSecondPass and
// pkg/cache/queue/{second_pass_queue,manager}.go (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_SECOND_PASS_H_
#define KUEUE_LIFECYCLE_SECOND_PASS_H_

#include <string>
#include <vector>

#include "state/state.h"

namespace kueue {

// Whether pods of an admitted workload have their place on a node that failed.
bool HasUnhealthyAssignment(const State& state, const Workload& workload);
// Whether the topology of some pod set is yet to be assigned.
bool HasPendingTopology(const Workload& workload);
bool NeedsSecondPass(const State& state, const Workload& workload);

// Asks for a second pass, after a delay that doubles with every iteration, if it is needed and not asked for
// yet. Returns whether it did.
bool QueueSecondPass(State& state, WorkloadId id, int iteration);
// The same after a pass that failed, for the workload as that pass saw it.
void RepeatSecondPass(State& state, SecondPass pass);
void ForgetSecondPass(State& state, WorkloadId id);
// Those whose time has come, each workload once.
std::vector<SecondPass> TakeSecondPasses(State& state);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_SECOND_PASS_H_
