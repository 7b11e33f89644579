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
#include "simulation/deferred_arrivals.h"
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

// The result of a cycle, and whether it evicted a job.
struct CycleOutcome {
  CycleResult result;
  bool evicted = false;
};

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
  // Assigns a workload that already exists in the engine to a job.
  void Adopt(int32_t job, WorkloadId workload) { runs_.Adopt(job, workload); }
  // Extends all metrics to the current time and records the unfinished runs of jobs. The simulation cannot
  // continue afterwards.
  void Close();
  bool closed() const { return closed_; }

  Time start() const { return runs_.start(); }
  Time now() const { return runs_.now(); }
  const Engine& engine() const { return runs_.engine(); }
  const JobColumns& columns() const { return runs_.jobs().columns(); }
  const std::vector<Job>& jobs() const { return runs_.jobs().jobs(); }
  const SimulationStats& stats() const { return runs_.stats(); }
  const Recorder& recorder() const { return runs_.recorder(); }
  Recorder& recorder() { return runs_.recorder(); }
  const Figures& figures() const { return runs_.figures(); }
  const std::vector<Loop>& loops() const { return loops_; }
  bool stopped() const { return stopped_; }
  // Returns the arrived jobs, in the order of arrival.
  const std::vector<int32_t>& arrived() const { return arrivals_.arrived(); }
  // Returns whether no jobs are still to arrive, and no job that holds quota has a time of completion.
  bool IsOver() const { return arrivals_.Next(runs_.jobs()) < 0 && !runs_.headway().HasEnding(); }
  // Returns whether jobs are evicted repeatedly without any progress and no end is in sight before `until`.
  bool IsEndless(Time until);
  // Returns the number of consecutive evictions if the last call of IsEndless() returned true, and 0
  // otherwise.
  int64_t fruitless() const { return is_endless_ ? runs_.headway().fruitless() : 0; }
  // Returns the job of a workload, or -1 if the workload belongs to no job.
  int32_t JobOf(WorkloadId workload) const { return runs_.jobs().JobOf(workload); }
  // Returns the index of a job in jobs(). On a worker, the indexes of removed jobs are reused.
  size_t PlaceOf(int32_t job) const { return runs_.jobs().PlaceOf(job); }
  const Job& JobAt(int32_t job) const { return runs_.jobs().At(job); }
  // Returns whether the job is submitted to this cluster.
  bool IsOwn(int32_t job) const { return runs_.jobs().IsOwn(job); }

  // Functions for a simulation that represents one cluster of a fleet. The fleet controls when the
  // simulation advances.
  Engine& engine() { return runs_.engine(); }
  void Follow(RunListener* listener) { runs_.Follow(listener); }
  // Returns the time of the next scheduled event.
  std::optional<Time> Next() { return Next(IsOver()); }
  // Skips failures of nodes if `is_over`: they can no longer affect a job.
  std::optional<Time> Next(bool is_over);
  // Starts or continues the processing of events at the time `at`.
  void Enter(Time at);
  // Processes the events at the current time, up to and including the kind `last`.
  void TakeUntil(Happening last);
  void TakeArrivals();
  // Returns whether events or arrivals at the current time have not been processed.
  bool HasDue() const;
  void Settle() { runs_.Settle(); }
  // Runs a cycle. Call Settle() first. Returns whether another cycle is needed.
  bool DecideSettled();
  // Runs Settle() and then a cycle. Returns whether another cycle is needed.
  bool Decide();
  const std::vector<FirstWaits>& first_waits() const { return runs_.jobs().first_waits(); }
  // DecideSettled() consists of these two steps. Follow() accepts the combined outcome of several simulations
  // that are advanced together.
  CycleOutcome RunCycle();
  bool Follow(const CycleOutcome& outcome);
  void EndMoment() { runs_.EndMoment(); }
  // Handle three changes on a worker: the creation of a copy, its deletion, and the creation of the copy's
  // job.
  void AddCopy(int32_t job, WorkloadId workload, const Job& before) {
    kueue::AddCopy(runs_, job, workload, before);
  }
  // Returns the final record of the job. In this record, no run of the job is in progress.
  Job RemoveCopy(int32_t job) { return kueue::RemoveCopy(runs_, job); }
  void StartCopy(int32_t job) { kueue::StartCopy(runs_, job); }
  // Handle a deferred copy: a copy that only waits, and whose workload was not submitted to the engine.
  // CanDefer() returns whether a copy of the job can be deferred. AddDeferred() corresponds to AddCopy().
  // CountRefusals() corresponds to Decide(); if it returns false, it has changed nothing, and the copy must
  // be realized. See kueue::Realize().
  bool CanDefer(int32_t job) const;
  void AddDeferred(int32_t job, const Wait& wait, const Job& before) {
    kueue::AddDeferred(runs_, job, wait, before);
  }
  bool CountRefusals(const Wait& wait);
  void Realize(int32_t job, Time created, CopyStage stage, Time refused,
               const std::function<WorkloadId()>& submit) {
    kueue::Realize(runs_, job, created, stage, refused, submit);
  }
  // Returns whether jobs are still to arrive in this cluster.
  bool HasArrivals() const { return arrivals_.Next(runs_.jobs()) >= 0; }
  // Ends the metrics of the period in which jobs arrive, because no jobs are to arrive in the whole fleet.
  void EndSubmissions(Time at) { runs_.figures().EndSubmissions(at); }
  bool HasCopy(int32_t job) const { return runs_.jobs().Has(job); }
  // Removes a workload of the manager whose copy has finished.
  void Forget(int32_t job) { ForgetWorkload(runs_, job); }

 private:
  bool Begin(Time until);
  Went GoOn(Time until);
  Time SubmitOf(int32_t job) const { return columns().submit[static_cast<size_t>(job)]; }
  // Skips the jobs of other clusters of a fleet.
  void SkipOthers();
  void Happen(const Planned& planned);
  void Arrive(int32_t job);
  WorkloadId Submit(int32_t job);
  bool FitsNominal(int32_t job) const;
  void SubmitNext(const std::vector<WorkloadId>& left);
  void Change(const TimedChange& change);
  void Answer(int32_t job, size_t check);
  std::optional<Time> NextSample() const;
  bool FollowsCycle(const CycleResult& result);
  void FoundLoop(const LoopFound& found);

  JobRuns runs_;
  Arrivals arrivals_;
  std::optional<DeferredArrivals> deferred_;
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
