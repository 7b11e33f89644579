// What is declared of topologies and nodes, what a pod set asks of a topology, and what it got.
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

// Resource names and integers: thousandths of cpu, units of all else; sorted by name.
using ResourceAmounts = std::map<std::string, int64_t>;

enum class NodeReadiness : uint8_t {
  kMissing,
  kReady,
  kNotReady,
  kUnknown
};  // status of its condition Ready

struct Node {
  std::string name;
  std::map<std::string, std::string> labels, annotations;
  std::vector<Taint> taints;
  bool unschedulable = false;
  ResourceAmounts allocatable;
  NodeReadiness ready = NodeReadiness::kMissing;
  Time ready_since = 0;  // when the condition took its status
  // What else of it wakes workloads when it changes: type and status of each condition but Ready, and when
  // its taints were added.
  std::string other_conditions;
  bool IsUsable() const { return ready == NodeReadiness::kReady && !unschedulable; }
  // Whether it has the condition Ready, and that is not True.
  bool IsNotReady() const { return ready == NodeReadiness::kNotReady || ready == NodeReadiness::kUnknown; }
};

// One slice layer of a request: pods come in slices of `size` within one domain of the level.
struct TopologyLayer {
  std::string level;
  int64_t size = 0;
};

// A pod set's topologyRequest.
struct TopologyRequest {
  std::optional<std::string> required, preferred;
  std::optional<bool> unconstrained;
  std::vector<TopologyLayer> layers;  // outermost first, of whichever of the two forms the API has
  bool is_explicit = false;           // not only what jobs add for ranks and groups
  bool IsSliceOnly() const { return !required && !preferred && !layers.empty(); }
};

// How many pods go to a domain: of the hostname where that is the lowest level, else of all level values.
struct DomainCount {
  DomainId domain;
  int32_t count;
};
inline bool operator==(const DomainCount& a, const DomainCount& b) {
  return a.domain == b.domain && a.count == b.count;
}

struct TopologyAssignment {
  std::vector<std::string> levels;
  std::vector<DomainCount> domains;  // in the order of their level values
};
inline bool operator==(const TopologyAssignment& a, const TopologyAssignment& b) {
  return a.levels == b.levels && a.domains == b.domains;
}

// Why a pod set could not be placed, as data; the words are the text room's.
struct PlacementFailure {
  enum class Kind : uint8_t {
    kSliceSizeMissing,
    kNoLevel,
    kUnknownLevel,          // first
    kUnknownSliceLevel,     // first
    kSliceAboveRequest,     // first: of slices, second: of the pod set
    kUnknownLayerLevel,     // first
    kLayerNotBelow,         // first is not below second
    kLayerSizeIndivisible,  // fit: the layer's size, of: its parent's
    kInvalidPodSetUpdate,   // first: the pod set, second: what is wrong
    kNoDomains,             // first: the level
    kNotFit,                // fit out of `of` pods, or slices
    kLayersNotFit,          // layers
    kStaleDomain,           // first: its lowest value
    kNoReplacement,         // first: the node
  };
  enum class Exclusion : uint8_t { kNodeSelector, kAffinity, kTopologyDomain, kTaint, kResource };
  struct Excluded {
    Exclusion why;
    std::string name;  // of the taint or the resource
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
