// Messages for pod sets that cannot be placed in a topology.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "text/text.h"

namespace kueue {
namespace {

using Kind = PlacementFailure::Kind;
using Exclusion = PlacementFailure::Exclusion;

std::string TextOf(const PlacementFailure::Excluded& excluded) {
  switch (excluded.why) {
    case Exclusion::kNodeSelector:
      return absl::StrCat("nodeSelector: ", excluded.nodes);
    case Exclusion::kAffinity:
      return absl::StrCat("affinity: ", excluded.nodes);
    case Exclusion::kTopologyDomain:
      return absl::StrCat("topologyDomain: ", excluded.nodes);
    case Exclusion::kTaint:
      return absl::StrCat("taint \"", excluded.name, "\": ", excluded.nodes);
    case Exclusion::kResource:
      return absl::StrCat("resource \"", excluded.name, "\": ", excluded.nodes);
  }
  return "";
}

std::string Exclusions(const PlacementFailure& failure) {
  if (failure.excluded.empty()) return "";
  std::vector<std::string> parts;
  for (const PlacementFailure::Excluded& excluded : failure.excluded) parts.push_back(TextOf(excluded));
  std::sort(parts.begin(), parts.end());
  return absl::StrCat(". Total nodes: ", failure.total_nodes, "; excluded: ", absl::StrJoin(parts, ", "));
}

std::string NotFit(const PlacementFailure& failure) {
  const char* const unit = failure.in_slices ? " slice(s)" : " pod(s)";
  const std::string fit = failure.fit == 0 ? std::string("doesn't allow to fit any of ")
                                           : absl::StrCat("allows to fit only ", failure.fit, " out of ");
  return absl::StrCat("topology \"", failure.topology, "\" ", fit, failure.of, unit, Exclusions(failure));
}

std::string LayersNotFit(const PlacementFailure& failure) {
  std::string text = absl::StrCat("topology \"", failure.topology, "\" doesn't allow to fit");
  for (const PlacementFailure::LayerFit& layer : failure.layers) {
    absl::StrAppend(&text, "; ", layer.fit, "/", layer.of, " slice(s) fit on level ", layer.level);
  }
  return failure.layers.empty() ? text : text + Exclusions(failure);
}

}  // namespace

std::string Render(const PlacementFailure& failure) {
  switch (failure.kind) {
    case Kind::kSliceSizeMissing:
      return "slice topology requested, but slice size not provided";
    case Kind::kNoLevel:
      return "topology level not specified";
    case Kind::kUnknownLevel:
      return "no requested topology level: " + failure.first;
    case Kind::kUnknownSliceLevel:
      return "no requested topology level for slices: " + failure.first;
    case Kind::kSliceAboveRequest:
      return absl::StrCat("podset slice topology ", failure.first, " is above the podset topology ",
                          failure.second);
    case Kind::kUnknownLayerLevel:
      return "no requested topology level for additional slice layer: " + failure.first;
    case Kind::kLayerNotBelow:
      return absl::StrCat("additional slice layer topology ", failure.first,
                          " must be at a lower level than ", failure.second);
    case Kind::kLayerSizeIndivisible:
      return absl::StrCat("additional slice layer size ", failure.fit,
                          " must evenly divide parent layer size ", failure.of);
    case Kind::kInvalidPodSetUpdate:
      return absl::StrCat("invalid podSetUpdate for PodSet ", failure.first, ", error: ", failure.second);
    case Kind::kNoDomains:
      return "no topology domains at level: " + failure.first;
    case Kind::kNotFit:
      return NotFit(failure);
    case Kind::kLayersNotFit:
      return LayersNotFit(failure);
    case Kind::kStaleDomain:
      return "Cannot replace the node, because the existing topologyAssignment is invalid, as it contains "
             "the stale domain " +
             failure.first;
    case Kind::kNoReplacement:
      return "cannot find replacement assignment for unhealthy node: " + failure.first;
  }
  return "";
}

}  // namespace kueue
