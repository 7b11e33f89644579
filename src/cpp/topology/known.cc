#include "topology/known.h"

#include <utility>

namespace kueue {

std::shared_ptr<const TopologyAssignment> AssignmentOn(const TopologyTree& tree,
                                                       std::vector<DomainCount> domains) {
  auto assignment = std::make_shared<TopologyAssignment>();
  if (tree.is_by_node()) {
    assignment->levels = {tree.levels().back()};
  } else {
    assignment->levels = tree.levels();
  }
  assignment->domains = std::move(domains);
  return assignment;
}

SharedPlacement PlaceOrRemember(FlavorCapacity& capacity, const PlacementQuery& query,
                                const PlacementGates& gates, const Interner& resources) {
  constexpr size_t kMost = 4096;
  std::unique_ptr<KnownPlacements>& known = capacity.cache.placements;
  if (known == nullptr || known->by_key.size() > kMost) known = std::make_unique<KnownPlacements>();
  const KnownPlacements::Key key{query.request_number, query.pod_number,      query.leader_number,
                                 query.demand,         query.count,           query.as_if_empty,
                                 query.implied,        query.forgets_affinity};
  KnownPlacements::Known& found = known->by_key[key];
  const uint64_t used = query.as_if_empty ? 0 : capacity.used_version;
  SharedPlacement& shared = found.placement;
  const bool is_known = shared.workers || shared.failure;
  if (is_known && found.used_version == used && found.free_version == capacity.free_version) return shared;
  Placement placement = Place(capacity, query, gates, resources);
  shared = {};
  shared.failure = std::move(placement.failure);
  if (!shared.failure) {
    shared.workers = AssignmentOn(*capacity.tree, std::move(placement.workers));
    if (query.leader) shared.leader = AssignmentOn(*capacity.tree, std::move(placement.leader));
  }
  found.used_version = used;
  found.free_version = capacity.free_version;
  return shared;
}

}  // namespace kueue
