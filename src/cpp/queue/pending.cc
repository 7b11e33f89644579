// Mirrors pkg/cache/queue/{cluster_queue,pending_workloads,inadmissible_workloads}.go (kueue ff69552e79).
#include "queue/pending.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"

namespace kueue {
namespace {

Workload& At(WorkloadTable& workloads, WorkloadId id) { return workloads[id]; }
const Workload& At(const WorkloadTable& workloads, WorkloadId id) { return workloads[id]; }

}  // namespace

bool GoesBefore(const Workload& a, const Workload& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  if (a.queue_time != b.queue_time) return a.queue_time < b.queue_time;
  return a.uid != b.uid ? a.uid < b.uid : a.serial < b.serial;
}

int32_t PendingQueue::BucketOf(const Workload& workload) {
  const std::pair<ClassId, LocalQueueId> key(workload.hash, workload.local_queue);
  if (const auto known = bucket_of_.find(key); known != bucket_of_.end()) return known->second;
  if (buckets_.size() == buckets_.capacity()) MakeRoom();
  Bucket bucket;
  bucket.cls = workload.hash;
  bucket.local_queue = workload.local_queue;
  bucket.priority = workload.priority;
  buckets_.push_back(std::move(bucket));
  return bucket_of_[key] = static_cast<int32_t>(buckets_.size()) - 1;
}

// Removes empty buckets before the vector grows. If this frees less than half of the vector, the vector grows
// anyway.
void PendingQueue::MakeRoom() {
  constexpr size_t kFew = 16;
  const size_t room = std::max(kFew, buckets_.capacity());
  if (buckets_.size() >= kFew) Prune();
  buckets_.reserve(2 * buckets_.size() >= room ? 2 * room : room);
}

void PendingQueue::Prune() {
  std::vector<int32_t> kept;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    if (!buckets_[i].active.empty() || !buckets_[i].inadmissible.empty())
      kept.push_back(static_cast<int32_t>(i));
  }
  std::sort(kept.begin(), kept.end(), [this](int32_t a, int32_t b) {
    const Bucket &left = buckets_[Index(a)], &right = buckets_[Index(b)];
    return left.cls != right.cls ? left.cls < right.cls : left.local_queue < right.local_queue;
  });
  std::vector<int32_t> now(buckets_.size());
  std::vector<Bucket> buckets;
  bucket_of_.clear();
  inadmissible_buckets_.clear();
  for (int32_t index : kept) {
    const auto place = static_cast<int32_t>(buckets.size());
    now[Index(index)] = place;
    Bucket& bucket = buckets.emplace_back(std::move(buckets_[Index(index)]));
    bucket_of_[{bucket.cls, bucket.local_queue}] = place;
    bucket.listed_as_inadmissible = !bucket.inadmissible.empty();
    if (bucket.listed_as_inadmissible) inadmissible_buckets_.push_back(place);
  }
  for (int32_t& head : heads_) head = now[Index(head)];
  buckets_ = std::move(buckets);
}

void PendingQueue::Tidy(const WorkloadTable& workloads) {
  Prune();
  // A sorted array is a heap.
  std::sort(heads_.begin(), heads_.end(), [&](int32_t a, int32_t b) { return HeadLess(workloads, a, b); });
  for (size_t place = 0; place < heads_.size(); ++place)
    buckets_[Index(heads_[place])].place_in_heads = static_cast<int32_t>(place);
}

bool PendingQueue::HeadLess(const WorkloadTable& workloads, int32_t a, int32_t b) const {
  const Bucket &left = buckets_[Index(a)], &right = buckets_[Index(b)];
  if (left.priority != right.priority) return left.priority > right.priority;
  return GoesBefore(At(workloads, left.active.Front().workload),
                    At(workloads, right.active.Front().workload));
}

void PendingQueue::Sift(const WorkloadTable& workloads, size_t place) {
  const auto put = [this](size_t at, int32_t bucket) {
    heads_[at] = bucket;
    buckets_[Index(bucket)].place_in_heads = static_cast<int32_t>(at);
  };
  const int32_t bucket = heads_[place];
  while (place > 0 && HeadLess(workloads, bucket, heads_[(place - 1) / 2])) {
    put(place, heads_[(place - 1) / 2]);
    place = (place - 1) / 2;
  }
  for (;;) {
    size_t child = 2 * place + 1;
    if (child >= heads_.size()) break;
    if (child + 1 < heads_.size() && HeadLess(workloads, heads_[child + 1], heads_[child])) ++child;
    if (!HeadLess(workloads, heads_[child], bucket)) break;
    put(place, heads_[child]);
    place = child;
  }
  put(place, bucket);
}

void PendingQueue::UpdateHead(const WorkloadTable& workloads, int32_t index) {
  Bucket& bucket = buckets_[Index(index)];
  if (!bucket.active.empty()) {
    if (bucket.place_in_heads < 0) {
      bucket.place_in_heads = static_cast<int32_t>(heads_.size());
      heads_.push_back(index);
    }
    Sift(workloads, Index(bucket.place_in_heads));
  } else if (bucket.place_in_heads >= 0) {
    const size_t place = Index(bucket.place_in_heads);
    bucket.place_in_heads = -1;
    const int32_t last = heads_.back();
    heads_.pop_back();
    if (last == index) return;
    heads_[place] = last;
    buckets_[Index(last)].place_in_heads = static_cast<int32_t>(place);
    Sift(workloads, place);
  }
}

void PendingQueue::ListAsInadmissible(int32_t index) {
  Bucket& bucket = buckets_[Index(index)];
  if (bucket.listed_as_inadmissible) return;
  bucket.listed_as_inadmissible = true;
  inadmissible_buckets_.push_back(index);
}

const PendingQueue::Bucket& PendingQueue::FindBucket(const Workload& workload) const {
  return buckets_[Index(bucket_of_.at({workload.hash, workload.local_queue}))];
}

bool PendingQueue::IsInadmissible(const WorkloadTable& workloads, WorkloadId id) const {
  const Workload& workload = At(workloads, id);
  if (workload.place != QueuePlace::kQueued) return workload.place == QueuePlace::kDelayed;
  const Bucket& bucket = FindBucket(workload);
  if (bucket.inadmissible.empty()) return false;
  if (bucket.inadmissible.Front().workload == id) return true;
  return bucket.active.empty() || bucket.inadmissible.Contains(workloads, {workload.queue_time, id});
}

bool PendingQueue::Less(const WorkloadTable& workloads, const UsageByLocalQueue& usage, WorkloadId a,
                        WorkloadId b) const {
  const Workload &left = At(workloads, a), &right = At(workloads, b);
  if (by_usage) {
    const double left_usage = usage[left.local_queue], right_usage = usage[right.local_queue];
    if (left_usage != right_usage) return left_usage < right_usage;
  }
  if (sticky && (a == preemptor) != (b == preemptor)) return a == preemptor;
  return GoesBefore(left, right);
}

void PendingQueue::AddActive(Tables tables, WorkloadId id) {
  const Workload& workload = At(tables.workloads, id);
  const int32_t index = BucketOf(workload);
  buckets_[Index(index)].active.Insert(tables.workloads, {workload.queue_time, id});
  ++active_count_;
  UpdateHead(tables.workloads, index);
}

void PendingQueue::RemoveActive(Tables tables, WorkloadId id) {
  const Workload& workload = At(tables.workloads, id);
  const int32_t index = BucketOf(workload);
  buckets_[Index(index)].active.Erase(tables.workloads, {workload.queue_time, id});
  --active_count_;
  UpdateHead(tables.workloads, index);
}

void PendingQueue::Insert(Tables tables, WorkloadId id, As as) {
  Workload& workload = At(tables.workloads, id);
  workload.place = as == As::kDelayed ? QueuePlace::kDelayed : QueuePlace::kQueued;
  if (as == As::kActive) {
    AddActive(tables, id);
    if (by_usage) heap_.Push(id, LessNow(tables));
    return;
  }
  ++inadmissible_count_;
  if (as == As::kDelayed) {
    delayed_.push_back(id);
    return;
  }
  const int32_t index = BucketOf(workload);
  buckets_[Index(index)].inadmissible.Insert(tables.workloads, {workload.queue_time, id});
  ListAsInadmissible(index);
}

void PendingQueue::Erase(Tables tables, WorkloadId id) {
  Workload& workload = At(tables.workloads, id);
  const QueuePlace place = workload.place;
  if (place == QueuePlace::kInflight) {
    if (inflight_ == id) inflight_ = kNoId;
  } else if (place == QueuePlace::kDelayed) {
    delayed_.erase(std::find(delayed_.begin(), delayed_.end(), id));
    --inadmissible_count_;
  } else if (place != QueuePlace::kNowhere) {
    if (!IsInadmissible(tables.workloads, id)) {
      if (by_usage) heap_.Remove(id, LessNow(tables));
      RemoveActive(tables, id);
    } else {
      buckets_[Index(BucketOf(workload))].inadmissible.Erase(tables.workloads, {workload.queue_time, id});
      --inadmissible_count_;
    }
  }
  workload.place = QueuePlace::kNowhere;
}

void PendingQueue::Touch(Tables tables, WorkloadId id) {
  if (by_usage) heap_.Fix(id, LessNow(tables));
}

void PendingQueue::Update(Tables tables, WorkloadId id, absl::FunctionRef<void()> change) {
  RemoveActive(tables, id);
  change();
  AddActive(tables, id);
  Touch(tables, id);
}

bool PendingQueue::IsStickyWaiting(const WorkloadTable& workloads) const {
  return sticky && preemptor != kNoId && At(workloads, preemptor).place != QueuePlace::kNowhere &&
         !IsInadmissible(workloads, preemptor);
}

namespace {

// A head leaves the list of its LocalQueue until it is requeued (pkg/cache/queue/manager.go:heads).
void TakeInflight(Workload& workload) {
  workload.place = QueuePlace::kInflight;
  workload.listed = false;
}

}  // namespace

WorkloadId PendingQueue::Pop(Tables tables, absl::FunctionRef<bool(LocalQueueId)> has_pending_penalty) {
  if (heads_.empty()) return kNoId;
  ++pop_cycle;
  WorkloadId first;
  if (by_usage) {
    const auto in_debt = [&](const Bucket& bucket) { return has_pending_penalty(bucket.local_queue); };
    if (std::any_of(buckets_.begin(), buckets_.end(), in_debt)) Reorder(tables);
    first = heap_.Front();
  } else if (IsStickyWaiting(tables.workloads)) {
    first = preemptor;
  } else {
    return inflight_ = PopFirst(tables.workloads);
  }
  Erase(tables, first);
  TakeInflight(At(tables.workloads, first));
  inflight_ = first;
  return first;
}

WorkloadId PendingQueue::PopFirst(WorkloadTable& workloads) {
  const int32_t index = heads_.front();
  WorkloadRun& active = buckets_[Index(index)].active;
  const WorkloadRun::Item first = active.Front();
  active.Erase(workloads, first);
  --active_count_;
  UpdateHead(workloads, index);
  TakeInflight(At(workloads, first.workload));
  return first.workload;
}

void PendingQueue::Reorder(Tables tables) {
  if (by_usage) heap_.Init(LessNow(tables));
}

const Reason* PendingQueue::InadmissibleReason(ClassId cls) const {
  const auto inadmissible = inadmissible_classes_.find(cls);
  return inadmissible == inadmissible_classes_.end() ? nullptr : &inadmissible->second;
}

void PendingQueue::MarkInadmissible(Tables tables, ClassId cls, Reason reason) {
  inadmissible_classes_[cls] = reason;
  // Collected first, because moving a run removes its bucket from the heap.
  absl::InlinedVector<int32_t, 8> of_class;
  for (auto it = bucket_of_.lower_bound({cls, kNoId}); it != bucket_of_.end() && it->first.first == cls;
       ++it) {
    if (!buckets_[Index(it->second)].active.empty()) of_class.push_back(it->second);
  }
  std::sort(of_class.begin(), of_class.end(), [this](int32_t a, int32_t b) {
    return buckets_[Index(a)].place_in_heads < buckets_[Index(b)].place_in_heads;
  });
  for (int32_t index : of_class) {
    Bucket& bucket = buckets_[Index(index)];
    if (by_usage) {
      for (const WorkloadRun::Item& item : bucket.active) heap_.Remove(item.workload, LessNow(tables));
    }
    active_count_ -= static_cast<int>(bucket.active.size());
    inadmissible_count_ += static_cast<int>(bucket.active.size());
    bucket.inadmissible.Absorb(tables.workloads, bucket.active);
    ListAsInadmissible(index);
    UpdateHead(tables.workloads, index);
  }
}

bool PendingQueue::HasOnly(ClassId cls, Time before) const {
  const auto is_before = [before](const WorkloadRun& run) {
    return run.empty() || std::prev(run.end())->time < before;
  };
  size_t found = 0;
  for (auto next = bucket_of_.lower_bound({cls, LocalQueueId(0)});
       next != bucket_of_.end() && next->first.first == cls; ++next) {
    const Bucket& bucket = buckets_[Index(next->second)];
    if (!is_before(bucket.active) || !is_before(bucket.inadmissible)) return false;
    found += bucket.active.size() + bucket.inadmissible.size();
  }
  return found == static_cast<size_t>(active_count_) + static_cast<size_t>(inadmissible_count_);
}

void PendingQueue::QueueInadmissible(Tables tables, absl::FunctionRef<bool(LocalQueueId)> may_requeue,
                                     absl::FunctionRef<bool(WorkloadId)> expired) {
  queue_inadmissible_cycle = pop_cycle;
  inadmissible_classes_.clear();
  if (inadmissible_count_ == 0) return;
  size_t still_inadmissible = 0;
  std::vector<WorkloadId> requeued;
  for (const int32_t index : inadmissible_buckets_) {
    Bucket& bucket = buckets_[Index(index)];
    bucket.listed_as_inadmissible = false;
    if (bucket.inadmissible.empty()) continue;
    if (!may_requeue(bucket.local_queue)) {
      bucket.listed_as_inadmissible = true;
      inadmissible_buckets_[still_inadmissible++] = index;
      continue;
    }
    if (by_usage) {
      for (const WorkloadRun::Item& item : bucket.inadmissible) requeued.push_back(item.workload);
    }
    active_count_ += static_cast<int>(bucket.inadmissible.size());
    inadmissible_count_ -= static_cast<int>(bucket.inadmissible.size());
    bucket.active.Absorb(tables.workloads, bucket.inadmissible);
    UpdateHead(tables.workloads, index);
  }
  inadmissible_buckets_.resize(still_inadmissible);
  // Kueue requeues them in the random order of a map; here they are requeued in the order of submission.
  std::sort(requeued.begin(), requeued.end(), [&](WorkloadId a, WorkloadId b) {
    return At(tables.workloads, a).serial < At(tables.workloads, b).serial;
  });
  for (WorkloadId id : requeued) heap_.Push(id, LessNow(tables));
  const std::vector<WorkloadId> delayed = std::move(delayed_);
  delayed_.clear();
  for (WorkloadId id : delayed) {
    --inadmissible_count_;
    const bool requeues = may_requeue(At(tables.workloads, id).local_queue) && expired(id);
    Insert(tables, id, requeues ? As::kActive : As::kDelayed);
  }
}

std::map<ClassId, std::pair<int, int>> PendingQueue::CountByClass(const WorkloadTable& workloads) const {
  std::map<ClassId, std::pair<int, int>> counts;
  for (const Bucket& bucket : buckets_) {
    if (bucket.active.empty() && bucket.inadmissible.empty()) continue;
    auto& [active, inadmissible] = counts[bucket.cls];
    active += static_cast<int>(bucket.active.size());
    inadmissible += static_cast<int>(bucket.inadmissible.size());
  }
  for (WorkloadId id : delayed_) ++counts[At(workloads, id).hash].second;
  if (inflight_ != kNoId) ++counts[At(workloads, inflight_).hash].first;
  return counts;
}

bool PendingQueue::PreemptorWaits(const WorkloadTable& workloads) const {
  if (!sticky || preemptor == kNoId) return false;
  const QueuePlace place = At(workloads, preemptor).place;
  return place == QueuePlace::kQueued || place == QueuePlace::kDelayed;
}

int PendingQueue::PositionOf(const WorkloadTable& workloads, const UsageByLocalQueue& usage,
                             WorkloadId id) const {
  const Workload& workload = At(workloads, id);
  const bool is_first = PreemptorWaits(workloads) && preemptor == id;
  const double own = usage[workload.local_queue];
  // Queue order, except that a sticky preemptor other than `id` is not moved to the front. This keeps the
  // runs sorted.
  const auto goes_before = [&](WorkloadId other) {
    const double theirs = usage[At(workloads, other).local_queue];
    if (by_usage && theirs != own) return theirs < own;
    return !is_first && GoesBefore(At(workloads, other), workload);
  };
  auto position = std::count_if(delayed_.begin(), delayed_.end(), goes_before);
  if (inflight_ != kNoId && inflight_ != id && Less(workloads, usage, inflight_, id)) ++position;
  for (const Bucket& bucket : buckets_) {
    for (const WorkloadRun* run : {&bucket.active, &bucket.inadmissible}) {
      const auto* const end =
          std::partition_point(run->begin(), run->end(),
                               [&](const WorkloadRun::Item& item) { return goes_before(item.workload); });
      position += end - run->begin();
    }
  }
  const bool passed = PreemptorWaits(workloads) && preemptor != id && !goes_before(preemptor) &&
                      Less(workloads, usage, preemptor, id);
  return static_cast<int>(position) + (passed ? 1 : 0);
}

std::vector<std::pair<WorkloadId, Precedence>> PendingQueue::Ahead(const WorkloadTable& workloads,
                                                                   const UsageByLocalQueue& usage,
                                                                   WorkloadId id, int most) const {
  std::vector<WorkloadId> ahead;
  const auto consider = [&](WorkloadId other) {
    if (Less(workloads, usage, other, id)) ahead.push_back(other);
  };
  const bool preemptor_waits = PreemptorWaits(workloads);
  if (preemptor_waits) consider(preemptor);
  if (inflight_ != kNoId) consider(inflight_);
  for (WorkloadId other : delayed_) consider(other);
  // Each run is in queue order, except for the preemptor.
  for (const Bucket& bucket : buckets_) {
    for (const WorkloadRun* run : {&bucket.active, &bucket.inadmissible}) {
      const std::ptrdiff_t size = std::min<std::ptrdiff_t>(run->end() - run->begin(), most + 1);
      for (const auto* item = run->begin(); item != run->begin() + size; ++item) consider(item->workload);
    }
  }
  std::sort(ahead.begin(), ahead.end(),
            [&](WorkloadId a, WorkloadId b) { return Less(workloads, usage, a, b); });
  ahead.erase(std::unique(ahead.begin(), ahead.end()), ahead.end());
  if (ahead.size() > Index(most)) ahead.resize(Index(most));
  std::vector<std::pair<WorkloadId, Precedence>> found;
  const Workload& own = At(workloads, id);
  for (WorkloadId other : ahead) {
    const Workload& theirs = At(workloads, other);
    const bool by_share = by_usage && usage[theirs.local_queue] != usage[own.local_queue];
    found.emplace_back(other, by_share                                ? Precedence::kUsage
                              : preemptor_waits && other == preemptor ? Precedence::kPreemptor
                              : theirs.priority != own.priority       ? Precedence::kPriority
                              : theirs.queue_time != own.queue_time   ? Precedence::kTime
                                                                      : Precedence::kUid);
  }
  return found;
}

std::vector<WorkloadId> PendingQueue::Ordered(const WorkloadTable& workloads,
                                              const UsageByLocalQueue& usage) const {
  std::vector<WorkloadId> all(delayed_);
  if (inflight_ != kNoId) all.push_back(inflight_);
  for (const Bucket& bucket : buckets_) {
    for (const WorkloadRun::Item& item : bucket.active) all.push_back(item.workload);
    for (const WorkloadRun::Item& item : bucket.inadmissible) all.push_back(item.workload);
  }
  std::sort(all.begin(), all.end(), [&](WorkloadId a, WorkloadId b) { return Less(workloads, usage, a, b); });
  return all;
}

}  // namespace kueue
