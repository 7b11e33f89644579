// The order in which fair sharing processes the heads of a cycle.
// Mirrors pkg/scheduler/fair_sharing_iterator.go (kueue ff69552e79).
#ifndef KUEUE_FAIRNESS_TOURNAMENT_H_
#define KUEUE_FAIRNESS_TOURNAMENT_H_

#include <map>
#include <vector>

#include "fairness/share.h"
#include "quota/quota.h"
#include "state/state.h"

namespace kueue {

// One head: where it would be charged, and what decides between equal shares.
struct Head {
  NodeId queue;
  int64_t priority;
  Time queue_time;
  bool is_preemptor;
  bool fits;                          // without preemption
  const FlavorResourceAmount* usage;  // what its admission would charge
  size_t usage_size;
};

class Tournament {
 public:
  // One head a queue; a later one of the same queue replaces the earlier.
  Tournament(State& state, const std::vector<Head>& heads);
  bool HasNext() const { return !by_queue_.empty(); }
  // The index of the next head at the current usage. Trees of cohorts, and ClusterQueues without a cohort,
  // share no quota. Kueue takes them in the random order of a Go map, which matters only where they share
  // nodes. Here the next tree is that of the first remaining head: heads that fit come first, then earlier
  // queue times, then names.
  size_t Pop();

 private:
  struct AncestorShares {  // the shares of one head's ancestors' children, from its queue's parent up
    std::vector<std::pair<NodeId, Share>> at;
  };
  bool IsLeft(size_t index) const;
  void ComputeShares(NodeId root);
  // Of one head, as if it was admitted.
  void ComputeSharesOf(size_t index);
  // Whether the usage of some node would be more than an Amount can hold.
  bool Saturates(const Head& head) const;
  size_t RunTournament(NodeId cohort) const;
  bool Less(size_t a, size_t b, NodeId cohort) const;
  const Share& ShareAt(size_t head, NodeId cohort) const;

  State& state_;
  const std::vector<Head>& heads_;
  std::map<std::string, size_t> by_queue_;  // the remaining heads, by name
  std::vector<size_t> order_;               // of all heads
  size_t next_ = 0;                         // no head before this place in `order_` remains
  std::vector<AncestorShares> standings_;
};

}  // namespace kueue

#endif  // KUEUE_FAIRNESS_TOURNAMENT_H_
