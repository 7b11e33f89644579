#include "topology/known.h"

#include <utility>

namespace kueue {

std::shared_ptr<const TopologyAssignment> AssignmentOn(const TopologyTree& tree,
                                                       std::vector<DomainCount> domains) {
  auto assignment = std::make_shared<TopologyAssignment>();
  if (tree.is_by_node()) {
    assignment->levels.assign(1, tree.levels().back());
  } else {
    assignment->levels = tree.levels();
  }
  assignment->domains = std::move(domains);
  return assignment;
}

namespace {

KnownPlacements::Known& KnownFor(FlavorCapacity& capacity, const PlacementQuery& query) {
  constexpr size_t kMostKnown = 4096;
  std::unique_ptr<KnownPlacements>& known = capacity.cache.placements;
  if (known == nullptr || known->by_key.size() > kMostKnown) known = std::make_unique<KnownPlacements>();
  const KnownPlacements::Key key{query.request_number, query.pod_number,      query.leader_number,
                                 query.demand,         query.count,           query.as_if_empty,
                                 query.implied,        query.forgets_affinity};
  return known->by_key[key];
}

SharedPlacement AsShared(const TopologyTree& tree, Placement placement, bool has_leader) {
  SharedPlacement shared;
  shared.failure = std::move(placement.failure);
  if (shared.failure) return shared;
  shared.workers = AssignmentOn(tree, std::move(placement.workers));
  if (has_leader) shared.leader = AssignmentOn(tree, std::move(placement.leader));
  return shared;
}

}  // namespace

const SharedPlacement& PlaceOrRemember(FlavorCapacity& capacity, const PlacementQuery& query,
                                       const PlacementGates& gates, const Interner<ResourceId>& resources) {
  KnownPlacements::Known& found = KnownFor(capacity, query);
  const uint64_t used = query.as_if_empty ? 0 : capacity.used_version;
  const bool is_known = found.placement.workers || found.placement.failure;
  if (!is_known || found.used_version != used || found.free_version != capacity.free_version) {
    Placement placement = Place(capacity, query, gates, resources, found.prepared);
    found.used_version = used;
    found.free_version = capacity.free_version;
    found.placement = AsShared(*capacity.tree, std::move(placement), query.leader != nullptr);
  }
  return found.placement;
}

}  // namespace kueue
