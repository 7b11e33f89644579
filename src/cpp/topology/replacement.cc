// Mirrors pkg/cache/scheduler/tas_flavor_snapshot.go:findReplacementAssignment, requiredReplacementDomain,
// findIncompleteSliceDomain, mergeTopologyAssignments (kueue ff69552e79).
#include "topology/replacement.h"

#include <algorithm>
#include <map>

namespace kueue {
namespace {

using Kind = PlacementFailure::Kind;

Replacement Failed(Kind kind, std::string first, const std::string& topology) {
  PlacementFailure failure;
  failure.kind = kind;
  failure.first = std::move(first);
  failure.topology = topology;
  return {{}, {}, std::make_shared<const PlacementFailure>(std::move(failure))};
}

// Returns the identifier of a domain: for nodes, the hostname only.
std::string NameOf(const TopologyTree& tree, int32_t domain, int level) {
  const std::vector<std::string> values = tree.Values(domain);
  return tree.is_by_node() && level == tree.lowest() ? values.back() : JoinValues(values);
}

int32_t Above(const TopologyTree& tree, int32_t domain, int level) {
  for (int at = tree.lowest(); at > level; --at) domain = tree.At(domain).parent;
  return domain;
}

// Returns the first domain at the level `key` whose incomplete slices the missing pods would complete; empty
// if there is none.
std::string IncompleteDomain(const TopologyTree& tree, const std::vector<DomainCount>& rest, int32_t missing,
                             int32_t size, const std::string& key) {
  const int level = tree.LevelOf(key);
  if (level == kNoId) return "";
  std::map<int32_t, int32_t> pods;
  for (const DomainCount& entry : rest) {
    const int32_t leaf = tree.LeafOf(entry.domain);
    if (leaf != kNoId) pods[Above(tree, tree.DomainOfLeaf(leaf), level)] += entry.count;
  }
  for (const auto& [domain, count] : pods) {
    if ((count + missing) % size == 0) return NameOf(tree, domain, level);
  }
  return "";
}

// Returns whether `count` is not a multiple of the outermost slice size.
bool BreaksSlices(const TopologyRequest& request, int32_t count) {
  return !request.layers.empty() && count % request.layers.front().size != 0;
}

// Returns a request for part of a slice: the request's layers, reduced to the innermost ones whose size
// divides `count`.
TopologyRequest InWholeSlices(TopologyRequest request, int32_t count) {
  const std::vector<TopologyLayer> layers = std::move(request.layers);
  const auto fills = [count](const TopologyLayer& layer) { return count % layer.size == 0; };
  const auto innermost = std::find_if(layers.rbegin(), layers.rend(), fills);
  request.layers.clear();
  if (innermost != layers.rend()) request.layers.push_back(*innermost);
  return request;
}

// Removes the failed node from the assignment and returns the number of its pods.
int32_t TakeOut(std::vector<DomainCount>& existing, const std::string& node,
                const Interner<DomainId>& domains) {
  const auto failed = [&](const DomainCount& entry) {
    return LowestValue(domains.Name(entry.domain)) == node;
  };
  int32_t count = 0;
  for (const DomainCount& entry : existing) {
    if (failed(entry)) count = entry.count;
  }
  existing.erase(std::remove_if(existing.begin(), existing.end(), failed), existing.end());
  return count;
}

// Returns the failure if a replacement would be impossible even with enough free capacity, otherwise nullopt.
std::optional<Replacement> RuledOut(const FlavorCapacity& capacity, const TopologyRequest* request,
                                    const std::vector<DomainCount>& existing,
                                    const Interner<DomainId>& domains) {
  if (const DomainId stale = StaleDomain(*capacity.tree, existing); stale != kNoId) {
    return Failed(Kind::kStaleDomain, SplitValues(domains.Name(stale)).front(), capacity.topology);
  }
  if (request != nullptr && !request->layers.empty() && request->layers.front().size <= 0) {
    return Failed(Kind::kSliceSizeMissing, "", capacity.topology);
  }
  return std::nullopt;
}

// Returns the domain in which the replacement must be placed; empty if any domain is allowed.
std::string RequiredDomain(const TopologyTree& tree, const PlacementQuery& query,
                           const std::vector<DomainCount>& rest) {
  const std::string* key = LevelKey(query.request, tree.levels());
  if (key == nullptr && query.implied) key = &tree.levels().back();
  const int level = key != nullptr ? tree.LevelOf(*key) : kNoId;
  if (level == kNoId || rest.empty() || query.request == nullptr) return "";
  const std::vector<TopologyLayer>& layers = query.request->layers;
  if (!layers.empty() && layers.front().size <= 0) return "";
  if (BreaksSlices(*query.request, query.count)) {
    const auto broken = [&query](const TopologyLayer& layer) { return query.count % layer.size != 0; };
    const auto innermost = std::find_if(layers.rbegin(), layers.rend(), broken);
    return IncompleteDomain(tree, rest, query.count, static_cast<int32_t>(innermost->size), innermost->level);
  }
  if (!query.request->required) return "";
  const int32_t leaf = tree.LeafOf(rest.front().domain);
  if (leaf == kNoId) return "";
  return NameOf(tree, Above(tree, tree.DomainOfLeaf(leaf), level), level);
}

}  // namespace

std::string LowestValue(const std::string& domain) { return SplitValues(domain).back(); }

DomainId StaleDomain(const TopologyTree& tree, const std::vector<DomainCount>& domains) {
  for (const DomainCount& entry : domains) {
    if (tree.LeafOf(entry.domain) == kNoId) return entry.domain;
  }
  return kNoId;
}

std::vector<DomainCount> Merge(const TopologyTree& tree, const std::vector<DomainCount>& a,
                               const std::vector<DomainCount>& b) {
  std::map<int32_t, DomainCount> merged;
  for (const std::vector<DomainCount>* part : {&a, &b}) {
    for (const DomainCount& entry : *part) {
      const auto [at, inserted] = merged.try_emplace(tree.LeafOf(entry.domain), entry);
      if (!inserted) at->second.count += entry.count;
    }
  }
  std::vector<DomainCount> sum;
  for (const auto& [leaf, entry] : merged) sum.push_back(entry);
  return sum;
}

Replacement Replace(FlavorCapacity& capacity, PlacementQuery query, FailedPlacement before,
                    const PlacementGates& gates, const Interner<ResourceId>& resources,
                    const Interner<DomainId>& domains) {
  const TopologyTree& tree = *capacity.tree;
  std::vector<DomainCount>& existing = before.existing;
  query.count = TakeOut(existing, before.node, domains);
  if (auto failure = RuledOut(capacity, query.request, existing, domains)) return *std::move(failure);
  const std::string within = RequiredDomain(tree, query, existing);
  TopologyRequest reduced;
  if (!within.empty()) {
    if (BreaksSlices(*query.request, query.count)) {
      reduced = InWholeSlices(*query.request, query.count);
      query.request = &reduced;
    }
    query.within = within;
  }
  Placement placement = Place(capacity, query, gates, resources);
  if (placement.failure) return {{}, {}, placement.failure};
  if (placement.workers.empty()) return Failed(Kind::kNoReplacement, before.node, capacity.topology);
  std::vector<DomainCount> all = Merge(tree, placement.workers, existing);
  return {std::move(all), std::move(placement.workers), nullptr};
}

}  // namespace kueue
