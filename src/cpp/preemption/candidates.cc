// Mirrors pkg/scheduler/preemption/common/{ordering,preemption_policy}.go (kueue ff69552e79).
#include "preemption/candidates.h"

#include "fairness/ledger.h"

namespace kueue {

bool CandidateOrder::operator()(const Candidate& a, const Candidate& b) const {
  if (a.evicted != b.evicted) return a.evicted;
  const Workload &left = state_->At(a.workload), &right = state_->At(b.workload);
  const bool left_own = left.charged == queue_, right_own = right.charged == queue_;
  if (left_own != right_own) return right_own;
  if (by_usage_ && left.charged == right.charged && a.queue_usage >= 0 && b.queue_usage >= 0 &&
      a.queue_usage != b.queue_usage && left.spec->queue_name != right.spec->queue_name) {
    return a.queue_usage > b.queue_usage;
  }
  if (a.priority != b.priority) return a.priority < b.priority;
  if (a.reserved != b.reserved) return a.reserved > b.reserved;
  if (const int order = left.uid.compare(right.uid); order != 0) return order < 0;
  return left.serial < right.serial;
}

const Candidate& CandidateList::At(size_t i, const CandidateOrder& order) {
  if (sorted_ > i) return items_[i];
  const auto later = [&order](const Candidate& a, const Candidate& b) { return order(b, a); };
  // The heap is stored in reverse order behind the sorted part, so its top can be removed without moving
  // sorted items.
  if (!heaped_) {
    std::make_heap(items_.rbegin(), items_.rend() - static_cast<std::ptrdiff_t>(sorted_), later);
    heaped_ = true;
  }
  while (sorted_ <= i) {
    std::pop_heap(items_.rbegin(), items_.rend() - static_cast<std::ptrdiff_t>(sorted_), later);
    ++sorted_;
  }
  return items_[i];
}

// Sorts up to 12 candidates by insertion, as Go's pdqsort does. LocalQueue usage can make the comparison
// intransitive, and then the result depends on the algorithm.
void CandidateList::SortAll(const State& state, const CandidateOrder& order) {
  const auto by_uid = [&state](const Candidate& a, const Candidate& b) {
    const Workload &left = state.At(a.workload), &right = state.At(b.workload);
    return left.uid != right.uid ? left.uid < right.uid : left.serial < right.serial;
  };
  for (auto begin = items_.begin(); begin != items_.end();) {
    const NodeId queue = state.At(begin->workload).charged;
    const auto end = std::find_if(begin, items_.end(), [&](const Candidate& other) {
      return state.At(other.workload).charged != queue;
    });
    std::sort(begin, end, by_uid);
    begin = end;
  }
  constexpr size_t kInsertionSortLimit = 12;
  if (items_.size() > kInsertionSortLimit) {
    std::stable_sort(items_.begin(), items_.end(), order);
  } else {
    for (size_t i = 1; i < items_.size(); ++i) {
      for (size_t j = i; j > 0 && order(items_[j], items_[j - 1]); --j) std::swap(items_[j], items_[j - 1]);
    }
  }
  sorted_ = items_.size();
}

bool SatisfiesPolicy(const Workload& preemptor, const Workload& candidate, PreemptionPolicy policy) {
  const bool lower = preemptor.priority > candidate.priority;
  switch (policy) {
    case PreemptionPolicy::kNever:
      return false;
    case PreemptionPolicy::kAny:
      return true;
    case PreemptionPolicy::kLowerPriority:
      return lower;
    case PreemptionPolicy::kLowerOrNewerEqualPriority:
      return lower ||
             (preemptor.priority == candidate.priority && preemptor.queue_time < candidate.queue_time);
  }
  return false;
}

bool UsesAny(const Workload& workload, const std::vector<FlavorResourceId>& frs) {
  for (const auto& [fr, amount] : workload.usage) {
    for (FlavorResourceId contested : frs) {
      if (fr == contested) return true;
    }
  }
  return false;
}

bool AreBorrowingUpTo(const State& state, NodeId node, NodeId ancestor,
                      const std::vector<FlavorResourceId>& frs) {
  for (; node != ancestor; node = state.forest().Parent(node)) {
    if (!IsBorrowingAny(state.quota, node, frs)) return false;
  }
  return true;
}

Candidate MakeCandidate(const State& state, WorkloadId id, Variant variant, NodeId common_ancestor) {
  const Workload& workload = state.At(id);
  Candidate candidate{id, variant, workload.IsEvicted(), common_ancestor, workload.priority, state.now, -1.0};
  const Condition* reserved = workload.Find(ConditionType::kQuotaReserved);
  if (reserved != nullptr && reserved->status) candidate.reserved = reserved->transition;
  if (UsesAdmissionFairSharing(state, workload.charged)) {
    candidate.queue_usage = LocalQueueUsage(state, workload.local_queue);
  }
  return candidate;
}

}  // namespace kueue
