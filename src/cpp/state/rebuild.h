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
// Ends an API call. Each call that changes trees increments the generations of the queues in the changed
// trees. Calls that only add a queue or cohort are processed together at the next Rebuild().
void EndCall(State& state);
// Returns the reasons why the queue is inactive, such as a missing flavor or check; empty if the queue is
// active.
Inactivity InactivityOf(const State& state, NodeId queue);
// Returns the deleted ClusterQueues that still hold workloads, as of the last rebuild.
const std::vector<NodeId>& TerminatingQueues(State& state);

}  // namespace kueue

#endif  // KUEUE_STATE_REBUILD_H_
