// Preemption candidates and their order. Mirrors pkg/scheduler/preemption/common (kueue ff69552e79).
#ifndef KUEUE_PREEMPTION_CANDIDATES_H_
#define KUEUE_PREEMPTION_CANDIDATES_H_

#include <algorithm>
#include <list>
#include <vector>

#include "model/message.h"
#include "state/state.h"

namespace kueue {

// The rule that permits the preemption of a candidate.
enum class Variant : uint8_t { kWithinQueue, kHierarchical, kWithoutBorrowing, kWhileBorrowing };

struct Candidate {
  WorkloadId workload;
  Variant variant;
  bool evicted;
  // Cohort under which the candidate was found; kNoId if it is in the preemptor's own queue.
  NodeId common_ancestor;
  int64_t priority;
  Time reserved;  // Time of the quota reservation; the current time if there is none.
  // Usage of the LocalQueue under admission fair sharing; negative if usage is not compared.
  double queue_usage;
};

// Order of candidates (CandidatesOrdering). Evicted workloads come first. Workloads of other queues precede
// those of the preemptor's own queue. Within one queue, workloads of LocalQueues with higher usage come
// first. Remaining ties are broken by lower priority, later quota reservation, and UID.
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

// A list of candidates that is sorted lazily, only up to the positions that are read.
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
  // Returns the i-th candidate in order. The reference is invalidated by the next non-const call.
  const Candidate& At(size_t i, const CandidateOrder& order);
  // Sorts all candidates at once. The result is defined even if `order` is not transitive.
  void SortAll(const State& state, const CandidateOrder& order);

 private:
  // The first `sorted_` items are sorted. The rest is a reversed heap with its top at the back.
  std::vector<Candidate> items_;
  size_t sorted_ = 0;
  bool heaped_ = false;
};

// All workloads of a tree that use a contested flavor resource, in candidate order. The list is shared by all
// preemptors of a cycle, because admitted workloads do not change during a cycle.
struct TreeCandidates {
  NodeId root;
  std::vector<FlavorResourceId> contested;
  CandidateList list;
  // Queues that use more than their own quota, and the Cohorts between these queues and the root, without the
  // root. Valid for the usage at `epoch`.
  std::vector<NodeId> exceeding;
  std::vector<bool> exceeds;  // By node.
  int64_t epoch = -1;
};

// Lists whose memory is reused between searches.
struct CandidateScratch {
  CandidateList lists[6];
  std::list<TreeCandidates> trees;
  int64_t epoch = 0;  // Incremented whenever usage changes between searches.
};

bool SatisfiesPolicy(const Workload& preemptor, const Workload& candidate, PreemptionPolicy policy);
// Returns whether the workload's charged usage contains one of the flavor resources, whatever the amount.
bool UsesAny(const Workload& workload, const std::vector<FlavorResourceId>& frs);
// Returns whether the node uses more than its own quota of any of the flavor resources.
inline bool IsBorrowingAny(const Quota& quota, NodeId node, const std::vector<FlavorResourceId>& frs) {
  return std::any_of(frs.begin(), frs.end(),
                     [&](FlavorResourceId fr) { return quota.IsBorrowing(node, fr); });
}
// Returns whether IsBorrowingAny() is true for the node and for all Cohorts between the node and `ancestor`.
// If `ancestor` is kNoId, all Cohorts up to the root must satisfy this.
bool AreBorrowingUpTo(const State& state, NodeId node, NodeId ancestor,
                      const std::vector<FlavorResourceId>& frs);
// Returns a candidate with the fields that CandidateOrder compares.
Candidate MakeCandidate(const State& state, WorkloadId id, Variant variant, NodeId common_ancestor);

}  // namespace kueue

#endif  // KUEUE_PREEMPTION_CANDIDATES_H_
