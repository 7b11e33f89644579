// The cohort forest: Cohorts as inner nodes, ClusterQueues as leaves. Mirrors pkg/cache/hierarchy (kueue
// ff69552e79).
#ifndef KUEUE_COHORT_FOREST_H_
#define KUEUE_COHORT_FOREST_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/ids.h"
#include "model/paged.h"

namespace kueue {

// Node ids stay valid: nodes are never removed, and a deleted ClusterQueue or Cohort remains as a node that
// does not exist. A Cohort exists if it is declared or if another object refers to it. An undeclared Cohort
// is a root.
class Forest {
 public:
  NodeId InternClusterQueue(absl::string_view name);
  NodeId InternCohort(absl::string_view name);
  NodeId FindClusterQueue(absl::string_view name) const;
  NodeId FindCohort(absl::string_view name) const;

  // Sets the declared parent; kNoId removes the parent. The change takes effect at the next Rebuild().
  void SetParent(NodeId node, NodeId parent) {
    if (At(node).parent == parent) return;
    Edit(node).parent = parent;
    stale_ = true;
  }
  void SetDeclared(NodeId node, bool declared) {
    if (At(node).declared == declared) return;
    Edit(node).declared = declared;
    stale_ = true;
  }
  // An inactive ClusterQueue stays in the forest, but scheduling cycles ignore it.
  void SetActive(NodeId node, bool active) {
    if (At(node).active != active) Edit(node).active = active;
  }

  // Recomputes children, roots, cycles and the node order from the declared parents. Invalidates references
  // to the node lists that this class returns.
  void Rebuild();
  // Returns whether a node was added, declared, undeclared or moved since the last Rebuild().
  bool IsStale() const { return stale_; }
  // Recomputes the heights. The heights take only active ClusterQueues into account.
  void RebuildHeights();

  size_t size() const { return nodes_->size(); }
  // Returns all nodes, including nodes that no longer exist.
  IdRange<NodeId> Nodes() const { return nodes_->Ids(); }
  const std::string& Name(NodeId node) const { return At(node).name; }
  bool IsClusterQueue(NodeId node) const { return At(node).is_cluster_queue; }
  bool IsDeclared(NodeId node) const { return At(node).declared; }
  bool Exists(NodeId node) const { return At(node).exists; }
  bool IsActive(NodeId node) const { return At(node).active; }
  // Returns the parent as of the last Rebuild(). Returns kNoId for a root and for a node below a cycle, so a
  // walk to the root always terminates.
  NodeId Parent(NodeId node) const { return At(node).above; }
  // Returns the most recently declared parent, even if it is part of a cycle.
  NodeId DeclaredParent(NodeId node) const { return At(node).parent; }
  // Returns the root of the tree that contains `node`. Returns `node` itself for a root, and kNoId for a node
  // below a cycle.
  NodeId Root(NodeId node) const { return At(node).root; }
  // Returns the height as defined for borrowing levels: 0 for a childless Cohort, 1 if all children are
  // ClusterQueues.
  int Height(NodeId node) const { return At(node).height; }
  // Sorted by name.
  const std::vector<NodeId>& ChildCohorts(NodeId node) const { return At(node).child_cohorts; }
  const std::vector<NodeId>& ChildQueues(NodeId node) const { return At(node).child_queues; }
  // Return all ClusterQueues, or all ClusterQueues of one tree, sorted by name.
  const std::vector<NodeId>& Queues() const { return *queues_; }
  const std::vector<NodeId>& QueuesOfTree(NodeId root) const { return At(root).tree_queues; }
  // Returns every node that has no cycle above it, parents before children.
  const std::vector<NodeId>& TopDown() const { return *top_down_; }
  // Returns the nodes of the trees of these roots, or all nodes if `roots` is empty; parents before children.
  std::vector<NodeId> NodesOf(const std::optional<std::set<NodeId>>& roots) const;

 private:
  friend class FieldLists;  // persist/field_lists.h
  struct Node {
    std::string name;
    bool is_cluster_queue = false;
    bool declared = false;
    bool exists = false;
    bool active = false;
    NodeId parent = kNoId;  // Declared parent.
    // Parent that the scheduling rules use; kNoId for a root and for a node below a cycle.
    NodeId above = kNoId;
    NodeId root = kNoId;
    int height = 0;
    std::vector<NodeId> child_cohorts, child_queues, tree_queues;
  };
  NodeId Add(absl::string_view name, bool is_cluster_queue);
  // Appends the nodes below the given ones, parents before children.
  void AddDescendants(std::vector<NodeId>& nodes) const;
  void RebuildChildren();
  // Computes the roots, the parent that the scheduling rules use for each node, and the top-down node order.
  void RebuildTopDown();
  void SortByName(std::vector<NodeId>& nodes) const;

  const Node& At(NodeId node) const { return (*nodes_)[node]; }
  Node& Edit(NodeId node) { return nodes_.Edit()[node]; }

  Shared<IdVector<NodeId, Node>> nodes_;
  // ClusterQueues and Cohorts have separate names.
  using NameId = Id<struct NameTag>;
  Shared<IdVector<NameId, NodeId>> node_of_queue_, node_of_cohort_;
  Interner<NameId> queue_names_, cohort_names_;
  Shared<std::vector<NodeId>> queues_, top_down_;
  bool stale_ = true;
};

// Returns whether the node is below a cycle.
inline bool HasCycle(const Forest& forest, NodeId node) { return forest.Root(node) == kNoId; }
// Returns the root like Forest::Root(), but follows the current declared parents, which may be newer than the
// last Rebuild(). A node in `kept` has the parent given there instead of the declared one.
NodeId RootByWalk(const Forest& forest, NodeId node, const std::map<NodeId, NodeId>& kept = {});

}  // namespace kueue

#endif  // KUEUE_COHORT_FOREST_H_
