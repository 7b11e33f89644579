#include "simulation/lockstep.h"

#include <algorithm>
#include <utility>

namespace kueue {

std::optional<Time> Lockstep::Next() const {
  std::optional<Time> next;
  for (const std::shared_ptr<Simulation>& run : runs_) {
    if (const std::optional<Time> of_run = run->Next(run->IsOver()))
      next = std::min(next.value_or(INT64_MAX), *of_run);
  }
  return next;
}

void Lockstep::ForEach(const std::function<void(Simulation&, CycleOutcome&)>& step) {
  outcomes_.resize(runs_.size());
  pool_.Do(threads_, runs_.size(), [&](size_t i) { step(*runs_[i], outcomes_[i]); });
}

// Combines the outcomes of a cycle of all trees. Returns whether another cycle is needed.
bool Lockstep::Follow() {
  CycleOutcome all;
  all.result.idle = true;
  int64_t cycle = 0;
  for (size_t i = 0; i < runs_.size(); ++i) {
    const CycleResult& result = outcomes_[i].result;
    all.evicted = all.evicted || outcomes_[i].evicted;
    all.result.idle = all.result.idle && result.idle;
    all.result.admitted += result.admitted;
    all.result.evicted += result.evicted;
    all.result.heads += result.heads;
    all.result.made_inadmissible = all.result.made_inadmissible || result.made_inadmissible;
    all.result.scanning = all.result.scanning || result.scanning;
    cycle = std::max(cycle, std::as_const(*runs_[i]).data().engine.state().scheduling_cycle);
  }
  if (!all.result.idle) ++cycles_;
  bool follows = false;
  for (const std::shared_ptr<Simulation>& run : runs_) {
    run->data().engine.state().scheduling_cycle = cycle;
    follows = run->Follow(all) || follows;
  }
  return follows;
}

bool Lockstep::Run(int64_t work) {
  while (work > 0) {
    const std::optional<Time> next = Next();
    if (!next || *next == INT64_MAX) return false;
    const auto is_endless = [](const std::shared_ptr<Simulation>& run) { return run->IsEndless(INT64_MAX); };
    if (std::any_of(runs_.begin(), runs_.end(), is_endless)) return false;
    ForEach([&](Simulation& run, CycleOutcome& outcome) {
      run.Enter(*next);
      run.TakeUntil(Happening::kPodsReady);
      run.TakeArrivals();
      run.TakeUntil(Happening::kCycle);
      run.runs().Settle();
      outcome = run.RunCycle();
    });
    while (Follow()) {
      for (const CycleOutcome& outcome : outcomes_) work -= outcome.result.heads;
      ForEach([](Simulation& run, CycleOutcome& outcome) {
        run.runs().Settle();
        outcome = run.RunCycle();
      });
    }
    --work;
    ForEach([](Simulation& run, CycleOutcome&) { run.runs().EndMoment(); });
  }
  return true;
}

SimulationStats Lockstep::stats() const {
  SimulationStats all;
  for (const std::shared_ptr<Simulation>& run : runs_) {
    const SimulationStats& stats = run->data().stats;
    all.workloads += stats.workloads;
    all.admissions += stats.admissions;
    all.evictions += stats.evictions;
    all.finished += stats.finished;
    all.end = std::max(all.end, stats.end);
  }
  all.cycles = cycles_;
  return all;
}

std::vector<FirstWaits> Lockstep::first_waits() const {
  std::vector<FirstWaits> all;
  for (const std::shared_ptr<Simulation>& run : runs_)
    all.insert(all.end(), run->data().jobs.first_waits().begin(), run->data().jobs.first_waits().end());
  return all;
}

Time Lockstep::start() const {
  Time start = INT64_MAX;
  for (const std::shared_ptr<Simulation>& run : runs_) start = std::min(start, run->data().start);
  return start;
}

}  // namespace kueue
