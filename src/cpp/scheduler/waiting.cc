#include "scheduler/waiting.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "lifecycle/conditions.h"
#include "lifecycle/controllers.h"

namespace kueue {

void AdmissionBlock::Remember(const std::vector<SecondPass>& second_passes) {
  const std::optional<WaitForPodsReady>& config = state_.config.wait_for_pods_ready;
  if (!config || !config->block_admission) return;
  auto start = std::make_shared<State>(state_);
  start->record_events = false;
  start->events.clear();
  start->second_passes.insert(start->second_passes.begin(), second_passes.begin(), second_passes.end());
  start_ = std::move(start);
}

bool AdmissionBlock::MustWait(Entry& entry, const std::vector<Entry*>& admitted) {
  if (waiting_.start != nullptr) {
    if (reached_++ < passed_) return false;
    start_ = std::move(waiting_.start);
    waiting_.start = nullptr;
    entry.decided = true;
    return false;  // This is the entry at which the cycle was blocked.
  }
  if (start_ == nullptr) return false;
  ++reached_;
  if (entry.second_pass > 0) return false;
  const auto unready = [this](const Entry* earlier) {
    // Also of a workload that was deleted, finished or deactivated while the cycle was blocked: Kueue adds it
    // to its cache, and removes it only after the write of its admission.
    return earlier->decided && !live_.At(earlier->workload).IsTrue(ConditionType::kPodsReady);
  };
  return !AllPodsReady(live_) || std::any_of(admitted.begin(), admitted.end(), unready);
}

void AdmissionBlock::Wait(Entry& entry, CycleResult& result) {
  const bool granular = live_.config.gates.unadmitted_workloads_observability;
  entry.message = Say(Sentence::kWaitingForPodsReady);
  entry.quota_reserved_reason = granular ? Reason::kWaitingForPodsReady : Reason::kWaiting;
  const Workload& workload = live_.At(entry.workload);
  // The workload changed while the cycle was blocked. The cycle is blocked again regardless.
  if (workload.deleted || workload.IsFinished()) {
    entry.decided = false;
  } else if ((&state_ == &live_ ||
              UnsetQuotaReservation(state_, entry.workload, entry.quota_reserved_reason, entry.message)) &&
             UnsetQuotaReservation(live_, entry.workload, entry.quota_reserved_reason, entry.message)) {
    result.moved = true;
    AfterWrite(live_, entry.workload);
  }
  live_.waiting = {start_, reached_ - 1, false};
  waits_ = true;
}

}  // namespace kueue
