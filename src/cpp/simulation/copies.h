// A simulation as one cluster of a fleet: creates and deletes copies of the manager's jobs.
#ifndef KUEUE_SIMULATION_COPIES_H_
#define KUEUE_SIMULATION_COPIES_H_

#include <functional>
#include <optional>

#include "simulation/job_runs.h"

namespace kueue {

// Handle three changes on a worker: the creation of a copy, its deletion, and the creation of the copy's job.
void AddCopy(JobRuns& runs, int32_t job, WorkloadId workload, const Job& before);
// Returns the final record of the job. In this record, no run of the job is in progress.
Job RemoveCopy(JobRuns& runs, int32_t job);
void StartCopy(JobRuns& runs, int32_t job);

// Adds a deferred copy: a copy that only waits, and whose workload was not submitted to the engine.
void AddDeferred(JobRuns& runs, int32_t job, const Engine::Wait& wait, const Job& before);
// Makes a deferred copy a copy with a workload. Calls `submit`, which submits the workload, at the time
// `created`. If the copy was refused, then runs the cycles that refuse the workload at the time `decided`;
// Engine::CountCycles() must have subtracted them before.
void Realize(JobRuns& runs, int32_t job, Time created, std::optional<Time> decided,
             const std::function<WorkloadId()>& submit);

// Removes a workload of the manager whose copy has finished.
void ForgetWorkload(JobRuns& runs, int32_t job);

}  // namespace kueue

#endif  // KUEUE_SIMULATION_COPIES_H_
