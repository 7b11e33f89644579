// The jobs of one cluster, their workloads in the engine, and their requests.
#ifndef KUEUE_SIMULATION_JOB_STORE_H_
#define KUEUE_SIMULATION_JOB_STORE_H_

#include <memory>
#include <utility>
#include <vector>

#include "simulation/jobs.h"
#include "simulation/run_model.h"
#include "state/state.h"

namespace kueue {

// Jobs are identified by their index in the columns. A worker of a fleet stores only the jobs that have a
// copy there. The indexes in jobs() then differ from those in the columns.
class JobStore {
 public:
  // `site` is the index of the cluster in a fleet, or kNoId.
  JobStore(std::shared_ptr<const JobColumns> columns, int32_t site);

  const JobColumns& columns() const { return *columns_; }
  const std::vector<Job>& jobs() const { return jobs_; }
  Job& At(int32_t job) { return jobs_[PlaceOf(job)]; }
  const Job& At(int32_t job) const { return jobs_[PlaceOf(job)]; }
  // Returns the index of a job in jobs(). The indexes of removed jobs are reused.
  size_t PlaceOf(int32_t job) const {
    return static_cast<size_t>(slots_.empty() ? job : slots_[static_cast<size_t>(job)]);
  }
  // Returns whether the job is stored.
  bool Has(int32_t job) const { return slots_.empty() || slots_[static_cast<size_t>(job)] >= 0; }
  // Returns whether the job is submitted to this cluster.
  bool IsOwn(int32_t job) const {
    return site_ == kNoId || columns_->cluster[static_cast<size_t>(job)] == site_;
  }
  // Returns whether an event of a job is still valid.
  bool IsCurrent(int32_t job, int32_t term) const { return Has(job) && At(job).term == term; }

  // Assigns an index to a job that is to be stored.
  void Take(int32_t job);
  // Removes a job from a store that does not store all jobs, and returns its record.
  Job Remove(int32_t job);
  // Adds jobs and shapes, which get the next free indexes.
  void Append(JobColumns jobs);

  // Returns the job of a workload, or -1 if the workload belongs to no job.
  int32_t JobOf(WorkloadId workload) const { return job_of_.Contains(workload) ? job_of_[workload] : -1; }
  // Assign a workload to a job, and end that.
  void Assign(int32_t job, WorkloadId workload);
  void Unassign(WorkloadId workload) { job_of_[workload] = -1; }

  // Returns the jobs that hold quota, in the order of arrival; in the order of their rows if not all jobs are
  // stored.
  std::vector<int32_t> Holding(const std::vector<int32_t>& arrived) const;
  // Returns the total requests of the pods of a job, by resource. All jobs of a shape have the same.
  const std::vector<std::pair<ResourceId, int64_t>>& AsksOf(int32_t job) const { return asks_[ShapeOf(job)]; }
  bool HasAsks(int32_t job) const { return has_asks_[ShapeOf(job)]; }
  // Stores the requests of the job's shape, taken from its workload.
  void NoteAsks(State& state, int32_t job);
  // Notes the first admission of a job.
  void NoteFirstStart(int32_t job, Time now);
  // Returns whether the job has a runtime, so that it ends.
  bool IsFinite(int32_t job) const { return columns_->runtime[static_cast<size_t>(job)] >= 0; }
  // Returns the run model of a job, whose columns precede the values of `model`.
  RunModel ModelOf(int32_t job, RunModel model) const;
  // Returns the runtime of a job with its present admission.
  Time RuntimeOf(int32_t job, const Workload& workload) const;

 private:
  size_t ShapeOf(int32_t job) const { return static_cast<size_t>(columns_->shape[static_cast<size_t>(job)]); }

  RunColumns columns_;
  int32_t site_;
  bool is_partial_;  // Whether only some of the jobs are stored.
  std::vector<Job> jobs_;
  // `slots_` and `free_slots_` are used only if `is_partial_` is true. `slots_` maps each job to its index in
  // `jobs_`, or to -1 if it is not stored. `free_slots_` contains the indexes that can be reused.
  std::vector<int32_t> slots_, free_slots_;
  // Term of the next job that is stored; higher than the terms of all removed jobs.
  int32_t next_term_ = 0;
  IdVector<WorkloadId, int32_t> job_of_;
  std::vector<std::vector<std::pair<ResourceId, int64_t>>> asks_;  // By shape.
  std::vector<bool> has_asks_;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_JOB_STORE_H_
