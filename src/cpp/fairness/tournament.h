// Order in which fair sharing processes the heads of a cycle. Mirrors pkg/scheduler/fair_sharing_iterator.go
// (kueue ff69552e79).
#ifndef KUEUE_FAIRNESS_TOURNAMENT_H_
#define KUEUE_FAIRNESS_TOURNAMENT_H_

#include <vector>

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
  // Usage that an admission would charge. The array must outlive the tournament.
  const FlavorResourceAmount* usage;
  size_t usage_size;
};

class Tournament {
 public:
  // Uses at most one head per queue; a later head of the same queue replaces an earlier head. The references
  // must outlive the tournament.
  Tournament(State& state, const std::vector<Head>& heads);
  bool HasNext() const { return remaining_ > 0; }
  // Returns the index of the next head at the current usage, and removes it. Cohort trees, and ClusterQueues
  // without a cohort, share no quota; Kueue processes them in the random order of a Go map. This order
  // matters only if trees share nodes of a topology. Here, the next tree is the tree of the first remaining
  // head. For this purpose, heads that fit come first, and heads are then ordered by queue time and by queue
  // name.
  size_t Pop();

 private:
  // Shares of the nodes on the path from the queue of one head to the root, each stored with its parent.
  struct AncestorShares {
    std::vector<std::pair<NodeId, Share>> at;
    // Usage of these nodes when the shares were computed, by node and flavor resource. The shares depend on
    // no other usage.
    std::vector<Amount> seen;
  };
  bool IsLeft(size_t index) const { return head_of_[static_cast<size_t>(heads_[index].queue)] == index; }
  void ComputeShares(NodeId root);
  // Computes the shares as if the head were admitted, unless they are known for the current usage.
  void ComputeSharesOf(size_t index);
  // Stores the current usage of the nodes whose shares are computed. Returns whether it has changed.
  bool UpdateSeen(const Head& head, AncestorShares& standing) const;
  // Returns whether admitting the head would make the usage of a node exceed the range of Amount.
  bool Saturates(const Head& head) const;
  size_t RunTournament(NodeId cohort) const;
  bool Less(size_t a, size_t b, NodeId cohort) const;
  const Share& ShareAt(size_t head, NodeId cohort) const;

  State& state_;
  const std::vector<Head>& heads_;
  std::vector<size_t> head_of_;  // By node: index of the remaining head; kNobody if there is none.
  std::vector<size_t> by_name_;  // Indexes of all heads, by queue name.
  std::vector<size_t> order_;    // Indexes of all heads, in the order in which trees are selected.
  size_t remaining_ = 0;
  size_t next_ = 0;  // No head before this position of `order_` remains.
  std::vector<AncestorShares> standings_;
};

}  // namespace kueue

#endif  // KUEUE_FAIRNESS_TOURNAMENT_H_
