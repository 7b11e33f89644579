// Mirrors pkg/scheduler/preemption/common/{ordering,preemption_policy}.go (kueue ff69552e79).
#include "preemption/candidates.h"

#include <iterator>

#include "fairness/ledger.h"

namespace kueue {

bool CandidateOrder::operator()(const Candidate& a, const Candidate& b) const {
  if (a.evicted != b.evicted) return a.evicted;
  const bool left_own = a.charged == queue_, right_own = b.charged == queue_;
  if (left_own != right_own) return right_own;
  if (by_usage_ && a.charged == b.charged && a.queue_usage >= 0 && b.queue_usage >= 0 &&
      a.queue_usage != b.queue_usage &&
      state_->At(a.workload).spec->queue_name != state_->At(b.workload).spec->queue_name) {
    return a.queue_usage > b.queue_usage;
  }
  if (a.priority != b.priority) return a.priority < b.priority;
  if (a.reserved != b.reserved) return a.reserved > b.reserved;
  const Workload &left = state_->At(a.workload), &right = state_->At(b.workload);
  if (const int order = left.uid.compare(right.uid); order != 0) return order < 0;
  return left.serial < right.serial;
}

const Candidate& LazyOrder::At(Candidate* items, size_t size, size_t i, const CandidateOrder& order) {
  if (sorted_ > i) return items[i];
  const auto later = [&order](const Candidate& a, const Candidate& b) { return order(b, a); };
  // The heap is stored in reverse order behind the sorted part, so its top can be removed without moving
  // sorted items.
  const auto begin = std::make_reverse_iterator(items + size);
  const auto end = [&] { return std::make_reverse_iterator(items + sorted_); };
  if (!heaped_) {
    std::make_heap(begin, end(), later);
    heaped_ = true;
  }
  while (sorted_ <= i) {
    std::pop_heap(begin, end(), later);
    ++sorted_;
  }
  return items[i];
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
  lazy_.Finish(items_.size());
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

bool UsesAny(const Workload& workload, absl::Span<const FlavorResourceId> frs) {
  for (const auto& [fr, amount] : workload.usage) {
    for (FlavorResourceId contested : frs) {
      if (fr == contested) return true;
    }
  }
  return false;
}

Candidate MakeCandidate(const State& state, WorkloadId id, Variant variant, NodeId common_ancestor) {
  const Workload& workload = state.At(id);
  Candidate candidate{id,        variant, workload.IsEvicted(), common_ancestor, workload.priority,
                      state.now, -1.0,    workload.charged};
  const Condition* reserved = workload.Find(ConditionType::kQuotaReserved);
  if (reserved != nullptr && reserved->status) candidate.reserved = reserved->transition;
  if (UsesAdmissionFairSharing(state, workload.charged)) {
    candidate.queue_usage = LocalQueueUsage(state, workload.local_queue);
  }
  return candidate;
}

void TreeCandidates::Fill(const State& state) {
  if (is_listed_) return;
  is_listed_ = true;
  for (NodeId queue : state.forest().QueuesOfTree(root_)) {
    const size_t begin = items_.size();
    if (state.forest().IsActive(queue)) {
      for (WorkloadId id : state.Queue(queue).workloads) {
        if (!UsesAny(state.At(id), contested_)) continue;
        items_.push_back(MakeCandidate(state, id, Variant::kHierarchical, root_));
        has_evicted_ = has_evicted_ || items_.back().evicted;
      }
    }
    Part& part = parts_.emplace_back();
    part.begin = begin;
    part.size = items_.size() - begin;
  }
}

void TreeCandidates::Update(const State& state, const absl::flat_hash_set<WorkloadId>* excluded,
                            int64_t epoch) {
  if (epoch_ == epoch) return;
  epoch_ = epoch;
  excluded_ = excluded;
  has_begun_ = false;
  exceeding_.clear();
  const absl::Span<const NodeId> queues = state.forest().QueuesOfTree(root_);
  const absl::Span<const FlavorResourceId> contested = contested_;
  for (size_t place = 0; place < queues.size(); ++place) {
    const NodeId queue = queues[place];
    // Few queues exceed their quota, so this test comes first.
    if (!IsBorrowingAny(state.quota, queue, contested)) continue;
    if (state.forest().IsActive(queue) &&
        AreBorrowingUpTo(state, state.forest().Parent(queue), root_, contested_))
      exceeding_.push_back({queue, place});
  }
}

bool TreeCandidates::Add(const State& state, NodeId queue, WorkloadId candidate, QueueLoss& loss) const {
  loss.workloads.push_back(candidate);
  const auto lost = [&loss](FlavorResourceId fr) {
    return std::find_if(loss.usage.begin(), loss.usage.end(),
                        [fr](const FlavorResourceAmount& entry) { return entry.fr == fr; });
  };
  for (const auto& [fr, amount] : state.At(candidate).usage) {
    if (auto* const known = lost(fr); known != loss.usage.end()) {
      known->amount += amount;
    } else {
      loss.usage.push_back({fr, amount});
    }
  }
  return std::any_of(contested_.begin(), contested_.end(), [&](FlavorResourceId fr) {
    const auto* const known = lost(fr);
    const Amount amount = known == loss.usage.end() ? Amount(0) : known->amount;
    return state.quota.Usage(queue, fr) - amount > state.quota.limits().subtree(queue, fr);
  });
}

// Within a cycle, workloads are only added to the set of excluded workloads.
bool TreeCandidates::IsCurrent(const State& state, NodeId queue, Part& part) const {
  if (part.usage.empty() || (part.excluded != nullptr && part.excluded != excluded_)) return false;
  for (size_t i = 0; i < contested_.size(); ++i) {
    if (state.quota.Usage(queue, contested_[i]) != part.usage[i]) return false;
  }
  const size_t excluded = excluded_ == nullptr ? 0 : excluded_->size();
  const bool is_excluded = excluded != part.excluded_size &&
                           std::any_of(part.loss.workloads.begin(), part.loss.workloads.end(),
                                       [this](WorkloadId workload) { return Contains(excluded_, workload); });
  part.excluded = excluded_;
  part.excluded_size = excluded;
  return !is_excluded;
}

const QueueLoss& TreeCandidates::FullLossOf(const State& state, const Exceeding& exceeding,
                                            const CandidateOrder& order) {
  Part& part = parts_[exceeding.place];
  if (IsCurrent(state, exceeding.queue, part)) return part.loss;
  part.loss = LossOf(state, exceeding, order, [](const Candidate&) { return true; });
  part.usage.clear();
  for (const FlavorResourceId fr : contested_) part.usage.push_back(state.quota.Usage(exceeding.queue, fr));
  part.excluded = excluded_;
  part.excluded_size = excluded_ == nullptr ? 0 : excluded_->size();
  return part.loss;
}

void TreeCandidates::Begin(const CandidateOrder& order) {
  has_begun_ = true;
  merged_.clear();
  cursors_.clear();
  for (const Exceeding& exceeding : exceeding_) {
    Cursor cursor{&parts_[exceeding.place], 0, nullptr};
    if (Advance(cursor, order)) cursors_.push_back(cursor);
  }
  std::make_heap(cursors_.begin(), cursors_.end(),
                 [&order](const Cursor& a, const Cursor& b) { return order(*b.first, *a.first); });
}

bool TreeCandidates::Advance(Cursor& cursor, const CandidateOrder& order) {
  Part& part = *cursor.part;
  while (cursor.next < part.size) {
    cursor.first = &part.lazy.At(&items_[part.begin], part.size, cursor.next++, order);
    if (!Contains(excluded_, cursor.first->workload)) return true;
  }
  return false;
}

const Candidate* TreeCandidates::At(size_t i, const CandidateOrder& order) {
  if (!has_begun_) Begin(order);
  const auto later = [&order](const Cursor& a, const Cursor& b) { return order(*b.first, *a.first); };
  while (merged_.size() <= i) {
    if (cursors_.empty()) return nullptr;
    std::pop_heap(cursors_.begin(), cursors_.end(), later);
    Cursor& cursor = cursors_.back();
    merged_.push_back(cursor.first);
    if (Advance(cursor, order)) {
      std::push_heap(cursors_.begin(), cursors_.end(), later);
    } else {
      cursors_.pop_back();
    }
  }
  return merged_[i];
}

}  // namespace kueue
