// The domains of one flavor: its nodes, grouped by the levels of its topology. Mirrors
// pkg/cache/scheduler/tas_topology_tree.go and pkg/util/tas (kueue ff69552e79).
#ifndef KUEUE_TOPOLOGY_TREE_H_
#define KUEUE_TOPOLOGY_TREE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/ids.h"
#include "model/topology.h"

namespace kueue {

// Nodes by name. A state and its forks share the Node objects.
using NodeTable = std::map<std::string, std::shared_ptr<const Node>>;

// Returns whether the node has all labels of the flavor and a label for each level of the topology.
bool NodeMatchesFlavor(const Node& node, const std::map<std::string, std::string>& flavor_labels,
                       const std::vector<std::string>& levels);

// Join level values with commas, and split joined values. Label values contain no commas.
std::string JoinValues(const std::vector<std::string>& values);
std::vector<std::string> SplitValues(const std::string& joined);

// Immutable. Domains are numbered level by level and, within a level, by their values from the highest level
// down. In this numbering, the children of a domain have consecutive numbers, and the numeric order is the
// order in which Kueue compares level values.
class TopologyTree {
 public:
  struct Domain {
    int32_t parent;  // Parent of the domain; kNoId at the highest level.
    int32_t children_begin, children_end;
  };
  struct Range {
    int32_t begin, end;
    int32_t size() const { return end - begin; }
  };

  // Builds the tree from the usable nodes of the flavor. Adds the names of the leaves to the interner
  // `domains`. Resources that are not in `resources` are ignored.
  TopologyTree(std::vector<std::string> levels, const std::map<std::string, std::string>& flavor_labels,
               const NodeTable& nodes, const Interner<ResourceId>& resources, Interner<DomainId>& domains);

  const std::vector<std::string>& levels() const { return levels_; }
  int lowest() const { return static_cast<int>(levels_.size()) - 1; }
  // Returns whether leaves are nodes. Leaves are nodes if the lowest level is kubernetes.io/hostname.
  bool is_by_node() const { return by_node_; }
  // Returns the index of the level, or kNoId if the topology does not have the level.
  int LevelOf(const std::string& level) const;

  Range Level(int level) const { return ranges_[static_cast<size_t>(level)]; }
  Range Leaves() const { return ranges_.back(); }
  int32_t size() const { return static_cast<int32_t>(domains_.size()); }
  const Domain& At(int32_t domain) const { return domains_[static_cast<size_t>(domain)]; }
  int LevelOfDomain(int32_t domain) const;
  // Returns the level values of a domain, from the highest level down to the level of the domain.
  std::vector<std::string> Values(int32_t domain) const;

  // Leaves are also numbered from 0, in domain order.
  int32_t leaves() const { return Leaves().size(); }
  int32_t DomainOfLeaf(int32_t leaf) const { return Leaves().begin + leaf; }
  DomainId IdOfLeaf(int32_t leaf) const { return leaf_ids_[static_cast<size_t>(leaf)]; }
  // Returns kNoId if the domain contains no usable node of the flavor.
  int32_t LeafOf(DomainId id) const { return leaf_of_id_.Contains(id) ? leaf_of_id_[id] : -1; }
  int32_t LeafOfNode(const std::string& node) const {
    const auto it = leaf_of_node_.find(node);
    return it == leaf_of_node_.end() ? kNoId : it->second;
  }
  // Returns the node whose labels and taints apply to a leaf. If several nodes have the same hostname, the
  // first node by name is returned. Returns null if leaves are not nodes. The pointer is valid as long as the
  // tree exists.
  const Node* NodeOfLeaf(int32_t leaf) const { return leaf_nodes_[static_cast<size_t>(leaf)].get(); }

  // Number of different resources that the nodes have. Each resource of the nodes has a slot, which is a
  // column in the capacity tables.
  int slots() const { return slots_; }
  // Returns kNoId if no node has the resource.
  int SlotOf(ResourceId resource) const { return slot_of_.Contains(resource) ? slot_of_[resource] : -1; }
  // Total allocatable amounts of the nodes of each leaf, with one row per leaf and one column per slot.
  const std::vector<int64_t>& capacity() const { return capacity_; }

 private:
  // Pairs of leaf and node.
  using Members = std::vector<std::pair<int32_t, std::shared_ptr<const Node>>>;
  // Numbers the domains. `paths` contains the level values of each leaf, sorted and without duplicates.
  void Number(const std::vector<std::vector<std::string>>& paths);
  // Adds the next domain of a level. The children of a parent must be added consecutively.
  void AddDomain(int32_t parent, const std::string& value);
  void NumberResources(const Members& members, const Interner<ResourceId>& resources);
  // Fills in the nodes and the capacity of each leaf.
  void Fill(const Members& members, const Interner<ResourceId>& resources);

  std::vector<std::string> levels_;
  bool by_node_;
  int slots_ = 0;
  IdVector<ResourceId, int> slot_of_;
  std::vector<Domain> domains_;
  std::vector<std::string> values_;  // By domain: the level value at the domain's own level.
  std::vector<Range> ranges_;
  std::vector<DomainId> leaf_ids_;
  std::vector<std::shared_ptr<const Node>> leaf_nodes_;
  std::vector<int64_t> capacity_;
  IdVector<DomainId, int32_t> leaf_of_id_;  // Leaf by DomainId; kNoId if the domain is not in this tree.
  absl::flat_hash_map<std::string, int32_t> leaf_of_node_;
};

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_TREE_H_
