// The shape: a forest of Cohorts with ClusterQueues as leaves.
// Mirrors pkg/cache/hierarchy (kueue ff69552e79).
#ifndef KUEUE_COHORT_FOREST_H_
#define KUEUE_COHORT_FOREST_H_

#include <string>
#include <vector>

#include "model/ids.h"

namespace kueue {

// Nodes are never removed: a deleted ClusterQueue or Cohort is a node that does not exist. A Cohort exists
// if it was declared or if something names it (then it is implicit, and a root).
class Forest {
 public:
  NodeId InternClusterQueue(absl::string_view name);
  NodeId InternCohort(absl::string_view name);
  NodeId FindClusterQueue(absl::string_view name) const;
  NodeId FindCohort(absl::string_view name) const;

  // kNoId takes the parent away. Takes effect with the next Rebuild().
  void SetParent(NodeId node, NodeId parent) { nodes_[Index(node)].parent = parent; }
  void SetDeclared(NodeId node, bool declared) { nodes_[Index(node)].declared = declared; }
  // An inactive ClusterQueue keeps its place, but no snapshot of a cycle has it as a node.
  void SetActive(NodeId node, bool active) { nodes_[Index(node)].active = active; }

  // Derives children, roots, cycles and the order of the nodes from the parents.
  void Rebuild();
  // Derives the heights, which count active ClusterQueues only.
  void RebuildHeights();

  int32_t size() const { return static_cast<int32_t>(nodes_.size()); }
  const std::string& Name(NodeId node) const { return nodes_[Index(node)].name; }
  bool IsClusterQueue(NodeId node) const { return nodes_[Index(node)].is_cluster_queue; }
  bool IsDeclared(NodeId node) const { return nodes_[Index(node)].declared; }
  bool Exists(NodeId node) const { return nodes_[Index(node)].exists; }
  bool IsActive(NodeId node) const { return nodes_[Index(node)].active; }
  // The node above; none for a root, and none while a cycle is above: a walk up ends. As of the last
  // Rebuild().
  NodeId Parent(NodeId node) const { return nodes_[Index(node)].above; }
  // What was declared last, be it part of a cycle or not.
  NodeId DeclaredParent(NodeId node) const { return nodes_[Index(node)].parent; }
  // The root above `node`, itself where it has no parent; kNoId below a cycle.
  NodeId Root(NodeId node) const { return nodes_[Index(node)].root; }
  // The same as the parents are now, before a Rebuild().
  NodeId RootByWalk(NodeId node) const;
  bool HasCycle(NodeId node) const { return nodes_[Index(node)].root == kNoId; }
  // Height as spec'd for borrowing levels: 0 for a childless Cohort, 1 above ClusterQueues only.
  int Height(NodeId node) const { return nodes_[Index(node)].height; }
  // Ascending by name.
  const std::vector<NodeId>& ChildCohorts(NodeId node) const { return nodes_[Index(node)].child_cohorts; }
  const std::vector<NodeId>& ChildQueues(NodeId node) const { return nodes_[Index(node)].child_queues; }
  // All ClusterQueues, ascending by name; those of one tree, the same.
  const std::vector<NodeId>& Queues() const { return queues_; }
  const std::vector<NodeId>& QueuesOfTree(NodeId root) const { return nodes_[Index(root)].tree_queues; }
  // Every node without a cycle above it, parents before children.
  const std::vector<NodeId>& TopDown() const { return top_down_; }
  // "/root/.../queue", as the texts of preemptions have it.
  std::string Path(NodeId queue) const;

 private:
  friend class FieldLists;  // persist/field_lists.h
  struct Node {
    std::string name;
    bool is_cluster_queue = false;
    bool declared = false;
    bool exists = false;
    bool active = false;
    NodeId parent = kNoId;  // as declared
    NodeId above = kNoId;   // the same, unless a cycle is above
    NodeId root = kNoId;
    int height = 0;
    std::vector<NodeId> child_cohorts, child_queues, tree_queues;
  };
  static size_t Index(NodeId node) { return static_cast<size_t>(node); }
  NodeId Add(absl::string_view name, bool is_cluster_queue);
  void RebuildChildren();
  // Roots, what is above each node, and the order from the roots down.
  void RebuildTopDown();
  void SetAbove(const std::vector<NodeId>& children, NodeId parent);
  void SortByName(std::vector<NodeId>& nodes) const;

  std::vector<Node> nodes_;
  std::vector<NodeId> node_of_queue_, node_of_cohort_;  // by interned name
  Interner queue_names_, cohort_names_;
  std::vector<NodeId> queues_, top_down_;
};

}  // namespace kueue

#endif  // KUEUE_COHORT_FOREST_H_
