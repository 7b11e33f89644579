#include "queue/check.h"

#include "absl/strings/str_cat.h"

namespace kueue {

class PendingQueueInspector {
 public:
  PendingQueueInspector(const PendingQueue& queue, const WorkloadTable& workloads)
      : queue_(queue), workloads_(workloads) {}

  PendingContents Contents() {
    for (size_t index = 0; index < queue_.buckets_.size(); ++index) CheckBucket(index);
    CheckHeap();
    CheckInadmissible();
    for (WorkloadId id : queue_.delayed_) {
      found_.delayed.push_back(id);
      Expect(At(id).place == QueuePlace::kDelayed, Key(id), " is listed as delayed but not placed so");
    }
    CheckUsageHeap();
    ExpectCount(queue_.active_count_, found_.active.size(), "active");
    ExpectCount(queue_.inadmissible_count_, found_.inadmissible.size() + found_.delayed.size(),
                "inadmissible");
    return std::move(found_);
  }

 private:
  using Bucket = PendingQueue::Bucket;

  const Workload& At(WorkloadId id) const { return workloads_[id]; }
  const std::string& Key(WorkloadId id) const { return At(id).name; }

  template <typename... Parts>
  void Expect(bool holds, const Parts&... parts) {
    if (!holds) found_.problems.push_back(absl::StrCat(parts...));
  }
  void ExpectCount(int counted, size_t found, const char* what) {
    Expect(static_cast<size_t>(counted) == found, counted, " workloads are counted as ", what, ", but ",
           found, " are");
  }

  void CheckBucket(size_t index) {
    const Bucket& bucket = queue_.buckets_[index];
    const auto entry = queue_.bucket_of_.find({bucket.cls, bucket.local_queue});
    Expect(entry != queue_.bucket_of_.end() && static_cast<size_t>(entry->second) == index, "bucket ", index,
           " is not found by its class and LocalQueue");
    CheckWorkloadRun(bucket, bucket.active, found_.active);
    CheckWorkloadRun(bucket, bucket.inadmissible, found_.inadmissible);
    const bool in_heap = bucket.place_in_heads >= 0;
    Expect(in_heap == !bucket.active.empty(), "bucket ", index,
           in_heap ? " is empty but in the heap" : " is not in the heap");
    const size_t place = static_cast<size_t>(bucket.place_in_heads);
    if (in_heap) {
      Expect(place < queue_.heads_.size() && static_cast<size_t>(queue_.heads_[place]) == index, "bucket ",
             index, " is not where it says in the heap");
    }
  }

  void CheckWorkloadRun(const Bucket& bucket, const WorkloadRun& run, std::vector<WorkloadId>& into) {
    WorkloadId before = kNoId;
    for (const WorkloadRun::Item& item : run) {
      const Workload& workload = At(item.workload);
      const std::string& key = Key(item.workload);
      into.push_back(item.workload);
      Expect(workload.place == QueuePlace::kQueued, key, " is in a bucket but not placed as queued");
      Expect(workload.hash == bucket.cls, key, " is in a bucket of another class");
      Expect(workload.local_queue == bucket.local_queue, key, " is in a bucket of another LocalQueue");
      Expect(workload.priority == bucket.priority, key, " is in a bucket of another priority");
      Expect(workload.queue_time == item.time, key, " waits with an outdated timestamp");
      if (before != kNoId) {
        Expect(!GoesBefore(workload, At(before)), key, " waits behind ", Key(before), " but goes before it");
      }
      before = item.workload;
    }
  }

  void CheckHeap() {
    for (size_t place = 1; place < queue_.heads_.size(); ++place) {
      const int32_t child = queue_.heads_[place], parent = queue_.heads_[(place - 1) / 2];
      Expect(!queue_.HeadLess(workloads_, child, parent), "the heap of heads is out of order at ", place);
    }
  }

  void CheckUsageHeap() {
    const UsageHeap& heap = queue_.heap_;
    Expect(heap.size() == (queue_.by_usage ? found_.active.size() : 0) && heap.size() == heap.place_.size(),
           "the heap by usage does not hold the active workloads");
    for (WorkloadId id : queue_.by_usage ? found_.active : std::vector<WorkloadId>()) {
      const auto found = heap.place_.find(id);
      Expect(found != heap.place_.end() && heap.items_[found->second] == id, Key(id),
             " is not in the heap by usage where it should be");
    }
  }

  void CheckInadmissible() {
    std::vector<bool> listed(queue_.buckets_.size());
    for (int32_t index : queue_.inadmissible_buckets_) {
      Expect(!listed[static_cast<size_t>(index)], "bucket ", index, " is listed twice as inadmissible");
      listed[static_cast<size_t>(index)] = true;
    }
    for (size_t index = 0; index < listed.size(); ++index) {
      const Bucket& bucket = queue_.buckets_[index];
      Expect(bucket.listed_as_inadmissible == listed[index], "bucket ", index,
             " is mistaken about being listed as inadmissible");
      Expect(bucket.inadmissible.empty() || listed[index], "bucket ", index,
             " has inadmissible workloads that nothing would requeue");
    }
  }

  const PendingQueue& queue_;
  const WorkloadTable& workloads_;
  PendingContents found_;
};

PendingContents Inspect(const PendingQueue& queue, const WorkloadTable& workloads) {
  return PendingQueueInspector(queue, workloads).Contents();
}

}  // namespace kueue
