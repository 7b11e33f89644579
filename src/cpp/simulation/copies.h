// A simulation as one cluster of a fleet: creates and deletes copies of the manager's jobs.
#ifndef KUEUE_SIMULATION_COPIES_H_
#define KUEUE_SIMULATION_COPIES_H_

#include <cstdint>
#include <functional>

#include "engine/waits.h"
#include "simulation/job_runs.h"

namespace kueue {

// Handle three changes on a worker: the creation of a copy, its deletion, and the creation of the copy's job.
void AddCopy(JobRuns& runs, int32_t job, WorkloadId workload, const Job& before);
// Returns the final record of the job. In this record, no run of the job is in progress.
Job RemoveCopy(JobRuns& runs, int32_t job);
void StartCopy(JobRuns& runs, int32_t job);

// Returns whether a copy of the job can be deferred: the copy only waits, and its workload is not submitted
// to the engine.
bool CanDefer(const JobRuns& runs, int32_t job);
// Adds a deferred copy. See also Simulation::CountRefusals().
void AddDeferred(JobRuns& runs, int32_t job, const Wait& wait, const Job& before);
// What has happened to a deferred copy since its creation: nothing; the controllers have seen the copy; and
// cycles have refused it.
enum class CopyStage : uint8_t { kNew, kSeen, kRefused };
// Makes a deferred copy a copy with a workload. Calls `submit`, which submits the workload, at the time
// `created`, and then brings the workload to its stage. If cycles have refused the copy, runs them at the
// time `refused`; CountCycles() must have subtracted them before.
void RealizeCopy(JobRuns& runs, int32_t job, Time created, CopyStage stage, Time refused,
                 const std::function<WorkloadId()>& submit);

// Removes a workload of the manager whose copy has finished.
void ForgetWorkload(JobRuns& runs, int32_t job);

}  // namespace kueue

#endif  // KUEUE_SIMULATION_COPIES_H_
