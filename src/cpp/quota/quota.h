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

// Row: node of the forest. Column: (flavor, resource) flavor resource.
using Table = Eigen::Array<Amount, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// One flavor resource and how much of it.
struct FlavorResourceAmount {
  FlavorResourceId fr;
  Amount amount;
};

// Quotas as declared, what follows from them, and the usage. An absent limit is Unlimited, an absent nominal
// 0.
class Quota {
 public:
  Forest& forest() { return forest_; }
  const Forest& forest() const { return forest_; }

  // Makes room for all nodes and `flavor resources` columns.
  void Resize(int flavor_resources);
  void ClearNode(NodeId node);
  void SetQuota(NodeId node, FlavorResourceId fr, Amount nominal, Amount borrowing_limit,
                Amount lending_limit);
  // Recomputes subtree quotas, local quotas, potentials, and the usage of every Cohort from its queues'.
  void Rebuild();

  int flavor_resources() const { return static_cast<int>(nominal_.cols()); }
  int rows() const { return static_cast<int>(nominal_.rows()); }
  Amount Nominal(NodeId node, FlavorResourceId fr) const { return nominal_(node, fr); }
  Amount BorrowingLimit(NodeId node, FlavorResourceId fr) const { return borrowing_(node, fr); }
  Amount LendingLimit(NodeId node, FlavorResourceId fr) const { return lending_(node, fr); }
  // What `node` and everything below it may use without borrowing from above.
  Amount Subtree(NodeId node, FlavorResourceId fr) const { return subtree_(node, fr); }
  // The part of Subtree that is never lent to the parent.
  Amount Local(NodeId node, FlavorResourceId fr) const { return local_(node, fr); }
  // The largest amount that `node` could ever hold.
  Amount Potential(NodeId node, FlavorResourceId fr) const { return potential_(node, fr); }
  Amount Usage(NodeId node, FlavorResourceId fr) const { return usage_(node, fr); }
  // Whether the flavor resource is a key of the subtree quota: declared by the node or by one below it.
  bool IsDefined(NodeId node, FlavorResourceId fr) const { return defined_(node, fr); }
  const Table& NominalTable() const { return nominal_; }
  const Table& UsageTable() const { return usage_; }
  const Table& SubtreeTable() const { return subtree_; }
  const Table& BorrowingTable() const { return borrowing_; }
  const Table& LendingTable() const { return lending_; }
  const Table& LocalTable() const { return local_; }
  const Table& PotentialTable() const { return potential_; }

  // Free capacity that only the node itself may use.
  Amount LocalAvailable(NodeId node, FlavorResourceId fr) const {
    return Max(Amount(0), local_(node, fr) - usage_(node, fr));
  }
  // What the node may still use, with all that its ancestors would lend; negative where over-admitted.
  Amount RawAvailable(NodeId node, FlavorResourceId fr) const;
  Amount Available(NodeId queue, FlavorResourceId fr) const {
    return Max(Amount(0), RawAvailable(queue, fr));
  }
  // Whether `amount` more would exceed the queue's nominal quota, or the Cohort's subtree quota.
  bool IsBorrowingWith(NodeId node, FlavorResourceId fr, Amount amount) const {
    return usage_(node, fr) + amount > subtree_(node, fr);
  }
  bool IsBorrowing(NodeId node, FlavorResourceId fr) const { return usage_(node, fr) > subtree_(node, fr); }

  struct Height {
    int height;
    bool smaller_than_tree;  // the subtree that fits is not the whole tree
  };
  // The lowest subtree around `queue` into whose quota `amount` more fits.
  // Mirrors pkg/scheduler/preemption/classical/hierarchical_preemption.go:FindHeightOfLowestSubtreeThatFits.
  Height LowestSubtreeThatFits(NodeId queue, FlavorResourceId fr, Amount amount) const;

  // Charges a queue; what exceeds its local quota bubbles up.
  void Add(NodeId queue, FlavorResourceId fr, Amount amount);
  void Remove(NodeId queue, FlavorResourceId fr, Amount amount);

  // A trial: changes of usage after Mark() are undone, last first, by Rollback(mark).
  size_t Mark() {
    ++open_;
    return log_.size();
  }
  void Rollback(size_t mark);
  // Whether what is changed now will be undone.
  bool IsOnTrial() const { return open_ > 0; }

  // Whether the usage of the queue, or of a cohort above it, would be more than an Amount can hold.
  bool WouldSaturate(NodeId queue, FlavorResourceId fr, Amount added) const;

 private:
  friend class FieldLists;  // persist/field_lists.h
  void SetUsage(NodeId node, FlavorResourceId fr, Amount value) {
    Amount& slot = usage_(node, fr);
    if (open_ > 0) log_.push_back({node, fr, slot});
    slot = value;
  }

  struct Change {
    NodeId node;
    FlavorResourceId fr;
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
