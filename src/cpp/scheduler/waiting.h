// A cycle that is blocked until all pods are ready (waitForPodsReady.blockAdmission). Kueue blocks its
// scheduler during the cycle and then continues with the results computed so far. Here the cycle ends and is
// replayed later on its start state. Mirrors pkg/scheduler/scheduler.go:waitForPodsReadyIfNeeded and
// pkg/cache/scheduler/cache.go:PodsReadyForAllAdmittedWorkloads (kueue ff69552e79).
#ifndef KUEUE_SCHEDULER_WAITING_H_
#define KUEUE_SCHEDULER_WAITING_H_

#include <memory>
#include <utility>
#include <vector>

#include "scheduler/entry.h"
#include "state/state.h"

namespace kueue {

class AdmissionBlock {
 public:
  // `waiting` is the point at which a resumed cycle was blocked; empty for a new cycle.
  AdmissionBlock(State& state, State& live, WaitingCycle waiting)
      : state_(state), live_(live), waiting_(std::move(waiting)), passed_(waiting_.passed) {}

  // Copies the state at the start of a new cycle, if the cycle may be blocked.
  void Remember(const std::vector<SecondPass>& second_passes);
  // Returns whether an entry that fits must wait. Workloads admitted in this cycle are not ready either.
  bool MustWait(Entry& entry, const std::vector<Entry*>& admitted);
  // Blocks the cycle at the entry.
  void Wait(Entry& entry, CycleResult& result);
  // Returns kNominated if the entry's ClusterQueue was deleted while the cycle was blocked. The quota stays
  // in use in the cycle.
  EntryStatus StatusOfFit(const Entry& entry) const {
    const bool exists = !entry.decided || live_.forest().IsDeclared(entry.queue);
    return exists ? EntryStatus::kAssumed : EntryStatus::kNominated;
  }
  // Returns whether the cycle is blocked.
  bool waits() const { return waits_; }
  // Returns whether a resumed cycle has not yet reached the point at which it was blocked.
  bool IsReplaying() const { return waiting_.start != nullptr; }
  // Returns the number of entries that fitted before the cycle was blocked.
  int passed() const { return passed_; }

 private:
  State& state_;
  State& live_;
  WaitingCycle waiting_;
  std::shared_ptr<const State> start_;  // With blockAdmission: the state at the start of the cycle.
  const int passed_;
  int reached_ = 0;  // Number of entries that fitted in this run.
  bool waits_ = false;
};

}  // namespace kueue

#endif  // KUEUE_SCHEDULER_WAITING_H_
