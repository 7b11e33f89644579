// Effects of created, changed and deleted ClusterQueues and Cohorts on the trees. Mirrors
// pkg/cache/hierarchy/manager.go and pkg/cache/scheduler/{cache,clusterqueue,cohort}.go (kueue ff69552e79).
#include <algorithm>

#include "engine/changes.h"
#include "engine/engine.h"
#include "fairness/ledger.h"
#include "lifecycle/conditions.h"
#include "lifecycle/queueing.h"

namespace kueue {

// The quotas are copied to the tables at the next rebuild.
void Engine::SetQuotas(NodeId node, const std::vector<ResourceGroup>& groups) {
  for (const ResourceGroup& group : groups) {
    for (const FlavorQuotas& flavor : group.flavors) {
      const FlavorId flavor_id = state_.InternFlavor(flavor.name);
      for (const ResourceQuota& resource : flavor.resources) {
        state_.InternFlavorResource(flavor_id, state_.InternResource(resource.name));
      }
    }
  }
  state_.requoted.push_back(node);
  state_.stale = true;
}

namespace {

void InternGroups(State& state, ClusterQueue& queue) {
  queue.groups.clear();
  queue.flavors.clear();
  queue.covers_pods = false;
  for (const ResourceGroup& group : queue.spec.resource_groups) {
    ResourceGroupIds ids;
    for (const std::string& resource : group.covered_resources) {
      ids.covered.push_back(state.InternResource(resource));
      queue.covers_pods = queue.covers_pods || resource == "pods";
    }
    for (const FlavorQuotas& flavor : group.flavors) {
      ids.flavors.push_back(state.InternFlavor(flavor.name));
      queue.flavors.push_back(ids.flavors.back());
    }
    queue.groups.push_back(std::move(ids));
  }
}

void InternChecks(State& state, ClusterQueue& queue) {
  queue.checks.clear();
  std::vector<CheckRule> rules = queue.spec.admission_checks;
  std::sort(rules.begin(), rules.end(),
            [](const CheckRule& a, const CheckRule& b) { return a.name < b.name; });
  for (const CheckRule& rule : rules) {
    CheckIds ids{state.InternCheck(rule.name), {}};
    for (const std::string& flavor : rule.on_flavors) ids.flavors.push_back(state.InternFlavor(flavor));
    if (rule.on_flavors.empty()) ids.flavors = queue.flavors;
    queue.checks.push_back(std::move(ids));
  }
}

// Workloads that hold quota of a queue may be created before the queue
// (pkg/cache/scheduler/cache.go:AddClusterQueue).
void ChargeQuotaUsers(State& state, NodeId queue) {
  for (WorkloadId id : state.Living()) {
    const Workload& workload = state.At(id);
    if (workload.IsFinished() || !workload.spec->active || workload.charged != kNoId) continue;
    if (!workload.HasQuotaReservation() || !workload.admission) continue;
    if (workload.admission->cluster_queue != queue) continue;
    Classify(state, id);
    ChargeAdmission(state, id);
  }
}

}  // namespace

// Marks the tree of a node and the tree of its new parent as changed.
void Engine::TouchTree(NodeId node) {
  state_.changed_nodes.push_back(node);
  const NodeId parent = state_.forest().DeclaredParent(node);
  if (parent != kNoId) state_.changed_nodes.push_back(parent);
}

// Declares a node below the named cohort, or as a root if `parent` is empty. The node's previous tree changes
// too.
void Engine::Attach(NodeId node, const std::string& parent) {
  const NodeId to = parent.empty() ? kNoId : state_.InternCohort(parent);
  TouchTree(node);
  state_.forest().SetDeclared(node, true);
  state_.forest().SetParent(node, to);
}

// Returns whether a new spec of a queue leaves its tree unchanged. An implicit cohort is deleted together
// with its only child, so a queue that is its only child always changes the tree.
bool Engine::IsKept(NodeId node, const ClusterQueueSpec& spec) {
  const ClusterQueueSpec& known = state_.Queue(node).spec;
  if (known.cohort != spec.cohort || !AllocateAlike(known.resource_groups, spec.resource_groups))
    return false;
  const Forest& forest = state_.forest();
  const NodeId parent = forest.DeclaredParent(node);
  if (parent == kNoId || forest.IsDeclared(parent)) return true;
  state_.EnsureBuilt();
  return forest.ChildQueues(parent).size() + forest.ChildCohorts(parent).size() > 1;
}

// Removes a node and its quota from its tree.
void Engine::Detach(NodeId node) {
  TouchTree(node);
  state_.forest().SetDeclared(node, false);
  state_.forest().SetParent(node, kNoId);
  state_.requoted.push_back(node);
  state_.stale = true;
}

void Engine::ApplyClusterQueue(ClusterQueueSpec spec, bool changed) {
  const NodeId node = state_.InternClusterQueue(spec.name);
  const bool created = !state_.forest().IsDeclared(node);
  if (!created && !changed) return;
  if (!created) state_.EnsureBuilt();
  state_.only_added = created && state_.changed_nodes.empty();
  if (created || !IsKept(node, spec)) Attach(node, spec.cohort);
  ClusterQueue& queue = state_.Queue(node);
  queue.spec = std::move(spec);
  queue.terminating = false;
  InternGroups(state_, queue);
  InternChecks(state_, queue);
  SetQuotas(node, queue.spec.resource_groups);
  if (created) {
    queue.pending.by_usage = UsesAdmissionFairSharing(state_, node);
    for (LocalQueueId id : state_.local_queues.Ids()) {
      if (state_.Local(id).cluster_queue == node) AddFromLocalQueue(state_, id);
    }
    ChargeQuotaUsers(state_, node);
  }
  state_.NotifyRetry(node);
  MarkQueueDirty(node);
}

void Engine::DeleteClusterQueue(const std::string& name) {
  const NodeId node = state_.forest().FindClusterQueue(name);
  if (node == kNoId || !state_.forest().IsDeclared(node)) return;
  state_.Queue(node).terminating = true;
  state_.stale = true;
  state_.EnsureBuilt();
  MarkQueueDirty(node);
  RemoveTerminated();
}

// A deleted ClusterQueue remains, and lends its quota, as long as workloads use its quota. Mirrors
// pkg/controller/core/clusterqueue_controller.go:Reconcile and
// pkg/cache/scheduler/cache.go:DeleteClusterQueue.
bool Engine::RemoveTerminated() {
  std::vector<NodeId> gone;
  for (NodeId node : state_.Terminating()) {
    if (state_.Queue(node).terminating && state_.Queue(node).workloads.empty()) gone.push_back(node);
  }
  for (NodeId node : gone) {
    for (WorkloadId id : state_.Living()) {
      if (state_.At(id).queued == node) RemoveFromQueue(state_, id);
    }
    Detach(node);
    state_.Queue(node) = ClusterQueue();
    MarkQueueDirty(node);
  }
  return !gone.empty();
}

void Engine::ApplyCohort(CohortSpec spec, bool changed) {
  const NodeId node = state_.InternCohort(spec.name);
  if (state_.forest().IsDeclared(node) && !changed) return;
  state_.EnsureBuilt();
  Attach(node, spec.parent);
  state_.cohorts[node] = std::move(spec);
  SetQuotas(node, state_.cohorts[node].resource_groups);
  state_.NotifyRetry(node);
}

void Engine::DeleteCohort(const std::string& name) {
  const NodeId node = state_.forest().FindCohort(name);
  if (node == kNoId || !state_.forest().IsDeclared(node)) return;
  state_.EnsureBuilt();
  Detach(node);
  state_.cohorts[node] = CohortSpec();
}

}  // namespace kueue
