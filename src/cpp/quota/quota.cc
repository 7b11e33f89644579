// Mirrors pkg/cache/scheduler/resource_node.go (kueue ff69552e79).
#include "quota/quota.h"

#include <algorithm>

namespace kueue {
namespace {

// Keeps what is there; new cells get `fill`.
void Grow(Table& table, Eigen::Index rows, Eigen::Index cols, Amount fill) {
  const Eigen::Index old_rows = table.rows(), old_cols = table.cols();
  if (old_rows == rows && old_cols == cols) return;
  Table grown = Table::Constant(rows, cols, fill);
  if (old_rows > 0 && old_cols > 0) grown.topLeftCorner(old_rows, old_cols) = table;
  table.swap(grown);
}

}  // namespace

void Quota::Resize(int cells) {
  const Eigen::Index rows = forest_.size(), cols = std::max<Eigen::Index>(cells, nominal_.cols());
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

void Quota::SetCell(NodeId node, CellId cell, Amount nominal, Amount borrowing_limit, Amount lending_limit) {
  nominal_(node, cell) = nominal;
  borrowing_(node, cell) = borrowing_limit;
  lending_(node, cell) = lending_limit;
  declared_(node, cell) = true;
}

void Quota::Rebuild() {
  subtree_ = nominal_;
  defined_ = declared_;
  const std::vector<NodeId>& order = forest_.TopDown();
  for (NodeId node = 0; node < forest_.size(); ++node) {
    if (!forest_.IsClusterQueue(node)) usage_.row(node).setConstant(Amount(0));
  }
  for (auto it = order.rbegin(); it != order.rend(); ++it) {  // children before parents
    const NodeId node = *it, parent = forest_.Parent(node);
    for (CellId cell = 0; cell < cells(); ++cell) {
      const Amount local = Max(Amount(0), subtree_(node, cell) - lending_(node, cell));
      local_(node, cell) = local;
      if (parent == kNoId) continue;
      subtree_(parent, cell) += subtree_(node, cell) - local;
      usage_(parent, cell) += Max(Amount(0), usage_(node, cell) - local);
      defined_(parent, cell) = defined_(parent, cell) || defined_(node, cell);
    }
  }
  for (NodeId node : order) {  // parents before children
    const NodeId parent = forest_.Parent(node);
    for (CellId cell = 0; cell < cells(); ++cell) {
      potential_(node, cell) = parent == kNoId ? subtree_(node, cell)
                                               : Min(local_(node, cell) + potential_(parent, cell),
                                                     subtree_(node, cell) + borrowing_(node, cell));
    }
  }
}

Amount Quota::RawAvailable(NodeId node, CellId cell) const {
  const Amount total = subtree_(node, cell), used = usage_(node, cell);
  const NodeId parent = forest_.Parent(node);
  if (parent == kNoId) return total - used;
  const Amount local = local_(node, cell);
  Amount from_parent = RawAvailable(parent, cell);
  if (!borrowing_(node, cell).IsUnlimited()) {
    const Amount in_parent = total - local, used_in_parent = Max(Amount(0), used - local);
    from_parent = Min(in_parent - used_in_parent + borrowing_(node, cell), from_parent);
  }
  return Max(Amount(0), local - used) + from_parent;
}

Quota::Height Quota::LowestSubtreeThatFits(NodeId queue, CellId cell, Amount amount) const {
  const NodeId parent = forest_.Parent(queue);
  if (parent == kNoId || !IsBorrowingWith(queue, cell, amount)) return {0, parent != kNoId};
  Amount remaining = amount - LocalAvailable(queue, cell);
  NodeId root = parent;
  for (NodeId node = parent; node != kNoId; node = forest_.Parent(node)) {
    if (!IsBorrowingWith(node, cell, remaining)) return {forest_.Height(node), forest_.Parent(node) != kNoId};
    remaining -= LocalAvailable(node, cell);
    root = node;
  }
  return {forest_.Height(root), false};
}

void Quota::Add(NodeId queue, CellId cell, Amount amount) {
  for (NodeId node = queue; node != kNoId;) {
    const Amount local_available = LocalAvailable(node, cell);
    SetUsage(node, cell, usage_(node, cell) + amount);
    if (amount <= local_available) return;
    amount -= local_available;
    node = Above(node);
  }
}

void Quota::Remove(NodeId queue, CellId cell, Amount amount) {
  for (NodeId node = queue; node != kNoId;) {
    const Amount stored_in_parent = usage_(node, cell) - local_(node, cell);
    SetUsage(node, cell, usage_(node, cell) - amount);
    if (stored_in_parent <= Amount(0)) return;
    amount = Min(amount, stored_in_parent);
    node = Above(node);
  }
}

void Quota::Rollback(size_t mark) {
  while (log_.size() > mark) {
    const Change& change = log_.back();
    usage_(change.node, change.cell) = change.before;
    log_.pop_back();
  }
  --open_;
}

}  // namespace kueue
