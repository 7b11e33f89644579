// Discrete-event simulation of arrivals, scheduling cycles and job completions. A Simulation advances the
// time: it takes the events of each time and runs cycles. JobRuns handles their effects on jobs.
#ifndef KUEUE_SIMULATION_SIMULATION_H_
#define KUEUE_SIMULATION_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "simulation/arrivals.h"
#include "simulation/copies.h"
#include "simulation/failures.h"
#include "simulation/job_runs.h"
#include "simulation/jobs.h"
#include "simulation/options.h"

namespace kueue {

// A tree with a preemption loop. No cycle takes heads from the tree until the state of the tree changes.
struct Loop {
  Time at = 0;  // Time at which the loop was first detected.
  int64_t period = 0, times = 0;
  std::vector<int32_t> jobs;  // Row numbers, ascending.
};

// Result of advancing a simulation. kNothing: there are no events before the end time, or the simulation has
// stopped. kOn: events at the current time are still to be processed. kOver: all events at the current time
// have been processed.
enum class Went : uint8_t { kNothing, kOn, kOver };

class Simulation {
 public:
  // Starts a simulation from the engine's state. `jobs` must be sorted by submission time.
  Simulation(Engine engine, std::shared_ptr<const JobColumns> jobs, SimulationOptions options);

  // Simulates about `work` units of work, but not beyond the time `until`. Each head of a cycle and each
  // event is one unit of work. Returns whether any events are left. A simulation without an end time stops if
  // jobs are evicted repeatedly without progress; see fruitless().
  bool Run(int64_t work, Time until = INT64_MAX);
  // Processes all events at the time of the next event, but stops after about `work` units of work.
  Went RunMoment(int64_t work, Time until = INT64_MAX);
  // Schedules a change. The time of the change must not be before the current time.
  void Plan(TimedChange change);
  // Adds jobs, which need not be sorted. The jobs and their shapes are assigned the next free indexes.
  void Extend(JobColumns jobs);
  // Extends all metrics to the current time and records the unfinished runs of jobs. The simulation cannot
  // continue afterwards.
  void Close();
  bool closed() const { return closed_; }

  RunData& data() { return runs_.data(); }
  const RunData& data() const { return runs_.data(); }
  JobRuns& runs() { return runs_; }
  const std::vector<Loop>& loops() const { return loops_; }
  bool stopped() const { return stopped_; }
  const Arrivals& arrivals() const { return arrivals_; }
  // Returns whether no jobs are still to arrive, and no job that holds quota has a time of completion.
  bool IsOver() const { return arrivals_.Next(data().jobs) < 0 && !data().headway.HasEnding(); }
  // Returns whether jobs are evicted repeatedly without any progress and no end is in sight before `until`.
  bool IsEndless(Time until);
  // Returns the number of consecutive evictions if the last call of IsEndless() returned true, and 0
  // otherwise.
  int64_t fruitless() const { return is_endless_ ? data().headway.fruitless() : 0; }

  // Functions for simulations that are advanced together: the clusters of a fleet. See also
  // simulation/copies.h and runs().

  // Returns the time of the next scheduled event. Skips failures of nodes if `is_over`: they can no longer
  // affect a job.
  std::optional<Time> Next(bool is_over);
  // Starts or continues the processing of events at the time `at`.
  void Enter(Time at);
  // Processes the events at the current time, up to and including the kind `last`.
  void TakeUntil(Happening last);
  void TakeArrivals();
  // Returns whether events or arrivals at the current time have not been processed.
  bool HasDue() const;
  // Runs a cycle. Call JobRuns::Settle() first. Returns whether another cycle is needed.
  bool DecideSettled();
  // Counts the cycles that refuse a deferred copy, instead of running them. If the result is false, nothing
  // was changed, and the copy must be submitted.
  bool CountRefusals(const Wait& wait);

 private:
  Time now() const { return data().now(); }
  const JobColumns& columns() const { return data().jobs.columns(); }
  bool Begin(Time until);
  Went GoOn(Time until);
  Time SubmitOf(int32_t job) const { return columns().submit[static_cast<size_t>(job)]; }
  // Skips the jobs of other clusters of a fleet.
  void SkipOthers();
  void Happen(const Planned& planned);
  void Arrive(int32_t job);
  WorkloadId Submit(int32_t job);
  bool FitsNominal(int32_t job) const;
  void Change(const TimedChange& change);
  void Answer(int32_t job, size_t check);
  std::optional<Time> NextSample() const;
  bool FollowsCycle(const CycleResult& result);
  void RecordLoop(const LoopFound& found);

  JobRuns runs_;
  Arrivals arrivals_;
  NodeFailures failures_;
  // By check: whether the changes in Provisioning::capacity have been applied.
  std::vector<bool> has_capacity_;

  bool in_moment_ = false, stopped_ = false, closed_ = false, is_endless_ = false;
  int64_t cycles_at_moment_ = 0, idle_cycles_ = 0, work_ = 0;
  Time busy_until_ = 0;
  Time entered_ = INT64_MIN;  // Time entered last.
  std::vector<Loop> loops_;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_SIMULATION_H_
