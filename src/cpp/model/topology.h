// Specs of topologies and nodes, topology requests of pod sets, and topology assignments.
#ifndef KUEUE_MODEL_TOPOLOGY_H_
#define KUEUE_MODEL_TOPOLOGY_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/ids.h"
#include "model/queue.h"

namespace kueue {

inline constexpr const char kHostname[] = "kubernetes.io/hostname";

// Amounts by resource name, sorted by name, in millicores for cpu and in whole units for all other resources.
using ResourceAmounts = std::map<std::string, int64_t>;

enum class NodeReadiness : uint8_t {
  kMissing,
  kReady,
  kNotReady,
  kUnknown
};  // Status of the node's condition Ready.

struct Node {
  std::string name;
  std::map<std::string, std::string> labels, annotations;
  std::vector<Taint> taints;
  bool unschedulable = false;
  ResourceAmounts allocatable;
  NodeReadiness ready = NodeReadiness::kMissing;
  Time ready_since = 0;  // Last transition time of the condition Ready.
  // Other properties of the node, in one string. A change of these node properties triggers a retry of
  // workloads. The properties are the type and the status of each condition except Ready, and the times at
  // which taints were added.
  std::string other_conditions;
  bool IsUsable() const { return ready == NodeReadiness::kReady && !unschedulable; }
  // Returns whether the condition Ready is present and is not True.
  bool IsNotReady() const { return ready == NodeReadiness::kNotReady || ready == NodeReadiness::kUnknown; }
};

// A slice layer of a topology request. Pods are grouped into slices of `size` pods, and each slice must be
// placed within one domain of `level`.
struct TopologyLayer {
  std::string level;
  int64_t size = 0;
};

// The topologyRequest of a pod set.
struct TopologyRequest {
  std::optional<std::string> required, preferred;
  std::optional<bool> unconstrained;
  std::vector<TopologyLayer> layers;  // Outermost first. Both API forms of slices are converted to layers.
  // False if the request contains only the fields that job integrations add for pod ranks and groups.
  bool is_explicit = false;
  bool IsSliceOnly() const { return !required && !preferred && !layers.empty(); }
};

// Number of pods in a domain. A domain is identified by its hostname if the lowest level is the hostname, and
// otherwise by all its level values.
struct DomainCount {
  DomainId domain;
  int32_t count;
};
inline bool operator==(const DomainCount& a, const DomainCount& b) {
  return a.domain == b.domain && a.count == b.count;
}

struct TopologyAssignment {
  std::vector<std::string> levels;
  // Domains and their pod counts, sorted by the level values of the domains.
  std::vector<DomainCount> domains;
};
inline bool operator==(const TopologyAssignment& a, const TopologyAssignment& b) {
  return a.levels == b.levels && a.domains == b.domains;
}

// The reason why a pod set could not be placed, in structured form; text/text.h renders the reason as a
// message. The comment of each kind lists the fields that the kind uses.
struct PlacementFailure {
  enum class Kind : uint8_t {
    kSliceSizeMissing,
    kNoLevel,
    kUnknownLevel,          // first: the level
    kUnknownSliceLevel,     // first: the level
    kSliceAboveRequest,     // first: level of the slices, second: level of the pod set
    kUnknownLayerLevel,     // first: the level
    kLayerNotBelow,         // first: the layer's level, second: the level that it must be below
    kLayerSizeIndivisible,  // fit: size of the layer, of: size of its parent
    kInvalidPodSetUpdate,   // first: the pod set, second: the error
    kNoDomains,             // first: the level
    kNotFit,                // `fit` out of `of` pods or slices fit
    kLayersNotFit,          // layers
    kStaleDomain,           // first: the lowest value of the domain
    kNoReplacement,         // first: the node
  };
  enum class Exclusion : uint8_t { kNodeSelector, kAffinity, kTopologyDomain, kTaint, kResource };
  struct Excluded {
    Exclusion why;
    std::string name;  // Name of the taint or of the resource.
    int32_t nodes;
  };
  struct LayerFit {
    std::string level;
    int32_t fit, of;
  };
  Kind kind = Kind::kNotFit;
  std::string topology;
  std::string first, second;
  int32_t fit = 0, of = 0;
  bool in_slices = false;
  std::vector<LayerFit> layers;
  int32_t total_nodes = 0;
  std::vector<Excluded> excluded;
};
bool operator==(const PlacementFailure& a, const PlacementFailure& b);

}  // namespace kueue

#endif  // KUEUE_MODEL_TOPOLOGY_H_
