// Mirrors pkg/cache/scheduler/{tas_cache,tas_flavor,tas_non_tas_pod_cache,snapshot}.go (kueue ff69552e79).
#include "state/topologies.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/base/attributes.h"
#include "absl/strings/str_cat.h"
#include "state/names.h"
#include "state/state.h"
#include "workload/totals.h"

namespace kueue {
namespace {

void AddForeign(State& state, FlavorCapacity& capacity, const ClusterPod& pod, int64_t sign) {
  const int32_t leaf = capacity.tree->LeafOfNode(pod.node);
  if (leaf == kNoId) return;
  TopologyCapacity& all = state.topology.made.capacity;
  all.TakeForeign(capacity, leaf, pod.requests, sign);
  all.TakeForeign(capacity, leaf, {{state.pods, 1}}, sign);
}

// Returns a text that is equal for equal requests.
std::string TextOf(const TopologyRequest* request) {
  if (request == nullptr) return "";
  const auto level = [](const std::optional<std::string>& name) { return name ? "=" + *name : ""; };
  std::string text = absl::StrCat(level(request->required), ";", level(request->preferred), ";",
                                  request->unconstrained ? (*request->unconstrained ? "1" : "0") : "");
  for (const TopologyLayer& layer : request->layers)
    absl::StrAppend(&text, ";", layer.level, "=", layer.size);
  return text;
}

std::string TextOf(const PodAmounts& requests) {
  std::string text;
  for (const auto& [resource, amount] : requests) absl::StrAppend(&text, resource.value(), "=", amount, ";");
  return text;
}

}  // namespace

PlacementGates PlacementGatesOf(const State& state) {
  const FeatureGates& gates = state.config.gates;
  return {gates.tas_profile_mixed, gates.tas_balanced_placement, gates.tas_respect_node_affinity_preferred};
}

void RebuildTopologies(State& state) {
  Topologies& all = state.topology;
  TopologyCaches& made = all.made;
  made.stale = false;
  made.capacity.Clear();
  made.of_class.clear();
  if (!state.config.gates.topology_aware_scheduling) return;
  for (FlavorId flavor : state.flavors.Ids()) {
    const ResourceFlavor* spec = state.Flavor(flavor);
    if (spec == nullptr || spec->topology_name.empty()) continue;
    const auto levels = all.levels.find(spec->topology_name);
    if (levels == all.levels.end()) continue;
    auto tree = std::make_shared<const TopologyTree>(levels->second, spec->node_labels, all.nodes,
                                                     state.resource_names, all.domains);
    made.capacity.Set(flavor, std::move(tree), spec->topology_name);
    for (const auto& [name, pod] : all.pods) {
      if (pod.IsForeign()) AddForeign(state, *made.capacity.Find(flavor), pod, 1);
    }
  }
  for (WorkloadId id : state.workloads.InOrder()) {
    const Workload& workload = state.At(id);
    if (workload.charged != kNoId && workload.topology_usage) {
      ChargeTopology(state, workload.topology_usage->entries, 1);
    }
  }
}

void AddTopologyUsage(State& state, const TopologyUsages& usage, int32_t sign) {
  TopologyCapacity& capacity = state.topology.made.capacity;
  for (const TopologyUsage& entry : usage) {
    capacity.Add(entry.flavor, entry.domain, entry.requests, state.pods, sign * entry.count);
  }
}

// Flavors whose leaves are nodes may share nodes. From the next cycle on, the usage of one flavor reduces the
// free capacity of the others.
void ChargeTopology(State& state, const TopologyUsages& usage, int32_t sign) {
  TopologyCapacity& capacity = state.topology.made.capacity;
  for (const TopologyUsage& entry : usage) {
    const FlavorCapacity* own = capacity.Find(entry.flavor);
    if (own == nullptr) continue;
    const bool shared = state.config.gates.tas_handle_overlapping_flavors && own->tree->is_by_node();
    for (FlavorId flavor : capacity.Ids()) {
      const FlavorCapacity* other = capacity.Find(flavor);
      if (other == nullptr || (flavor != entry.flavor && !(shared && other->tree->is_by_node()))) continue;
      capacity.Add(flavor, entry.domain, entry.requests, state.pods, sign * entry.count);
    }
  }
}

PodAmounts PodRequestsOf(State& state, const PodTemplate& adjusted) {
  PodAmounts amounts;
  for (const auto& [name, quantity] : PodRequests(adjusted)) {
    amounts.emplace_back(InternResource(state, name), ResourceValue(name, quantity));
  }
  return amounts;
}

const std::vector<PodDemand>& DemandsOf(State& state, ClassId cls) {
  return *NumberedDemandsOf(state, cls).pod_sets;
}

namespace {

// Returns whether the demands were made for this class. A class id may have been reused for another class.
bool IsOf(const ClassDemands& demands, const EquivalenceClass& cls) {
  const auto same = [](const PodSetSpec& pod_set, const PodDemand& demand) {
    return pod_set.pod_template == demand.of;
  };
  return demands.pod_sets != nullptr && cls.adjusted.empty() &&
         std::equal(cls.pod_sets.begin(), cls.pod_sets.end(), demands.pod_sets->begin(),
                    demands.pod_sets->end(), same);
}

ABSL_ATTRIBUTE_NOINLINE ABSL_ATTRIBUTE_COLD ClassDemands MakeDemands(State& state,
                                                                     const EquivalenceClass& known) {
  auto demands = std::make_shared<std::vector<PodDemand>>();
  for (size_t i = 0; i < known.pod_sets.size(); ++i) {
    const PodTemplate& written = *known.pod_sets[i].pod_template;
    const PodTemplate adjusted =
        known.adjusted.empty() ? Adjust(written, state.runtime_classes, {}) : known.adjusted[i];
    PodDemand& demand = demands->emplace_back();
    demand.of = known.pod_sets[i].pod_template;
    demand.requests = PodRequestsOf(state, adjusted);
    demand.with_pods = demand.requests;
    auto at = demand.with_pods.begin();
    while (at != demand.with_pods.end() && state.resource_names.Name(at->first) < "pods") ++at;
    if (at != demand.with_pods.end() && at->first == state.pods) {
      at->second = SaturatingAdd(at->second, 1);
    } else {
      demand.with_pods.insert(at, {state.pods, 1});
    }
    demand.node = {
        written.tolerations, written.node_selector, written.has_affinity, written.affinity_terms, {}};
    if (state.config.gates.tas_respect_node_affinity_preferred) {
      demand.node.preferred_terms = written.preferred_terms;
    }
    Topologies& all = state.topology;
    demand.request_number = all.made.requests.Intern(TextOf(known.pod_sets[i].topology.get()));
    demand.pod_number = all.made.pods.Intern(TextOf(demand.with_pods));
  }
  return {std::move(demands), {}};
}

}  // namespace

ClassDemands& NumberedDemandsOf(State& state, ClassId cls) {
  auto& of_class = state.topology.made.of_class;
  of_class.GrowTo(cls);
  ClassDemands& numbered = of_class[cls];
  const EquivalenceClass& known = std::as_const(state).Class(cls);
  if (!IsOf(numbered, known)) numbered = MakeDemands(state, known);
  return numbered;
}

int32_t DemandId(State& state, const NodeDemand& demand) {
  TopologyCaches& made = state.topology.made;
  const int32_t id = made.demands.Intern(demand.Key());
  if (id == static_cast<int32_t>(made.demand_of_id.size())) made.demand_of_id.push_back(demand);
  return id;
}

std::shared_ptr<const EligibleLeaves> EligibleFor(State& state, FlavorCapacity& capacity, int32_t demand) {
  std::vector<std::shared_ptr<const EligibleLeaves>>& known = capacity.cache.eligible;
  const size_t at = static_cast<size_t>(demand);
  if (known.size() <= at) known.resize(at + 1);
  if (known[at] == nullptr) {
    known[at] = std::make_shared<const EligibleLeaves>(*capacity.tree, state.topology.made.demand_of_id[at]);
  }
  return known[at];
}

void EnsureTopologies(State& state) {
  if (state.topology.made.stale) RebuildTopologies(state);
}

}  // namespace kueue
