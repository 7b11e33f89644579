// Cache of placements. The result of a query depends only on the query and on the capacity.
#ifndef KUEUE_TOPOLOGY_KNOWN_H_
#define KUEUE_TOPOLOGY_KNOWN_H_

#include <memory>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "topology/placement.h"

namespace kueue {

// A placement in the format of an admission. All workloads with the same placement share one object.
struct SharedPlacement {
  std::shared_ptr<const TopologyAssignment> workers, leader;  // Null: none.
  std::shared_ptr<const PlacementFailure> failure;            // Null: placed.
};

struct KnownPlacements {
  // The key contains the ids of the topology request, of a worker's requests, of the leader's requests and of
  // the NodeDemand; the count; and the flags `as_if_empty`, `implied` and `forgets_affinity`.
  using Key = std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t, bool, bool, bool>;
  struct Known {
    // Versions of the capacity with which the placement was computed. `used_version` is 0 if usage is
    // ignored.
    uint64_t used_version, free_version;
    SharedPlacement placement;
    PreparedPlacement prepared;
  };
  absl::flat_hash_map<Key, Known> by_key;
};

// Converts the chosen domains to a topology assignment. If the leaves are nodes, the assignment contains only
// the hostname level.
std::shared_ptr<const TopologyAssignment> AssignmentOn(const TopologyTree& tree,
                                                       std::vector<DomainCount> domains);

// Like Place(), but returns the cached result if there is one. The ids in `query` must be set. The next call
// for the same flavor invalidates the reference.
const SharedPlacement& PlaceOrRemember(FlavorCapacity& capacity, const PlacementQuery& query,
                                       const PlacementGates& gates, const Interner<ResourceId>& resources);

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_KNOWN_H_
