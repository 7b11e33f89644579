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
  grown.topLeftCorner(old_rows, old_cols) = table;
  table.swap(grown);
}

// Returns the available amount of a node, at a position of the tables, to which the parent offers
// `from_parent`.
Amount AvailableBelow(const QuotaLimits& limits, Eigen::Index index, Amount used, Amount from_parent) {
  const Amount total = limits.subtree.data()[index], local = limits.local.data()[index];
  const Amount borrowing = limits.borrowing.data()[index];
  const bool is_local = used <= local;  // Whether the parent provides nothing now.
  if (!borrowing.IsUnlimited()) {
    const Amount in_parent = total - local;
    from_parent = Min((is_local ? in_parent : in_parent - (used - local)) + borrowing, from_parent);
  }
  return is_local ? local - used + from_parent : from_parent;
}

}  // namespace

void Quota::Resize(size_t flavor_resources) {
  const auto rows = static_cast<Eigen::Index>(forest_.size()),
             cols = std::max(static_cast<Eigen::Index>(flavor_resources), limits_->nominal.cols());
  if (rows == limits_->nominal.rows() && cols == limits_->nominal.cols()) return;
  QuotaLimits& limits = limits_.Edit();
  for (Table* table : {&limits.nominal, &limits.subtree, &limits.local, &limits.potential, &usage_})
    Grow(*table, rows, cols, Amount(0));
  for (Table* table : {&limits.borrowing, &limits.lending}) Grow(*table, rows, cols, Amount::Unlimited());
  for (TableOf<bool>* flags : {&limits.declared, &limits.defined}) {
    TableOf<bool> grown = TableOf<bool>::Constant(rows, cols, false);
    grown.topLeftCorner(flags->rows(), flags->cols()) = *flags;
    flags->swap(grown);
  }
}

void Quota::ClearNode(NodeId node) {
  if (node.value() >= limits_->nominal.rows()) return;
  QuotaLimits& limits = limits_.Edit();
  limits.nominal.Row(node).setConstant(Amount(0));
  limits.borrowing.Row(node).setConstant(Amount::Unlimited());
  limits.lending.Row(node).setConstant(Amount::Unlimited());
  limits.declared.Row(node).setConstant(false);
}

void Quota::SetQuota(NodeId node, FlavorResourceId fr, Amount nominal, Amount borrowing_limit,
                     Amount lending_limit) {
  QuotaLimits& limits = limits_.Edit();
  limits.nominal(node, fr) = nominal;
  limits.borrowing(node, fr) = borrowing_limit;
  limits.lending(node, fr) = lending_limit;
  limits.declared(node, fr) = true;
}

void Quota::Rebuild(const std::vector<NodeId>& nodes) {
  QuotaLimits& limits = limits_.Edit();
  for (NodeId node : nodes) {
    for (Table* table : {&limits.subtree, &limits.local, &limits.potential})
      table->Row(node) = limits.nominal.Row(node);
    limits.defined.Row(node) = limits.declared.Row(node);
    if (!forest_.IsClusterQueue(node)) usage_.Row(node).setConstant(Amount(0));
  }
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {  // Children before parents.
    const NodeId node = *it, parent = forest_.Parent(node);
    if (HasCycle(forest_, node)) continue;  // A node below a cycle only has its own quota.
    for (FlavorResourceId fr : FlavorResources()) {
      const Amount local = Max(Amount(0), limits.subtree(node, fr) - limits.lending(node, fr));
      limits.local(node, fr) = local;
      if (parent == kNoId) continue;
      limits.subtree(parent, fr) += limits.subtree(node, fr) - local;
      usage_(parent, fr) += Max(Amount(0), usage_(node, fr) - local);
      limits.defined(parent, fr) = limits.defined(parent, fr) || limits.defined(node, fr);
    }
  }
  for (NodeId node : nodes) {  // Parents before children.
    const NodeId parent = forest_.Parent(node);
    for (FlavorResourceId fr : FlavorResources()) {
      limits.potential(node, fr) = parent == kNoId
                                       ? limits.subtree(node, fr)
                                       : Min(limits.local(node, fr) + limits.potential(parent, fr),
                                             limits.subtree(node, fr) + limits.borrowing(node, fr));
    }
  }
}

Amount Quota::RawAvailable(NodeId node, FlavorResourceId fr) const {
  const NodeId parent = forest_.Parent(node);
  const Eigen::Index index = CellOf(node, fr);
  const Amount used = usage_.data()[index];
  if (parent == kNoId) return limits_->subtree.data()[index] - used;
  return AvailableBelow(*limits_, index, used, RawAvailable(parent, fr));
}

void Quota::Add(NodeId queue, FlavorResourceId fr, Amount amount) {
  const Amount* const local = limits_->local.data();
  Log* const log = OpenLogOf(queue);
  for (NodeId node = queue; node != kNoId;) {
    const NodeId parent = forest_.Parent(node);
    const Eigen::Index index = CellOf(node, fr);
    const Amount used = usage_.data()[index];
    if (log != nullptr) log->changes.push_back({node, fr, used});
    usage_.data()[index] = used + amount;
    if (parent == kNoId) return;
    const Amount local_available = Max(Amount(0), local[index] - used);
    if (amount <= local_available) return;
    amount -= local_available;
    node = parent;
  }
}

void Quota::Remove(NodeId queue, FlavorResourceId fr, Amount amount) {
  const Amount* const local = limits_->local.data();
  Log* const log = OpenLogOf(queue);
  for (NodeId node = queue; node != kNoId;) {
    const NodeId parent = forest_.Parent(node);
    const Eigen::Index index = CellOf(node, fr);
    const Amount used = usage_.data()[index];
    if (log != nullptr) log->changes.push_back({node, fr, used});
    usage_.data()[index] = used - amount;
    if (parent == kNoId) return;
    const Amount stored_in_parent = used - local[index];
    if (stored_in_parent <= Amount(0)) return;
    amount = Min(amount, stored_in_parent);
    node = parent;
  }
}

void Quota::Rollback(size_t mark, NodeId node) {
  Log& log = LogOf(node);
  while (log.changes.size() > mark) {
    const Change& change = log.changes.back();
    usage_.data()[CellOf(change.node, change.fr)] = change.before;
    log.changes.pop_back();
  }
  --log.open;
}

void Quota::Part() { parts_.assign(kParts, Log{{}, log_.open}); }

void Quota::Join() {
  for (const Log& part : parts_) {
    log_.changes.insert(log_.changes.end(), part.changes.begin(), part.changes.end());
  }
  parts_.clear();
}

SubtreeHeight LowestSubtreeThatFits(const Quota& quota, NodeId queue, FlavorResourceId fr, Amount amount) {
  const Forest& forest = quota.forest();
  const NodeId parent = forest.Parent(queue);
  if (parent == kNoId || !quota.IsBorrowingWith(queue, fr, amount)) return {0, parent != kNoId};
  Amount remaining = amount - quota.LocalAvailable(queue, fr);
  NodeId root = parent;
  for (NodeId node = parent; node != kNoId; node = forest.Parent(node)) {
    if (!quota.IsBorrowingWith(node, fr, remaining)) {
      return {forest.Height(node), forest.Parent(node) != kNoId};
    }
    remaining -= quota.LocalAvailable(node, fr);
    root = node;
  }
  return {forest.Height(root), false};
}

Table RawAvailableOfAll(const Quota& quota) {
  const Table& usage = quota.usage();
  Table available = Table::Constant(usage.rows(), usage.cols(), Amount(0));
  for (NodeId node : quota.forest().TopDown()) {
    const NodeId parent = quota.forest().Parent(node);
    for (FlavorResourceId fr : quota.FlavorResources()) {
      const Eigen::Index index = node.value() * usage.cols() + fr.value();
      available(node, fr) =
          parent == kNoId ? quota.RawAvailable(node, fr)
                          : AvailableBelow(quota.limits(), index, usage(node, fr), available(parent, fr));
    }
  }
  return available;
}

bool WouldSaturate(const Quota& quota, NodeId queue, FlavorResourceId fr, Amount added) {
  for (NodeId node = queue; node != kNoId; node = quota.forest().Parent(node)) {
    if ((quota.Usage(node, fr) + added).IsUnlimited()) return true;
  }
  return false;
}

}  // namespace kueue
