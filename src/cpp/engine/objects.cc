// Creation, change and deletion of objects other than ClusterQueues and Cohorts (trees.cc). Retries are
// triggered as in pkg/controller/core and pkg/cache/queue/manager.go (kueue ff69552e79).
#include <algorithm>

#include "engine/changes.h"
#include "engine/engine.h"
#include "fairness/ledger.h"
#include "lifecycle/conditions.h"
#include "lifecycle/devices.h"
#include "lifecycle/nodes.h"
#include "lifecycle/queueing.h"

namespace kueue {

Engine::Engine(Config config, RequestsConfig requests) {
  state_.config = std::move(config);
  state_.requests = std::move(requests);
  state_.InternResource("cpu");
  state_.InternResource("pods");
}

std::vector<NodeId> Engine::ActiveQueues() {
  state_.EnsureBuilt();
  std::vector<NodeId> active;
  for (NodeId node : state_.forest().Queues()) {
    if (state_.forest().IsActive(node)) active.push_back(node);
  }
  return active;
}

// Retries queues that became active, and reconciles their workloads.
void Engine::ChangeActivity(std::vector<NodeId> before) {
  state_.stale = true;
  for (NodeId node : ActiveQueues()) {
    if (std::find(before.begin(), before.end(), node) != before.end()) continue;
    state_.NotifyRetry(node);
    MarkQueueDirty(node);
  }
  for (NodeId node : before) {
    if (!state_.forest().IsActive(node)) MarkQueueDirty(node);
  }
}

void Engine::MarkLocalQueueDirty(LocalQueueId id) {
  for (WorkloadId workload : state_.Living()) {
    if (state_.At(workload).local_queue == id) state_.MarkDirty(workload);
  }
}

void Engine::MarkQueueDirty(NodeId node) {
  for (WorkloadId id : state_.Living()) {
    const Workload& workload = state_.At(id);
    const bool holds = workload.admission && workload.admission->cluster_queue == node;
    if (holds || state_.Local(workload.local_queue).cluster_queue == node) state_.MarkDirty(id);
  }
}

void Engine::ApplyFlavor(ResourceFlavor spec) {
  const std::vector<NodeId> before = ActiveQueues();
  const FlavorId id = state_.InternFlavor(spec.name);
  const ResourceFlavor* known = state_.Flavor(id);
  const bool matches_anew = known != nullptr && !MatchAlike(*known, spec);
  const bool had_no_topology = known == nullptr || known->topology_name.empty();
  state_.flavors[id].spec = std::make_shared<const ResourceFlavor>(std::move(spec));
  const bool has_topology =
      state_.config.gates.topology_aware_scheduling && !state_.Flavor(id)->topology_name.empty();
  ChangeActivity(before);
  if (has_topology && (matches_anew || had_no_topology)) WakeActiveQueues(state_);
  if (!matches_anew) return;
  for (NodeId node : state_.forest().Queues()) {
    const std::vector<FlavorId>& flavors = state_.Queue(node).flavors;
    if (std::find(flavors.begin(), flavors.end(), id) != flavors.end()) state_.NotifyRetry(node);
  }
}

void Engine::DeleteFlavor(const std::string& name) {
  const std::vector<NodeId> before = ActiveQueues();
  state_.flavors[state_.InternFlavor(name)].spec = nullptr;
  ChangeActivity(before);
}

void Engine::ApplyLocalQueue(LocalQueueSpec spec) {
  const LocalQueueId id = state_.InternLocalQueue(spec.ns, spec.name);
  const NodeId node = spec.cluster_queue.empty() ? kNoId : state_.InternClusterQueue(spec.cluster_queue);
  LocalQueue& queue = state_.Local(id);
  const bool was_running = queue.IsRunning(), moved = queue.exists && queue.cluster_queue != node;
  if (was_running && moved) RemoveFromLocalQueue(state_, id, Progress::kKept);
  queue.exists = true;
  queue.cluster_queue = node;
  queue.stop_policy = spec.stop_policy;
  const bool reweighted = was_running && !moved && queue.fair_weight != spec.fair_weight;
  queue.fair_weight = spec.fair_weight;
  LedgerEntry& entry = state_.ledger[id];
  if (!entry.is_sampled) {
    entry.history.clear();
    for (const auto& [name, amount] : spec.consumed) entry.history[state_.InternResource(name)] = amount;
  }
  RefreshLocalQueueUsage(state_, id);
  if (reweighted && node != kNoId) state_.Queue(node).pending.Reorder(state_.pending_tables());
  if (queue.IsRunning() && (!was_running || moved)) AddFromLocalQueue(state_, id);
  if (!queue.IsRunning()) RemoveFromLocalQueue(state_, id, Progress::kForgotten);
  MarkLocalQueueDirty(id);
}

void Engine::DeleteLocalQueue(const std::string& ns, const std::string& name) {
  const LocalQueueId id = state_.InternLocalQueue(ns, name);
  LocalQueue& queue = state_.Local(id);
  queue.exists = false;
  RemoveFromLocalQueue(state_, id, Progress::kForgotten);
  queue.cluster_queue = kNoId;
  queue.stop_policy = StopPolicy::kNone;
  queue.fair_weight = 1.0;
  state_.ledger[id] = LedgerEntry();
  RefreshLocalQueueUsage(state_, id);
  MarkLocalQueueDirty(id);
}

void Engine::ApplyNamespace(const std::string& name, std::map<std::string, std::string> labels) {
  const NamespaceId id = state_.InternNamespace(name);
  labels.emplace("kubernetes.io/metadata.name", name);
  std::vector<NodeId> matched;
  for (NodeId node : state_.forest().Queues()) {
    if (MayUse(state_, node, id)) matched.push_back(node);
  }
  Namespace& space = state_.namespaces[id];
  const bool existed = space.exists;
  space.exists = true;
  space.labels = std::move(labels);
  for (NodeId node : state_.forest().Queues()) {
    if (existed && std::find(matched.begin(), matched.end(), node) == matched.end() &&
        MayUse(state_, node, id)) {
      state_.NotifyRetry(node);
    }
  }
  for (LocalQueueId queue : state_.local_queues.Ids()) {
    if (state_.Local(queue).namespace_id == id) MarkLocalQueueDirty(queue);
  }
}

void Engine::DeleteNamespace(const std::string& name) {
  state_.namespaces[state_.InternNamespace(name)].exists = false;
}

void Engine::ApplyCheck(AdmissionCheckSpec spec) {
  const std::vector<NodeId> before = ActiveQueues();
  AdmissionCheckState& check = state_.checks[state_.InternCheck(spec.name)];
  check.exists = true;
  check.spec = std::move(spec);
  ChangeActivity(before);
}

void Engine::DeleteCheck(const std::string& name) {
  const std::vector<NodeId> before = ActiveQueues();
  state_.checks[state_.InternCheck(name)] = AdmissionCheckState();
  ChangeActivity(before);
}

namespace {

// Returns the adjusted pod templates that a queue would contain now.
std::vector<PodTemplate> AdjustedTemplates(const State& state, const Workload& workload) {
  const LocalQueue& local = state.Local(workload.local_queue);
  const Namespace& space = state.namespaces[local.namespace_id];
  std::vector<PodTemplate> adjusted;
  for (const PodSetSpec& pod_set : workload.spec->pod_sets) {
    adjusted.push_back(Adjust(*pod_set.pod_template, state.runtime_classes, space.limit_ranges));
  }
  return adjusted;
}

bool SameResources(const PodTemplate& a, const PodTemplate& b) {
  const auto same = [](const Container& x, const Container& y) {
    return x.requests == y.requests && x.limits == y.limits;
  };
  const auto all_same = [&same](const std::vector<Container>& x, const std::vector<Container>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same);
  };
  return all_same(a.init_containers, b.init_containers) && all_same(a.containers, b.containers) &&
         same(a.resources, b.resources) && a.overhead == b.overhead;
}

}  // namespace

// Applies a change to the objects that determine adjusted templates. Recomputes the requests of pending
// workloads; a workload with different templates is requeued as if its spec had changed. Mirrors
// pkg/controller/core/workload_controller.go:queueReconcileForPending.
void Engine::Readjust(absl::FunctionRef<bool(const Workload&)> concerns, absl::FunctionRef<void()> change) {
  std::vector<std::pair<WorkloadId, std::vector<PodTemplate>>> before;
  for (WorkloadId id : state_.Living()) {
    const Workload& workload = state_.At(id);
    if (workload.HasQuotaReservation() || !concerns(workload)) continue;
    before.emplace_back(id, AdjustedTemplates(state_, workload));
  }
  change();
  state_.caches.classes.Edit().clear();
  state_.topology.made.of_class.clear();
  state_.devices_changed = state_.devices_changed || state_.devices != nullptr;
  state_.caches.devices.Clear();
  for (const auto& [id, templates] : before) {
    state_.MarkDirty(id);
    if (!IsAdmissible(state_, state_.At(id))) continue;
    const std::vector<PodTemplate> now = AdjustedTemplates(state_, state_.At(id));
    const bool same = std::equal(templates.begin(), templates.end(), now.begin(), now.end(), SameResources);
    if (NeedsDevices(state_, state_.At(id), now)) {  // Its devices are counted at the next settle.
      if (!same) NoteChange(state_.At(id));
      continue;
    }
    Reclassify(state_, id);
    AddOrUpdate(state_, id, /*changed=*/!same);
  }
}

void Engine::ChangeLimitRange(const std::string& ns, absl::FunctionRef<void(Namespace&)> change) {
  const NamespaceId id = state_.InternNamespace(ns);
  Readjust([&](const Workload& workload) { return state_.Local(workload.local_queue).namespace_id == id; },
           [&] { change(state_.namespaces[id]); });
}

void Engine::ApplyLimitRange(const std::string& ns, const std::string& name, LimitRange limits) {
  ChangeLimitRange(ns, [&](Namespace& space) { space.limit_ranges[name] = std::move(limits); });
}

void Engine::DeleteLimitRange(const std::string& ns, const std::string& name) {
  ChangeLimitRange(ns, [&](Namespace& space) { space.limit_ranges.erase(name); });
}

void Engine::ChangeRuntimeClass(const std::string& name, absl::FunctionRef<void()> change) {
  const auto names = [&name](const PodSetSpec& pod_set) {
    return pod_set.pod_template->runtime_class_name == name;
  };
  const auto concerns = [&names](const Workload& workload) {
    const std::vector<PodSetSpec>& pod_sets = workload.spec->pod_sets;
    return std::any_of(pod_sets.begin(), pod_sets.end(), names);
  };
  Readjust(concerns, change);
}

void Engine::ApplyRuntimeClass(const std::string& name, RuntimeClass runtime_class) {
  ChangeRuntimeClass(name, [&] { state_.runtime_classes[name] = std::move(runtime_class); });
}

void Engine::DeleteRuntimeClass(const std::string& name) {
  ChangeRuntimeClass(name, [&] { state_.runtime_classes.erase(name); });
}

}  // namespace kueue
