// A cycle that is blocked until all pods are ready (waitForPodsReady.blockAdmission). Kueue blocks its
// scheduler during the cycle and then continues with the results computed so far. Here the cycle ends and is
// replayed later on its start state. Mirrors pkg/scheduler/scheduler.go:waitForPodsReadyIfNeeded and
// pkg/cache/scheduler/cache.go:PodsReadyForAllAdmittedWorkloads (kueue ff69552e79).
#include <algorithm>

#include "lifecycle/conditions.h"
#include "lifecycle/controllers.h"
#include "scheduler/cycle.h"

namespace kueue {

void Cycle::Remember() {
  const std::optional<WaitForPodsReady>& config = state_.config.wait_for_pods_ready;
  if (!config || !config->block_admission) return;
  auto start = std::make_shared<State>(state_);
  start->record_events = false;
  start->events.clear();
  start->second_passes.insert(start->second_passes.begin(), second_passes_.begin(), second_passes_.end());
  start_ = std::move(start);
}

// Returns whether an entry that fits must wait. Workloads admitted in this cycle are not ready either.
bool Cycle::MustWait(Entry& entry) {
  if (waiting_.start != nullptr) {
    if (static_cast<int>(admitted_.size()) < passed_) return false;
    start_ = std::move(waiting_.start);
    waiting_.start = nullptr;
    entry.decided = true;
    return false;  // This is the entry at which the cycle was blocked.
  }
  if (start_ == nullptr || entry.second_pass > 0) return false;
  const auto unready = [this](size_t index) {
    if (!entries_[index].decided) return false;
    const Workload& other = live_.At(entries_[index].workload);
    // Whether the workload changed while the cycle was blocked.
    const bool gone = other.deleted || other.IsFinished() || !other.spec->active;
    return !gone && !other.IsTrue(ConditionType::kPodsReady);
  };
  return !AllPodsReady(live_) || std::any_of(admitted_.begin(), admitted_.end(), unready);
}

void Cycle::Wait(Entry& entry) {
  const bool granular = live_.config.gates.unadmitted_workloads_observability;
  entry.message = Say(Sentence::kWaitingForPodsReady);
  entry.quota_reserved_reason = granular ? Reason::kWaitingForPodsReady : Reason::kWaiting;
  const Workload& workload = live_.At(entry.workload);
  // The workload changed while the cycle was blocked. The cycle is blocked again regardless.
  if (workload.deleted || workload.IsFinished()) {
    entry.decided = false;
  } else if (UnsetQuotaReservation(live_, entry.workload, entry.quota_reserved_reason, entry.message)) {
    result_.moved = true;
  }
  live_.waiting = {start_, static_cast<int>(admitted_.size()), false};
  waits_ = true;
}

}  // namespace kueue
