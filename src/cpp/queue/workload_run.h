// Workloads of one equivalence class and LocalQueue, in queue order.
#ifndef KUEUE_QUEUE_WORKLOAD_RUN_H_
#define KUEUE_QUEUE_WORKLOAD_RUN_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "model/workload_table.h"

namespace kueue {

// A sorted array with a movable front. Insertions are mostly at the end and removals mostly at the front, so
// both are cheap. An insertion or removal at another position moves the items on the side with fewer items.
class WorkloadRun {
 public:
  struct Item {
    Time time;
    WorkloadId workload;
  };

  bool empty() const { return front_ == items_.size(); }
  size_t size() const { return items_.size() - front_; }
  const Item& Front() const { return items_[front_]; }
  const Item* begin() const { return items_.data() + front_; }
  const Item* end() const { return items_.data() + items_.size(); }

  void Insert(const WorkloadTable& workloads, Item item) {
    constexpr size_t kFirstCapacity = 8;
    if (empty() || Less(workloads, items_.back(), item)) {
      if (items_.capacity() == 0) items_.reserve(kFirstCapacity);
      items_.push_back(item);
      return;
    }
    if (front_ > 0 && Less(workloads, item, items_[front_])) {
      items_[--front_] = item;
      return;
    }
    const auto at = std::lower_bound(items_.begin() + Offset(), items_.end(), item,
                                     [&](const Item& a, const Item& b) { return Less(workloads, a, b); });
    const size_t before = static_cast<size_t>(at - items_.begin()) - front_;
    if (front_ > 0 && before <= size() / 2) {
      std::move(items_.begin() + Offset(), at, items_.begin() + Offset() - 1);
      --front_;
      items_[front_ + before] = item;
    } else {
      items_.insert(at, item);
    }
  }

  bool Contains(const WorkloadTable& workloads, Item item) const {
    return std::binary_search(begin(), end(), item,
                              [&](const Item& a, const Item& b) { return Less(workloads, a, b); });
  }

  void Erase(const WorkloadTable& workloads, Item item) {
    if (Front().workload == item.workload) {
      ++front_;
      Trim();
      return;
    }
    const auto at = std::lower_bound(items_.begin() + Offset(), items_.end(), item,
                                     [&](const Item& a, const Item& b) { return Less(workloads, a, b); });
    const size_t before = static_cast<size_t>(at - items_.begin()) - front_;
    if (before <= size() / 2) {
      std::move_backward(items_.begin() + Offset(), at, at + 1);
      ++front_;
    } else {
      items_.erase(at);
    }
    Trim();
  }

  // Replaces the workload ids. The order of the workloads must be the same for the new ids.
  template <typename Place>
  void Renumber(Place place) {
    items_.erase(items_.begin(), items_.begin() + Offset());
    front_ = 0;
    for (Item& item : items_) item.workload = place(item.workload);
  }

  // Moves all items of `other` into this run, by inserting the shorter run into the longer one.
  void Absorb(const WorkloadTable& workloads, WorkloadRun& other) {
    if (size() < other.size()) {
      std::swap(items_, other.items_);
      std::swap(front_, other.front_);
    }
    for (const Item& item : other) Insert(workloads, item);
    other.items_.clear();
    other.front_ = 0;
  }

 private:
  friend class FieldLists;  // persist/field_lists.h
  static bool Less(const WorkloadTable& workloads, const Item& a, const Item& b) {
    if (a.time != b.time) return a.time < b.time;
    if (a.workload == b.workload) return false;
    const std::string& left = workloads[a.workload].uid;
    const std::string& right = workloads[b.workload].uid;
    if (const int order = left.compare(right); order != 0) return order < 0;
    return workloads[a.workload].serial < workloads[b.workload].serial;
  }
  // Frees the unused space before the front once this space is large.
  void Trim() {
    if (empty()) {
      items_.clear();
      front_ = 0;
    } else if (front_ > 64 && front_ > items_.size() / 2) {
      items_.erase(items_.begin(), items_.begin() + Offset());
      front_ = 0;
    }
  }
  std::ptrdiff_t Offset() const { return static_cast<std::ptrdiff_t>(front_); }

  std::vector<Item> items_;
  size_t front_ = 0;
};

}  // namespace kueue

#endif  // KUEUE_QUEUE_WORKLOAD_RUN_H_
