// What nodes and pods that come, change and go do to workloads: whose node failed, and who is woken.
// Mirrors pkg/controller/tas/{node_controller,pod_usage_controller,resource_flavor}.go (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_NODES_H_
#define KUEUE_LIFECYCLE_NODES_H_

#include <memory>
#include <optional>
#include <string>

#include "state/state.h"

namespace kueue {

// A node is so from now on; null: it is gone.
void ChangeNode(State& state, const std::string& name, std::shared_ptr<const Node> now);
// A pod is so from now on; nothing: it is gone. `key` is its namespace/name.
void ChangePod(State& state, const std::string& key, std::optional<ClusterPod> now);
// The pods of a workload are gone with its job.
void RemovePodsOf(State& state, const Workload& workload);

// Notes the node in, or clears it from, the workloads that have their place on it.
void ReconcileNode(State& state, const std::string& name);
// What of it was to wait until now: nodes that have not been ready for too long.
void ReconcileWaitingNodes(State& state);
// Wakes who waits for room that foreign pods made; that is looked at every full 10 s.
void NoticeFreedNodes(State& state);
// Wakes all queues that are active.
void WakeActiveQueues(State& state);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_NODES_H_
