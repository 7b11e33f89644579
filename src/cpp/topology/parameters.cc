// Mirrors pkg/cache/scheduler/tas_flavor_snapshot.go:findTopologyAssignment, HasLevel, buildSliceSizeAtLevel
// (kueue ff69552e79).
#include "topology/parameters.h"

#include <algorithm>

namespace kueue {
namespace {

using Kind = PlacementFailure::Kind;

PlacementFailure Fail(Kind kind, std::string first = "", std::string second = "") {
  PlacementFailure failure;
  failure.kind = kind;
  failure.first = std::move(first);
  failure.second = std::move(second);
  return failure;
}

// Returns the error in a slice layer nested in slices of `size` pods at `level`.
std::optional<PlacementFailure> Misfit(const TopologyTree& tree, const TopologyLayer& layer, int level,
                                       int32_t size) {
  const int at = tree.LevelOf(layer.level);
  if (at == kNoId) return Fail(Kind::kUnknownLayerLevel, layer.level);
  if (at <= level) {
    return Fail(Kind::kLayerNotBelow, layer.level, tree.levels()[static_cast<size_t>(level)]);
  }
  const auto inner = static_cast<int32_t>(layer.size);
  if (inner != 0 && size % inner == 0) return std::nullopt;
  PlacementFailure failure = Fail(Kind::kLayerSizeIndivisible);
  failure.fit = inner;
  failure.of = size;
  return failure;
}

std::optional<PlacementFailure> ResolveLayers(const TopologyTree& tree, PlacementParameters& parameters) {
  int32_t size = parameters.slice_size;
  int level = parameters.slice_level;
  parameters.inner_sizes.assign(tree.levels().size(), 0);
  for (size_t i = 1; i < parameters.layers.size(); ++i) {
    const TopologyLayer& layer = parameters.layers[i];
    if (auto failure = Misfit(tree, layer, level, size)) return failure;
    const int at = tree.LevelOf(layer.level);
    const auto inner = static_cast<int32_t>(layer.size);
    for (int between = level + 1; between <= at; ++between) {
      parameters.inner_sizes[static_cast<size_t>(between)] = inner;
    }
    size = inner;
    level = at;
  }
  return std::nullopt;
}

// Resolves the levels of the request and of its slices by their labels.
std::optional<PlacementFailure> ResolveLevels(const TopologyTree& tree, const std::string& key,
                                              const std::string& slice_key, PlacementParameters& parameters) {
  parameters.level = tree.LevelOf(key);
  if (parameters.level == kNoId) return Fail(Kind::kUnknownLevel, key);
  parameters.slice_level = tree.LevelOf(slice_key);
  if (parameters.slice_level == kNoId) return Fail(Kind::kUnknownSliceLevel, slice_key);
  if (parameters.level > parameters.slice_level) return Fail(Kind::kSliceAboveRequest, slice_key, key);
  return std::nullopt;
}

}  // namespace

bool operator==(const PlacementFailure& a, const PlacementFailure& b) {
  const auto same_layer = [](const PlacementFailure::LayerFit& x, const PlacementFailure::LayerFit& y) {
    return x.level == y.level && x.fit == y.fit && x.of == y.of;
  };
  const auto same_exclusion = [](const PlacementFailure::Excluded& x, const PlacementFailure::Excluded& y) {
    return x.why == y.why && x.name == y.name && x.nodes == y.nodes;
  };
  return a.kind == b.kind && a.topology == b.topology && a.first == b.first && a.second == b.second &&
         a.fit == b.fit && a.of == b.of && a.in_slices == b.in_slices && a.total_nodes == b.total_nodes &&
         std::equal(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(), same_layer) &&
         std::equal(a.excluded.begin(), a.excluded.end(), b.excluded.begin(), b.excluded.end(),
                    same_exclusion);
}

const std::string* LevelKey(const TopologyRequest* request, const std::vector<std::string>& levels) {
  if (request == nullptr) return nullptr;
  if (request->required) return &*request->required;
  if (request->preferred) return &*request->preferred;
  if (!request->layers.empty()) return &levels.front();
  if (request->unconstrained.value_or(false)) return &levels.back();
  return nullptr;
}

bool HasLevels(const std::vector<std::string>& levels, const TopologyRequest* request) {
  const auto has = [&levels](const std::string& level) {
    return std::find(levels.begin(), levels.end(), level) != levels.end();
  };
  const std::string* const key = LevelKey(request, levels);
  if (key == nullptr || !has(*key)) return false;
  return std::all_of(request->layers.begin(), request->layers.end(),
                     [&has](const TopologyLayer& layer) { return has(layer.level); });
}

std::optional<PlacementFailure> Resolve(const TopologyTree& tree, const TopologyRequest* request,
                                        bool implied, const PlacementGates& gates,
                                        PlacementParameters& parameters) {
  const std::vector<TopologyLayer> none;
  const std::vector<TopologyLayer>& layers = request == nullptr ? none : request->layers;
  parameters.slice_size = layers.empty() ? 1 : static_cast<int32_t>(layers.front().size);
  if (parameters.slice_size <= 0) return Fail(Kind::kSliceSizeMissing);
  parameters.required = request != nullptr && request->required.has_value();
  parameters.unconstrained =
      implied || (request != nullptr && (request->unconstrained.value_or(false) || request->IsSliceOnly()));
  parameters.least_free_capacity = parameters.unconstrained && gates.profile_mixed;
  const std::string* key = LevelKey(request, tree.levels());
  if (key == nullptr && implied) key = &tree.levels().back();
  if (key == nullptr) return Fail(Kind::kNoLevel);
  const std::string& slice_key = layers.empty() ? tree.levels().back() : layers.front().level;
  if (auto failure = ResolveLevels(tree, *key, slice_key, parameters)) return failure;
  if (layers.size() < 2) return std::nullopt;
  parameters.layers = layers;
  return ResolveLayers(tree, parameters);
}

}  // namespace kueue
