// The domains of one flavor: its nodes, grouped by the levels of its topology.
// Mirrors pkg/cache/scheduler/tas_topology_tree.go and pkg/util/tas (kueue ff69552e79).
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

// Nodes by name; a state and its forks share each of them.
using NodeTable = std::map<std::string, std::shared_ptr<const Node>>;

// Whether the node is one of a flavor with these labels and a topology of these levels.
bool NodeMatchesFlavor(const Node& node, const std::map<std::string, std::string>& flavor_labels,
                       const std::vector<std::string>& levels);

// Level values as one name, and back; no label value has a comma.
std::string JoinValues(const std::vector<std::string>& values);
std::vector<std::string> SplitValues(const std::string& joined);

// Immutable once built. Domains are numbered level by level, within a level by their values from the top
// down, so that the children of a domain are neighbours and a lower number comes first wherever Kueue
// compares level values.
class TopologyTree {
 public:
  struct Domain {
    int32_t parent;  // kNoId at the highest level
    int32_t children_begin, children_end;
  };
  struct Range {
    int32_t begin, end;
    int32_t size() const { return end - begin; }
  };

  // From the usable nodes of the flavor. Domains of leaves are interned in `domains`; `resources` knows all
  // that nodes have.
  TopologyTree(std::vector<std::string> levels, const std::map<std::string, std::string>& flavor_labels,
               const NodeTable& nodes, const Interner& resources, Interner& domains);

  const std::vector<std::string>& levels() const { return levels_; }
  int lowest() const { return static_cast<int>(levels_.size()) - 1; }
  // Whether leaves are nodes: the lowest level is kubernetes.io/hostname.
  bool is_by_node() const { return by_node_; }
  // The index of the level, or kNoId.
  int LevelOf(const std::string& level) const;

  Range Level(int level) const { return ranges_[static_cast<size_t>(level)]; }
  Range Leaves() const { return ranges_.back(); }
  int32_t size() const { return static_cast<int32_t>(domains_.size()); }
  const Domain& At(int32_t domain) const { return domains_[static_cast<size_t>(domain)]; }
  int LevelOfDomain(int32_t domain) const;
  // The values from the highest level down to the domain's.
  std::vector<std::string> Values(int32_t domain) const;

  // Leaves count from 0 in the order of their domains.
  int32_t leaves() const { return Leaves().size(); }
  int32_t DomainOfLeaf(int32_t leaf) const { return Leaves().begin + leaf; }
  DomainId IdOfLeaf(int32_t leaf) const { return leaf_ids_[static_cast<size_t>(leaf)]; }
  // kNoId where no usable node of the flavor is in the domain.
  int32_t LeafOf(DomainId id) const {
    return static_cast<size_t>(id) < leaf_of_id_.size() ? leaf_of_id_[static_cast<size_t>(id)] : kNoId;
  }
  int32_t LeafOfNode(const std::string& node) const {
    const auto it = leaf_of_node_.find(node);
    return it == leaf_of_node_.end() ? kNoId : it->second;
  }
  // Of a leaf that is a node: the first of its nodes by name, whose labels and taints count.
  const Node* NodeOfLeaf(int32_t leaf) const { return leaf_nodes_[static_cast<size_t>(leaf)].get(); }

  // Each resource that some node has, has a slot in the tables of capacity and usage.
  int slots() const { return slots_; }
  // kNoId: no node has it.
  int SlotOf(ResourceId resource) const {
    return static_cast<size_t>(resource) < slot_of_.size() ? slot_of_[static_cast<size_t>(resource)] : kNoId;
  }
  // Allocatable of all nodes of a leaf; the leaf's row has a column a slot.
  const std::vector<int64_t>& capacity() const { return capacity_; }

 private:
  // Nodes with the leaves that they are in.
  using Members = std::vector<std::pair<int32_t, std::shared_ptr<const Node>>>;
  // From the paths of the leaves, in order and each once.
  void Number(const std::vector<std::vector<std::string>>& paths);
  // The next domain of a level; the children of a parent come one after the other.
  void AddDomain(int32_t parent, const std::string& value);
  void NumberResources(const Members& members, const Interner& resources);
  // The nodes and the capacity of each leaf.
  void Fill(const Members& members, const Interner& resources);

  std::vector<std::string> levels_;
  bool by_node_;
  int slots_ = 0;
  std::vector<int> slot_of_;  // by resource
  std::vector<Domain> domains_;
  std::vector<std::string> values_;  // by domain: its own level's
  std::vector<Range> ranges_;
  std::vector<DomainId> leaf_ids_;
  std::vector<std::shared_ptr<const Node>> leaf_nodes_;
  std::vector<int64_t> capacity_;
  std::vector<int32_t> leaf_of_id_;  // as far as domains are of this tree
  absl::flat_hash_map<std::string, int32_t> leaf_of_node_;
};

}  // namespace kueue

#endif  // KUEUE_TOPOLOGY_TREE_H_
