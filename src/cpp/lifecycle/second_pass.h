// Second scheduling pass of workloads with a quota reservation. The second pass computes topology assignments
// that were delayed by admission checks, and replaces failed nodes. Mirrors
// pkg/workload/workload.go:NeedsSecondPass and pkg/cache/queue/{second_pass_queue,manager}.go (kueue
// ff69552e79).
#ifndef KUEUE_LIFECYCLE_SECOND_PASS_H_
#define KUEUE_LIFECYCLE_SECOND_PASS_H_

#include <string>
#include <vector>

#include "state/state.h"

namespace kueue {

// Returns whether an admitted workload has pods on a failed node.
bool HasUnhealthyAssignment(const State& state, const Workload& workload);
// Returns whether a pod set still waits for its topology assignment.
bool HasPendingTopology(const Workload& workload);
bool NeedsSecondPass(const State& state, const Workload& workload);

// Requests a second pass if the workload needs one and none is requested yet.
void QueueSecondPass(State& state, WorkloadId id);
// Requests another second pass after a failed second pass. The new pass uses the same snapshot of the
// workload as the failed pass, after twice the previous delay.
void RepeatSecondPass(State& state, SecondPass pass);
void ForgetSecondPass(State& state, WorkloadId id);
// Removes and returns the passes that are due, at most one for each workload.
std::vector<SecondPass> TakeSecondPasses(State& state);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_SECOND_PASS_H_
