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
  Happening kind;
  int32_t what;
  int32_t term;
};

// Events in the order of their times and kinds; events with the same time and kind are in the order of
// planning. Consecutive events with the same time and kind form a run, because many jobs end at one time. A
// heap orders the runs.
class Calendar {
 public:
  bool empty() const { return heap_.empty(); }
  Planned Next() const {
    const Run& run = runs_[Index(heap_.front().run)];
    const Event& event = events_[Index(run.first)];
    return {run.at, run.kind, event.what, event.term};
  }

  void Plan(Time at, Happening kind, int32_t what, int32_t term) {
    const int32_t event = Take(free_event_, events_);
    events_[Index(event)] = {what, term, kNoId};
    int32_t& last = last_runs_[(static_cast<uint64_t>(at) * kMixer + static_cast<uint64_t>(kind)) >> kShift];
    if (last != kNoId) {
      Run& run = runs_[Index(last)];
      if (run.at == at && run.kind == kind && run.first != kNoId) {
        events_[Index(run.last)].next = event;
        run.last = event;
        return;
      }
    }
    last = Take(free_run_, runs_);
    runs_[Index(last)] = {at, event, event, kNoId, kind};
    Add({at, static_cast<uint64_t>(kind) << 56 | sequence_++, last});
  }

  void Drop() {
    const int32_t number = heap_.front().run;
    Run& run = runs_[Index(number)];
    const int32_t next = events_[Index(run.first)].next;
    Free(free_event_, events_, run.first);
    run.first = next;
    if (next != kNoId) return;
    Free(free_run_, runs_, number);
    RemoveFirst();
  }

 private:
  struct Event {
    int32_t what, term, next;
  };
  // `first` is kNoId if the run is empty.
  struct Run {
    Time at;
    int32_t first, last, next;
    Happening kind;
  };
  // The highest 8 bits of `order` contain the kind, the other bits a sequence number.
  struct Place {
    Time at;
    uint64_t order;
    int32_t run;
    bool operator<(const Place& other) const { return at != other.at ? at < other.at : order < other.order; }
  };
  static size_t Index(int32_t index) { return static_cast<size_t>(index); }

  // Items are reused. The unused ones form a list that is linked by `next`.
  template <typename Item>
  static int32_t Take(int32_t& unused, std::vector<Item>& items) {
    if (unused == kNoId) {
      items.push_back({});
      return static_cast<int32_t>(items.size()) - 1;
    }
    return std::exchange(unused, items[Index(unused)].next);
  }
  template <typename Item>
  static void Free(int32_t& unused, std::vector<Item>& items, int32_t item) {
    items[Index(item)].next = std::exchange(unused, item);
  }

  // A heap with four children per node. It is half as deep as a binary heap, and the children of a node span
  // one and a half cache lines.
  void Add(const Place& added) {
    heap_.push_back(added);
    size_t place = heap_.size() - 1;
    while (place > 0) {
      const size_t above = (place - 1) / 4;
      if (!(heap_[place] < heap_[above])) break;
      std::swap(heap_[place], heap_[above]);
      place = above;
    }
  }
  void RemoveFirst() {
    const Place last = heap_.back();
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

  static constexpr int kShift = 58;
  static constexpr uint64_t kMixer = 0x9E3779B97F4A7C15;
  std::vector<Event> events_;
  std::vector<Run> runs_;
  int32_t free_event_ = kNoId, free_run_ = kNoId;
  std::vector<Place> heap_;
  // By hash of time and kind: the run that was created last. New events are added only to this run.
  std::vector<int32_t> last_runs_ = std::vector<int32_t>(uint64_t{1} << (64 - kShift), kNoId);
  uint64_t sequence_ = 0;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_CALENDAR_H_
