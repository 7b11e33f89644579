// The runs of jobs on the engine of one cluster: what happens to a job when its workload gains or loses
// quota, and the tables and metrics of that.
#ifndef KUEUE_SIMULATION_JOB_RUNS_H_
#define KUEUE_SIMULATION_JOB_RUNS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "simulation/run_data.h"
#include "simulation/touched.h"

namespace kueue {

// Observer of the jobs of a simulation. The listener is called after the simulation has processed an event.
// Changes without an event kind of their own, such as a new priority, are reported as kCreated.
class RunListener {
 public:
  virtual ~RunListener() = default;
  virtual void Happened(int32_t site, EventKind kind, int32_t job, int32_t by) = 0;
};

class JobRuns {
 public:
  // Starts from the engine's state. `columns` must be sorted by submission time.
  JobRuns(Engine engine, std::shared_ptr<const JobColumns> columns, SimulationOptions options);

  RunData& data() { return data_; }
  const RunData& data() const { return data_; }
  void Follow(RunListener* listener) {
    listener_ = listener;
    data_.engine.state().followed.all = listener != nullptr;
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
    if (listener_ != nullptr) listener_->Happened(data_.options.site, EventKind::kCreated, job, -1);
  }
  // Whether something happened since the last cycle began that may change the next one.
  bool stirred() const { return stirred_; }
  void SetStirred(bool stirred) { stirred_ = stirred; }
  // Whether the simulation itself has changed the state since the controllers last ran.
  bool acted() const { return acted_; }
  // Releases the quota of an evicted job at the next Settle().
  void FreeSoon(int32_t job) { to_free_.push_back(data_.jobs.At(job).workload); }
  bool IsFreeing() const { return !to_free_.empty(); }
  // Stops an evicted job at once, because it has no pods.
  void StopAtOnce(int32_t job) {
    if (frees_by_hand_) FreeSoon(job);
    acted_ = true;
  }

 private:
  const JobColumns& columns() const { return data_.jobs.columns(); }
  Time now() const { return data_.now(); }
  void Reserve(int32_t job);
  void Admit(int32_t job);
  void PlanExecutionLimit(int32_t job);
  void Evicted(int32_t job, WorkloadId by);
  void Release(int32_t job);
  // Handles a workload of the manager that finished because its copy finished.
  void Finished(int32_t job);

  RunData data_;
  bool frees_by_hand_;  // Whether evicted jobs keep their quota until the simulation releases it.
  bool acted_ = false, stirred_ = false;
  std::vector<WorkloadId> to_free_;
  TouchedQueues touched_;
  RunListener* listener_ = nullptr;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_JOB_RUNS_H_
