// How a run goes on, and what is added to it meanwhile.
#include <algorithm>
#include <utility>

#include "simulation/simulation.h"

namespace kueue {

Went Simulation::GoOn(Time until) {
  if (!in_moment_ && !Begin(std::min(until, options_.until))) return Went::kNothing;
  in_moment_ = Decide();
  if (in_moment_) return Went::kOn;
  EndMoment();
  return Went::kOver;
}

bool Simulation::Run(int64_t work, Time until) {
  for (work_ = work; work_ > 0 && !stopped_;) {
    if (GoOn(until) == Went::kNothing) return false;
  }
  return !stopped_;
}

Went Simulation::RunMoment(int64_t work, Time until) {
  for (work_ = work; work_ > 0 && !stopped_;) {
    if (const Went went = GoOn(until); went != Went::kOn) return went;
  }
  return stopped_ ? Went::kNothing : Went::kOn;
}

// Jobs that were submitted before the warm-up is over do not count in figures.
bool Simulation::Counts(int32_t job) const {
  return columns_->submit[static_cast<size_t>(job)] >= start_ + options_.warmup || options_.warmup == 0;
}

void Simulation::Plan(TimedChange change) {
  change.at = std::max(change.at, now());
  calendar_.Plan(change.at, Happening::kChange, static_cast<int32_t>(options_.changes.size()), 0);
  options_.changes.push_back(std::move(change));
}

void Simulation::Extend(std::shared_ptr<const JobColumns> jobs, const std::vector<int32_t>& places) {
  columns_ = std::move(jobs);
  asks_.resize(columns_->shapes.size());
  has_asks_.resize(columns_->shapes.size());
  // Nothing is kept by place of jobs that are yet to come.
  jobs_.resize(static_cast<size_t>(columns_->size()));
  for (TimedChange& change : options_.changes) {
    if (change.job >= 0) change.job = places[static_cast<size_t>(change.job)];
  }
}

}  // namespace kueue
