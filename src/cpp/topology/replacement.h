// Replacement of a failed node in a topology assignment; pods on the other nodes are not moved. Mirrors
// pkg/cache/scheduler/tas_flavor_snapshot.go:findReplacementAssignment (kueue ff69552e79).
#ifndef KUEUE_TOPOLOGY_REPLACEMENT_H_
#define KUEUE_TOPOLOGY_REPLACEMENT_H_

#include <string>
#include <vector>

#include "topology/placement.h"

namespace kueue {

struct Replacement {
  std::vector<DomainCount> all;  // The complete new assignment.
  // The domains in the new assignment that replace the failed node.
  std::vector<DomainCount> moved;
  std::shared_ptr<const PlacementFailure> failure;  // Null: replaced.
};

// Returns the last of the joined level values in `domain`.
std::string LowestValue(const std::string& domain);
// Returns the sum of two assignments, sorted in domain order. All domains must be leaves of the tree.
std::vector<DomainCount> Merge(const TopologyTree& tree, const std::vector<DomainCount>& a,
                               const std::vector<DomainCount>& b);
// Returns the first domain that is not a leaf of the tree, or kNoId.
DomainId StaleDomain(const TopologyTree& tree, const std::vector<DomainCount>& domains);

// The current assignment of a pod set, and the failed node in it.
struct FailedPlacement {
  std::vector<DomainCount> existing;
  std::string node;
};

// Finds a replacement. `query` is the query of the pod set, with the number of pods on the failed node as its
// count.
Replacement Replace(FlavorCapacity& capacity, PlacementQuery query, FailedPlacement before,
                    const PlacementGates& gates, const Interner<ResourceId>& resources,
                    const Interner<DomainId>& domains);

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_REPLACEMENT_H_
