// Mirrors pkg/cache/scheduler/tas_topology_tree.go and pkg/util/tas (kueue ff69552e79).
#include "topology/tree.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "quantity/amount.h"

namespace kueue {

bool NodeMatchesFlavor(const Node& node, const std::map<std::string, std::string>& flavor_labels,
                       const std::vector<std::string>& levels) {
  for (const auto& [key, value] : flavor_labels) {
    const auto label = node.labels.find(key);
    if ((label == node.labels.end() ? std::string() : label->second) != value) return false;
  }
  return std::all_of(levels.begin(), levels.end(),
                     [&node](const std::string& level) { return node.labels.count(level) > 0; });
}

std::string JoinValues(const std::vector<std::string>& values) { return absl::StrJoin(values, ","); }

std::vector<std::string> SplitValues(const std::string& joined) { return absl::StrSplit(joined, ','); }

namespace {

// A leaf: all usable nodes of the flavor with the same level values.
struct Leaf {
  DomainId id;
  std::vector<std::string> path;
  std::vector<std::shared_ptr<const Node>> nodes;
};

// Returns the leaves sorted by path. Domain ids are assigned in the order in which nodes are visited.
std::vector<Leaf> LeavesOf(const std::vector<std::string>& levels, bool by_node,
                           const std::map<std::string, std::string>& flavor_labels, const NodeTable& nodes,
                           Interner<DomainId>& domains) {
  std::vector<Leaf> leaves;
  absl::flat_hash_map<DomainId, size_t> place_of;
  for (const auto& [name, node] : nodes) {
    if (!node->IsUsable() || !NodeMatchesFlavor(*node, flavor_labels, levels)) continue;
    std::vector<std::string> path;
    for (const std::string& level : levels) path.push_back(node->labels.at(level));
    const DomainId id = domains.Intern(by_node ? path.back() : JoinValues(path));
    const auto [entry, inserted] = place_of.try_emplace(id, leaves.size());
    if (inserted) leaves.push_back({id, std::move(path), {}});
    leaves[entry->second].nodes.push_back(node);
  }
  std::sort(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) { return a.path < b.path; });
  return leaves;
}

}  // namespace

TopologyTree::TopologyTree(std::vector<std::string> levels,
                           const std::map<std::string, std::string>& flavor_labels, const NodeTable& nodes,
                           const Interner<ResourceId>& resources, Interner<DomainId>& domains)
    : levels_(std::move(levels)), by_node_(!levels_.empty() && levels_.back() == kHostname) {
  std::vector<std::vector<std::string>> paths;
  Members members;
  for (Leaf& leaf : LeavesOf(levels_, by_node_, flavor_labels, nodes, domains)) {
    for (auto& node : leaf.nodes) members.emplace_back(static_cast<int32_t>(paths.size()), std::move(node));
    leaf_ids_.push_back(leaf.id);
    leaf_of_id_.GrowTo(leaf.id, -1);
    leaf_of_id_[leaf.id] = static_cast<int32_t>(paths.size());
    paths.push_back(std::move(leaf.path));
  }
  Number(paths);
  NumberResources(members, resources);
  Fill(members, resources);
}

void TopologyTree::AddDomain(int32_t parent, const std::string& value) {
  domains_.push_back({parent, 0, 0});
  values_.push_back(value);
  if (parent == kNoId) return;
  Domain& above = domains_[static_cast<size_t>(parent)];
  if (above.children_end == 0) above.children_begin = size() - 1;
  above.children_end = size();
}

void TopologyTree::Number(const std::vector<std::vector<std::string>>& paths) {
  std::vector<std::vector<int32_t>> above(levels_.size(), std::vector<int32_t>(paths.size()));
  for (size_t level = 0; level < levels_.size(); ++level) {
    const int32_t begin = size();
    for (size_t i = 0; i < paths.size(); ++i) {
      const int32_t parent = level == 0 ? kNoId : above[level - 1][i];
      const bool is_new = i == 0 || (level > 0 && above[level - 1][i - 1] != parent) ||
                          paths[i - 1][level] != paths[i][level];
      if (is_new) AddDomain(parent, paths[i][level]);
      above[level][i] = size() - 1;
    }
    ranges_.push_back({begin, size()});
  }
}

void TopologyTree::NumberResources(const Members& members, const Interner<ResourceId>& resources) {
  slot_of_.assign(resources.size(), -1);
  for (const auto& [leaf, node] : members) {
    for (const auto& [resource, amount] : node->allocatable) {
      const ResourceId id = resources.Find(resource);
      if (id != kNoId && SlotOf(id) == kNoId) slot_of_[id] = slots_++;
    }
  }
}

void TopologyTree::Fill(const Members& members, const Interner<ResourceId>& resources) {
  leaf_nodes_.resize(leaf_ids_.size());
  capacity_.resize(leaf_ids_.size() * static_cast<size_t>(slots_));
  for (const auto& [leaf, node] : members) {
    if (by_node_ && leaf_nodes_[static_cast<size_t>(leaf)] == nullptr)
      leaf_nodes_[static_cast<size_t>(leaf)] = node;
    leaf_of_node_[node->name] = leaf;
    for (const auto& [resource, amount] : node->allocatable) {
      const ResourceId id = resources.Find(resource);
      if (id == kNoId) continue;
      int64_t& total = capacity_[static_cast<size_t>(leaf * slots_ + SlotOf(id))];
      total = SaturatingAdd(total, amount);
    }
  }
}

int TopologyTree::LevelOf(const std::string& level) const {
  const auto found = std::find(levels_.begin(), levels_.end(), level);
  return found == levels_.end() ? kNoId : static_cast<int>(found - levels_.begin());
}

int TopologyTree::LevelOfDomain(int32_t domain) const {
  int level = 0;
  while (domain >= Level(level).end) ++level;
  return level;
}

std::vector<std::string> TopologyTree::Values(int32_t domain) const {
  std::vector<std::string> values;
  for (; domain != kNoId; domain = At(domain).parent) values.push_back(values_[static_cast<size_t>(domain)]);
  std::reverse(values.begin(), values.end());
  return values;
}

}  // namespace kueue
