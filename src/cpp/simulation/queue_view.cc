#include "simulation/queue_view.h"

#include <algorithm>

#include "fairness/share.h"

namespace kueue {
namespace {

void AddUsage(const State& state, QueueView& view) {
  const NodeId top = state.forest().Root(view.queue);
  const NodeId root = top == kNoId ? view.queue : top;
  for (FlavorResourceId cell = 0; cell < state.quota.flavor_resources(); ++cell) {
    const auto all = static_cast<double>(state.quota.Subtree(root, cell).value());
    if (!state.quota.IsDefined(view.queue, cell) || all <= 0) continue;
    const auto used = static_cast<double>(state.quota.Usage(view.queue, cell).value()) / all;
    const auto nominal = static_cast<double>(state.quota.Nominal(view.queue, cell).value()) / all;
    if (used < view.used || (used == view.used && nominal <= view.nominal)) continue;
    view.used = used;
    view.nominal = nominal;
    view.borrowed = std::max(0.0, used - nominal);
  }
}

}  // namespace

std::vector<QueueView> QueueViews(const Simulation& run, Time now) {
  const State& state = run.engine().state();
  std::vector<QueueView> views;
  std::vector<size_t> place_of(static_cast<size_t>(state.forest().size()), SIZE_MAX);
  for (NodeId queue : state.forest().Queues()) {
    place_of[static_cast<size_t>(queue)] = views.size();
    QueueView view;
    view.queue = queue;
    view.share = DominantResourceShare(state, queue).Weighted();
    AddUsage(state, view);
    views.push_back(view);
  }
  std::vector<int64_t> top(views.size(), INT64_MIN);
  for (size_t number = 0; number < run.jobs().size(); ++number) {
    const Job& job = run.jobs()[number];
    if (job.state == JobState::kToCome || job.queue == kNoId) continue;
    const size_t place = place_of[static_cast<size_t>(job.queue)];
    if (place == SIZE_MAX) continue;
    QueueView& view = views[place];
    ++view.arrivals;
    view.evictions += job.evictions;
    const Time submit = std::max(run.columns().submit[number], run.start());
    const Time until = job.end >= 0 ? job.end : now;
    view.waited += until - submit - job.held - (job.reserved >= 0 ? until - job.reserved : 0);
    if (job.state != JobState::kWaiting || job.reserved >= 0) continue;
    ++view.waiting;
    if (view.oldest < 0) view.oldest = submit;  // jobs are in the order of submission
    const int64_t priority = state.At(job.workload).priority;
    if (priority > top[place]) {
      top[place] = priority;
      view.top_waiting = 0;
    }
    if (priority == top[place]) ++view.top_waiting;
  }
  return views;
}

double LostPart(const Simulation& run) {
  double part = 0;
  for (const auto& [cell, lost] : run.figures().lost()) {
    const auto nominal = run.figures().nominal().find(cell);
    if (nominal == run.figures().nominal().end() || nominal->second.value() <= 0) continue;
    part = std::max(part, lost / nominal->second.value());
  }
  return part;
}

void Simulation::Steer(Time at, std::function<void(Engine&)> change) {
  TimedChange planned;
  planned.at = std::max(at, now());
  planned.apply = std::move(change);
  calendar_.Plan(planned.at, Happening::kChange, static_cast<int32_t>(options_.changes.size()), 0);
  options_.changes.push_back(std::move(planned));
}

}  // namespace kueue
