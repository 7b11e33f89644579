#include "engine/activity.h"

#include <algorithm>

#include "state/rebuild.h"

namespace kueue {

std::vector<NodeId> ActiveQueues(State& state) {
  EnsureBuilt(state);
  std::vector<NodeId> active;
  for (NodeId node : state.forest().Queues()) {
    if (state.forest().IsActive(node)) active.push_back(node);
  }
  return active;
}

void ChangeActivity(State& state, const std::vector<NodeId>& before) {
  state.stale = true;
  for (NodeId node : ActiveQueues(state)) {
    if (std::find(before.begin(), before.end(), node) != before.end()) continue;
    state.NotifyRetry(node);
    MarkQueueDirty(state, node);
  }
  for (NodeId node : before) {
    if (!state.forest().IsActive(node)) MarkQueueDirty(state, node);
  }
}

void MarkLocalQueueDirty(State& state, LocalQueueId id) {
  for (WorkloadId workload : state.Living()) {
    if (state.At(workload).local_queue == id) state.MarkDirty(workload);
  }
}

void MarkQueueDirty(State& state, NodeId node) {
  for (WorkloadId id : state.Living()) {
    const Workload& workload = state.At(id);
    const bool holds = workload.admission && workload.admission->cluster_queue == node;
    if (holds || state.Local(workload.local_queue).cluster_queue == node) state.MarkDirty(id);
  }
}

}  // namespace kueue
