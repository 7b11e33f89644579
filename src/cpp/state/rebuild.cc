#include "state/rebuild.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace kueue {
namespace {

constexpr const char kMultiKueue[] = "kueue.x-k8s.io/multikueue";
constexpr const char kProvisioning[] = "kueue.x-k8s.io/provisioning-request";

void RebuildQuotas(State& state) {
  state.quota.Resize(state.flavor_resources.size());
  for (NodeId node : state.requoted) {
    state.quota.ClearNode(node);
    if (!state.forest().IsDeclared(node)) continue;
    const std::vector<ResourceGroup>& groups = state.forest().IsClusterQueue(node)
                                                   ? state.Queue(node).spec.resource_groups
                                                   : state.cohorts[node].resource_groups;
    for (const ResourceGroup& group : groups) {
      for (const FlavorQuotas& flavor : group.flavors) {
        for (const ResourceQuota& amounts : flavor.resources) {
          const FlavorResourceId fr = state.FlavorResource(state.flavor_names.Find(flavor.name),
                                                           state.resource_names.Find(amounts.name));
          state.quota.SetQuota(node, fr, amounts.nominal, amounts.borrowing_limit, amounts.lending_limit);
        }
      }
    }
  }
}

// Mirrors pkg/cache/scheduler/clusterqueue.go:isTASOnly, flavorsWithProvReqAdmissionCheck.
void RebuildTopologyOf(const State& state, ClusterQueue& queue) {
  const bool on = state.config.gates.topology_aware_scheduling;
  queue.only_topology = std::all_of(queue.flavors.begin(), queue.flavors.end(), [&](FlavorId flavor) {
    return on && state.Flavor(flavor) != nullptr && !state.Flavor(flavor)->topology_name.empty();
  });
  queue.provisioned.clear();
  queue.multi_kueue = false;
  for (const CheckIds& rule : queue.checks) {
    const AdmissionCheckState& check = state.checks[rule.check];
    if (!check.exists) continue;
    queue.multi_kueue = queue.multi_kueue || check.spec.controller == kMultiKueue;
    if (check.spec.controller != kProvisioning) continue;
    queue.provisioned.insert(queue.provisioned.end(), rule.flavors.begin(), rule.flavors.end());
  }
}

// The trees of the declared parents, without the nodes that are added one after the other. A sum of
// increments is kept for each tree, and the generation of a queue is the sum of those on its path to the
// root, so that a chain of n cohorts takes n steps instead of n².
class GrowingTrees {
 public:
  explicit GrowingTrees(const State& state) : forest_(state.forest()) {
    trees_.assign(forest_.size(), {});
    IdVector<NodeId, char> later(forest_.size(), 0);
    for (NodeId node : state.added_queues) later[node] = 1;
    for (NodeId node : forest_.Nodes()) {
      if (!later[node]) Join(node);
    }
  }
  // Adds the edge from a node to its parent.
  void Join(NodeId node) {
    if (forest_.DeclaredParent(node) == kNoId) return;
    const NodeId child = RootOf(node).first, parent = RootOf(forest_.DeclaredParent(node)).first;
    if (child == parent) {
      trees_[parent].has_cycle = true;
      return;
    }
    trees_[parent].has_cycle |= trees_[child].has_cycle;
    trees_[child].increments -= trees_[parent].increments;
    trees_[child].above = parent;
  }
  // Increments the generation of all nodes in the tree of a node, unless the tree contains a cycle.
  void Increment(NodeId node) {
    Tree& tree = trees_[RootOf(node).first];
    if (!tree.has_cycle) ++tree.increments;
  }
  NodeId Root(NodeId node) { return RootOf(node).first; }
  int64_t Increments(NodeId node) { return RootOf(node).second; }

 private:
  struct Tree {
    NodeId above = kNoId;
    int64_t increments = 0;  // Relative to `above`.
    bool has_cycle = false;
  };
  // Returns the root of a node's tree and the increments of the node, and shortens the path to the root.
  std::pair<NodeId, int64_t> RootOf(NodeId node) {
    path_.clear();
    for (; trees_[node].above != kNoId; node = trees_[node].above) path_.push_back(node);
    int64_t sum = 0;
    for (auto it = path_.rbegin(); it != path_.rend(); ++it) {
      trees_[*it].increments = sum += trees_[*it].increments;
      trees_[*it].above = node;
    }
    return {node, sum + trees_[node].increments};
  }

  const Forest& forest_;
  IdVector<NodeId, Tree> trees_;
  std::vector<NodeId> path_;
};

void AddChecks(const State& state, const ClusterQueue& queue, std::vector<InactivityCause>& causes) {
  std::vector<std::string> missing, inactive, multi_kueue, per_flavor, provisioning;
  for (const CheckIds& rule : queue.checks) {
    const AdmissionCheckState& check = state.checks[rule.check];
    const std::string& name = state.check_names.Name(rule.check);
    if (!check.exists) {
      missing.push_back(name);
      continue;
    }
    if (!check.spec.active) inactive.push_back(name);
    if (check.spec.controller == kProvisioning) provisioning.push_back(name);
    if (check.spec.controller != kMultiKueue) continue;
    multi_kueue.push_back(name);
    if (rule.flavors.size() != queue.flavors.size()) per_flavor.push_back(name);
  }
  if (!missing.empty()) causes.push_back({InactivityKind::kCheckNotFound, missing});
  if (!inactive.empty()) causes.push_back({InactivityKind::kCheckInactive, inactive});
  if (multi_kueue.size() > 1) causes.push_back({InactivityKind::kMultipleMultiKueueChecks, multi_kueue});
  if (!per_flavor.empty()) causes.push_back({InactivityKind::kMultiKueueCheckPerFlavor, per_flavor});
  if (!multi_kueue.empty() && !provisioning.empty()) {
    causes.push_back(
        {InactivityKind::kMultiKueueWithProvisioning, {multi_kueue.front(), provisioning.front()}});
  }
}

void RebuildActivity(State& state, const std::vector<NodeId>& nodes) {
  for (NodeId node : nodes) {
    if (!state.forest().IsClusterQueue(node) || !state.forest().IsDeclared(node)) continue;
    ClusterQueue& queue = state.Queue(node);
    queue.inactivity = InactivityOf(state, node);
    RebuildTopologyOf(state, queue);
    state.forest().SetActive(node, queue.inactivity.IsActive() && !HasCycle(state.forest(), node));
    state.caches.heads.Add(node);
  }
  state.forest().RebuildHeights();
}

// Returns the roots of the trees with changed quotas if nothing else has changed.
std::optional<std::set<NodeId>> RequotedTrees(const State& state) {
  if (!state.caches.only_quotas || state.forest().IsStale()) return std::nullopt;
  std::set<NodeId> roots;
  for (NodeId node : state.requoted) {
    if (HasCycle(state.forest(), node)) return std::nullopt;  // The node is in no tree.
    roots.insert(state.forest().Root(node));
  }
  return roots;
}

void BumpGrowingTrees(State& state) {
  GrowingTrees trees(state);
  for (NodeId node : state.added_queues) {
    trees.Join(node);
    trees.Increment(node);
  }
  std::set<NodeId> roots;
  for (NodeId node : state.changed_nodes) roots.insert(trees.Root(node));
  for (NodeId root : roots) trees.Increment(root);
  for (NodeId node : state.forest().Nodes()) {
    if (state.forest().IsClusterQueue(node) && state.forest().IsDeclared(node))
      state.Queue(node).generation += trees.Increments(node);
  }
}

// Fast path of BumpGrowingTrees(): all nodes are still in the trees of the last rebuild. Only the queues of
// the changed trees are visited.
void BumpKeptTrees(State& state) {
  std::set<NodeId> roots;
  for (NodeId node : state.changed_nodes) roots.insert(state.forest().Root(node));
  roots.erase(kNoId);  // The root of a tree with a cycle.
  for (NodeId root : roots) {
    for (NodeId queue : state.forest().QueuesOfTree(root)) ++state.Queue(queue).generation;
  }
}

}  // namespace

void Rebuild(State& state) {
  BumpGenerations(state);
  state.stale = false;
  RebuildQuotas(state);
  const std::optional<std::set<NodeId>> changed = RequotedTrees(state);
  state.requoted.clear();
  if (state.forest().IsStale()) state.forest().Rebuild();  // A change of quotas keeps the trees.
  for (auto root = state.to_requeue.begin(); root != state.to_requeue.end();) {
    const bool exists = state.forest().Exists(*root) || !state.refused.empty();
    root = exists ? std::next(root) : state.to_requeue.erase(root);
  }
  state.topology.made.stale = true;
  state.caches.terminating.reset();
  state.caches.refusals.Forget();
  state.caches.fits.Forget();
  if (!changed) {
    state.caches.heads.Forget();
    state.caches.rebuilt.reset();
  } else if (state.caches.rebuilt) {
    state.caches.rebuilt->insert(changed->begin(), changed->end());
  }
  const std::vector<NodeId> nodes = state.forest().NodesOf(changed);
  state.quota.Rebuild(nodes);
  RebuildActivity(state, nodes);
}

void BumpGenerations(State& state) {
  if (state.added_queues.empty() && state.changed_nodes.empty()) return;
  if (state.added_queues.empty() && !state.forest().IsStale()) {
    BumpKeptTrees(state);
  } else {
    BumpGrowingTrees(state);
  }
  state.added_queues.clear();
  state.changed_nodes.clear();
  state.only_added = false;
}

void EndCall(State& state) {
  if (state.changed_nodes.empty()) return;
  if (!state.only_added) return BumpGenerations(state);
  state.only_added = false;
  state.added_queues.insert(state.added_queues.end(), state.changed_nodes.begin(), state.changed_nodes.end());
  state.changed_nodes.clear();
}

Inactivity InactivityOf(const State& state, NodeId node) {
  const ClusterQueue& queue = state.Queue(node);
  if (queue.terminating) return {{{InactivityKind::kTerminating, {}}}};
  std::vector<InactivityCause> causes;
  if (queue.spec.stop_policy != StopPolicy::kNone) causes.push_back({InactivityKind::kStopped, {}});
  std::vector<std::string> missing;
  std::map<std::string, std::string> missing_topologies;  // By flavor.
  for (FlavorId flavor : queue.flavors) {
    const ResourceFlavor* spec = state.Flavor(flavor);
    if (spec == nullptr) {
      missing.push_back(state.flavor_names.Name(flavor));
    } else if (!spec->topology_name.empty() && state.topology.levels.count(spec->topology_name) == 0) {
      missing_topologies[spec->name] = spec->topology_name;
    }
  }
  if (!missing.empty()) causes.push_back({InactivityKind::kFlavorNotFound, missing});
  if (!queue.checks.empty()) AddChecks(state, queue, causes);
  for (const auto& [flavor, topology] : missing_topologies) {
    causes.push_back({InactivityKind::kTopologyNotFound, {topology, flavor}});
  }
  // A cycle that forms above an existing queue does not change the status of the queue. A queue that is
  // created below a cycle stays inactive, because updateClusterQueue returns before it examines anything
  // else.
  if (causes.empty() && HasCycle(state.forest(), node) && queue.generation == 0) {
    causes.push_back({InactivityKind::kCohortCycle, {}});
  }
  return {std::move(causes)};
}

const std::vector<NodeId>& TerminatingQueues(State& state) {
  if (!state.caches.terminating) {
    std::vector<NodeId>& found = state.caches.terminating.emplace();
    for (NodeId node : state.forest().Nodes()) {
      if (state.forest().IsClusterQueue(node) && std::as_const(state).Queue(node).terminating)
        found.push_back(node);
    }
  }
  return *state.caches.terminating;
}

}  // namespace kueue
