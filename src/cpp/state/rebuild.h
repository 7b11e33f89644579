// Values derived from the declared objects: quotas, heights, activity of queues, generations.
#ifndef KUEUE_STATE_REBUILD_H_
#define KUEUE_STATE_REBUILD_H_

#include <vector>

#include "state/state.h"

namespace kueue {

// Recomputes everything derived from the declared objects.
void Rebuild(State& state);
// Same, if the derived values are out of date.
inline void EnsureBuilt(State& state) {
  if (state.stale) Rebuild(state);
}
// Increments the generations of the queues in the trees that were changed since the last call of this
// function.
void BumpGenerations(State& state);
// Ends an API call, which increments the generations of the queues in the trees that it changed. Calls that
// only add a queue or cohort are processed together at the next Rebuild() or change of another kind.
void EndCall(State& state);
// Returns the reasons why the queue is inactive, such as a missing flavor or check; empty if the queue is
// active.
Inactivity InactivityOf(const State& state, NodeId queue);
// Returns the deleted ClusterQueues that still held workloads at the last rebuild or deletion.
const std::vector<NodeId>& TerminatingQueues(State& state);

}  // namespace kueue

#endif  // KUEUE_STATE_REBUILD_H_
