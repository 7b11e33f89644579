// Cache of values by ClusterQueue and equivalence class.
#ifndef KUEUE_STATE_KNOWN_H_
#define KUEUE_STATE_KNOWN_H_

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "model/ids.h"
#include "model/uncopied.h"

namespace kueue {

// After Reserve(), threads may use the values of different queues at the same time. Copies start empty.
template <typename Value>
class KnownByClass {
 public:
  // Drops all values. Call this function when an object changes or ids are renumbered.
  void Forget() { of_queue_->clear(); }

  // Returns nullptr if there is no value. Keep() for the same queue, Reserve() and Forget() invalidate the
  // pointer.
  const Value* Find(NodeId queue, ClassId cls) const {
    if (!of_queue_->Contains(queue)) return nullptr;
    const Values& values = (*of_queue_)[queue];
    const auto known = values.find(cls);
    return known == values.end() ? nullptr : &known->second;
  }

  void Keep(NodeId queue, ClassId cls, Value value) {
    of_queue_->GrowTo(queue);
    Values& values = (*of_queue_)[queue];
    if (values.size() >= std::max(kMost / of_queue_->size(), kMostOfLarge)) values.clear();
    values[cls] = std::move(value);
  }

  // Makes room for the queues with an id below `size`.
  void Reserve(size_t size) {
    if (of_queue_->size() < size) of_queue_->resize(size);
  }

 private:
  using Values = absl::flat_hash_map<ClassId, Value>;
  // Maximum number of values, which need a few megabytes. In a large cluster, it is kMostOfLarge for each
  // queue instead.
  static constexpr size_t kMost = 16384, kMostOfLarge = 16;

  Uncopied<IdVector<NodeId, Values>> of_queue_;
};

}  // namespace kueue

#endif  // KUEUE_STATE_KNOWN_H_
