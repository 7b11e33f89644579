// Cache of values by ClusterQueue and equivalence class.
#ifndef KUEUE_STATE_KNOWN_H_
#define KUEUE_STATE_KNOWN_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/ids.h"

namespace kueue {

// After Reserve(), threads may use the values of different queues at the same time. Copies start empty:
// states are copied often, and few copies are used for long.
template <typename Value>
class KnownByClass {
 public:
  KnownByClass() = default;
  KnownByClass(const KnownByClass&) {}
  KnownByClass(KnownByClass&&) = default;
  KnownByClass& operator=(const KnownByClass&) {
    Forget();
    return *this;
  }
  KnownByClass& operator=(KnownByClass&&) = default;

  // Drops all values. Call this function when an object changes or ids are renumbered.
  void Forget() { of_queue_.clear(); }

  // Returns nullptr if there is no value. Keep() for the same queue, Reserve() and Forget() invalidate the
  // pointer.
  const Value* Find(NodeId queue, ClassId cls) const {
    if (IndexOf(queue) >= of_queue_.size()) return nullptr;
    const Values& values = of_queue_[IndexOf(queue)];
    const auto known = values.find(cls);
    return known == values.end() ? nullptr : &known->second;
  }

  void Keep(NodeId queue, ClassId cls, Value value) {
    Reserve(IndexOf(queue) + 1);
    Values& values = of_queue_[IndexOf(queue)];
    if (values.size() >= std::max(kMost / of_queue_.size(), kMostOfLarge)) values.clear();
    values[cls] = std::move(value);
  }

  // Makes room for the queues with an id below `size`.
  void Reserve(size_t size) {
    if (of_queue_.size() < size) of_queue_.resize(size);
  }

 private:
  using Values = absl::flat_hash_map<ClassId, Value>;
  // Maximum number of values, which need a few megabytes. In a large cluster, it is kMostOfLarge for each
  // queue instead.
  static constexpr size_t kMost = 16384, kMostOfLarge = 16;

  std::vector<Values> of_queue_;
};

}  // namespace kueue

#endif  // KUEUE_STATE_KNOWN_H_
