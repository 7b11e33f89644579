// Mirrors pkg/cache/scheduler/tas_flavor_snapshot.go:findTopologyAssignment, findLevelWithFitDomains,
// updateCountsToMinimumGeneric, consumeWithLeadersGeneric, buildAssignment (kueue ff69552e79).
#include "topology/placement.h"

#include <algorithm>

namespace kueue {
namespace {

using Kind = PlacementFailure::Kind;

// Returns the number of slices of `size` pods that fit in the domains at level `target` below the domain.
int32_t SlicesBelow(const TopologyTree& tree, const std::vector<Counts>& counts, int32_t domain, int level,
                    int target, int32_t size) {
  if (level == target) return counts[static_cast<size_t>(domain)].pods / size;
  int32_t total = 0;
  const TopologyTree::Domain& at = tree.At(domain);
  for (int32_t child = at.children_begin; child < at.children_end; ++child) {
    total += SlicesBelow(tree, counts, child, level + 1, target, size);
  }
  return total;
}

// Returns the domain at the level that fits most slices, or kNoId if the level has no domains.
int32_t MostSlices(const TopologyTree& tree, const std::vector<Counts>& counts, int level) {
  const TopologyTree::Range range = tree.Level(level);
  int32_t best = kNoId;
  // Ties are broken by the name of the domain. The name of a node is its hostname only.
  const auto name = [&](int32_t domain) {
    const std::vector<std::string> values = tree.Values(domain);
    return tree.is_by_node() && level == tree.lowest() ? values.back() : JoinValues(values);
  };
  for (int32_t domain = range.begin; domain < range.end; ++domain) {
    const int32_t slices = counts[static_cast<size_t>(domain)].slices;
    const int32_t most = best == kNoId ? 0 : counts[static_cast<size_t>(best)].slices;
    if (best == kNoId || slices > most || (slices == most && name(domain) < name(best))) best = domain;
  }
  return best;
}

// Adds to `failure`, for each layer, the number of slices that fit in the best domain at the level.
void AddLayers(const TopologyTree& tree, const PlacementParameters& parameters,
               const std::vector<Counts>& counts, int level, PlacementFailure& failure) {
  failure.kind = Kind::kLayersNotFit;
  const int32_t best = MostSlices(tree, counts, level);
  if (best == kNoId) return;
  for (const TopologyLayer& layer : parameters.layers) {
    const int target = tree.LevelOf(layer.level);
    const auto size = static_cast<int32_t>(layer.size);
    failure.layers.push_back(
        {layer.level, SlicesBelow(tree, counts, best, level, target, size), parameters.count / size});
  }
}

}  // namespace

Choices Descent::Domains(TopologyTree::Range range) const {
  Choices choices;
  choices.reserve(static_cast<size_t>(range.size()));
  for (int32_t domain = range.begin; domain < range.end; ++domain) {
    choices.push_back({domain, counts_[static_cast<size_t>(domain)]});
  }
  return choices;
}

void Descent::AddChildren(int32_t domain, Choices& choices) const {
  const TopologyTree::Domain& at = tree_.At(domain);
  if (choices.empty()) choices.reserve(static_cast<size_t>(at.children_end - at.children_begin));
  for (int32_t child = at.children_begin; child < at.children_end; ++child) {
    choices.push_back({child, counts_[static_cast<size_t>(child)]});
  }
}

size_t Descent::LeastFree(OrderedChoices& list) const {
  const int32_t leaders = parameters_.leaders;
  const DomainOrder before = Order(true);
  size_t least = list.size();
  for (size_t i = 0; i < list.size(); ++i) {
    const Choice& choice = list.Raw(i);
    if (choice.counts.leaders < leaders) continue;
    if (CountBy(choice.counts, Metric::kSlices, leaders > 0) < slices_) continue;
    if (least == list.size() || before(choice, list.Raw(least))) least = i;
  }
  return least;
}

Descent::Start Descent::FindLevel(int level) const {
  const TopologyTree::Range range = tree_.Level(level);
  if (range.size() == 0) return Start::NoDomains(level);
  const PlacementParameters& p = parameters_;
  OrderedChoices list(Domains(range), Order(true));
  if (p.least_free_capacity) {
    const size_t least = LeastFree(list);
    if (least < list.size()) return Start::In(level, list.Raw(least));
    if (p.required) return Start::NotFit(level, list.At(list.size() - 1).counts.pods);
  }
  const bool first_holds = HoldsAll(list.At(0).counts);
  const size_t top =
      first_holds && !p.least_free_capacity ? list.BestFit(0, slices_, p.leaders, Metric::kSlices) : 0;
  if (HoldsAll(list.Raw(top).counts)) return Start::In(level, list.Raw(top));
  if (p.required) return FindRequired(level, list);
  if (level > 0 && !p.unconstrained) return FindLevel(level - 1);
  return Spread(level, list.Rest(0));
}

Descent::Start Descent::FindRequired(int level, OrderedChoices& list) const {
  for (size_t i = 1; gates_.respect_node_affinity_preferred && i < list.size(); ++i) {
    if (!HoldsAll(list.At(i).counts)) continue;
    return Start::In(level, list.Raw(list.BestFit(i, slices_, parameters_.leaders, Metric::kSlices)));
  }
  return Start::NotFit(level, list.Raw(0).counts.slices);
}

Descent::Start Descent::Spread(int level, Choices domains) const {
  const PlacementParameters& p = parameters_;
  Start start;
  start.level = level;
  Remaining remaining{slices_, p.leaders};
  if (p.leaders > 0) {
    domains = SpreadLeaders(std::move(domains), remaining, start.domains);
    if (remaining.leaders > 0) return Start::NotFit(level, p.leaders - remaining.leaders);
  }
  OrderedChoices list(std::move(domains), Order(false));
  for (size_t i = 0; remaining.count > 0 && i < list.size(); ++i) {
    const bool last = list.At(i).counts.slices >= remaining.count && !p.least_free_capacity;
    const size_t at = last ? list.BestFit(i, remaining.count, 0, Metric::kSlices) : i;
    start.domains.push_back(list.Raw(at));
    remaining.count -= list.Raw(at).counts.slices;
  }
  return remaining.count > 0 ? Start::NotFit(level, slices_ - remaining.count) : start;
}

Choices Descent::SpreadLeaders(Choices domains, Remaining& remaining, Choices& chosen) const {
  const PlacementParameters& p = parameters_;
  OrderedChoices list(std::move(domains), Order(true));
  list.PrioritizeLeader(p.count, remaining.leaders, p.slice_size, Metric::kSlices);
  list.SortAll();
  size_t i = 0;
  for (; remaining.leaders > 0 && i < list.size() && list.Raw(i).counts.leaders > 0; ++i) {
    const bool last = !p.least_free_capacity && list.Raw(i).counts.slices_with_leader >= remaining.count;
    const size_t at = last ? list.BestFit(i, remaining.count, remaining.leaders, Metric::kSlices) : i;
    const Choice& choice = list.Raw(at);
    chosen.push_back(choice);
    remaining.leaders -= choice.counts.leaders;
    remaining.count -= choice.counts.slices_with_leader;
  }
  return list.Rest(i);
}

size_t Descent::ForLeader(OrderedChoices& list, size_t i, Metric metric, const Remaining& remaining) const {
  const Counts& first = list.At(i).counts;
  const bool last = !parameters_.least_free_capacity && CountBy(first, metric, true) >= remaining.count &&
                    first.leaders >= remaining.leaders;
  return last ? list.BestFit(i, remaining.count, remaining.leaders, metric) : i;
}

bool Descent::PlaceLeader(OrderedChoices& list, size_t i, int32_t unit, Metric metric, Remaining& remaining,
                          Choices& chosen) const {
  Choice& choice = list.Raw(ForLeader(list, i, metric, remaining));
  Counts& counts = choice.counts;
  const int32_t holds = CountBy(counts, metric, true);
  const bool all = holds >= remaining.count && counts.leaders >= remaining.leaders;
  const int32_t taken = all ? remaining.count : std::min(holds, remaining.count);
  counts.leaders = all ? remaining.leaders : std::min(counts.leaders, remaining.leaders);
  counts.pods = taken * unit;
  remaining.leaders -= counts.leaders;
  remaining.count -= taken;
  chosen.push_back(choice);
  return all;
}

bool Descent::PlaceRest(OrderedChoices& list, size_t i, int32_t unit, Metric metric, Remaining& remaining,
                        Choices& chosen) const {
  const bool last =
      !parameters_.least_free_capacity && CountBy(list.At(i).counts, metric, false) >= remaining.count;
  Choice& choice = last ? list.Raw(list.BestFit(i, remaining.count, 0, metric)) : list.At(i);
  const int32_t holds = CountBy(choice.counts, metric, false);
  const bool all = holds >= remaining.count;
  choice.counts.leaders = 0;
  choice.counts.pods = (all ? remaining.count : holds) * unit;
  chosen.push_back(choice);
  remaining.count -= holds;
  return all;
}

Choices Descent::Distribute(OrderedChoices& list, int32_t count, int32_t leaders, int32_t unit,
                            Metric metric) const {
  list.PrioritizeLeader(count, leaders, unit, metric);
  Choices chosen;
  Remaining remaining{metric == Metric::kSlices ? count / unit : count, leaders};
  if (metric == Metric::kPods) unit = 1;
  for (size_t i = 0; i < list.size(); ++i) {
    const bool all = remaining.leaders > 0 ? PlaceLeader(list, i, unit, metric, remaining, chosen)
                                           : PlaceRest(list, i, unit, metric, remaining, chosen);
    if (all) return chosen;
  }
  return {};  // Unreachable if the counts are consistent.
}

Choices Descent::Descend(Start start, bool balanced) const {
  const PlacementParameters& p = parameters_;
  OrderedChoices given = OrderedChoices::AsGiven(std::move(start.domains), Order(false));
  Choices current = Distribute(given, p.count, p.leaders, p.slice_size, Metric::kSlices);
  int level = start.level;
  for (; level < std::min(tree_.lowest(), p.slice_level) && !balanced; ++level) {
    current = DistributeTogether(current);
  }
  for (; level < tree_.lowest(); ++level) {
    const int32_t unit = UnitBelow(level);
    Choices next;
    next.reserve(current.size());
    for (const Choice& choice : current) DistributeBelow(choice, unit, next);
    current = std::move(next);
  }
  return current;
}

Choices Descent::DistributeTogether(const Choices& parents) const {
  const PlacementParameters& p = parameters_;
  if (parents.size() == 1 && p.leaders == 0) {
    const int32_t only = OnlyDomain(ChildrenOf(parents.front().domain), slices_, Metric::kSlices);
    if (only != kNoId) {
      Choice choice{only, counts_[static_cast<size_t>(only)]};
      choice.counts.leaders = 0;
      choice.counts.pods = slices_ * p.slice_size;
      return {choice};
    }
  }
  Choices children = std::move(spare_);
  for (const Choice& parent : parents) AddChildren(parent.domain, children);
  OrderedChoices list(std::move(children), Order(false));
  Choices chosen = Distribute(list, p.count, p.leaders, p.slice_size, Metric::kSlices);
  spare_ = list.Release();
  return chosen;
}

int32_t Descent::UnitBelow(int level) const {
  const PlacementParameters& p = parameters_;
  if (level < p.slice_level) return p.slice_size;
  const size_t below = static_cast<size_t>(level) + 1;
  return p.inner_sizes.empty() || p.inner_sizes[below] == 0 ? 1 : p.inner_sizes[below];
}

int32_t Descent::OnlyDomain(TopologyTree::Range domains, int32_t need, Metric metric) const {
  const DomainOrder order = Order(false);
  if (order.ascending || order.by_affinity) return kNoId;
  const Counts *const all = counts_.data(), *const begin = all + domains.begin,
                      *const end = all + domains.end;
  // Returns whether a domain precedes another domain with a lower number.
  const auto precedes = [&order](const Counts& later, const Counts& earlier) {
    return order.IsBefore(1, later, 0, earlier);
  };
  const Counts *first = begin, *best = end;
  for (const Counts* at = begin; at != end; ++at) {
    if (precedes(*at, *first)) first = at;
    const int32_t count = CountBy(*at, metric, false);
    if (count < need) continue;
    const int32_t least = best == end ? count : CountBy(*best, metric, false);
    if (best == end || count < least || (count == least && precedes(*at, *best))) best = at;
  }
  if (best == end || CountBy(*first, metric, false) < need) return kNoId;
  return static_cast<int32_t>(best - all);
}

void Descent::DistributeBelow(const Choice& parent, int32_t unit, Choices& chosen) const {
  if (unit == 1 && parent.counts.leaders == 0) {
    const int32_t only = OnlyDomain(ChildrenOf(parent.domain), parent.counts.pods, Metric::kPods);
    if (only != kNoId) {
      Choice& choice = chosen.emplace_back(Choice{only, counts_[static_cast<size_t>(only)]});
      choice.counts.leaders = 0;
      choice.counts.pods = parent.counts.pods;
      return;
    }
  }
  Choices children = std::move(spare_);
  AddChildren(parent.domain, children);
  OrderedChoices list(std::move(children), Order(false));
  if (unit > 1) {
    list.SortAll();
    for (size_t i = 0; i < list.size(); ++i) {
      Counts& counts = list.Raw(i).counts;
      counts.slices = counts.pods / unit;
      counts.slices_with_leader = counts.pods_with_leader / unit;
    }
  }
  const Choices added = Distribute(list, parent.counts.pods, parent.counts.leaders, unit,
                                   unit > 1 ? Metric::kSlices : Metric::kPods);
  chosen.insert(chosen.end(), added.begin(), added.end());
  spare_ = list.Release();
}

CountQuery CountsAsked(const PlacementQuery& query, const PlacementParameters& parameters,
                       const PlacementGates& gates) {
  CountQuery counts;
  counts.requests = *query.requests;
  if (query.leader != nullptr) counts.leader = *query.leader;
  counts.eligible = query.eligible;
  counts.demand = query.demand;
  counts.as_if_empty = query.as_if_empty;
  counts.by_affinity = gates.respect_node_affinity_preferred && !query.forgets_affinity;
  counts.slice_size = parameters.slice_size;
  counts.slice_level = parameters.slice_level;
  counts.inner_sizes = parameters.inner_sizes;
  return counts;
}

namespace {

Placement Failed(PlacementFailure failure, const std::string& topology) {
  failure.topology = topology;
  return {{}, {}, std::make_shared<const PlacementFailure>(std::move(failure))};
}

Placement NotFit(const FlavorCapacity& capacity, const CountTable& table,
                 const PlacementParameters& parameters, const Descent::Start& start,
                 const Interner<ResourceId>& resources) {
  PlacementFailure failure;
  if (start.no_domains) {
    failure.kind = Kind::kNoDomains;
    failure.first = capacity.tree->levels()[static_cast<size_t>(start.level)];
    return Failed(std::move(failure), capacity.topology);
  }
  failure.fit = start.fit;
  failure.of = parameters.count / parameters.slice_size;
  failure.in_slices = parameters.slice_size != 1;
  if (!parameters.layers.empty()) {
    failure.fit = failure.of = 0;
    AddLayers(*capacity.tree, parameters, table.counts(), start.level, failure);
  }
  table.Explain(capacity, resources, failure);
  return Failed(std::move(failure), capacity.topology);
}

Placement Placed(const TopologyTree& tree, Choices choices, bool has_leader) {
  std::sort(choices.begin(), choices.end(),
            [](const Choice& a, const Choice& b) { return a.domain < b.domain; });
  Placement placement;
  for (const Choice& choice : choices) {
    const DomainId id = tree.IdOfLeaf(choice.domain - tree.Leaves().begin);
    if (has_leader && choice.counts.leaders > 0) placement.leader.push_back({id, choice.counts.leaders});
    if (choice.counts.pods > 0) placement.workers.push_back({id, choice.counts.pods});
  }
  return placement;
}

// Returns a balanced placement, or nullopt if it is not requested or does not exist.
std::optional<Placement> PlacedEvenly(FlavorCapacity& capacity, const PlacementParameters& parameters,
                                      const PlacementGates& gates, const CountTable& table) {
  const TopologyTree& tree = *capacity.tree;
  if (!gates.balanced_placement || parameters.required || parameters.unconstrained) return std::nullopt;
  std::optional<BalancedStart> balanced = PlaceBalanced(tree, parameters, gates, table);
  if (!balanced) return std::nullopt;
  const Descent descent(tree, parameters, gates, balanced->counts, capacity.cache.spare);
  return Placed(tree, descent.Descend(std::move(balanced->start), true), parameters.leaders > 0);
}

Placement PlaceOn(FlavorCapacity& capacity, const PlacementParameters& parameters, const CountTable& table,
                  const PlacementGates& gates, const Interner<ResourceId>& resources) {
  const TopologyTree& tree = *capacity.tree;
  if (auto placement = PlacedEvenly(capacity, parameters, gates, table)) return *std::move(placement);
  const Descent descent(tree, parameters, gates, table.counts(), capacity.cache.spare);
  Descent::Start start = descent.FindLevel(parameters.level);
  if (!start.fits) return NotFit(capacity, table, parameters, start, resources);
  return Placed(tree, descent.Descend(std::move(start), false), parameters.leaders > 0);
}

std::optional<PlacementFailure> ResolveAll(const TopologyTree& tree, const PlacementQuery& query,
                                           const PlacementGates& gates, PlacementParameters& parameters) {
  parameters.count = query.count;
  parameters.leaders = query.leader == nullptr ? 0 : 1;
  return Resolve(tree, query.request, query.implied, gates, parameters);
}

}  // namespace

Placement Place(FlavorCapacity& capacity, const PlacementQuery& query, const PlacementGates& gates,
                const Interner<ResourceId>& resources) {
  PlacementParameters parameters;
  if (auto failure = ResolveAll(*capacity.tree, query, gates, parameters))
    return Failed(*std::move(failure), capacity.topology);
  CountQuery counts = CountsAsked(query, parameters, gates);
  if (!query.within)
    return PlaceOn(capacity, parameters, CountsFor(capacity, std::move(counts)), gates, resources);
  CountTable restricted(std::move(counts));
  restricted.CountWithin(capacity, *query.within);
  return PlaceOn(capacity, parameters, restricted, gates, resources);
}

Placement Place(FlavorCapacity& capacity, const PlacementQuery& query, const PlacementGates& gates,
                const Interner<ResourceId>& resources, PreparedPlacement& prepared) {
  if (prepared.table == nullptr) {
    if (auto failure = ResolveAll(*capacity.tree, query, gates, prepared.parameters))
      return Failed(*std::move(failure), capacity.topology);
    prepared.table = &CountsFor(capacity, CountsAsked(query, prepared.parameters, gates));
  } else {
    prepared.table->Refresh(capacity);
  }
  return PlaceOn(capacity, prepared.parameters, *prepared.table, gates, resources);
}

}  // namespace kueue
