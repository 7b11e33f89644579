// Preemption candidates and their order. Mirrors pkg/scheduler/preemption/common (kueue ff69552e79).
#ifndef KUEUE_PREEMPTION_CANDIDATES_H_
#define KUEUE_PREEMPTION_CANDIDATES_H_

#include <algorithm>
#include <list>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "model/message.h"
#include "state/state.h"

namespace kueue {

using FlavorResources = absl::InlinedVector<FlavorResourceId, 2>;

// The rule that permits the preemption of a candidate.
enum class Variant : uint8_t { kWithinQueue, kHierarchical, kWithoutBorrowing, kWhileBorrowing };

struct Candidate {
  WorkloadId workload;
  Variant variant;
  bool evicted;
  // Cohort under which the candidate was found; kNoId if the candidate is in the preemptor's own queue.
  NodeId common_ancestor;
  int64_t priority;
  Time reserved;  // Time of the quota reservation; the current time if there is none.
  // Usage of the LocalQueue under admission fair sharing; negative if usage is not compared.
  double queue_usage;
  NodeId charged;  // Queue whose quota the workload uses.
};

// Order of candidates (CandidatesOrdering). Evicted workloads come first. Workloads of other queues precede
// workloads of the preemptor's own queue. Within one queue, workloads of LocalQueues with higher usage come
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

// Sorts an array of candidates lazily, only up to the positions that are read.
class LazyOrder {
 public:
  // Returns the i-th candidate in candidate order. Pass the same array in every call.
  const Candidate& At(Candidate* items, size_t size, size_t i, const CandidateOrder& order);
  // Marks the first `size` items as sorted.
  void Finish(size_t size) { sorted_ = size; }

 private:
  // The first `sorted_` items are sorted. The remaining items are a reversed heap with its top at the back.
  size_t sorted_ = 0;
  bool heaped_ = false;
};

// A list of candidates that is sorted lazily.
class CandidateList {
 public:
  void Clear() {
    items_.clear();
    lazy_ = LazyOrder();
  }
  void Push(const Candidate& candidate) { items_.push_back(candidate); }
  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }
  // Returns all candidates, in no particular order.
  const std::vector<Candidate>& items() const { return items_; }
  // Returns the i-th candidate in candidate order. The reference is valid until candidates are added or
  // removed.
  const Candidate& At(size_t i, const CandidateOrder& order) {
    return lazy_.At(items_.data(), items_.size(), i, order);
  }
  // Sorts all candidates at once. The result is well-defined even if `order` is not transitive.
  void SortAll(const State& state, const CandidateOrder& order);

 private:
  std::vector<Candidate> items_;
  LazyOrder lazy_;
};

// What a queue loses if its candidates are preempted, in candidate order, until the queue no longer exceeds
// its quota of the contested flavor resources.
struct QueueLoss {
  absl::InlinedVector<FlavorResourceAmount, 2> usage;
  absl::InlinedVector<WorkloadId, 4> workloads;
};

// All workloads of a tree that use a contested flavor resource, shared by all preemptors of a cycle. Searches
// consider only the workloads in queues that use more than their quota.
class TreeCandidates {
 public:
  TreeCandidates(NodeId root, const FlavorResources& contested) : root_(root), contested_(contested) {}
  bool Is(NodeId root, const FlavorResources& contested) const {
    return root == root_ && contested == contested_;
  }
  // Lists the workloads on the first call, and does nothing on later calls. The list contains the current
  // state of the workloads, so call this function before the cycle evicts a workload.
  void Fill(const State& state);
  // Finds the queues that exceed their quota, unless `epoch` equals the epoch of the last call. Later calls
  // of At(), LossOf() and FullLossOf() skip the workloads in `excluded`, which must not change during the
  // epoch. A null set is empty.
  void Update(const State& state, const absl::flat_hash_set<WorkloadId>* excluded, int64_t epoch);

  // A queue that uses more than its own quota, and whose ancestor Cohorts, except the root, use more than
  // theirs.
  struct Exceeding {
    NodeId queue;
    size_t place;  // In Forest::QueuesOfTree(root).
  };
  const std::vector<Exceeding>& exceeding() const { return exceeding_; }
  bool has_evicted() const { return has_evicted_; }
  // Returns the i-th candidate of the queues in exceeding(), in candidate order, or nullptr if there is none.
  // Call Fill() and Update() before this function. The result is valid until the next Update().
  const Candidate* At(size_t i, const CandidateOrder& order);
  // Returns the loss of a queue that is not the preemptor's own. `may_be_taken` returns whether the preemptor
  // may preempt a candidate. Call Fill() and Update() before this function.
  template <typename MayBeTaken>
  QueueLoss LossOf(const State& state, const Exceeding& exceeding, const CandidateOrder& order,
                   MayBeTaken may_be_taken) {
    QueueLoss loss;
    Cursor cursor{&parts_[exceeding.place], 0, nullptr};
    while (Advance(cursor, order)) {
      if (!may_be_taken(*cursor.first)) continue;
      if (!Add(state, exceeding.queue, cursor.first->workload, loss)) break;
    }
    return loss;
  }
  // Same as LossOf() for a preemptor that may preempt all candidates. The result is cached as long as it is
  // the same. The next call for the same queue invalidates the reference.
  const QueueLoss& FullLossOf(const State& state, const Exceeding& exceeding, const CandidateOrder& order);

 private:
  // Candidates of one queue, which are adjacent in `items_`.
  struct Part {
    size_t begin, size;
    LazyOrder lazy;
    // The last result of FullLossOf(), with the usage of the contested flavor resources and the set of
    // excluded workloads at that time.
    QueueLoss loss;
    absl::InlinedVector<Amount, 2> usage;
    const absl::flat_hash_set<WorkloadId>* excluded = nullptr;
    size_t excluded_size = 0;
  };
  // Adds the usage of a candidate to the loss of its queue. Returns whether the queue still exceeds its
  // quota.
  bool Add(const State& state, NodeId queue, WorkloadId candidate, QueueLoss& loss) const;
  bool IsCurrent(const State& state, NodeId queue, Part& part) const;
  struct Cursor {
    Part* part;
    size_t next;
    const Candidate* first;
  };
  void Begin(const CandidateOrder& order);
  // Moves the cursor to the next candidate that is not excluded. Returns false if there is none.
  bool Advance(Cursor& cursor, const CandidateOrder& order);

  NodeId root_;
  FlavorResources contested_;
  bool is_listed_ = false, has_evicted_ = false;
  std::vector<Candidate> items_;
  std::vector<Part> parts_;  // Indexed by the position of the queue in the tree.
  std::vector<Exceeding> exceeding_;
  const absl::flat_hash_set<WorkloadId>* excluded_ = nullptr;
  int64_t epoch_ = -1;
  bool has_begun_ = false;
  // The first candidates of the queues in `exceeding_`, in candidate order.
  std::vector<const Candidate*> merged_;
  // Cursors for the remaining candidates, as a heap with the next candidate on top.
  std::vector<Cursor> cursors_;
};

// Returns whether the set contains the workload. A null set is empty.
inline bool Contains(const absl::flat_hash_set<WorkloadId>* workloads, WorkloadId id) {
  return workloads != nullptr && workloads->contains(id);
}

// Lists whose memory is reused for later searches.
struct CandidateScratch {
  CandidateList lists[6];
  std::list<TreeCandidates> trees;
  int64_t epoch = 0;  // A counter that is incremented when usage has changed since the last search.
};

bool SatisfiesPolicy(const Workload& preemptor, const Workload& candidate, PreemptionPolicy policy);
// Returns true if the workload's charged usage has an entry for any of the flavor resources, even if the
// amount is 0.
bool UsesAny(const Workload& workload, absl::Span<const FlavorResourceId> frs);
// Returns whether the node uses more than its own quota of any of the flavor resources.
inline bool IsBorrowingAny(const Quota& quota, NodeId node, absl::Span<const FlavorResourceId> frs) {
  for (const FlavorResourceId fr : frs) {  // Usually one, for which std::any_of is several times slower.
    if (quota.IsBorrowing(node, fr)) return true;
  }
  return false;
}
// Returns whether IsBorrowingAny() is true for the node and for all Cohorts between the node and `ancestor`.
// If `ancestor` is kNoId, all Cohorts up to the root are checked.
inline bool AreBorrowingUpTo(const State& state, NodeId node, NodeId ancestor,
                             absl::Span<const FlavorResourceId> frs) {
  for (; node != ancestor; node = state.forest().Parent(node)) {
    if (!IsBorrowingAny(state.quota, node, frs)) return false;
  }
  return true;
}
// Returns a candidate with the fields that CandidateOrder compares.
Candidate MakeCandidate(const State& state, WorkloadId id, Variant variant, NodeId common_ancestor);

}  // namespace kueue

#endif  // KUEUE_PREEMPTION_CANDIDATES_H_
