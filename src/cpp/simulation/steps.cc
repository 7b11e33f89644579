// How a run goes on, how jobs start, and what is added to it meanwhile.
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

void Simulation::Admit(int32_t number) {
  recorder_.Decide(engine_.state(), DecisionKind::kAdmitted, At(number), columns_->Row(number));
  const JobPlace place = PlaceOfJob(number);
  if (place == JobPlace::kHere || place == JobPlace::kCopied) return Start(number);
  PlanExecutionLimit(number);
}

// Its execution time is limited from its admission on.
void Simulation::PlanExecutionLimit(int32_t number) {
  const Workload& workload = WorkloadOf(number);
  const auto limit = workload.spec->maximum_execution_time_seconds;
  if (!limit) return;
  const Time left = (*limit - workload.Status().past_execution_seconds.value_or(0)) * kSecond;
  const Time admitted = workload.Find(ConditionType::kAdmitted)->transition;
  calendar_.Plan(std::max(now(), SaturatingAdd(admitted, std::max<Time>(0, left))), Happening::kTimer, number,
                 At(number).term);
}

void Simulation::Start(int32_t number) {
  Job& job = At(number);
  const State& state = engine_.state();
  const Workload& workload = state.At(job.workload);
  const RunModel model = ModelOf(number);
  job.started = now();
  if (job.first_start < 0) job.first_start = now();
  Time until_ready = 0;
  for (const Startup& startup : options_.delays.startups) {
    if (job.flavor != kNoId && startup.flavor == state.flavor_names.Name(job.flavor))
      until_ready = startup.delay.Of(columns_->Row(number), job.runs - 1);
  }
  job.startup = until_ready + (job.runs > 1 || job.done > 0 ? model.restore : 0);
  if (state.config.wait_for_pods_ready) {
    calendar_.Plan(now() + until_ready, Happening::kPodsReady, number, job.term);
    const auto& timeouts = *state.config.wait_for_pods_ready;
    if (timeouts.timeout > 0)
      calendar_.Plan(SaturatingAdd(now(), timeouts.timeout), Happening::kTimer, number, job.term);
    if (until_ready == 0) {
      engine_.SetPodsReady(job.workload, true);
      acted_ = true;
    }
  }
  if (columns_->runtime[static_cast<size_t>(number)] >= 0) {
    job.wanted = RuntimeOf(number, workload);
    const Time length = LengthOfRun(model, std::max<Time>(0, job.wanted - job.done), job.startup);
    calendar_.Plan(SaturatingAdd(now(), length), Happening::kEnd, number, job.term);
  }
  PlanExecutionLimit(number);
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
