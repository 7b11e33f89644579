// ClusterQueues that may have a head. Kueue keeps no set of candidates and polls every queue
// (pkg/cache/queue/manager.go:heads, kueue ff69552e79).
#ifndef KUEUE_QUEUE_CANDIDATES_H_
#define KUEUE_QUEUE_CANDIDATES_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/ids.h"

namespace kueue {

// A cycle visits only the candidate queues, so empty queues do not slow it down. The set contains every queue
// with a head; it may also contain queues without a head.
class HeadCandidates {
 public:
  // Resets the set to all queues. Call this function after a queue is added or removed.
  void Forget() { place_.clear(); }

  void Add(NodeId queue) {
    if (!place_.Contains(queue) || place_[queue] < 0) return;
    const auto place = static_cast<uint32_t>(place_[queue]);
    words_[place / 64] |= uint64_t{1} << (place % 64);
  }

  // Returns whether Take() would visit the queue.
  bool Has(NodeId queue) const {
    if (place_.empty()) return true;
    const auto place = static_cast<uint32_t>(place_[queue]);
    return (words_[place / 64] >> (place % 64) & 1) != 0;
  }

  // Returns whether the set is empty.
  bool IsEmpty() const {
    return !place_.empty() &&
           std::all_of(words_.begin(), words_.end(), [](uint64_t word) { return word == 0; });
  }

  // Calls `look` for each candidate in the order of `queues`, which must contain all ClusterQueues. Removes
  // the candidates for which `look` returns false.
  template <typename Look>
  void Take(const std::vector<NodeId>& queues, Look look) {
    if (place_.empty()) AddAll(queues);
    for (size_t word = 0; word < words_.size(); ++word) {
      for (uint64_t left = words_[word]; left != 0; left &= left - 1) {
        const auto bit = static_cast<size_t>(__builtin_ctzll(left));
        if (!look(queues[word * 64 + bit])) words_[word] &= ~(uint64_t{1} << bit);
      }
    }
  }

 private:
  void AddAll(const std::vector<NodeId>& queues) {
    words_.assign((queues.size() + 63) / 64, 0);
    for (size_t place = 0; place < queues.size(); ++place) {
      place_.GrowTo(queues[place], -1);
      place_[queues[place]] = static_cast<int32_t>(place);
      words_[place / 64] |= uint64_t{1} << (place % 64);
    }
  }

  // Position in the list of all ClusterQueues sorted by name. If `place_` is empty, all queues are
  // candidates.
  IdVector<NodeId, int32_t> place_;
  std::vector<uint64_t> words_;  // One bit for each position.
};

}  // namespace kueue

#endif  // KUEUE_QUEUE_CANDIDATES_H_
