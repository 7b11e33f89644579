// The numbers on the forest: quota and usage of every node, one dense table a fact.
// Mirrors pkg/cache/scheduler/resource_node.go (kueue ff69552e79).
#ifndef KUEUE_QUOTA_QUOTA_H_
#define KUEUE_QUOTA_QUOTA_H_

#include <Eigen/Core>
#include <vector>

#include "cohort/forest.h"
#include "model/ids.h"
#include "quantity/amount.h"

namespace Eigen {
template <>
struct NumTraits<kueue::Amount> : GenericNumTraits<kueue::Amount> {
  enum {  // NOLINTBEGIN(readability-identifier-naming): Eigen's names
    IsInteger = 1,
    IsSigned = 1,
    IsComplex = 0,
    RequireInitialization = 1,
    ReadCost = 1,
    AddCost = 3,
    MulCost = 3
  };  // NOLINTEND(readability-identifier-naming)
};
}  // namespace Eigen

namespace kueue {

// Row: node of the forest. Column: (flavor, resource) cell.
using Table = Eigen::Array<Amount, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// One cell and how much of it.
struct CellAmount {
  CellId cell;
  Amount amount;
};

// Quotas as declared, what follows from them, and the usage. An absent limit is Unlimited, an absent nominal
// 0.
class Quota {
 public:
  Forest& forest() { return forest_; }
  const Forest& forest() const { return forest_; }

  // Makes room for all nodes and `cells` columns.
  void Resize(int cells);
  void ClearNode(NodeId node);
  void SetCell(NodeId node, CellId cell, Amount nominal, Amount borrowing_limit, Amount lending_limit);
  // Recomputes subtree quotas, local quotas, potentials, and the usage of every Cohort from its queues'.
  void Rebuild();

  int cells() const { return static_cast<int>(nominal_.cols()); }
  int rows() const { return static_cast<int>(nominal_.rows()); }
  Amount Nominal(NodeId node, CellId cell) const { return nominal_(node, cell); }
  Amount BorrowingLimit(NodeId node, CellId cell) const { return borrowing_(node, cell); }
  Amount LendingLimit(NodeId node, CellId cell) const { return lending_(node, cell); }
  // What `node` and everything below it may use without borrowing from above.
  Amount Subtree(NodeId node, CellId cell) const { return subtree_(node, cell); }
  // The part of Subtree that is never lent to the parent.
  Amount Local(NodeId node, CellId cell) const { return local_(node, cell); }
  // The largest amount that `node` could ever hold.
  Amount Potential(NodeId node, CellId cell) const { return potential_(node, cell); }
  Amount Usage(NodeId node, CellId cell) const { return usage_(node, cell); }
  // Whether the cell is a key of the subtree quota: declared by the node or by one below it.
  bool IsDefined(NodeId node, CellId cell) const { return defined_(node, cell); }
  const Table& NominalTable() const { return nominal_; }
  const Table& UsageTable() const { return usage_; }
  const Table& SubtreeTable() const { return subtree_; }
  const Table& BorrowingTable() const { return borrowing_; }
  const Table& LendingTable() const { return lending_; }
  const Table& LocalTable() const { return local_; }
  const Table& PotentialTable() const { return potential_; }

  // Free capacity that only the node itself may use.
  Amount LocalAvailable(NodeId node, CellId cell) const {
    return Max(Amount(0), local_(node, cell) - usage_(node, cell));
  }
  // What the node may still use, with all that its ancestors would lend; negative where over-admitted.
  Amount RawAvailable(NodeId node, CellId cell) const;
  Amount Available(NodeId queue, CellId cell) const { return Max(Amount(0), RawAvailable(queue, cell)); }
  // Whether `amount` more would exceed the queue's nominal quota, or the Cohort's subtree quota.
  bool IsBorrowingWith(NodeId node, CellId cell, Amount amount) const {
    return usage_(node, cell) + amount > subtree_(node, cell);
  }
  bool IsBorrowing(NodeId node, CellId cell) const { return usage_(node, cell) > subtree_(node, cell); }

  struct Height {
    int height;
    bool smaller_than_tree;  // the subtree that fits is not the whole tree
  };
  // The lowest subtree around `queue` into whose quota `amount` more fits.
  // Mirrors pkg/scheduler/preemption/classical/hierarchical_preemption.go:FindHeightOfLowestSubtreeThatFits.
  Height LowestSubtreeThatFits(NodeId queue, CellId cell, Amount amount) const;

  // Charges a queue; what exceeds its local quota bubbles up.
  void Add(NodeId queue, CellId cell, Amount amount);
  void Remove(NodeId queue, CellId cell, Amount amount);

  // A trial: changes of usage after Mark() are undone, last first, by Rollback(mark).
  size_t Mark() {
    ++open_;
    return log_.size();
  }
  void Rollback(size_t mark);

 private:
  friend class Records;  // persist/records.h
  void SetUsage(NodeId node, CellId cell, Amount value) {
    Amount& slot = usage_(node, cell);
    if (open_ > 0) log_.push_back({node, cell, slot});
    slot = value;
  }

  // The node that usage bubbles up to; nothing bubbles through a cycle of Cohorts.
  NodeId Above(NodeId node) const { return forest_.HasCycle(node) ? kNoId : forest_.Parent(node); }

  struct Change {
    NodeId node;
    CellId cell;
    Amount before;
  };
  Forest forest_;
  Table nominal_, borrowing_, lending_, subtree_, local_, potential_, usage_;
  Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> declared_, defined_;
  std::vector<Change> log_;
  int open_ = 0;
};

}  // namespace kueue

#endif  // KUEUE_QUOTA_QUOTA_H_
