#include "engine/trees.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "engine/activity.h"
#include "engine/changes.h"
#include "fairness/ledger.h"
#include "lifecycle/conditions.h"
#include "lifecycle/queueing.h"
#include "state/names.h"
#include "state/rebuild.h"

namespace kueue {
namespace {

// The quotas are copied to the tables at the next rebuild.
void SetQuotas(State& state, NodeId node, const std::vector<ResourceGroup>& groups) {
  for (const ResourceGroup& group : groups) {
    for (const FlavorQuotas& flavor : group.flavors) {
      const FlavorId flavor_id = InternFlavor(state, flavor.name);
      for (const ResourceQuota& resource : flavor.resources) {
        InternFlavorResource(state, flavor_id, InternResource(state, resource.name));
      }
    }
  }
  state.requoted.push_back(node);
  state.caches.only_quotas |= !state.stale;
  state.stale = true;
}

void InternGroups(State& state, ClusterQueue& queue) {
  queue.groups.clear();
  queue.flavors.clear();
  queue.covers_pods = false;
  for (const ResourceGroup& group : queue.spec.resource_groups) {
    ResourceGroupIds ids;
    for (const std::string& resource : group.covered_resources) {
      ids.covered.push_back(InternResource(state, resource));
      queue.covers_pods = queue.covers_pods || resource == "pods";
    }
    for (const FlavorQuotas& flavor : group.flavors) {
      ids.flavors.push_back(InternFlavor(state, flavor.name));
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
    CheckIds ids{InternCheck(state, rule.name), {}};
    for (const std::string& flavor : rule.on_flavors) ids.flavors.push_back(InternFlavor(state, flavor));
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

// Marks the tree of a node and the tree of its new parent as changed.
void TouchTree(State& state, NodeId node) {
  state.changed_nodes.push_back(node);
  const NodeId parent = state.forest().DeclaredParent(node);
  if (parent != kNoId) state.changed_nodes.push_back(parent);
}

// Declares a node below the named cohort, or as a root if `parent` is empty. The node's previous tree changes
// too.
void Attach(State& state, NodeId node, const std::string& parent) {
  const NodeId to = parent.empty() ? kNoId : InternCohort(state, parent);
  TouchTree(state, node);
  state.forest().SetDeclared(node, true);
  state.forest().SetParent(node, to);
}

// Returns whether a new spec of a queue leaves its tree unchanged. An implicit cohort is deleted together
// with its only child, so a queue that is its only child always changes the tree.
bool IsKept(State& state, NodeId node, const ClusterQueueSpec& spec) {
  const ClusterQueueSpec& known = state.Queue(node).spec;
  if (known.cohort != spec.cohort || !AllocateAlike(known.resource_groups, spec.resource_groups))
    return false;
  const Forest& forest = state.forest();
  const NodeId parent = forest.DeclaredParent(node);
  if (parent == kNoId || forest.IsDeclared(parent)) return true;
  // Follows the declared parents: a rebuild for each of n changed queues would take quadratic time in total.
  for (NodeId other : forest.Nodes()) {
    if (other != node && forest.DeclaredParent(other) == parent) return true;
  }
  return false;
}

// Removes a node and its quota from its tree.
void Detach(State& state, NodeId node) {
  TouchTree(state, node);
  state.forest().SetDeclared(node, false);
  state.forest().SetActive(node, false);
  state.forest().SetParent(node, kNoId);
  state.requoted.push_back(node);
  state.MarkStale();
}

// Hands the Cohorts that are no longer below a cycle to the queue manager.
void AcceptCohorts(State& state) {
  for (auto cohort = state.refused.begin(); cohort != state.refused.end();) {
    const NodeId node = cohort->first;
    const bool accepted = RootByWalk(state.forest(), node) != kNoId;
    cohort = accepted ? state.refused.erase(cohort) : std::next(cohort);
    if (accepted) state.NotifyRetry(node);
  }
}

// Returns the LocalQueues of a ClusterQueue in the order of their names. Their ids depend on the history of
// the state. Kueue's order is that of a list in a cache, which is not defined.
std::vector<LocalQueueId> LocalQueuesOf(const State& state, NodeId node) {
  std::vector<LocalQueueId> found;
  for (LocalQueueId id : state.local_queues.Ids()) {
    if (state.Local(id).cluster_queue == node) found.push_back(id);
  }
  std::sort(found.begin(), found.end(), [&](LocalQueueId a, LocalQueueId b) {
    return state.local_queue_names.Name(a) < state.local_queue_names.Name(b);
  });
  return found;
}

}  // namespace

void ApplyClusterQueue(State& state, const ClusterQueueSpec& spec, bool changed) {
  const NodeId node = InternClusterQueue(state, spec.name);
  const bool created = !state.forest().IsDeclared(node);
  if (!created && !changed) {
    if (IsKept(state, node, spec)) return;
    Attach(state, node, spec.cohort);
    state.MarkStale();
    return;
  }
  if (!created) BumpGenerations(state);
  state.only_added = created && state.changed_nodes.empty();
  if (created || !IsKept(state, node, spec)) Attach(state, node, spec.cohort);
  ClusterQueue& queue = state.Queue(node);
  const std::vector<FlavorId> flavors = queue.flavors;
  const bool changes = created || queue.terminating || !ControlAlike(queue.spec, spec);
  queue.spec = spec;
  queue.terminating = false;
  InternGroups(state, queue);
  InternChecks(state, queue);
  SetQuotas(state, node, queue.spec.resource_groups);
  if (created) {
    queue.pending.by_usage = UsesAdmissionFairSharing(state, node);
    for (LocalQueueId id : LocalQueuesOf(state, node)) AddFromLocalQueue(state, id);
    ChargeQuotaUsers(state, node);
  }
  state.NotifyRetry(node);
  if (changes || queue.flavors != flavors) MarkQueuesDirty(state, {node});
  RemoveUnused(state);
}

void DeleteClusterQueue(State& state, const std::string& name) {
  const NodeId node = state.forest().FindClusterQueue(name);
  if (node == kNoId || !state.forest().IsDeclared(node)) return;
  BumpGenerations(state);
  if (!state.Queue(node).terminating && state.caches.terminating) state.caches.terminating->push_back(node);
  state.Queue(node).terminating = true;
  state.MarkStale();
  RemoveTerminated(state);
  if (state.Queue(node).terminating) MarkQueuesDirty(state, {node});
}

bool RemoveTerminated(State& state) {
  std::vector<NodeId> gone;
  for (NodeId node : TerminatingQueues(state)) {
    const ClusterQueue& queue = std::as_const(state).Queue(node);
    if (queue.terminating && queue.workloads.empty()) gone.push_back(node);
  }
  for (NodeId node : gone) {
    for (WorkloadId id : state.Queue(node).pending.Ordered(state.workloads, *state.ledger_usage))
      RemoveFromQueue(state, id);
  }
  std::sort(gone.begin(), gone.end(),
            [&](NodeId a, NodeId b) { return state.forest().Name(a) < state.forest().Name(b); });
  for (NodeId node : gone) {
    Detach(state, node);
    state.Queue(node) = ClusterQueue();
  }
  MarkQueuesDirty(state, gone);
  RemoveUnused(state);
  return !gone.empty();
}

void ApplyCohort(State& state, CohortSpec spec, bool changed) {
  const NodeId node = InternCohort(state, spec.name);
  const bool created = !state.forest().IsDeclared(node);
  if (!created && !changed) return;
  if (!created) BumpGenerations(state);
  state.only_added = created && state.changed_nodes.empty();
  state.refused.emplace(node, state.forest().DeclaredParent(node));
  Attach(state, node, spec.parent);
  state.cohorts[node] = std::move(spec);
  SetQuotas(state, node, state.cohorts[node].resource_groups);
  AcceptCohorts(state);
}

void DeleteCohort(State& state, const std::string& name) {
  const NodeId node = state.forest().FindCohort(name);
  if (node == kNoId || !state.forest().IsDeclared(node)) return;
  BumpGenerations(state);
  Detach(state, node);
  state.cohorts[node] = CohortSpec();
  state.refused.erase(node);
  AcceptCohorts(state);
}

}  // namespace kueue
