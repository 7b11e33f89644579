#include "bindings/places.h"

#include "absl/strings/str_cat.h"
#include "bindings/engine.h"
#include "bindings/method.h"
#include "bindings/read.h"
#include "bindings/records.h"

namespace kueue::python {
namespace {

using namespace py::literals;  // NOLINT(google-build-using-namespace): _a and nothing else

py::tuple View(const std::vector<std::string>& texts) { return py::tuple(py::cast(texts)); }

py::object View(const std::shared_ptr<const PlacementFailure>& failure) {
  if (!failure) return py::none();
  return py::dict("kind"_a = failure->kind, "fit"_a = failure->fit, "of"_a = failure->of,
                  "in_slices"_a = failure->in_slices, "first"_a = failure->first,
                  "second"_a = failure->second, "total_nodes"_a = failure->total_nodes);
}

// Returns the number of leaves in a domain.
int32_t LeavesIn(const TopologyTree& tree, int32_t domain) {
  int32_t begin = domain, end = domain + 1;
  for (int level = tree.LevelOfDomain(domain); level < tree.lowest(); ++level) {
    begin = tree.At(begin).children_begin;
    end = tree.At(end - 1).children_end;
  }
  return end - begin;
}

py::dict View(const TopologyTree& tree, const DomainFacts& facts) {
  py::list excluded;
  for (const PlacementFailure::Excluded& one : facts.excluded) {
    excluded.append(py::make_tuple(one.why, one.name, one.nodes));
  }
  return py::dict("level"_a = tree.levels()[static_cast<size_t>(facts.level)],
                  "values"_a = View(tree.Values(facts.domain)), "pods"_a = facts.pods,
                  "pods_if_empty"_a = facts.pods_if_empty, "nodes"_a = LeavesIn(tree, facts.domain),
                  "excluded"_a = excluded);
}

const char* ModeOf(const TopologyRequest* request, const PlaceFacts& facts) {
  if (request == nullptr || facts.implied) return "implied";
  if (request->required) return "required";
  if (request->preferred) return "preferred";
  return request->IsSliceOnly() ? "slices" : "unconstrained";
}

// Returns all pods in the flavor's tree, with the requests of one pod.
std::vector<TreeUse> ViewUses(State& state, FlavorId flavor) {
  std::vector<TreeUse> uses;
  for (const LeafUse& use : LeafUses(state, flavor)) {
    TreeUse& view = uses.emplace_back();
    view = {use.leaf, state.At(use.workload).Key(), use.pods, {}};
    for (const auto& [resource, amount] : use.requests) {
      view.requests[py::str(state.resource_names.Name(resource))] = amount;
    }
  }
  return uses;
}

// Returns the flavor's nodes that are not in its tree, and the reasons.
std::vector<std::pair<std::string, const char*>> ViewAbsent(const State& state, const TopologyTree& tree,
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

std::vector<TreeDomain> ViewDomains(const TopologyTree& tree) {
  std::vector<TreeDomain> domains;
  for (int32_t domain = 0; domain < tree.size(); ++domain) {
    domains.push_back({tree.LevelOfDomain(domain), tree.At(domain).parent, tree.Values(domain).back()});
  }
  return domains;
}

// Returns a capacity table with one row per leaf and one column for each of these slots.
std::vector<std::vector<int64_t>> ViewTable(const TopologyTree& tree, const std::vector<int64_t>& table,
                                            const std::vector<int>& slots) {
  std::vector<std::vector<int64_t>> rows;
  for (int32_t leaf = 0; leaf < tree.leaves(); ++leaf) {
    std::vector<int64_t>& row = rows.emplace_back();
    for (int slot : slots) row.push_back(table[static_cast<size_t>(leaf * tree.slots() + slot)]);
  }
  return rows;
}

TreeView View(State& state, FlavorId flavor, const FlavorCapacity& capacity) {
  const TopologyTree& tree = *capacity.tree;
  std::vector<std::string> resources;
  std::vector<int32_t> leaves;
  std::vector<int> slots;
  for (ResourceId resource : state.resource_names.Ids()) {
    if (tree.SlotOf(resource) == kNoId) continue;
    slots.push_back(tree.SlotOf(resource));
    resources.push_back(state.resource_names.Name(resource));
  }
  for (int32_t leaf = 0; leaf < tree.leaves(); ++leaf) leaves.push_back(tree.DomainOfLeaf(leaf));
  return {capacity.topology,
          View(tree.levels()),
          std::move(resources),
          ViewDomains(tree),
          std::move(leaves),
          ViewTable(tree, tree.capacity(), slots),
          ViewTable(tree, capacity.free, slots),
          ViewTable(tree, capacity.used, slots),
          ViewUses(state, flavor),
          ViewAbsent(state, tree, *state.Flavor(flavor))};
}

// Returns the flavor with this name and its capacity. The capacity is null if the flavor has no tree.
std::pair<FlavorId, const FlavorCapacity*> FindTree(State& state, const std::string& flavor_name) {
  state.EnsureBuilt();
  state.EnsureTopologies();
  const FlavorId flavor = state.flavor_names.Find(flavor_name);
  return {flavor, flavor == kNoId ? nullptr : state.topology.made.capacity.Find(flavor)};
}

std::optional<TreeView> TreeOf(SharedEngine& shared, const std::string& flavor_name) {
  return shared.Write([&](Engine& engine) -> std::optional<TreeView> {
    const auto [flavor, capacity] = FindTree(engine.state(), flavor_name);
    if (capacity == nullptr) return std::nullopt;
    return View(engine.state(), flavor, *capacity);
  });
}

// Returns, for each domain, the numbers of pods with these requests that fit in the current tree and in the
// empty tree.
py::object PodsInDomains(SharedEngine& shared, const std::string& flavor_name, const py::dict& requests) {
  const ResourceList asked = ReadResources(requests, "requests");
  return shared.Write([&](Engine& engine) -> py::object {
    State& state = engine.state();
    const auto [flavor, capacity] = FindTree(state, flavor_name);
    if (capacity == nullptr) return py::none();
    PodAmounts amounts;
    for (const auto& [name, quantity] : asked) {
      amounts.emplace_back(state.InternResource(name), ResourceValue(name, quantity));
    }
    return py::make_tuple(PodsByDomain(state, flavor, amounts, false),
                          PodsByDomain(state, flavor, amounts, true));
  });
}

}  // namespace

py::dict ViewPlace(const State& state, const PlaceFacts& facts) {
  const FlavorCapacity& capacity = *state.topology.made.capacity.Find(facts.flavor);
  const TopologyTree& tree = *capacity.tree;
  const auto level = [&tree](int index) { return tree.levels()[static_cast<size_t>(index)]; };
  py::list domains, sufficient_alone, counts;
  for (const DomainFacts& one : facts.domains) domains.append(View(tree, one));
  for (WorkloadId id : facts.sufficient_alone) sufficient_alone.append(state.At(id).Key());
  for (int i = 0; i <= tree.lowest(); ++i) counts.append(tree.Level(i).size());
  const PlacementParameters& parameters = facts.parameters;
  py::object nearest = py::none();
  if (facts.nearest != kNoId) nearest = View(tree.Values(facts.nearest));
  return py::dict("topology"_a = capacity.topology, "levels"_a = View(tree.levels()), "count"_a = facts.count,
                  "has_leader"_a = facts.leader != kNoId, "resolved"_a = !facts.unresolved,
                  "mode"_a = ModeOf(facts.request, facts), "level"_a = level(parameters.level),
                  "slice_size"_a = parameters.slice_size, "slice_level"_a = level(parameters.slice_level),
                  "failure"_a = View(facts.failure), "failure_if_empty"_a = View(facts.if_empty),
                  "largest"_a = facts.largest, "largest_if_empty"_a = facts.largest_if_empty,
                  "most_on_a_node"_a = facts.most_on_a_node, "domains"_a = domains,
                  "domain_counts"_a = counts, "nearest"_a = nearest, "sufficient_alone"_a = sufficient_alone);
}

void BindPlaces(py::module_& module) {
  AddMethod(module, "topology_tree", &TreeOf, py::arg("flavor"));
  AddMethod(module, "pods_in_domains", &PodsInDomains, py::arg("flavor"), py::arg("requests"));
}

}  // namespace kueue::python
