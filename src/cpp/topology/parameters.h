// Resolves a topology request against a tree: level indexes, sizes and the placement profile. Mirrors
// pkg/cache/scheduler/tas_flavor_snapshot.go:levelKey, isUnconstrained, buildSliceSizeAtLevel (kueue
// ff69552e79).
#ifndef KUEUE_TOPOLOGY_PARAMETERS_H_
#define KUEUE_TOPOLOGY_PARAMETERS_H_

#include <optional>
#include <string>
#include <vector>

#include "model/topology.h"
#include "topology/tree.h"

namespace kueue {

// Feature gates that affect placements, with their defaults in v0.20 (pkg/features/kube_features.go).
struct PlacementGates {
  bool profile_mixed = true;
  bool balanced_placement = false;
  bool respect_node_affinity_preferred = false;
};

struct PlacementParameters {
  int32_t count = 0;
  int32_t leaders = 0;  // 0 or 1.
  int32_t slice_size = 1;
  int level = 0;  // Requested level.
  int slice_level = 0;
  // Unit of rounding for each level (see CountQuery::inner_sizes). The list is empty if there is at most one
  // slice layer.
  std::vector<int32_t> inner_sizes;
  std::vector<TopologyLayer> layers;  // All slice layers; the list is empty unless there are inner layers.
  bool required = false, unconstrained = false;
  // True if the profile is LeastFreeCapacity, false if the profile is BestFit.
  bool least_free_capacity = false;
};

// Returns the level that the request names or implies, or null if there is none.
const std::string* LevelKey(const TopologyRequest* request, const std::vector<std::string>& levels);
// Returns whether `levels` contains all levels named by the request.
bool HasLevels(const std::vector<std::string>& levels, const TopologyRequest* request);

// Fills in `parameters` except for the counts. Returns the error if the request is invalid. `request` may be
// null.
std::optional<PlacementFailure> Resolve(const TopologyTree& tree, const TopologyRequest* request,
                                        bool implied, const PlacementGates& gates,
                                        PlacementParameters& parameters);

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_PARAMETERS_H_
