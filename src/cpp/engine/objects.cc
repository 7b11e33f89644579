#include "engine/objects.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/activity.h"
#include "engine/changes.h"
#include "fairness/ledger.h"
#include "lifecycle/conditions.h"
#include "lifecycle/nodes.h"
#include "lifecycle/queueing.h"
#include "state/names.h"

namespace kueue {

void ApplyFlavor(State& state, ResourceFlavor spec) {
  const std::vector<NodeId> before = ActiveQueues(state);
  const FlavorId id = InternFlavor(state, spec.name);
  state.deleting.flavors.erase(id);
  const ResourceFlavor* known = state.Flavor(id);
  const bool matches_anew = known != nullptr && !MatchAlike(*known, spec);
  const bool had_no_topology = known == nullptr || known->topology_name.empty();
  state.flavors[id].spec = std::make_shared<const ResourceFlavor>(std::move(spec));
  const bool has_topology =
      state.config.gates.topology_aware_scheduling && !state.Flavor(id)->topology_name.empty();
  ChangeActivity(state, before);
  RemoveUnused(state);
  if (has_topology && (matches_anew || had_no_topology)) WakeActiveQueues(state);
  if (!matches_anew) return;
  for (NodeId node : state.forest().Queues()) {
    const std::vector<FlavorId>& flavors = state.Queue(node).flavors;
    if (std::find(flavors.begin(), flavors.end(), id) != flavors.end()) state.NotifyRetry(node);
  }
}

void DeleteFlavor(State& state, const std::string& name) {
  state.deleting.flavors.insert(InternFlavor(state, name));
  RemoveUnused(state);
}

void ApplyLocalQueue(State& state, LocalQueueSpec spec) {
  const LocalQueueId id = InternLocalQueue(state, spec.ns, spec.name);
  const NodeId node = spec.cluster_queue.empty() ? kNoId : InternClusterQueue(state, spec.cluster_queue);
  LocalQueue& queue = state.Local(id);
  const bool was_running = queue.IsRunning(), moved = queue.exists && queue.cluster_queue != node;
  if (was_running && moved) RemoveFromLocalQueue(state, id, Progress::kKept);
  queue.exists = true;
  queue.cluster_queue = node;
  queue.stop_policy = spec.stop_policy;
  const bool reweighted = was_running && !moved && queue.fair_weight != spec.fair_weight;
  queue.fair_weight = spec.fair_weight;
  LedgerEntry& entry = state.ledger[id];
  if (!entry.is_sampled) {
    entry.history.clear();
    for (const auto& [name, amount] : spec.consumed) entry.history[InternResource(state, name)] = amount;
  }
  RefreshLocalQueueUsage(state, id);
  if (reweighted && node != kNoId) state.Queue(node).pending.Reorder(state.pending_tables());
  if (queue.IsRunning() && !was_running) ListLocalQueue(state, id);
  if (was_running && moved) AddFromLocalQueue(state, id);
  if (!queue.IsRunning()) RemoveFromLocalQueue(state, id, Progress::kForgotten);
  MarkLocalQueueDirty(state, id);
}

void DeleteLocalQueue(State& state, const std::string& ns, const std::string& name) {
  const LocalQueueId id = InternLocalQueue(state, ns, name);
  LocalQueue& queue = state.Local(id);
  queue.exists = false;
  RemoveFromLocalQueue(state, id, Progress::kForgotten);
  queue.cluster_queue = kNoId;
  queue.stop_policy = StopPolicy::kNone;
  queue.fair_weight = 1.0;
  state.ledger[id] = LedgerEntry();
  RefreshLocalQueueUsage(state, id);
  MarkLocalQueueDirty(state, id);
}

void ApplyNamespace(State& state, const std::string& name, std::map<std::string, std::string> labels) {
  const NamespaceId id = InternNamespace(state, name);
  labels.emplace("kubernetes.io/metadata.name", name);
  std::vector<NodeId> matched;
  for (NodeId node : state.forest().Queues()) {
    if (MayUse(state, node, id)) matched.push_back(node);
  }
  Namespace& space = state.namespaces[id];
  const bool existed = space.exists;
  space.exists = true;
  space.labels = std::move(labels);
  for (NodeId node : state.forest().Queues()) {
    if (existed && std::find(matched.begin(), matched.end(), node) == matched.end() &&
        MayUse(state, node, id)) {
      state.NotifyRetry(node);
    }
  }
  for (LocalQueueId queue : state.local_queues.Ids()) {
    if (state.Local(queue).namespace_id == id) MarkLocalQueueDirty(state, queue);
  }
}

void DeleteNamespace(State& state, const std::string& name) {
  state.namespaces[InternNamespace(state, name)].exists = false;
}

void ApplyCheck(State& state, AdmissionCheckSpec spec) {
  const std::vector<NodeId> before = ActiveQueues(state);
  const CheckId id = InternCheck(state, spec.name);
  state.deleting.checks.erase(id);
  AdmissionCheckState& check = state.checks[id];
  check.exists = true;
  check.spec = std::move(spec);
  ChangeActivity(state, before);
}

void DeleteCheck(State& state, const std::string& name) {
  state.deleting.checks.insert(InternCheck(state, name));
  RemoveUnused(state);
}

}  // namespace kueue
