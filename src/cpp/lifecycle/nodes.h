// Effects of node and pod changes on workloads: replacement of failed nodes, and retries. Mirrors
// pkg/controller/tas/{node_controller,pod_usage_controller,resource_flavor}.go (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_NODES_H_
#define KUEUE_LIFECYCLE_NODES_H_

#include <memory>
#include <optional>
#include <string>

#include "state/state.h"

namespace kueue {

// Creates or replaces a node. If `now` is null, deletes the node.
void ChangeNode(State& state, const std::string& name, std::shared_ptr<const Node> now);
// Creates or replaces a pod. If `now` is nullopt, deletes the pod. `key` is `namespace/name`.
void ChangePod(State& state, const std::string& key, std::optional<ClusterPod> now);
// Deletes the pods of a workload. Call this function after the job of the workload has ended.
void RemovePodsOf(State& state, const Workload& workload);

// Updates the list of failed nodes of each workload that has pods on the node.
void ReconcileNode(State& state, const std::string& name);
// Reconciles the nodes that, at State::now, have been unready for longer than the allowed time.
void ReconcileWaitingNodes(State& state);
// Schedules retries for capacity released by pods without a topology assignment. The retries take effect at
// multiples of 10 s.
void NoticeFreedNodes(State& state);
// Schedules a retry for all active queues.
void WakeActiveQueues(State& state);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_NODES_H_
