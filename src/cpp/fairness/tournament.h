// Order in which fair sharing processes the heads of a cycle. Mirrors pkg/scheduler/fair_sharing_iterator.go
// (kueue ff69552e79).
#ifndef KUEUE_FAIRNESS_TOURNAMENT_H_
#define KUEUE_FAIRNESS_TOURNAMENT_H_

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "fairness/share.h"
#include "quota/quota.h"
#include "state/state.h"

namespace kueue {

// One head: the queue to charge, and the values that break ties between equal shares.
struct Head {
  NodeId queue;
  int64_t priority;
  Time queue_time;
  bool is_preemptor;
  bool fits;  // Fits without preemption.
  // Usage that the admission of the head would charge. The array must outlive the tournament.
  const FlavorResourceAmount* usage;
  size_t usage_size;
};

class Tournament {
 public:
  // The tournament uses at most one head per queue: a later head of the same queue replaces an earlier head.
  // `state` and `heads` must outlive the tournament.
  Tournament(State& state, const std::vector<Head>& heads);
  bool HasNext() const { return remaining_ > 0; }
  // Returns the index of the next head at the current usage, and removes it. Between two calls, the caller
  // may only add usage to the queue of the head returned last, and at most the usage of that head. Cohort
  // trees, and ClusterQueues without a cohort, share no quota with one another. Kueue processes the trees in
  // the random iteration order of a Go map. The order of the trees matters only if trees share nodes of a
  // topology. The tournament continues with the tree of the first remaining head. Heads are ordered by
  // whether they fit, by queue time, and by queue name; heads that fit come first.
  size_t Pop();

 private:
  // The best head below a child of a cohort, with the share of that child as if the head were admitted.
  struct Contender {
    size_t head;
    NodeId child;
    Share share;
    bool borrows;  // Whether the head requests a flavor resource that the child borrows.
  };
  // The contenders of the children of a cohort, as a heap with the best contender at the front.
  using Bracket = std::vector<Contender>;
  struct Tree {
    std::vector<size_t> heads;
    bool is_built = false;
    bool may_saturate = false;
    // Queue of the head returned last. The brackets above this queue are updated at the next Pop().
    NodeId last = kNoId;
  };

  size_t PopFrom(NodeId root);
  void Build(NodeId root, Tree& tree);
  // Updates the brackets above the queue of a head that was removed.
  void Replace(NodeId queue);
  void Enter(size_t head, NodeId child);
  void RemoveFirst(Bracket& bracket);
  Share ShareWith(size_t head, NodeId node);
  // Stores the shares of all nodes above the queue of a head as if the head were admitted.
  void ComputeShares(size_t head);
  // Returns whether the usage of a node may exceed the range of Amount when heads of the tree are admitted.
  bool MaySaturate(const Tree& tree) const;
  bool IsBefore(const Contender& a, const Contender& b) const;

  State& state_;
  const std::vector<Head>& heads_;
  std::vector<bool> is_left_;  // By head.
  size_t remaining_ = 0;
  std::vector<size_t> order_;  // Indexes of all heads, in the order in which trees are selected.
  size_t next_ = 0;            // No head at an earlier position of `order_` remains.
  absl::flat_hash_map<NodeId, Tree> trees_;
  absl::flat_hash_map<NodeId, Bracket> brackets_;
  // By head, only in trees that may saturate: the shares of the nodes above the queue of the head.
  std::vector<std::vector<std::pair<NodeId, Share>>> computed_;
};

}  // namespace kueue

#endif  // KUEUE_FAIRNESS_TOURNAMENT_H_
