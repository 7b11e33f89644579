// Another place for the pods of a node that failed, the rest staying where it is.
// Mirrors pkg/cache/scheduler/tas_flavor_snapshot.go:findReplacementAssignment (kueue ff69552e79).
#ifndef KUEUE_TOPOLOGY_REPLACEMENT_H_
#define KUEUE_TOPOLOGY_REPLACEMENT_H_

#include <string>
#include <vector>

#include "topology/placement.h"

namespace kueue {

struct Replacement {
  std::vector<DomainCount> all;                     // the assignment as it is then
  std::vector<DomainCount> moved;                   // what of it is new
  std::shared_ptr<const PlacementFailure> failure;  // null: replaced
};

// The lowest value of a domain.
std::string LowestValue(const std::string& domain);
// The sum of two assignments, in the order of their domains; all of them leaves of the tree.
std::vector<DomainCount> Merge(const TopologyTree& tree, const std::vector<DomainCount>& a,
                               const std::vector<DomainCount>& b);
// The first domain that is no leaf of the tree; kNoId: none.
DomainId StaleDomain(const TopologyTree& tree, const std::vector<DomainCount>& domains);

// Where the pods of a pod set are, and the node among them that failed.
struct FailedPlacement {
  std::vector<DomainCount> existing;
  std::string node;
};

// `query` is that of the pod set; its count is what the node held.
Replacement Replace(FlavorCapacity& capacity, PlacementQuery query, FailedPlacement before,
                    const PlacementGates& gates, const Interner& resources, const Interner& domains);

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_REPLACEMENT_H_
