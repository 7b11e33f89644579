#include "engine/topologies.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/activity.h"
#include "lifecycle/nodes.h"

namespace kueue {

void ApplyTopology(State& state, const std::string& name, std::vector<std::string> levels) {
  const std::vector<NodeId> before = ActiveQueues(state);
  state.deleting.topologies.erase(name);
  std::vector<std::string>& known = state.topology.levels[name];
  const bool created = known.empty();
  if (known == levels) return;
  known = std::move(levels);
  ChangeActivity(state, before);
  for (NodeId queue : state.forest().Queues()) {
    const std::vector<FlavorId>& flavors = state.Queue(queue).flavors;
    const auto uses = [&](FlavorId flavor) {
      return state.Flavor(flavor) != nullptr && state.Flavor(flavor)->topology_name == name;
    };
    if (std::none_of(flavors.begin(), flavors.end(), uses)) continue;
    state.NotifyRetry(queue);
    // Kueue adds the workloads again, because their topology usage was not counted
    // (pkg/cache/scheduler/clusterqueue.go:ensureTASIsSynced).
    if (created) state.Queue(queue).generation += static_cast<int64_t>(state.Queue(queue).workloads.size());
  }
}

void DeleteTopology(State& state, const std::string& name) {
  state.deleting.topologies.insert(name);
  RemoveUnused(state);
}

void DropTopology(State& state, const std::string& name) {
  const std::vector<NodeId> before = ActiveQueues(state);
  state.deleting.topologies.erase(name);
  state.topology.levels.erase(name);
  ChangeActivity(state, before);
}

void ApplyNode(State& state, Node node, std::optional<Time> ready_since) {
  const auto known = state.topology.nodes.find(node.name);
  const bool keeps = known != state.topology.nodes.end() && known->second->ready == node.ready;
  node.ready_since = ready_since.value_or(keeps ? known->second->ready_since : state.now);
  const std::string name = node.name;
  ChangeNode(state, name, std::make_shared<const Node>(std::move(node)));
}

void DeleteNode(State& state, const std::string& name) { ChangeNode(state, name, nullptr); }

void ApplyPod(State& state, const std::string& ns, const std::string& name, ClusterPod pod,
              const PodTemplate& spec) {
  pod.requests = PodRequestsOf(state, spec);
  ChangePod(state, ns + "/" + name, std::move(pod));
}

void DeletePod(State& state, const std::string& ns, const std::string& name) {
  ChangePod(state, ns + "/" + name, std::nullopt);
}

}  // namespace kueue
