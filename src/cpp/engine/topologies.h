// Creation, change and deletion of topologies, nodes and pods. Mirrors
// pkg/controller/tas/{topology_controller,node_controller,pod_usage_controller}.go (kueue ff69552e79).
#ifndef KUEUE_ENGINE_TOPOLOGIES_H_
#define KUEUE_ENGINE_TOPOLOGIES_H_

#include <optional>
#include <string>
#include <vector>

#include "state/state.h"

namespace kueue {

// Create or replace objects, or delete them.
void ApplyTopology(State& state, const std::string& name, std::vector<std::string> levels);
void DeleteTopology(State& state, const std::string& name);
// Deletes a topology without the finalizer that keeps it while it is in use.
void DropTopology(State& state, const std::string& name);
// `ready_since` is the transition time of the condition Ready. By default, `ready_since` is the previous
// transition time if the condition has not changed, and otherwise the current time.
void ApplyNode(State& state, Node node, std::optional<Time> ready_since = std::nullopt);
void DeleteNode(State& state, const std::string& name);
// A pod of the cluster.
void ApplyPod(State& state, const std::string& ns, const std::string& name, ClusterPod pod,
              const PodTemplate& spec);
void DeletePod(State& state, const std::string& ns, const std::string& name);

}  // namespace kueue

#endif  // KUEUE_ENGINE_TOPOLOGIES_H_
