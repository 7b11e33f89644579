// Progress of a simulation, starts of jobs, and additions of jobs during the simulation.
#include <algorithm>
#include <utility>

#include "simulation/simulation.h"

namespace kueue {
namespace {

constexpr int64_t kFruitless = 100'000, kFruitlessOfJob = 1'000;
constexpr double kMostToCome = 1e7;  // Maximum number of further evictions.

}  // namespace

void Simulation::LookAtAll() {
  for (NodeId queue : engine_.state().forest().Queues()) figures_.Look(engine_.state(), queue, recorder_);
}

void Simulation::EndMoment() {
  State& state = engine_.state();
  Listen();
  touched_.Take([&](NodeId queue) { figures_.Look(state, queue, recorder_); });
  figures_.EndMoment(state.now, recorder_);
  if (state.config.admission_fair_sharing) recorder_.Consume(state);
}

void Simulation::Close() {
  if (std::exchange(closed_, true)) return;
  EndMoment();
  figures_.Close(options_.until == INT64_MAX ? now() : std::max(now(), options_.until));
  for (int32_t number = 0; number < columns_->size(); ++number) {
    if (!slots_.empty() && !HasCopy(number)) continue;
    const Job& job = At(number);
    if (job.reserved >= 0) recorder_.EndRun(now(), RunOutcome::kRunning, job, columns_->Row(number), {});
  }
}

// No end is in sight if there is no end time, or if reaching it would take more than kMostToCome evictions.
// Since some jobs eventually succeed, the function returns false until many evictions have happened.
bool Simulation::IsEndless(Time until) {
  is_endless_ = false;
  if (fruitless_ <= std::max(kFruitless, kFruitlessOfJob * holding_)) return false;
  const Time last = std::min(until, options_.until);
  const auto spent = static_cast<double>(std::max<Time>(1, now() - fruitless_since_));
  const double to_come = static_cast<double>(last - now()) / spent * static_cast<double>(fruitless_);
  is_endless_ = last == INT64_MAX || to_come > kMostToCome;
  return is_endless_;
}

Went Simulation::GoOn(Time until) {
  if (!in_moment_ && !Begin(std::min(until, options_.until))) return Went::kNothing;
  in_moment_ = Decide();
  if (in_moment_) return Went::kOn;
  EndMoment();
  return Went::kOver;
}

bool Simulation::Run(int64_t work, Time until) {
  for (work_ = work; work_ > 0 && !stopped_;) {
    if (closed_ || IsEndless(until) || GoOn(until) == Went::kNothing) return false;
  }
  return !stopped_;
}

Went Simulation::RunMoment(int64_t work, Time until) {
  for (work_ = work; work_ > 0 && !stopped_ && !closed_;) {
    if (const Went went = GoOn(until); went != Went::kOn) return went;
  }
  return stopped_ || closed_ ? Went::kNothing : Went::kOn;
}

// Jobs submitted during the warm-up are not counted in metrics.
bool Simulation::Counts(int32_t job) const {
  return columns_->submit[static_cast<size_t>(job)] >= SaturatingAdd(start_, options_.warmup) ||
         options_.warmup == 0;
}

void Simulation::Admit(int32_t number) {
  recorder_.Decide(engine_.state(), DecisionKind::kAdmitted, At(number), columns_->Row(number));
  const JobPlace place = PlaceOfJob(number);
  if (place == JobPlace::kHere || place == JobPlace::kCopied) return Start(number);
  PlanExecutionLimit(number);
}

// The execution time limit starts at the admission.
void Simulation::PlanExecutionLimit(int32_t number) {
  const Workload& workload = WorkloadOf(number);
  const auto limit = workload.spec->maximum_execution_time_seconds;
  if (!limit) return;
  const Time left =
      SaturatingMul(SaturatingSub(*limit, workload.Status().past_execution_seconds.value_or(0)), kSecond);
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
  job.startup = SaturatingAdd(until_ready, job.runs > 1 || job.done > 0 ? model.restore : 0);
  if (state.config.wait_for_pods_ready) {
    calendar_.Plan(SaturatingAdd(now(), until_ready), Happening::kPodsReady, number, job.term);
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
  fruitless_ = 0;
  calendar_.Plan(change.at, Happening::kChange, static_cast<int32_t>(options_.changes.size()), 0);
  options_.changes.push_back(std::move(change));
}

void Simulation::Extend(JobColumns jobs) {
  const int32_t before = columns_->size();
  if (jobs.HasReplacements()) engine_.state().RestoreKeys();
  columns_.Append(std::move(jobs));
  asks_.resize(columns_->shapes.size());
  has_asks_.resize(columns_->shapes.size());
  jobs_.resize(static_cast<size_t>(columns_->size()));
  for (int32_t job = before; job < columns_->size(); ++job) {
    later_.push_back({SubmitOf(job), job});
    std::push_heap(later_.begin(), later_.end());
  }
  fruitless_ = 0;
}

int32_t Simulation::NextArrival() const {
  const bool is_later = !later_.empty() && (next_ >= given_ || later_.front().at < SubmitOf(next_));
  if (is_later) return later_.front().job;
  return next_ < given_ ? next_ : -1;
}

int32_t Simulation::TakeArrival() {
  const int32_t job = NextArrival();
  if (job >= given_) {
    std::pop_heap(later_.begin(), later_.end());
    later_.pop_back();
  } else {
    ++next_;
  }
  arrived_.push_back(job);
  return job;
}

}  // namespace kueue
