#include "questions/places.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "model/poll.h"
#include "preemption/fit.h"
#include "questions/tree.h"
#include "topology/refusal.h"

namespace kueue {
namespace {

using Excluded = PlacementFailure::Excluded;
using Exclusion = PlacementFailure::Exclusion;

constexpr int kMostTried = 500;

// Returns the number of pods, in whole slices, that fit in a domain. If a leader is needed, it must fit too.
int32_t Holds(const Counts& counts, const PlacementParameters& parameters, int level) {
  if (parameters.leaders > 0 && counts.leaders == 0) return 0;
  if (level > parameters.slice_level) return parameters.leaders > 0 ? counts.pods_with_leader : counts.pods;
  const int32_t slices = parameters.leaders > 0 ? counts.slices_with_leader : counts.slices;
  return slices * parameters.slice_size;
}

// By domain: the number of leaves in which no pod fits, by the first reason.
class Exclusions {
 public:
  Exclusions(const State& state, const FlavorCapacity& capacity, const CountTable& table)
      : tree_(*capacity.tree), all_(static_cast<size_t>(tree_.size())) {
    std::map<int32_t, ResourceId> missing;
    const NodeDemand& demand = state.topology.made.demand_of_id[static_cast<size_t>(table.query().demand)];
    for (int32_t leaf = 0; leaf < tree_.leaves(); ++leaf) {
      const std::optional<NodeRefusal> refusal =
          tree_.is_by_node() ? RefusalOf(*tree_.NodeOfLeaf(leaf), demand) : std::nullopt;
      const ResourceId limiting = table.LimitingOf(leaf);
      if (refusal) {
        Count(leaf, refusal->why, refusal->taint);
      } else if (limiting != kNoId) {
        Count(leaf, Exclusion::kResource, state.resource_names.Name(limiting));
        missing[leaf] = limiting;
      }
    }
    for (const auto& [key, pod] : state.topology.pods) {
      const auto known = pod.IsForeign() ? missing.find(tree_.LeafOfNode(pod.node)) : missing.end();
      if (known == missing.end()) continue;
      for (const auto& [resource, amount] : pod.requests) {
        if (resource != known->second || amount <= 0) continue;
        for (int32_t domain = tree_.DomainOfLeaf(known->first); domain != kNoId;
             domain = tree_.At(domain).parent) {
          unmanaged_[domain].emplace(-amount, key);
        }
      }
    }
  }

  // Sets the reasons why leaves of the domain are excluded.
  void AddTo(DomainFacts& facts) const {
    const auto index = static_cast<size_t>(facts.domain);
    std::vector<Excluded>& excluded = facts.excluded;
    for (const auto& [what, nodes] : all_[index]) excluded.push_back({what.first, what.second, nodes});
    const auto held = unmanaged_.find(facts.domain);
    if (held == unmanaged_.end()) return;
    for (const auto& [amount, pod] : held->second) {
      if (facts.unmanaged.size() < kMostUnmanaged) facts.unmanaged.push_back(pod);
    }
  }

 private:
  void Count(int32_t leaf, Exclusion why, const std::string& name) {
    for (int32_t domain = tree_.DomainOfLeaf(leaf); domain != kNoId; domain = tree_.At(domain).parent) {
      ++all_[static_cast<size_t>(domain)][{why, name}];
    }
  }

  const TopologyTree& tree_;
  std::vector<std::map<std::pair<Exclusion, std::string>, int32_t>> all_;
  std::map<int32_t, std::set<std::pair<int64_t, std::string>>> unmanaged_;  // Negative amounts and pods.
};

// Returns at most kMostDomains domains of a level, sorted by decreasing number of pods that fit.
std::vector<DomainFacts> DomainsThatHoldMost(const TopologyTree& tree, int level,
                                             const PlacementParameters& parameters, const CountTable& now,
                                             const CountTable& empty) {
  std::vector<DomainFacts> found;
  for (int32_t domain = tree.Level(level).begin; domain < tree.Level(level).end; ++domain) {
    const int32_t pods = Holds(now.At(domain), parameters, level);
    found.push_back({domain, level, pods, Holds(empty.At(domain), parameters, level), {}, {}});
  }
  std::stable_sort(found.begin(), found.end(), [](const DomainFacts& a, const DomainFacts& b) {
    return std::make_pair(a.pods, a.pods_if_empty) > std::make_pair(b.pods, b.pods_if_empty);
  });
  if (found.size() > kMostDomains) found.resize(kMostDomains);
  return found;
}

}  // namespace

bool UsesTree(const State& state, const Workload& workload, FlavorId flavor, const TopologyTree& tree) {
  if (!workload.topology_usage) return false;
  const bool shares = state.config.gates.tas_handle_overlapping_flavors && tree.is_by_node();
  const auto& entries = workload.topology_usage->entries;
  return std::any_of(entries.begin(), entries.end(), [&](const TopologyUsage& entry) {
    return (entry.flavor == flavor || shares) && tree.LeafOf(entry.domain) != kNoId;
  });
}

void PlaceExplainer::AddDomains(FlavorCapacity& capacity, PlacementQuery query, PlaceFacts& facts) const {
  const PlacementGates gates = PlacementGatesOf(state_);
  const PlacementParameters& parameters = facts.parameters;
  const TopologyTree& tree = *capacity.tree;
  const CountTable& now = CountsFor(capacity, CountsAsked(query, parameters, gates));
  const Exclusions exclusions(state_, capacity, now);
  query.as_if_empty = true;
  const CountTable& empty = CountsFor(capacity, CountsAsked(query, parameters, gates));
  for (int level = 0; level <= parameters.level; ++level) {
    std::vector<DomainFacts> found = DomainsThatHoldMost(tree, level, parameters, now, empty);
    if (level == parameters.level && parameters.required && !found.empty()) facts.nearest = found[0].domain;
    for (DomainFacts& one : found) {
      exclusions.AddTo(one);
      facts.domains.push_back(std::move(one));
    }
  }
  for (int32_t leaf = 0; leaf < tree.leaves(); ++leaf) {
    facts.most_on_a_node = std::max(facts.most_on_a_node, empty.At(tree.DomainOfLeaf(leaf)).pods);
  }
}

int32_t PlaceExplainer::Largest(FlavorCapacity& capacity, PlacementQuery query,
                                const PlaceFacts& facts) const {
  const PlacementGates gates = PlacementGatesOf(state_);
  const CountTable& counts = CountsFor(capacity, CountsAsked(query, facts.parameters, gates));
  const int32_t size = facts.parameters.slice_size;
  int64_t total = 0;
  const TopologyTree::Range top = capacity.tree->Level(0);
  for (int32_t domain = top.begin; domain < top.end; ++domain) total += counts.At(domain).pods;
  int64_t fits = 0, above = std::min<int64_t>(total, std::numeric_limits<int32_t>::max() - size) / size + 1;
  while (above - fits > 1) {  // Binary search over the number of slices.
    const int64_t middle = fits + (above - fits) / 2;
    query.count = static_cast<int32_t>(middle * size);
    (Place(capacity, query, gates, state_.resource_names).failure ? above : fits) = middle;
  }
  return static_cast<int32_t>(fits * size);
}

std::vector<WorkloadId> PlaceExplainer::SufficientAlone(FlavorId flavor, FlavorCapacity& capacity,
                                                        const PlacementQuery& query) const {
  std::vector<WorkloadId> found;
  int tried = 0;
  const TopologyTree& tree = *capacity.tree;
  for (NodeId queue : state_.forest().Queues()) {
    const std::vector<WorkloadId> holding = state_.Queue(queue).workloads;
    for (WorkloadId id : holding) {
      if (!UsesTree(state_, state_.At(id), flavor, tree)) continue;
      if (found.size() == kMostAlternatives || ++tried > kMostTried) return found;
      Poll();
      const Trial trial(state_, kNoId);
      Discharge(state_, id);
      if (!Place(capacity, query, PlacementGatesOf(state_), state_.resource_names).failure) {
        found.push_back(id);
      }
    }
  }
  return found;
}

PlaceFacts PlaceExplainer::Explain(const TopologyDemand& workers, const TopologyDemand* leader) {
  PlaceFacts facts;
  facts.pod_set = workers.pod_set;
  facts.flavor = workers.flavor;
  facts.count = workers.count;
  facts.implied = workers.implied;
  if (leader != nullptr) facts.leader = leader->pod_set;
  facts.parameters.count = workers.count;
  facts.parameters.leaders = leader == nullptr ? 0 : 1;
  FlavorCapacity& capacity = *state_.topology.made.capacity.Find(workers.flavor);
  const PlacementQuery query = placer_.Asked(workers, leader, workload_, facts.failure);
  facts.request = query.request;
  if (!facts.failure) SetPlace(capacity, query, facts);
  facts.unresolved = query.eligible == nullptr || Resolve(*capacity.tree, query.request, query.implied,
                                                          PlacementGatesOf(state_), facts.parameters);
  if (facts.unresolved) {
    facts.if_empty = facts.failure;
  } else {
    AddRoom(capacity, query, facts);
  }
  return facts;
}

void PlaceExplainer::SetPlace(FlavorCapacity& capacity, const PlacementQuery& query,
                              PlaceFacts& facts) const {
  Placement placement = Place(capacity, query, PlacementGatesOf(state_), state_.resource_names);
  facts.failure = std::move(placement.failure);
  facts.workers = std::move(placement.workers);
  facts.leaders = std::move(placement.leader);
}

void PlaceExplainer::AddRoom(FlavorCapacity& capacity, const PlacementQuery& query, PlaceFacts& facts) const {
  AddDomains(capacity, query, facts);
  facts.largest = Largest(capacity, query, facts);
  PlacementQuery empty = query;
  empty.as_if_empty = true;
  facts.largest_if_empty = Largest(capacity, empty, facts);
  facts.if_empty = Place(capacity, empty, PlacementGatesOf(state_), state_.resource_names).failure;
  if (facts.failure && !facts.if_empty)
    facts.sufficient_alone = SufficientAlone(facts.flavor, capacity, query);
}

void PlaceExplainer::Assume(const PlaceFacts& facts) {
  const std::vector<PodDemand>& demands = DemandsOf(state_, state_.At(workload_).cls);
  const auto assume = [&](int pod_set, const std::vector<DomainCount>& domains) {
    for (const DomainCount& entry : domains) {
      state_.topology.made.capacity.Assume(facts.flavor, entry.domain,
                                           demands[static_cast<size_t>(pod_set)].requests, state_.pods,
                                           entry.count);
    }
  };
  assume(facts.pod_set, facts.workers);
  if (facts.leader != kNoId) assume(facts.leader, facts.leaders);
}

namespace {

std::optional<PlaceFailureView> View(const std::shared_ptr<const PlacementFailure>& failure) {
  if (!failure) return std::nullopt;
  return PlaceFailureView{failure->kind,  failure->fit,    failure->of,         failure->in_slices,
                          failure->first, failure->second, failure->total_nodes};
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

PlaceDomainView View(const TopologyTree& tree, const DomainFacts& facts) {
  PlaceDomainView view{tree.levels()[static_cast<size_t>(facts.level)],
                       {tree.Values(facts.domain)},
                       facts.pods,
                       facts.pods_if_empty,
                       LeavesIn(tree, facts.domain),
                       {},
                       facts.unmanaged};
  for (const Excluded& one : facts.excluded) view.excluded.emplace_back(one.why, one.name, one.nodes);
  return view;
}

const char* ModeOf(const TopologyRequest* request, const PlaceFacts& facts) {
  if (request == nullptr || facts.implied) return "implied";
  if (request->required) return "required";
  if (request->preferred) return "preferred";
  return request->IsSliceOnly() ? "slices" : "unconstrained";
}

}  // namespace

PlaceView ViewPlace(const State& state, const PlaceFacts& facts) {
  const FlavorCapacity& capacity = *state.topology.made.capacity.Find(facts.flavor);
  const TopologyTree& tree = *capacity.tree;
  const auto level = [&tree](int index) { return tree.levels()[static_cast<size_t>(index)]; };
  PlaceView view{capacity.topology,
                 {tree.levels()},
                 facts.count,
                 facts.leader != kNoId,
                 !facts.unresolved,
                 ModeOf(facts.request, facts),
                 level(facts.parameters.level),
                 facts.parameters.slice_size,
                 level(facts.parameters.slice_level),
                 View(facts.failure),
                 View(facts.if_empty),
                 facts.largest,
                 facts.largest_if_empty,
                 facts.most_on_a_node,
                 {},
                 {},
                 std::nullopt,
                 {},
                 AbsentNodes(state, tree, *state.Flavor(facts.flavor))};
  for (const DomainFacts& one : facts.domains) view.domains.push_back(View(tree, one));
  for (int i = 0; i <= tree.lowest(); ++i) view.domain_counts.push_back(tree.Level(i).size());
  if (facts.nearest != kNoId) view.nearest = {tree.Values(facts.nearest)};
  for (WorkloadId id : facts.sufficient_alone) view.sufficient_alone.push_back(state.At(id).Key());
  return view;
}

}  // namespace kueue
