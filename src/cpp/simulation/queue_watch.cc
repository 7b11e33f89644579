#include "simulation/queue_watch.h"

#include <algorithm>
#include <functional>

#include "fairness/share.h"

namespace kueue {
namespace {

void AddUsage(const State& state, NodeId queue, QueueView& view) {
  const NodeId top = state.forest().Root(queue);
  const NodeId root = top == kNoId ? queue : top;
  view.share = DominantResourceShare(state, queue).Weighted();
  for (FlavorResourceId fr : state.quota.FlavorResources()) {
    const auto all = static_cast<double>(state.quota.limits().subtree(root, fr).value());
    if (!state.quota.limits().defined(queue, fr) || all <= 0) continue;
    const auto used = static_cast<double>(state.quota.Usage(queue, fr).value()) / all;
    const auto nominal = static_cast<double>(state.quota.limits().nominal(queue, fr).value()) / all;
    if (used < view.used || (used == view.used && nominal <= view.nominal)) continue;
    view.used = used;
    view.nominal = nominal;
    view.borrowed = std::max(0.0, used - nominal);
  }
}

}  // namespace

QueueWatch::QueueWatch(std::vector<std::string> queues)
    : names_(std::move(queues)), views_(names_.size()), done_(names_.size()), top_(names_.size()) {}

void QueueWatch::Find(const State& state) {
  place_of_.assign(state.forest().size(), SIZE_MAX);
  for (size_t place = 0; place < names_.size(); ++place) {
    views_[place] = QueueView();
    top_[place] = INT64_MIN;
    const NodeId queue = state.forest().FindClusterQueue(names_[place]);
    if (queue == kNoId) continue;
    place_of_[queue] = place;
    if (state.forest().IsDeclared(queue)) AddUsage(state, queue, views_[place]);
  }
}

void QueueWatch::Add(const Simulation& run, int32_t number, Time now) {
  const Job& job = run.data().jobs.jobs()[static_cast<size_t>(number)];
  const size_t place = job.queue == kNoId ? SIZE_MAX : place_of_[job.queue];
  if (place == SIZE_MAX) return;
  QueueView& view = views_[place];
  const Time submit =
      std::max(run.data().jobs.columns().submit[static_cast<size_t>(number)], run.data().start);
  const Time until = job.end >= 0 ? job.end : now;
  const Time waited = until - submit - job.held - (job.reserved >= 0 ? until - job.reserved : 0);
  if (job.end >= 0) {
    ++done_[place].arrivals;
    done_[place].evictions += job.evictions;
    done_[place].waited = SaturatingAdd(done_[place].waited, waited);
    return;
  }
  ++view.arrivals;
  view.evictions += job.evictions;
  view.waited = SaturatingAdd(view.waited, waited);
  if (job.state != JobState::kWaiting || job.reserved >= 0) return;
  ++view.waiting;
  if (view.oldest < 0) view.oldest = submit;
  const int64_t priority = run.data().engine.state().At(job.workload).priority;
  if (priority > top_[place]) {
    top_[place] = priority;
    view.top_waiting = 0;
  }
  if (priority == top_[place]) ++view.top_waiting;
}

const std::vector<QueueView>& QueueWatch::Look(const Simulation& run, Time now) {
  Find(run.data().engine.state());
  for (; next_ < run.arrivals().arrived().size(); ++next_) open_.push_back(run.arrivals().arrived()[next_]);
  size_t kept = 0;
  for (int32_t number : open_) {
    Add(run, number, now);
    if (run.data().jobs.jobs()[static_cast<size_t>(number)].end < 0) open_[kept++] = number;
  }
  open_.resize(kept);
  for (size_t place = 0; place < views_.size(); ++place) {
    views_[place].arrivals += done_[place].arrivals;
    views_[place].evictions += done_[place].evictions;
    views_[place].waited = SaturatingAdd(views_[place].waited, done_[place].waited);
  }
  return views_;
}

double LostPart(const Simulation& run) {
  double part = 0;
  for (const auto& [fr, lost] : run.data().figures.lost()) {
    const auto nominal = run.data().figures.nominal().find(fr);
    if (nominal == run.data().figures.nominal().end() || nominal->second.value() <= 0) continue;
    part = std::max(part, lost / nominal->second.value());
  }
  return part;
}

}  // namespace kueue
