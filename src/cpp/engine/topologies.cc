// Creation, change and deletion of topologies, nodes and pods. Mirrors
// pkg/controller/tas/{topology_controller,node_controller,pod_usage_controller}.go (kueue ff69552e79).
#include <algorithm>

#include "engine/engine.h"
#include "lifecycle/nodes.h"

namespace kueue {

void Engine::ApplyTopology(const std::string& name, std::vector<std::string> levels) {
  const std::vector<NodeId> before = ActiveQueues();
  std::vector<std::string>& known = state_.topology.levels[name];
  const bool changed = !known.empty() && known != levels;
  known = std::move(levels);
  ChangeActivity(before);
  if (!changed) return;
  for (NodeId queue : state_.forest().Queues()) {
    const std::vector<FlavorId>& flavors = state_.Queue(queue).flavors;
    const auto uses = [&](FlavorId flavor) {
      return state_.Flavor(flavor) != nullptr && state_.Flavor(flavor)->topology_name == name;
    };
    if (std::any_of(flavors.begin(), flavors.end(), uses)) state_.NotifyRetry(queue);
  }
}

void Engine::DeleteTopology(const std::string& name) {
  const std::vector<NodeId> before = ActiveQueues();
  state_.topology.levels.erase(name);
  ChangeActivity(before);
}

void Engine::ApplyNode(Node node, std::optional<Time> ready_since) {
  const auto known = state_.topology.nodes.find(node.name);
  const bool keeps = known != state_.topology.nodes.end() && known->second->ready == node.ready;
  node.ready_since = ready_since.value_or(keeps ? known->second->ready_since : state_.now);
  const std::string name = node.name;
  ChangeNode(state_, name, std::make_shared<const Node>(std::move(node)));
}

void Engine::DeleteNode(const std::string& name) { ChangeNode(state_, name, nullptr); }

void Engine::ApplyPod(const std::string& ns, const std::string& name, ClusterPod pod,
                      const PodTemplate& spec) {
  pod.requests = PodRequestsOf(state_, spec);
  ChangePod(state_, ns + "/" + name, std::move(pod));
}

void Engine::DeletePod(const std::string& ns, const std::string& name) {
  ChangePod(state_, ns + "/" + name, std::nullopt);
}

}  // namespace kueue
