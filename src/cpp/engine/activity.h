// Queues whose activity an object changes, and their workloads. Retries are triggered as in
// pkg/controller/core and pkg/cache/queue/manager.go (kueue ff69552e79).
#ifndef KUEUE_ENGINE_ACTIVITY_H_
#define KUEUE_ENGINE_ACTIVITY_H_

#include <vector>

#include "state/state.h"

namespace kueue {

// Returns the active queues.
std::vector<NodeId> ActiveQueues(State& state);
// Recomputes the activity of queues after a change of an object. `before` is the result of ActiveQueues()
// before the change. Retries queues that became active, and schedules the workloads of queues whose activity
// has changed for reconciliation.
void ChangeActivity(State& state, const std::vector<NodeId>& before);
// Schedule the workloads of a LocalQueue, or of ClusterQueues, for reconciliation.
void MarkLocalQueueDirty(State& state, LocalQueueId id);
void MarkQueuesDirty(State& state, const std::vector<NodeId>& nodes);

// Removes the deleted flavors, checks and topologies that are no longer in use. Mirrors the Reconcile methods
// of pkg/controller/core/{resourceflavor,admissioncheck}_controller.go and
// pkg/controller/tas/topology_controller.go.
void RemoveUnused(State& state);

}  // namespace kueue

#endif  // KUEUE_ENGINE_ACTIVITY_H_
