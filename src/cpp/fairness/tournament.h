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

// A head of the cycle: the queue to charge, and the values that break ties between equal shares.
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
  // may change usage only by adding at most the usage of the head returned last to the queue of that head.
  // Cohort trees, and ClusterQueues without a cohort, share no quota with one another. Kueue processes the
  // trees in the random iteration order of a Go map. The order of the trees matters only if trees share nodes
  // of a topology. The tournament continues with the tree of the first remaining head. Heads that fit come
  // first; heads are then ordered by queue time and by queue name.
  size_t Pop();

 private:
  // The best head below a child of a Cohort, with the share that the child would have if the head were
  // admitted.
  struct Contender {
    size_t head;
    NodeId child;
    ShareRank share;
    bool borrows;  // Whether the head requests a flavor resource that the child borrows.
  };
  // The best head of each child of a Cohort, as a heap with the best of these heads at the front.
  using Bracket = std::vector<Contender>;
  struct Tree {
    std::vector<size_t> heads;
    bool is_built = false;
    bool may_saturate = false;
    // Queue of the head that was returned last. The heaps of the Cohorts above this queue are updated at the
    // next Pop().
    NodeId last = kNoId;
  };

  size_t PopFrom(NodeId root);
  void Build(NodeId root, Tree& tree);
  // Updates the heaps of the Cohorts above the queue after a head of the queue was removed.
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
  size_t next_ = 0;            // All heads at earlier positions of `order_` have been removed.
  absl::flat_hash_map<NodeId, Tree> trees_;
  absl::flat_hash_map<NodeId, Bracket> brackets_;
  // For each head of a tree whose usage may exceed the range of Amount: the shares of the nodes above the
  // queue of the head.
  std::vector<std::vector<std::pair<NodeId, Share>>> computed_;
};

}  // namespace kueue

#endif  // KUEUE_FAIRNESS_TOURNAMENT_H_
