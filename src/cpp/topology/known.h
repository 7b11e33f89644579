// Placements that were found before: the same question about the same capacity has the same answer.
#ifndef KUEUE_TOPOLOGY_KNOWN_H_
#define KUEUE_TOPOLOGY_KNOWN_H_

#include <memory>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "topology/placement.h"

namespace kueue {

// A Placement as an admission holds it; shared by all who were answered with it.
struct SharedPlacement {
  std::shared_ptr<const TopologyAssignment> workers, leader;  // null: none
  std::shared_ptr<const PlacementFailure> failure;            // null: placed
};

struct KnownPlacements {
  // The numbers that stand for the request, for what a pod and a leader ask for, and for the pods' demand of
  // nodes; the count; as if empty, implied, without affinity.
  using Key = std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t, bool, bool, bool>;
  struct Known {
    uint64_t used_version, free_version;  // of the capacity; the former is 0 where usage does not count
    SharedPlacement placement;
  };
  absl::flat_hash_map<Key, Known> by_key;
};

// The domains as an assignment: of hosts, their names alone.
std::shared_ptr<const TopologyAssignment> AssignmentOn(const TopologyTree& tree,
                                                       std::vector<DomainCount> domains);

// As Place(), of a query whose numbers are set.
SharedPlacement PlaceOrRemember(FlavorCapacity& capacity, const PlacementQuery& query,
                                const PlacementGates& gates, const Interner& resources);

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_KNOWN_H_
