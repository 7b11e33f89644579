// Mirrors pkg/cache/queue/{cluster_queue,pending_workloads,inadmissible_workloads}.go (kueue ff69552e79).
#include "queue/pending.h"

#include <algorithm>

namespace kueue {
namespace {

Workload& At(std::vector<Workload>& workloads, WorkloadId id) { return workloads[static_cast<size_t>(id)]; }
const Workload& At(const std::vector<Workload>& workloads, WorkloadId id) {
  return workloads[static_cast<size_t>(id)];
}

}  // namespace

bool GoesBefore(const Workload& a, const Workload& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  if (a.queue_time != b.queue_time) return a.queue_time < b.queue_time;
  return a.spec->uid < b.spec->uid;
}

int32_t PendingQueue::BucketOf(const Workload& workload) {
  const std::pair<ClassId, LocalQueueId> key(workload.cls, workload.local_queue);
  auto [it, inserted] = bucket_of_.try_emplace(key, static_cast<int32_t>(buckets_.size()));
  if (inserted) {
    Bucket bucket;
    bucket.cls = workload.cls;
    bucket.local_queue = workload.local_queue;
    bucket.priority = workload.priority;
    buckets_.push_back(std::move(bucket));
  }
  return it->second;
}

bool PendingQueue::HeadLess(const std::vector<Workload>& workloads, int32_t a, int32_t b) const {
  const Bucket &left = buckets_[Index(a)], &right = buckets_[Index(b)];
  if (left.priority != right.priority) return left.priority > right.priority;
  return GoesBefore(At(workloads, left.active.Front().workload),
                    At(workloads, right.active.Front().workload));
}

void PendingQueue::Sift(const std::vector<Workload>& workloads, size_t place) {
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

void PendingQueue::UpdateHead(const std::vector<Workload>& workloads, int32_t index) {
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

void PendingQueue::ListAsParked(int32_t index) {
  Bucket& bucket = buckets_[Index(index)];
  if (bucket.listed_as_parked) return;
  bucket.listed_as_parked = true;
  parked_buckets_.push_back(index);
}

const PendingQueue::Bucket& PendingQueue::FindBucket(const Workload& workload) const {
  return buckets_[Index(bucket_of_.at({workload.cls, workload.local_queue}))];
}

bool PendingQueue::IsInadmissible(const std::vector<Workload>& workloads, WorkloadId id) const {
  const Workload& workload = At(workloads, id);
  if (workload.place != QueuePlace::kQueued) return workload.place == QueuePlace::kDelayed;
  const Bucket& bucket = FindBucket(workload);
  if (bucket.parked.empty()) return false;
  return bucket.active.empty() || bucket.parked.Contains(workloads, {workload.queue_time, id});
}

void PendingQueue::Insert(std::vector<Workload>& workloads, WorkloadId id, As as) {
  Workload& workload = At(workloads, id);
  workload.place = as == As::kDelayed ? QueuePlace::kDelayed : QueuePlace::kQueued;
  if (as == As::kDelayed) {
    delayed_.push_back(id);
    ++inadmissible_count_;
    return;
  }
  const int32_t index = BucketOf(workload);
  const Run::Item item{workload.queue_time, id};
  if (as == As::kActive) {
    buckets_[Index(index)].active.Insert(workloads, item);
    ++active_count_;
    UpdateHead(workloads, index);
  } else {
    buckets_[Index(index)].parked.Insert(workloads, item);
    ++inadmissible_count_;
    ListAsParked(index);
  }
}

void PendingQueue::Erase(std::vector<Workload>& workloads, WorkloadId id) {
  Workload& workload = At(workloads, id);
  const QueuePlace place = workload.place;
  if (place == QueuePlace::kInflight) {
    if (inflight_ == id) inflight_ = kNoId;
  } else if (place == QueuePlace::kDelayed) {
    delayed_.erase(std::find(delayed_.begin(), delayed_.end(), id));
    --inadmissible_count_;
  } else if (place != QueuePlace::kNowhere) {
    const int32_t index = BucketOf(workload);
    const Run::Item item{workload.queue_time, id};
    if (!IsInadmissible(workloads, id)) {
      buckets_[Index(index)].active.Erase(workloads, item);
      --active_count_;
      UpdateHead(workloads, index);
    } else {
      buckets_[Index(index)].parked.Erase(workloads, item);
      --inadmissible_count_;
    }
  }
  workload.place = QueuePlace::kNowhere;
}

WorkloadId PendingQueue::First(const std::vector<Workload>& workloads, const Usage* usage) {
  if (heads_.empty()) return kNoId;
  const bool sticky_waits = sticky && preemptor != kNoId &&
                            At(workloads, preemptor).place != QueuePlace::kNowhere &&
                            !IsInadmissible(workloads, preemptor);
  if (usage == nullptr) {
    if (sticky_waits) return preemptor;
    return buckets_[Index(heads_.front())].active.Front().workload;
  }
  int32_t best = heads_.front();
  double lowest = (*usage)(buckets_[Index(best)].local_queue);
  for (int32_t index : heads_) {
    const double used = (*usage)(buckets_[Index(index)].local_queue);
    if (used < lowest || (used == lowest && index != best && HeadLess(workloads, index, best))) {
      best = index;
      lowest = used;
    }
  }
  if (sticky_waits && (*usage)(At(workloads, preemptor).local_queue) == lowest) return preemptor;
  return buckets_[Index(best)].active.Front().workload;
}

WorkloadId PendingQueue::Pop(std::vector<Workload>& workloads, const Usage* usage) {
  ++pop_cycle;
  inflight_ = kNoId;
  const WorkloadId first = First(workloads, usage);
  if (first == kNoId) return kNoId;
  Erase(workloads, first);
  At(workloads, first).place = QueuePlace::kInflight;
  inflight_ = first;
  return first;
}

const Reason* PendingQueue::ParkedReason(ClassId cls) const {
  for (const auto& parked : parked_classes_) {
    if (parked.first == cls) return &parked.second;
  }
  return nullptr;
}

void PendingQueue::ParkClass(std::vector<Workload>& workloads, ClassId cls, Reason reason) {
  const auto known = std::find_if(parked_classes_.begin(), parked_classes_.end(),
                                  [cls](const auto& parked) { return parked.first == cls; });
  if (known == parked_classes_.end()) {
    parked_classes_.emplace_back(cls, reason);
  } else {
    known->second = reason;
  }
  // Copied: moving a run takes its bucket out of the heap.
  const std::vector<int32_t> heads = heads_;
  for (int32_t index : heads) {
    Bucket& bucket = buckets_[Index(index)];
    if (bucket.cls != cls) continue;
    active_count_ -= static_cast<int>(bucket.active.size());
    inadmissible_count_ += static_cast<int>(bucket.active.size());
    bucket.parked.Absorb(workloads, bucket.active);
    ListAsParked(index);
    UpdateHead(workloads, index);
  }
}

void PendingQueue::Wake(std::vector<Workload>& workloads, absl::FunctionRef<bool(LocalQueueId)> may_wake,
                        absl::FunctionRef<bool(WorkloadId)> expired) {
  wake_cycle = pop_cycle;
  parked_classes_.clear();
  if (inadmissible_count_ == 0) return;
  std::vector<int32_t> still_parked;
  for (int32_t index : parked_buckets_) {
    Bucket& bucket = buckets_[Index(index)];
    bucket.listed_as_parked = false;
    if (bucket.parked.empty()) continue;
    if (!may_wake(bucket.local_queue)) {
      bucket.listed_as_parked = true;
      still_parked.push_back(index);
      continue;
    }
    active_count_ += static_cast<int>(bucket.parked.size());
    inadmissible_count_ -= static_cast<int>(bucket.parked.size());
    bucket.active.Absorb(workloads, bucket.parked);
    UpdateHead(workloads, index);
  }
  parked_buckets_ = std::move(still_parked);
  const std::vector<WorkloadId> delayed = std::move(delayed_);
  delayed_.clear();
  for (WorkloadId id : delayed) {
    --inadmissible_count_;
    const bool wakes = may_wake(At(workloads, id).local_queue) && expired(id);
    Insert(workloads, id, wakes ? As::kActive : As::kDelayed);
  }
}

std::vector<WorkloadId> PendingQueue::Ordered(const std::vector<Workload>& workloads,
                                              const Usage* usage) const {
  std::vector<WorkloadId> all(delayed_);
  for (const Bucket& bucket : buckets_) {
    for (const Run::Item& item : bucket.active) all.push_back(item.workload);
    for (const Run::Item& item : bucket.parked) all.push_back(item.workload);
  }
  std::sort(all.begin(), all.end(), [&](WorkloadId a, WorkloadId b) {
    const Workload &left = At(workloads, a), &right = At(workloads, b);
    if (usage != nullptr) {
      const double left_usage = (*usage)(left.local_queue), right_usage = (*usage)(right.local_queue);
      if (left_usage != right_usage) return left_usage < right_usage;
    }
    if (sticky && (a == preemptor) != (b == preemptor)) return a == preemptor;
    if (left.queue_time == right.queue_time && left.priority == right.priority &&
        left.spec->uid == right.spec->uid) {
      return a < b;
    }
    return GoesBefore(left, right);
  });
  return all;
}

}  // namespace kueue
