#include "questions/tree.h"

#include <algorithm>
#include <memory>

#include "flavor/placer.h"
#include "quantity/quantity.h"
#include "questions/places.h"
#include "state/names.h"
#include "state/rebuild.h"
#include "topology/placement.h"

namespace kueue {
namespace {

// Returns the flavor with this name and its capacity. The capacity is null if the flavor has no tree.
std::pair<FlavorId, FlavorCapacity*> FindTree(State& state, const std::string& name) {
  EnsureBuilt(state);
  EnsureTopologies(state);
  const FlavorId flavor = state.flavor_names.Find(name);
  return {flavor, flavor == kNoId ? nullptr : state.topology.made.capacity.Find(flavor)};
}

std::vector<TreeUse> UsesOf(const State& state, FlavorId flavor, const TopologyTree& tree) {
  std::vector<TreeUse> uses;
  for (WorkloadId id : state.workloads.InOrder()) {
    const Workload& workload = state.At(id);
    if (workload.charged == kNoId || !UsesTree(state, workload, flavor, tree)) continue;
    for (const TopologyUsage& entry : workload.topology_usage->entries) {
      const int32_t leaf = tree.LeafOf(entry.domain);
      if (leaf == kNoId) continue;
      TreeUse& use = uses.emplace_back();
      use = {leaf, workload.Key(), entry.count, {}};
      for (const auto& [resource, amount] : entry.requests) {
        use.requests.Add(state.resource_names.Name(resource), amount);
      }
    }
  }
  std::stable_sort(uses.begin(), uses.end(),
                   [](const TreeUse& a, const TreeUse& b) { return a.leaf < b.leaf; });
  return uses;
}

// Returns a capacity table with one row per leaf and one column for each of these slots.
std::vector<std::vector<int64_t>> RowsOf(const TopologyTree& tree, const std::vector<int64_t>& table,
                                         const std::vector<int>& slots) {
  std::vector<std::vector<int64_t>> rows;
  for (int32_t leaf = 0; leaf < tree.leaves(); ++leaf) {
    std::vector<int64_t>& row = rows.emplace_back();
    for (int slot : slots) row.push_back(table[static_cast<size_t>(leaf * tree.slots() + slot)]);
  }
  return rows;
}

// Adds one unit of the resource `pods` to the requests, sorted by resource name.
PodAmounts WithPod(const State& state, PodAmounts requests) {
  const auto pods = std::find_if(requests.begin(), requests.end(),
                                 [&state](const auto& one) { return one.first == state.pods; });
  if (pods == requests.end()) {
    requests.emplace_back(state.pods, 1);
  } else {
    pods->second = SaturatingAdd(pods->second, 1);
  }
  std::sort(requests.begin(), requests.end(), [&state](const auto& a, const auto& b) {
    return state.resource_names.Name(a.first) < state.resource_names.Name(b.first);
  });
  return requests;
}

std::vector<int32_t> PodsByDomain(const FlavorCapacity& capacity, const CountQuery& query) {
  CountTable table(query);
  table.Refresh(capacity);
  std::vector<int32_t> counted;
  for (const Counts& counts : table.counts()) counted.push_back(counts.pods);
  return counted;
}

}  // namespace

std::vector<std::pair<std::string, const char*>> AbsentNodes(const State& state, const TopologyTree& tree,
                                                             const ResourceFlavor& flavor) {
  std::vector<std::pair<std::string, const char*>> absent;
  for (const auto& [name, node] : state.topology.nodes) {
    if (!NodeMatchesFlavor(*node, flavor.node_labels, {}) || tree.LeafOfNode(name) != kNoId) continue;
    const char* why = node->unschedulable                    ? "unschedulable"
                      : node->ready != NodeReadiness::kReady ? "not ready"
                                                             : "without a label of some level";
    absent.emplace_back(name, why);
  }
  return absent;
}

std::optional<TreeView> TreeOf(State& state, const std::string& flavor_name) {
  const auto [flavor, capacity] = FindTree(state, flavor_name);
  if (capacity == nullptr) return std::nullopt;
  const TopologyTree& tree = *capacity->tree;
  TreeView view;
  view.topology = capacity->topology;
  view.levels = {tree.levels()};
  std::vector<int> slots;
  for (ResourceId resource : state.resource_names.Ids()) {
    if (tree.SlotOf(resource) == kNoId) continue;
    slots.push_back(tree.SlotOf(resource));
    view.resources.push_back(state.resource_names.Name(resource));
  }
  for (int32_t domain = 0; domain < tree.size(); ++domain) {
    view.domains.push_back({tree.LevelOfDomain(domain), tree.At(domain).parent, tree.Values(domain).back()});
  }
  for (int32_t leaf = 0; leaf < tree.leaves(); ++leaf) view.leaves.push_back(tree.DomainOfLeaf(leaf));
  view.capacity = RowsOf(tree, tree.capacity(), slots);
  view.free = RowsOf(tree, capacity->free, slots);
  view.used = RowsOf(tree, capacity->used, slots);
  view.uses = UsesOf(state, flavor, tree);
  view.absent = AbsentNodes(state, tree, *state.Flavor(flavor));
  return view;
}

std::optional<DomainPods> PodsInDomains(State& state, const std::string& flavor_name,
                                        const ResourceList& requests) {
  const auto [flavor, capacity] = FindTree(state, flavor_name);
  if (capacity == nullptr) return std::nullopt;
  PodAmounts amounts;
  for (const auto& [name, quantity] : requests) {
    amounts.emplace_back(InternResource(state, name), ResourceValue(name, quantity));
  }
  CountQuery query;
  query.requests = WithPod(state, std::move(amounts));
  NodeDemand demand;
  demand.tolerations = state.Flavor(flavor)->tolerations;
  query.eligible = std::make_shared<const EligibleLeaves>(*capacity->tree, demand);
  query.slice_level = capacity->tree->lowest();
  std::vector<int32_t> now = PodsByDomain(*capacity, query);
  query.as_if_empty = true;
  return std::pair(std::move(now), PodsByDomain(*capacity, query));
}

}  // namespace kueue
