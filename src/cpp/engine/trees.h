// Effects of created, changed and deleted ClusterQueues and Cohorts on the trees. Mirrors
// pkg/cache/hierarchy/manager.go and pkg/cache/scheduler/{cache,clusterqueue,cohort}.go (kueue ff69552e79).
#ifndef KUEUE_ENGINE_TREES_H_
#define KUEUE_ENGINE_TREES_H_

#include <string>

#include "model/queue.h"
#include "state/state.h"

namespace kueue {

// Create or replace objects, or delete them. `changed` is true if the spec differs from the previously
// applied spec.
void ApplyClusterQueue(State& state, const ClusterQueueSpec& spec, bool changed);
void DeleteClusterQueue(State& state, const std::string& name);
void ApplyCohort(State& state, CohortSpec spec, bool changed);
void DeleteCohort(State& state, const std::string& name);

// Removes the deleted ClusterQueues whose quota no workload uses. Until then, a deleted ClusterQueue remains
// and lends its quota. Returns whether there were any. Mirrors
// pkg/controller/core/clusterqueue_controller.go:Reconcile and
// pkg/cache/scheduler/cache.go:DeleteClusterQueue.
bool RemoveTerminated(State& state);

}  // namespace kueue

#endif  // KUEUE_ENGINE_TREES_H_
