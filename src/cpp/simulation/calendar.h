// Event queue of the simulation.
#ifndef KUEUE_SIMULATION_CALENDAR_H_
#define KUEUE_SIMULATION_CALENDAR_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/ids.h"

namespace kueue {

// Kinds of events, in the order in which events at the same time are processed. Arrivals of jobs are
// processed after kAnswer and before kTimer.
enum class Happening : uint8_t {
  kEnd,
  kFreed,
  kFailure,
  kRepair,
  kChange,
  kAnswer,
  kPodsReady,
  kTimer,
  kCycle
};

// A scheduled event. `what` is a job, or the index of a failure or change. `term` detects stale events: the
// term of a job is incremented whenever the job gains or loses quota.
struct Planned {
  Time at;
  uint64_t order;  // The highest 8 bits contain the kind; the other bits contain a sequence number.
  int32_t what;
  int32_t term;

  Happening kind() const { return static_cast<Happening>(order >> 56); }
  bool operator<(const Planned& other) const { return at != other.at ? at < other.at : order < other.order; }
};

// A heap with four children per node. The heap is half as deep as a binary heap, and the children of a node
// span one and a half cache lines.
class Calendar {
 public:
  bool empty() const { return heap_.empty(); }
  const Planned& Next() const { return heap_.front(); }

  void Plan(Time at, Happening kind, int32_t what, int32_t term) {
    const uint64_t order = static_cast<uint64_t>(kind) << 56 | sequence_++;
    heap_.push_back({at, order, what, term});
    size_t place = heap_.size() - 1;
    while (place > 0) {
      const size_t above = (place - 1) / 4;
      if (!(heap_[place] < heap_[above])) break;
      std::swap(heap_[place], heap_[above]);
      place = above;
    }
  }

  void Drop() {
    const Planned last = heap_.back();
    heap_.pop_back();
    const size_t size = heap_.size();
    if (size == 0) return;
    size_t place = 0;
    for (size_t first = 1; first < size; first = place * 4 + 1) {
      size_t least = first;
      for (size_t child = first + 1; child < std::min(first + 4, size); ++child) {
        if (heap_[child] < heap_[least]) least = child;
      }
      if (!(heap_[least] < last)) break;
      heap_[place] = heap_[least];
      place = least;
    }
    heap_[place] = last;
  }

 private:
  std::vector<Planned> heap_;
  uint64_t sequence_ = 0;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_CALENDAR_H_
