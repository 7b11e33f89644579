#include "simulation/copies.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"

namespace kueue {

void AddCopy(JobRuns& runs, int32_t number, WorkloadId id, const Job& before) {
  runs.Listen();  // Process the steps of the workload that had this id before.
  runs.jobs().Take(number);
  Job& job = runs.jobs().At(number);
  job.runs = before.runs;
  job.done = before.done;
  runs.SetStirred(true);
  runs.Adopt(number, id);
}

void AddDeferred(JobRuns& runs, int32_t number, const Wait& wait, const Job& before) {
  runs.jobs().Take(number);
  Job& job = runs.jobs().At(number);
  job.runs = before.runs;
  job.done = before.done;
  job.queue = wait.queue;
  job.state = JobState::kWaiting;
  runs.SetStirred(true);
  runs.Await(number, job.queue);
}

void Realize(JobRuns& runs, int32_t number, Time created, CopyStage stage, Time refused,
             const std::function<WorkloadId()>& submit) {
  runs.Listen();  // The steps of the submitted workload are not processed.
  State& state = runs.engine().state();
  const absl::Cleanup restore = [&state, now = std::exchange(state.now, created)] {
    state.followed.steps.clear();
    state.now = now;
  };
  // The controllers have not seen the other changes yet.
  std::vector<WorkloadId> dirty;
  if (!state.dirty.empty()) dirty.swap(state.dirty);
  runs.jobs().Assign(number, submit());
  if (stage == CopyStage::kRefused) state.now = refused;
  if (stage != CopyStage::kNew) runs.engine().Settle();
  while (stage == CopyStage::kRefused && !runs.engine().RunCycle().idle) runs.engine().Settle();
  if (dirty.empty()) return;
  for (WorkloadId id : state.dirty) {
    state.At(id).dirty_place = static_cast<int32_t>(dirty.size());
    dirty.push_back(id);
  }
  state.dirty = std::move(dirty);
}

void StartCopy(JobRuns& runs, int32_t number) {
  Job& job = runs.jobs().At(number);
  const Workload& workload = runs.WorkloadOf(number);
  runs.Stir(job.queue);
  if (workload.IsEvicted()) {
    runs.StopAtOnce(number);
  } else if (workload.IsAdmitted()) {
    runs.Start(number);
  }
}

Job RemoveCopy(JobRuns& runs, int32_t number) {
  runs.Listen();
  Job& job = runs.jobs().At(number);
  runs.Stir(job.queue);
  if (!job.losing) job.last = {};
  if (job.state == JobState::kRunning) {
    if (job.started >= 0 && !job.losing) {
      const RunModel model = runs.jobs().ModelOf(number, runs.options().model);
      job.last = BreakRun(model, runs.now() - job.started, job.startup);
      job.done = model.on_eviction == OnEviction::kRestart ? 0 : job.done + job.last.kept;
      job.lost += job.last.lost;
      job.overhead += job.last.overhead;
      if (runs.Counts(number)) runs.figures().Spend(runs.WorkloadOf(number), job.last);
    }
    runs.recorder().EndRun(runs.now(), RunOutcome::kEvicted, job, runs.jobs().columns().Row(number),
                           job.last);
    job.held += runs.now() - job.reserved;
    runs.headway().Drop(runs.jobs().IsFinite(number));
  } else if (job.state == JobState::kWaiting) {
    runs.figures().Wait(runs.engine().state(), job.queue, runs.jobs().AsksOf(number), -1);
  }
  return runs.jobs().Remove(number);
}

void ForgetWorkload(JobRuns& runs, int32_t number) {
  const WorkloadId id = runs.jobs().At(number).workload;
  runs.engine().Delete(id);
  runs.jobs().Unassign(id);
}

}  // namespace kueue
