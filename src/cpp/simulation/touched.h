// ClusterQueues whose figures may have changed since they were last updated.
#ifndef KUEUE_SIMULATION_TOUCHED_H_
#define KUEUE_SIMULATION_TOUCHED_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/ids.h"

namespace kueue {

// A set of ClusterQueues. One bit for each queue keeps the set sorted.
class TouchedQueues {
 public:
  void Add(NodeId queue) {
    const size_t word = queue.index() / 64;
    if (word >= words_.size()) words_.resize(word + 1);
    words_[word] |= uint64_t{1} << (queue.index() % 64);
    begin_ = std::min(begin_, word);
    end_ = std::max(end_, word + 1);
  }

  // Calls `use` for each queue, in the order of their ids, and empties the set.
  template <typename Use>
  void Take(Use use) {
    for (size_t word = begin_; word < end_; ++word) {
      for (uint64_t left = words_[word]; left != 0; left &= left - 1) {
        use(NodeId(word * 64 + static_cast<size_t>(__builtin_ctzll(left))));
      }
      words_[word] = 0;
    }
    begin_ = SIZE_MAX;
    end_ = 0;
  }

 private:
  std::vector<uint64_t> words_;
  size_t begin_ = SIZE_MAX, end_ = 0;  // Range of the words that are not 0.
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_TOUCHED_H_
