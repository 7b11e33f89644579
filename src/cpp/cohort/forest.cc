// Mirrors pkg/cache/hierarchy/{manager,cohort,cycle}.go (kueue ff69552e79).
#include "cohort/forest.h"

#include <algorithm>

namespace kueue {

NodeId Forest::Add(absl::string_view name, bool is_cluster_queue) {
  Node node;
  node.name = std::string(name);
  node.is_cluster_queue = is_cluster_queue;
  const NodeId id = nodes_->NextId();
  nodes_.Edit().push_back(std::move(node));
  stale_ = true;
  return id;
}

NodeId Forest::InternClusterQueue(absl::string_view name) {
  const NameId id = queue_names_.Intern(name);
  if (!node_of_queue_->Contains(id)) node_of_queue_.Edit().push_back(Add(name, true));
  return (*node_of_queue_)[id];
}

NodeId Forest::InternCohort(absl::string_view name) {
  const NameId id = cohort_names_.Intern(name);
  if (!node_of_cohort_->Contains(id)) node_of_cohort_.Edit().push_back(Add(name, false));
  return (*node_of_cohort_)[id];
}

NodeId Forest::FindClusterQueue(absl::string_view name) const {
  const NameId id = queue_names_.Find(name);
  return id == kNoId ? kNoId : (*node_of_queue_)[id];
}

NodeId Forest::FindCohort(absl::string_view name) const {
  const NameId id = cohort_names_.Find(name);
  return id == kNoId ? kNoId : (*node_of_cohort_)[id];
}

void Forest::Rebuild() {
  stale_ = false;
  RebuildChildren();
  SortByName(queues_.Edit());
  for (Node& node : nodes_.Edit()) {
    SortByName(node.child_cohorts);
    SortByName(node.child_queues);
  }
  RebuildTopDown();
  for (NodeId queue : *queues_) {
    if (Root(queue) != kNoId) Edit(Root(queue)).tree_queues.push_back(queue);
  }
}

void Forest::SortByName(std::vector<NodeId>& nodes) const {
  std::sort(nodes.begin(), nodes.end(), [this](NodeId a, NodeId b) {
    const int order = Name(a).compare(Name(b));
    return order != 0 ? order < 0 : IsClusterQueue(a) < IsClusterQueue(b);
  });
}

void Forest::RebuildTopDown() {
  std::vector<NodeId>& order = top_down_.Edit();
  order.clear();
  for (NodeId id : Nodes()) {
    Node& node = Edit(id);
    node.root = node.parent == kNoId ? id : kNoId;
    node.above = kNoId;
    if (node.root == id && node.exists) order.push_back(id);
  }
  SortByName(order);
  AddDescendants(order);  // Nodes below a cycle are never reached.
  for (NodeId id : order) {
    Node& node = Edit(id);
    if (node.parent == kNoId) continue;
    node.above = node.parent;
    node.root = Root(node.parent);
  }
}

std::vector<NodeId> Forest::NodesOf(const std::optional<std::set<NodeId>>& roots) const {
  std::vector<NodeId> nodes = *top_down_;
  if (roots) {
    nodes.assign(roots->begin(), roots->end());
    AddDescendants(nodes);
  } else {
    for (NodeId node : Nodes()) {
      if (Root(node) == kNoId || !Exists(node)) nodes.push_back(node);
    }
  }
  return nodes;
}

void Forest::AddDescendants(std::vector<NodeId>& nodes) const {
  for (size_t next = 0; next < nodes.size(); ++next) {
    const Node& node = At(nodes[next]);
    nodes.insert(nodes.end(), node.child_cohorts.begin(), node.child_cohorts.end());
    nodes.insert(nodes.end(), node.child_queues.begin(), node.child_queues.end());
  }
}

// Rebuilds the children, the existence of nodes, and the list of ClusterQueues, all unsorted.
void Forest::RebuildChildren() {
  for (Node& node : nodes_.Edit()) {
    node.exists = node.declared;
    node.child_cohorts.clear();
    node.child_queues.clear();
    node.tree_queues.clear();
  }
  std::vector<NodeId>& queues = queues_.Edit();
  queues.clear();
  for (NodeId id : Nodes()) {
    Node& node = Edit(id);
    if (!node.declared) node.parent = kNoId;
    if (node.is_cluster_queue && node.declared) queues.push_back(id);
    if (node.parent == kNoId) continue;
    Node& parent = Edit(node.parent);
    parent.exists = true;
    (node.is_cluster_queue ? parent.child_queues : parent.child_cohorts).push_back(id);
  }
}

void Forest::RebuildHeights() {
  for (Node& node : nodes_.Edit()) node.height = 0;  // Includes deleted nodes and nodes below a cycle.
  for (auto it = top_down_->rbegin(); it != top_down_->rend(); ++it) {
    Node& node = Edit(*it);
    if (node.is_cluster_queue) continue;
    const bool has_queue = std::any_of(node.child_queues.begin(), node.child_queues.end(),
                                       [this](NodeId queue) { return IsActive(queue); });
    if (has_queue || !node.child_cohorts.empty()) node.height = 1;
    for (NodeId child : node.child_cohorts) node.height = std::max(node.height, 1 + Height(child));
  }
}

NodeId RootByWalk(const Forest& forest, NodeId node, const std::map<NodeId, NodeId>& kept) {
  NodeId root = node;
  for (size_t steps = 0; steps <= forest.size(); ++steps) {
    const auto found = kept.empty() ? kept.end() : kept.find(root);
    const NodeId parent = found == kept.end() ? forest.DeclaredParent(root) : found->second;
    if (parent == kNoId) return root;
    root = parent;
  }
  return kNoId;
}

}  // namespace kueue
