// Mirrors pkg/cache/scheduler/resource_node.go (kueue ff69552e79).
#include "quota/quota.h"

#include <algorithm>

namespace kueue {
namespace {

// Keeps existing values; new columns are set to `fill`.
void Grow(Table& table, Eigen::Index rows, Eigen::Index cols, Amount fill) {
  const Eigen::Index old_rows = table.rows(), old_cols = table.cols();
  if (old_rows == rows && old_cols == cols) return;
  Table grown = Table::Constant(rows, cols, fill);
  if (old_rows > 0 && old_cols > 0) grown.topLeftCorner(old_rows, old_cols) = table;
  table.swap(grown);
}

}  // namespace

void Quota::Resize(int flavor_resources) {
  const Eigen::Index rows = forest_.size(), cols = std::max<Eigen::Index>(flavor_resources, nominal_.cols());
  if (nominal_.rows() == rows && nominal_.cols() == cols) return;
  for (Table* table : {&nominal_, &subtree_, &local_, &potential_, &usage_})
    Grow(*table, rows, cols, Amount(0));
  for (Table* table : {&borrowing_, &lending_}) Grow(*table, rows, cols, Amount::Unlimited());
  for (auto* flags : {&declared_, &defined_}) {
    const Eigen::Index old_rows = flags->rows(), old_cols = flags->cols();
    Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> grown =
        Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>::Constant(rows, cols, false);
    if (old_rows > 0 && old_cols > 0) grown.topLeftCorner(old_rows, old_cols) = *flags;
    flags->swap(grown);
  }
}

void Quota::ClearNode(NodeId node) {
  if (node >= nominal_.rows()) return;
  nominal_.row(node).setConstant(Amount(0));
  borrowing_.row(node).setConstant(Amount::Unlimited());
  lending_.row(node).setConstant(Amount::Unlimited());
  declared_.row(node).setConstant(false);
}

void Quota::SetQuota(NodeId node, FlavorResourceId fr, Amount nominal, Amount borrowing_limit,
                     Amount lending_limit) {
  nominal_(node, fr) = nominal;
  borrowing_(node, fr) = borrowing_limit;
  lending_(node, fr) = lending_limit;
  declared_(node, fr) = true;
}

void Quota::Rebuild() {
  // Nodes that are in no tree, e.g. below a cycle, only have their own quota.
  subtree_ = local_ = potential_ = nominal_;
  defined_ = declared_;
  const std::vector<NodeId>& order = forest_.TopDown();
  for (NodeId node = 0; node < forest_.size(); ++node) {
    if (!forest_.IsClusterQueue(node)) usage_.row(node).setConstant(Amount(0));
  }
  for (auto it = order.rbegin(); it != order.rend(); ++it) {  // Children before parents.
    const NodeId node = *it, parent = forest_.Parent(node);
    for (FlavorResourceId fr = 0; fr < flavor_resources(); ++fr) {
      const Amount local = Max(Amount(0), subtree_(node, fr) - lending_(node, fr));
      local_(node, fr) = local;
      if (parent == kNoId) continue;
      subtree_(parent, fr) += subtree_(node, fr) - local;
      usage_(parent, fr) += Max(Amount(0), usage_(node, fr) - local);
      defined_(parent, fr) = defined_(parent, fr) || defined_(node, fr);
    }
  }
  for (NodeId node : order) {  // Parents before children.
    const NodeId parent = forest_.Parent(node);
    for (FlavorResourceId fr = 0; fr < flavor_resources(); ++fr) {
      potential_(node, fr) = parent == kNoId ? subtree_(node, fr)
                                             : Min(local_(node, fr) + potential_(parent, fr),
                                                   subtree_(node, fr) + borrowing_(node, fr));
    }
  }
}

Amount Quota::RawAvailable(NodeId node, FlavorResourceId fr) const {
  const Amount total = subtree_(node, fr), used = usage_(node, fr);
  const NodeId parent = forest_.Parent(node);
  if (parent == kNoId) return total - used;
  const Amount local = local_(node, fr);
  Amount from_parent = RawAvailable(parent, fr);
  if (!borrowing_(node, fr).IsUnlimited()) {
    const Amount in_parent = total - local, used_in_parent = Max(Amount(0), used - local);
    from_parent = Min(in_parent - used_in_parent + borrowing_(node, fr), from_parent);
  }
  return Max(Amount(0), local - used) + from_parent;
}

Quota::Height Quota::LowestSubtreeThatFits(NodeId queue, FlavorResourceId fr, Amount amount) const {
  const NodeId parent = forest_.Parent(queue);
  if (parent == kNoId || !IsBorrowingWith(queue, fr, amount)) return {0, parent != kNoId};
  Amount remaining = amount - LocalAvailable(queue, fr);
  NodeId root = parent;
  for (NodeId node = parent; node != kNoId; node = forest_.Parent(node)) {
    if (!IsBorrowingWith(node, fr, remaining)) return {forest_.Height(node), forest_.Parent(node) != kNoId};
    remaining -= LocalAvailable(node, fr);
    root = node;
  }
  return {forest_.Height(root), false};
}

void Quota::Add(NodeId queue, FlavorResourceId fr, Amount amount) {
  for (NodeId node = queue; node != kNoId;) {
    const Amount local_available = LocalAvailable(node, fr);
    SetUsage(node, fr, usage_(node, fr) + amount);
    if (amount <= local_available) return;
    amount -= local_available;
    node = forest_.Parent(node);
  }
}

void Quota::Remove(NodeId queue, FlavorResourceId fr, Amount amount) {
  for (NodeId node = queue; node != kNoId;) {
    const Amount stored_in_parent = usage_(node, fr) - local_(node, fr);
    SetUsage(node, fr, usage_(node, fr) - amount);
    if (stored_in_parent <= Amount(0)) return;
    amount = Min(amount, stored_in_parent);
    node = forest_.Parent(node);
  }
}

bool Quota::WouldSaturate(NodeId queue, FlavorResourceId fr, Amount added) const {
  for (NodeId node = queue; node != kNoId; node = forest_.Parent(node)) {
    if ((usage_(node, fr) + added).IsUnlimited()) return true;
  }
  return false;
}

void Quota::Rollback(size_t mark) {
  while (log_.size() > mark) {
    const Change& change = log_.back();
    usage_(change.node, change.fr) = change.before;
    log_.pop_back();
  }
  --open_;
}

}  // namespace kueue
