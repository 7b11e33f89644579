// Binary heap of a queue that is ordered by LocalQueue usage. Mirrors pkg/util/heap/heap.go over Go's
// container/heap (kueue ff69552e79).
#ifndef KUEUE_QUEUE_USAGE_HEAP_H_
#define KUEUE_QUEUE_USAGE_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/ids.h"

namespace kueue {

// Usage changes continually, but the heap is reordered only occasionally. The choice of the next workload
// depends on the exact layout of the heap, so every operation performs the same swaps as Go's heap. `less`
// returns whether one workload currently precedes another workload.
class UsageHeap {
 public:
  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }
  WorkloadId Front() const { return items_.front(); }
  // Returns the workloads in heap order. The first workload is the front of the heap.
  const std::vector<WorkloadId>& items() const { return items_; }

  template <typename Less>
  void Init(Less less) {
    for (size_t place = items_.size() / 2; place-- > 0;) Down(place, items_.size(), less);
  }

  template <typename Less>
  void Push(WorkloadId workload, Less less) {
    place_[workload] = items_.size();
    items_.push_back(workload);
    Up(items_.size() - 1, less);
  }

  // Restores the heap order after a change of the fields that determine the position of the workload.
  template <typename Less>
  void Fix(WorkloadId workload, Less less) {
    const size_t place = place_.at(workload);
    if (!Down(place, items_.size(), less)) Up(place, less);
  }

  template <typename Less>
  void Remove(WorkloadId workload, Less less) {
    const size_t place = place_.at(workload), last = items_.size() - 1;
    if (place != last) {
      Swap(place, last);
      if (!Down(place, last, less)) Up(place, less);
    }
    place_.erase(workload);
    items_.pop_back();
  }

 private:
  friend class FieldLists;             // persist/field_lists.h
  friend class PendingQueueInspector;  // queue/check.cc

  void Swap(size_t a, size_t b) {
    std::swap(items_[a], items_[b]);
    place_[items_[a]] = a;
    place_[items_[b]] = b;
  }

  template <typename Less>
  void Up(size_t place, Less less) {
    while (place > 0) {
      const size_t parent = (place - 1) / 2;
      if (!less(items_[place], items_[parent])) return;
      Swap(parent, place);
      place = parent;
    }
  }

  // Returns whether the item moved.
  template <typename Less>
  bool Down(size_t start, size_t end, Less less) {
    size_t place = start;
    for (;;) {
      size_t child = 2 * place + 1;
      if (child >= end) break;
      if (child + 1 < end && less(items_[child + 1], items_[child])) ++child;
      if (!less(items_[child], items_[place])) break;
      Swap(place, child);
      place = child;
    }
    return place > start;
  }

  std::vector<WorkloadId> items_;
  absl::flat_hash_map<WorkloadId, size_t> place_;
};

}  // namespace kueue

#endif  // KUEUE_QUEUE_USAGE_HEAP_H_
