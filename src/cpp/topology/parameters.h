// What a topology request means on a tree: levels as indexes, sizes, the profile.
// Mirrors pkg/cache/scheduler/tas_flavor_snapshot.go:levelKey, isUnconstrained, buildSliceSizeAtLevel
// (kueue ff69552e79).
#ifndef KUEUE_TOPOLOGY_PARAMETERS_H_
#define KUEUE_TOPOLOGY_PARAMETERS_H_

#include <optional>
#include <string>
#include <vector>

#include "model/topology.h"
#include "topology/tree.h"

namespace kueue {

// The feature gates of placements, with their defaults at v0.20 (pkg/features/kube_features.go).
struct PlacementGates {
  bool profile_mixed = true;
  bool balanced_placement = false;
  bool respect_node_affinity_preferred = false;
};

struct PlacementParameters {
  int32_t count = 0;
  int32_t leaders = 0;  // 0 or 1
  int32_t slice_size = 1;
  int level = 0;  // asked for
  int slice_level = 0;
  std::vector<int32_t> inner_sizes;   // by level, see CountQuery; empty: none
  std::vector<TopologyLayer> layers;  // all, where there are inner ones
  bool required = false, unconstrained = false;
  bool least_free_capacity = false;  // the profile; otherwise BestFit
};

// The level that the request names, or that its kind stands for; nothing where it does neither.
std::optional<std::string> LevelKey(const TopologyRequest* request, const std::vector<std::string>& levels);
// Whether the levels are all that the request names.
bool HasLevels(const std::vector<std::string>& levels, const TopologyRequest* request);

// Fills in `parameters`, but for counts; or says what is wrong with the request. `request` may be null.
std::optional<PlacementFailure> Resolve(const TopologyTree& tree, const TopologyRequest* request,
                                        bool implied, const PlacementGates& gates,
                                        PlacementParameters& parameters);

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_PARAMETERS_H_
