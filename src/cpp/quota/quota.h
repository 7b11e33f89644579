// Quotas and usage of every node of the forest, with one dense table for each kind of value. Mirrors
// pkg/cache/scheduler/resource_node.go (kueue ff69552e79).
#ifndef KUEUE_QUOTA_QUOTA_H_
#define KUEUE_QUOTA_QUOTA_H_

#include <Eigen/Core>
#include <vector>

#include "absl/base/optimization.h"
#include "cohort/forest.h"
#include "model/ids.h"
#include "model/paged.h"
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

// A table with one row for each node of the forest and one column for each (flavor, resource) pair.
template <typename Scalar>
class TableOf : public Eigen::Array<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> {
  using Base = Eigen::Array<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

 public:
  using Base::Base;
  Scalar& operator()(NodeId node, FlavorResourceId fr) { return Base::operator()(node.value(), fr.value()); }
  const Scalar& operator()(NodeId node, FlavorResourceId fr) const {
    return Base::operator()(node.value(), fr.value());
  }
  IdRange<NodeId> Nodes() const { return IdRange<NodeId>(static_cast<size_t>(Base::rows())); }
  IdRange<FlavorResourceId> FlavorResources() const {
    return IdRange<FlavorResourceId>(static_cast<size_t>(Base::cols()));
  }
  auto Row(NodeId node) { return Base::row(node.value()); }
};
using Table = TableOf<Amount>;

// An amount of one flavor resource.
struct FlavorResourceAmount {
  FlavorResourceId fr;
  Amount amount;
};

// Declared quotas, and the values derived from them. An absent limit is Unlimited; an absent nominal quota
// is 0.
struct QuotaLimits {
  Table nominal, borrowing, lending;
  Table subtree;    // Amount that a node and its descendants may use without borrowing from the parent.
  Table local;      // Amount of the subtree quota that is never lent to the parent.
  Table potential;  // Largest amount that a node can ever use.
  TableOf<bool> declared;
  TableOf<bool> defined;  // Whether the node or one of its descendants declares a quota.
};

// The quotas and the usage of all nodes.
class Quota {
 public:
  Forest& forest() { return forest_; }
  const Forest& forest() const { return forest_; }

  // Resizes the tables to all nodes of the forest and `flavor_resources` columns.
  void Resize(size_t flavor_resources);
  void ClearNode(NodeId node);
  void SetQuota(NodeId node, FlavorResourceId fr, Amount nominal, Amount borrowing_limit,
                Amount lending_limit);
  // Recomputes subtree quotas, local quotas, potentials, and the usage of every Cohort from the usage of its
  // queues. `nodes` must contain whole trees, parents before children.
  void Rebuild(const std::vector<NodeId>& nodes);

  // Returns whether the tables have at least this many columns.
  bool HasColumns(size_t flavor_resources) const {
    return flavor_resources <= static_cast<size_t>(limits_->nominal.cols());
  }
  // Returns the flavor resources that have a column.
  IdRange<FlavorResourceId> FlavorResources() const { return limits_->nominal.FlavorResources(); }
  const QuotaLimits& limits() const { return *limits_; }
  const Table& usage() const { return usage_; }
  Amount Usage(NodeId node, FlavorResourceId fr) const { return usage_(node, fr); }

  // Unused amount that only the node itself may use.
  Amount LocalAvailable(NodeId node, FlavorResourceId fr) const {
    return Max(Amount(0), limits_->local(node, fr) - usage_(node, fr));
  }
  // Amount that the node may still use, including everything that its ancestors would lend; negative if the
  // usage exceeds the quota.
  Amount RawAvailable(NodeId node, FlavorResourceId fr) const;
  Amount Available(NodeId queue, FlavorResourceId fr) const {
    return Max(Amount(0), RawAvailable(queue, fr));
  }
  // Returns whether additional usage of `amount` would exceed the nominal quota of a queue or the subtree
  // quota of a Cohort.
  bool IsBorrowingWith(NodeId node, FlavorResourceId fr, Amount amount) const {
    return usage_(node, fr) + amount > limits_->subtree(node, fr);
  }
  bool IsBorrowing(NodeId node, FlavorResourceId fr) const {
    return usage_(node, fr) > limits_->subtree(node, fr);
  }

  // Add usage to a queue, or remove usage from it. Usage above the local quota propagates to the parent.
  void Add(NodeId queue, FlavorResourceId fr, Amount amount);
  void Remove(NodeId queue, FlavorResourceId fr, Amount amount);

  // Returns by how much the usage of the parent decreases if `amount` is removed from the node.
  Amount PassedOn(NodeId node, FlavorResourceId fr, Amount amount) const {
    const Amount stored_in_parent = usage_(node, fr) - limits_->local(node, fr);
    return stored_in_parent <= Amount(0) ? Amount(0) : Min(amount, stored_in_parent);
  }

  // Starts a trial. Rollback(mark) undoes all changes of usage made after the matching Mark(), latest first.
  // Between Part() and Join(), a trial concerns the tree of `node`.
  size_t Mark(NodeId node) {
    Log& log = LogOf(node);
    ++log.open;
    return log.changes.size();
  }
  void Rollback(size_t mark, NodeId node);
  // Returns whether a trial is active.
  bool IsOnTrial() const { return log_.open > 0; }

  // Divides the trees into kParts parts. Until Join(), threads may change the usage of trees of different
  // parts at the same time. The changes belong to the current trial.
  static constexpr size_t kParts = 16;
  size_t PartOf(NodeId node) const {
    return static_cast<uint32_t>(forest_.Root(node).value()) * uint32_t{0x9E3779B9} >> 28;
  }
  void Part();
  void Join();

 private:
  friend class FieldLists;  // persist/field_lists.h
  // Position of a value in the tables.
  Eigen::Index CellOf(NodeId node, FlavorResourceId fr) const {
    return node.value() * usage_.cols() + fr.value();
  }
  struct Change {
    NodeId node;
    FlavorResourceId fr;
    Amount before;
  };
  struct Log {
    std::vector<Change> changes;
    int open = 0;  // Number of active trials.
  };
  // All nodes of a tree have the same log.
  Log& LogOf(NodeId node) { return ABSL_PREDICT_TRUE(parts_.empty()) ? log_ : parts_[PartOf(node)]; }
  // Returns null if no trial is active.
  Log* OpenLogOf(NodeId node) {
    Log& log = LogOf(node);
    return log.open > 0 ? &log : nullptr;
  }
  Forest forest_;
  Shared<QuotaLimits> limits_;
  Table usage_;
  Log log_;
  std::vector<Log> parts_;  // By part of the trees; empty except between Part() and Join().
};

struct SubtreeHeight {
  int height;
  bool smaller_than_tree;  // Whether the subtree is smaller than the whole tree.
};
// Returns the height of the lowest subtree that contains `queue` and whose quota can accommodate an
// additional `amount`. Mirrors
// pkg/scheduler/preemption/classical/hierarchical_preemption.go:FindHeightOfLowestSubtreeThatFits.
SubtreeHeight LowestSubtreeThatFits(const Quota& quota, NodeId queue, FlavorResourceId fr, Amount amount);
// Returns whether additional usage of `added` would make the usage of the queue or of one of its ancestors
// exceed the range of Amount.
bool WouldSaturate(const Quota& quota, NodeId queue, FlavorResourceId fr, Amount added);
// Returns RawAvailable() of all nodes; 0 for nodes that are in no tree. Takes one step per node, whereas
// RawAvailable() takes one step per ancestor.
Table RawAvailableOfAll(const Quota& quota);

}  // namespace kueue

#endif  // KUEUE_QUOTA_QUOTA_H_
