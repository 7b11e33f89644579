#include "simulation/copies.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"

namespace kueue {

void AddCopy(JobRuns& runs, int32_t number, WorkloadId id, const Job& before) {
  runs.Listen();  // Process the steps of the workload that had this id before.
  runs.data().jobs.Take(number);
  Job& job = runs.data().jobs.At(number);
  job.runs = before.runs;
  job.done = before.done;
  runs.SetStirred(true);
  runs.Adopt(number, id);
}

bool CanDefer(const JobRuns& runs, int32_t number) {
  const RunData& data = runs.data();
  return data.options.clock.IsZero() && data.options.has_controllers && !runs.IsFreeing() &&
         data.engine.state().followed.steps.empty() && data.jobs.HasAsks(number);
}

void AddDeferred(JobRuns& runs, int32_t number, const Wait& wait, const Job& before) {
  runs.data().jobs.Take(number);
  Job& job = runs.data().jobs.At(number);
  job.runs = before.runs;
  job.done = before.done;
  job.queue = wait.queue;
  job.state = JobState::kWaiting;
  runs.SetStirred(true);
  runs.Await(number, job.queue);
}

void RealizeCopy(JobRuns& runs, int32_t number, Time created, CopyStage stage, Time refused,
                 const std::function<WorkloadId()>& submit) {
  runs.Listen();  // The steps of the submitted workload are not processed.
  State& state = runs.data().engine.state();
  const absl::Cleanup restore = [&state, now = std::exchange(state.now, created)] {
    state.followed.steps.clear();
    state.now = now;
  };
  // The controllers have not seen the other changes yet.
  std::vector<WorkloadId> dirty;
  if (!state.dirty.empty()) dirty.swap(state.dirty);
  runs.data().jobs.Assign(number, submit());
  if (stage == CopyStage::kRefused) state.now = refused;
  if (stage != CopyStage::kNew) runs.data().engine.Settle();
  while (stage == CopyStage::kRefused && !runs.data().engine.RunCycle().idle) runs.data().engine.Settle();
  if (dirty.empty()) return;
  for (WorkloadId id : state.dirty) {
    state.At(id).dirty_place = static_cast<int32_t>(dirty.size());
    dirty.push_back(id);
  }
  state.dirty = std::move(dirty);
}

void StartCopy(JobRuns& runs, int32_t number) {
  Job& job = runs.data().jobs.At(number);
  const Workload& workload = runs.data().WorkloadOf(number);
  runs.Stir(job.queue);
  if (workload.IsEvicted()) {
    runs.StopAtOnce(number);
  } else if (workload.IsAdmitted()) {
    runs.Start(number);
  }
}

Job RemoveCopy(JobRuns& runs, int32_t number) {
  runs.Listen();
  Job& job = runs.data().jobs.At(number);
  runs.Stir(job.queue);
  if (!job.losing) job.last = {};
  if (job.state == JobState::kRunning) {
    if (job.started >= 0 && !job.losing) {
      const RunModel model = runs.data().jobs.ModelOf(number, runs.data().options.model);
      job.last = BreakRun(model, runs.data().now() - job.started, job.startup);
      job.done = model.on_eviction == OnEviction::kRestart ? 0 : job.done + job.last.kept;
      job.lost += job.last.lost;
      job.overhead += job.last.overhead;
      if (runs.data().Counts(number)) runs.data().figures.Spend(runs.data().WorkloadOf(number), job.last);
    }
    runs.data().recorder.EndRun(runs.data().now(), RunOutcome::kEvicted, job,
                                runs.data().jobs.columns().Row(number), job.last);
    job.held += runs.data().now() - job.reserved;
    runs.data().headway.Drop(runs.data().jobs.IsFinite(number));
  } else if (job.state == JobState::kWaiting) {
    runs.data().figures.Wait(runs.data().engine.state(), job.queue, runs.data().jobs.AsksOf(number), -1);
  }
  return runs.data().jobs.Remove(number);
}

void ForgetWorkload(JobRuns& runs, int32_t number) {
  const WorkloadId id = runs.data().jobs.At(number).workload;
  runs.data().engine.Delete(id);
  runs.data().jobs.Unassign(id);
}

}  // namespace kueue
