// Who may be preempted by whom, and in what order.
// Mirrors pkg/scheduler/preemption/common (kueue ff69552e79).
#ifndef KUEUE_PREEMPTION_CANDIDATES_H_
#define KUEUE_PREEMPTION_CANDIDATES_H_

#include <algorithm>
#include <list>
#include <vector>

#include "model/message.h"
#include "state/state.h"

namespace kueue {

// Why a candidate may be taken.
enum class Variant : uint8_t { kWithinQueue, kHierarchical, kWithoutBorrowing, kWhileBorrowing };

struct Candidate {
  WorkloadId workload;
  Variant variant;
  bool evicted;
  NodeId common_ancestor;  // the Cohort under which it was found; kNoId within the queue
  int64_t priority;
  Time reserved;       // when it got its quota; "now" where it has none
  double queue_usage;  // of its LocalQueue, with admission fair sharing; negative: none
};

// The order in which candidates are taken (CandidatesOrdering): evicted ones first, other queues' before the
// preemptor's own, within one queue the LocalQueue with more usage, then lower priority, later reservation,
// UID.
class CandidateOrder {
 public:
  CandidateOrder(const State& state, NodeId queue, bool by_usage = true)
      : state_(&state), queue_(queue), by_usage_(by_usage) {}
  bool operator()(const Candidate& a, const Candidate& b) const;

 private:
  const State* state_;
  NodeId queue_;
  bool by_usage_;
};

// Candidates in order, sorted only as far as they are looked at.
class CandidateList {
 public:
  void Clear() {
    items_.clear();
    sorted_ = 0;
    heaped_ = false;
  }
  void Push(const Candidate& candidate) { items_.push_back(candidate); }
  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }
  // The i-th in order.
  const Candidate& At(size_t i, const CandidateOrder& order);
  // Sorts all of it, from the order in which queues were pushed, by a sort that no inconsistent comparison
  // can break.
  void SortAll(const State& state, const CandidateOrder& order);

 private:
  // The first `sorted_` items are in order; the rest is a heap, reversed, with its top at the back.
  std::vector<Candidate> items_;
  size_t sorted_ = 0;
  bool heaped_ = false;
};

// All workloads of a tree that use one of the contested flavor resources, in the order they would be taken:
// the same for every preemptor of a cycle, as admitted workloads stay what they are until its end.
struct TreeCandidates {
  NodeId root;
  std::vector<FlavorResourceId> contested;
  CandidateList list;
  // The queues that use more than their own, with every Cohort above them below the root; as of usage
  // `epoch`.
  std::vector<NodeId> exceeding;
  std::vector<bool> exceeds;  // by node
  int64_t epoch = -1;
};

// Lists that keep their memory from search to search.
struct CandidateScratch {
  CandidateList lists[6];
  std::list<TreeCandidates> trees;
  int64_t epoch = 0;  // changes with every change of usage between searches
};

bool SatisfiesPolicy(const Workload& preemptor, const Workload& candidate, PreemptionPolicy policy);
// Whether the workload has one of the flavors of the contested flavor resources assigned, whatever the
// quantity.
bool UsesAny(const Workload& workload, const std::vector<FlavorResourceId>& frs);
// Whether the node uses more than its own quota of one of the contested flavor resources.
inline bool IsBorrowingAny(const Quota& quota, NodeId node, const std::vector<FlavorResourceId>& frs) {
  return std::any_of(frs.begin(), frs.end(),
                     [&](FlavorResourceId fr) { return quota.IsBorrowing(node, fr); });
}
// Whether the node does, and every Cohort between it and `ancestor`; kNoId: up to the root.
bool AreBorrowingUpTo(const State& state, NodeId node, NodeId ancestor,
                      const std::vector<FlavorResourceId>& frs);
// Fills in what the order compares.
Candidate MakeCandidate(const State& state, WorkloadId id, Variant variant, NodeId common_ancestor);

}  // namespace kueue

#endif  // KUEUE_PREEMPTION_CANDIDATES_H_
