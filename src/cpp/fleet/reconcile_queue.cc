#include "fleet/reconcile_queue.h"

#include <algorithm>

namespace kueue {

ReconcileQueue::ReconcileQueue(size_t jobs, std::vector<Time> sync, std::vector<ConnectionChange> connections)
    : schedules_(jobs), sync_(std::move(sync)), connections_(std::move(connections)) {
  for (size_t i = 0; i < connections_.size(); ++i) {
    calendar_.Plan(connections_[i].at, Happening::kChange, static_cast<int32_t>(i), 0);
  }
}

void ReconcileQueue::Add(int32_t job) {
  Schedule& schedule = At(job);
  if (schedule.changed) return;
  schedule.changed = true;
  changed_.push_back(job);
}

void ReconcileQueue::AddObserved(int32_t job, int32_t cluster, Time now) {
  const Time sync = sync_[static_cast<size_t>(cluster)];
  if (sync == 0) return Add(job);
  Schedule& schedule = At(job);
  const Time due = SaturatingAdd(now, sync);
  if (schedule.due >= 0 && schedule.due <= due) return;
  schedule.due = due;
  calendar_.Plan(due, Happening::kPodsReady, job, 0);
}

void ReconcileQueue::SetAgain(int32_t job, Time at) {
  Schedule& schedule = At(job);
  if (at >= 0 && at != schedule.again) calendar_.Plan(at, Happening::kTimer, job, 0);
  schedule.again = at;
}

std::optional<Time> ReconcileQueue::Next() {
  while (!calendar_.empty()) {  // Reconciliations that are no longer due do not count as events.
    const Planned planned = calendar_.Next();
    if (planned.kind == Happening::kChange || TimeOf(planned) == planned.at) return planned.at;
    calendar_.Drop();
  }
  return std::nullopt;
}

std::vector<int32_t> ReconcileQueue::TakeChanged() {
  std::vector<int32_t> jobs;
  jobs.swap(changed_);
  for (int32_t job : jobs) At(job).changed = false;
  return jobs;
}

std::vector<int32_t> ReconcileQueue::Unique(std::vector<int32_t> jobs) {
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  return jobs;
}

}  // namespace kueue
