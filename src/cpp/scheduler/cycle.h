// One scheduling cycle: heads, nomination, ordering, processing, requeuing. Mirrors
// pkg/scheduler/scheduler.go (kueue ff69552e79).
#ifndef KUEUE_SCHEDULER_CYCLE_H_
#define KUEUE_SCHEDULER_CYCLE_H_

#include <optional>
#include <utility>
#include <vector>

#include "scheduler/entry.h"
#include "scheduler/nomination.h"
#include "scheduler/outcome.h"
#include "scheduler/threads.h"
#include "scheduler/victims.h"
#include "scheduler/waiting.h"
#include "state/state.h"

namespace kueue {

// Takes one head from each active queue, lets a Nomination find their assignments, processes the heads in
// order, and writes the Outcome.
class Cycle {
 public:
  explicit Cycle(State& state) : Cycle(state, state, WaitingCycle()) {}
  // Reuses the memory of a previous cycle, for callers that run many cycles.
  Cycle(State& state, std::vector<Entry>& memory, CycleThreads& threads) : Cycle(state) {
    memory_ = &memory;
    threads_ = &threads;
    entries_.swap(memory);
  }
  // Resumes a cycle that was blocked by waitForPodsReady. The cycle is replayed on a copy of its start state.
  // The replay modifies `live`, the current state, only after the point where the cycle was blocked.
  Cycle(State& start, State& live, WaitingCycle waiting)
      : state_(start),
        live_(live),
        nomination_(start, IsResumed()),
        outcome_(start, live, nomination_),
        block_(start, live, std::move(waiting)) {}
  ~Cycle() {
    if (memory_ == nullptr) return;
    entries_.clear();
    entries_.swap(*memory_);
  }
  Cycle(const Cycle&) = delete;
  Cycle& operator=(const Cycle&) = delete;

  // Runs the cycle. Call this function once. If `keep` is not null, copies the entries that this call has
  // decided to `*keep`.
  CycleResult Run(std::vector<Entry>* keep = nullptr);
  // Returns the entry that a cycle with this workload as its only head would produce. Changes nothing.
  Entry Nominate(WorkloadId workload, NodeId queue);

 private:
  void TakeHeads();
  // Replaces values of the workloads with second passes, and restores them.
  void ShowAsAsked();
  void ShowAsIs();

  void Process();
  std::vector<size_t> ClassicalOrder() const;
  void ProcessInFairOrder();
  void ProcessEntry(Entry& entry);
  void Skip(Entry& entry, Message message, Reason reason);
  // Returns an admitted variant of the same parent in a flavor that the queue prefers to that of the entry,
  // or, if `preferred` is false, in a less preferred one; kNoId if there is none.
  WorkloadId AdmittedSibling(const Entry& entry, bool preferred) const {
    const bool may_have = state_.config.gates.concurrent_admission;
    return may_have ? FindAdmittedSibling(entry, preferred) : WorkloadId(kNoId);
  }
  WorkloadId FindAdmittedSibling(const Entry& entry, bool preferred) const;
  bool MigratesFirst(Entry& entry);
  enum class Fit : uint8_t { kOk, kNoQuota, kNoTopology };
  Fit CheckFit(const Entry& entry);
  bool TakesOver(const Entry& entry) const;
  bool Overlaps(const Entry& entry) const;
  void Recompute(Entry& entry, bool overlaps);
  std::optional<Fit> RecomputeIfNeeded(Entry& entry);
  bool MustEvictForNode(const Entry& entry) const;
  void Reserve(const Entry& entry);
  void AddUsage(const Entry& entry);

  bool IsResumed() const { return &live_ != &state_; }

  State& state_;  // State from which decisions are computed.
  // State to which decisions are applied. `live_` differs from `state_` only in a resumed cycle.
  State& live_;
  Nomination nomination_;
  Outcome outcome_;
  AdmissionBlock block_;
  CycleThreads* threads_ = nullptr;
  std::vector<Entry> entries_;
  std::vector<Entry>* memory_ = nullptr;
  // The second passes of this cycle; the i-th pass belongs to the i-th entry.
  std::vector<SecondPass> second_passes_;
  // Current failed nodes and admissions of the workloads in `second_passes_`. The values are saved here while
  // the cycle temporarily replaces them with the values recorded in `second_passes_`.
  std::vector<SecondPass> as_is_;
  Victims victims_;
  std::vector<Entry*> admitted_;
};

}  // namespace kueue

#endif  // KUEUE_SCHEDULER_CYCLE_H_
