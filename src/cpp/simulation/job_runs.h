// The runs of jobs on the engine of one cluster: what happens to a job when its workload gains or loses
// quota, and the tables and metrics of that. `as_performance_test` follows Kueue's generator files
// (test/performance/scheduler, kueue ff69552e79).
#ifndef KUEUE_SIMULATION_JOB_RUNS_H_
#define KUEUE_SIMULATION_JOB_RUNS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "simulation/calendar.h"
#include "simulation/figures.h"
#include "simulation/headway.h"
#include "simulation/job_store.h"
#include "simulation/loops.h"
#include "simulation/options.h"
#include "simulation/recorder.h"
#include "simulation/touched.h"

namespace kueue {

// Observer of the jobs of a simulation. The listener is called after the simulation has processed an event.
// Changes without an event kind of their own, such as a new priority, are reported as kCreated.
class RunListener {
 public:
  virtual ~RunListener() = default;
  virtual void Happened(int32_t site, EventKind kind, int32_t job, int32_t by) = 0;
};

struct SimulationStats {
  int64_t workloads = 0, cycles = 0, admissions = 0, evictions = 0, finished = 0;
  Time end = 0;  // Time of the last arrival or completion.
};

// Owns the engine, the jobs, the planned events, the tables and the metrics of one cluster.
class JobRuns {
 public:
  // Starts from the engine's state. `columns` must be sorted by submission time.
  JobRuns(Engine engine, std::shared_ptr<const JobColumns> columns, SimulationOptions options);

  Engine& engine() { return engine_; }
  const Engine& engine() const { return engine_; }
  SimulationOptions& options() { return options_; }
  const SimulationOptions& options() const { return options_; }
  JobStore& jobs() { return jobs_; }
  const JobStore& jobs() const { return jobs_; }
  Calendar& calendar() { return calendar_; }
  const Calendar& calendar() const { return calendar_; }
  LoopWatch& watch() { return watch_; }
  Recorder& recorder() { return recorder_; }
  const Recorder& recorder() const { return recorder_; }
  Figures& figures() { return figures_; }
  const Figures& figures() const { return figures_; }
  SimulationStats& stats() { return stats_; }
  const SimulationStats& stats() const { return stats_; }
  Headway& headway() { return headway_; }
  const Headway& headway() const { return headway_; }
  Time start() const { return start_; }
  Time now() const { return engine_.state().now; }
  void Follow(RunListener* listener) {
    listener_ = listener;
    engine_.state().followed.all = listener != nullptr;
  }

  // Runs the controllers until nothing changes, and stops the evicted jobs.
  void Settle();
  // Processes the steps recorded by the engine.
  void Listen();
  // Assigns a pending workload to a job, whose arrival has been counted.
  void Enter(int32_t job, WorkloadId workload);
  // Assigns a workload that exists in the engine to an arriving job.
  void Adopt(int32_t job, WorkloadId workload);
  // Counts a job that begins to wait in the queue. A job of its shape must have had a workload.
  void Await(int32_t job, NodeId queue);
  // Starts the run of an admitted job.
  void Start(int32_t job);
  // Ends a job whose workload has run to its end.
  void End(int32_t job);
  // Extends the metrics to the current time, and records what has changed.
  void EndMoment();
  // Extends all metrics to the end, and records the unfinished runs of jobs.
  void Close();

  // Marks the queue as changed.
  void Touch(NodeId queue);
  // Same, and ends the hold on the heads of the queue's tree, since its state changed.
  void Stir(NodeId queue);
  // Updates everything that depends on quotas.
  void QuotasChanged();
  // Passes a change without an event of its own to the listener.
  void Report(int32_t job) {
    if (listener_ != nullptr) listener_->Happened(options_.site, EventKind::kCreated, job, -1);
  }
  // Whether something happened since the last cycle began that may change the next one.
  bool stirred() const { return stirred_; }
  void SetStirred(bool stirred) { stirred_ = stirred; }
  // Whether the simulation itself has changed the state since the controllers last ran.
  bool acted() const { return acted_; }
  // Releases the quota of an evicted job at the next Settle().
  void FreeSoon(int32_t job) { to_free_.push_back(jobs_.At(job).workload); }
  bool IsFreeing() const { return !to_free_.empty(); }
  // Stops an evicted job at once, because it has no pods.
  void StopAtOnce(int32_t job) {
    if (frees_by_hand_) FreeSoon(job);
    acted_ = true;
  }
  // Returns whether the job counts in the metrics. Jobs submitted during the warm-up do not.
  bool Counts(int32_t job) const {
    return options_.warmup == 0 ||
           jobs_.columns().submit[static_cast<size_t>(job)] >= SaturatingAdd(start_, options_.warmup);
  }
  JobPlace PlaceOfJob(int32_t job) const { return WorkloadOf(job).Status().dispatched.job; }
  const Workload& WorkloadOf(int32_t job) const { return engine_.state().At(jobs_.At(job).workload); }

 private:
  const JobColumns& columns() const { return jobs_.columns(); }
  void Reserve(int32_t job);
  void Admit(int32_t job);
  void PlanExecutionLimit(int32_t job);
  void Evicted(int32_t job, WorkloadId by);
  void Release(int32_t job);
  // Handles a workload of the manager that finished because its copy finished.
  void Finished(int32_t job);

  Engine engine_;
  SimulationOptions options_;
  JobStore jobs_;
  Calendar calendar_;
  Time start_;
  bool frees_by_hand_;  // Whether evicted jobs keep their quota until the simulation releases it.
  bool acted_ = false, stirred_ = false;
  Headway headway_;
  LoopWatch watch_;
  std::vector<WorkloadId> to_free_;
  TouchedQueues touched_;
  SimulationStats stats_;
  Recorder recorder_;
  Figures figures_;
  RunListener* listener_ = nullptr;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_JOB_RUNS_H_
