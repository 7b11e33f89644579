// A simulation as one cluster of a fleet. Creates and deletes copies of the manager's jobs.
#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "simulation/simulation.h"

namespace kueue {

// Assigns an index to a job on a worker, where only existing copies have one.
void Simulation::TakeSlot(int32_t job) {
  if (!IsWorker()) return;
  int32_t& slot = slots_[static_cast<size_t>(job)];
  if (free_slots_.empty()) {
    slot = static_cast<int32_t>(jobs_.size());
    jobs_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
    jobs_[static_cast<size_t>(slot)] = Job();
  }
  jobs_[static_cast<size_t>(slot)].term = next_term_;
}

void Simulation::AddCopy(int32_t number, WorkloadId id, const Job& before) {
  Listen();  // Process the steps of the workload that had this id before.
  TakeSlot(number);
  Job& job = At(number);
  job.runs = before.runs;
  job.done = before.done;
  stirred_ = true;
  Adopt(number, id);
}

bool Simulation::CanDefer(int32_t number) const {
  return options_.clock.IsZero() && !options_.as_performance_test && !stopped_ && to_free_.empty() &&
         engine_.state().followed.steps.empty() &&
         has_asks_[static_cast<size_t>(columns_->shape[static_cast<size_t>(number)])];
}

void Simulation::AddDeferred(int32_t number, const Engine::Wait& wait, const Job& before) {
  TakeSlot(number);
  Job& job = At(number);
  job.runs = before.runs;
  job.done = before.done;
  job.queue = wait.queue;
  job.state = JobState::kWaiting;
  stirred_ = true;
  ++stats_.workloads;
  figures_.Wait(engine_.state(), job.queue, AsksOf(columns_->shape[static_cast<size_t>(number)]), +1);
  Stir(job.queue);
}

bool Simulation::CountRefusals(const Engine::Wait& wait) {
  if (cycles_at_moment_ + wait.cycles >= LoopWatch::kPatience) return false;
  engine_.CountCycles(wait, 1);
  if (wait.cycles == 0) return true;
  ++stats_.cycles;
  ++cycles_at_moment_;
  recorder_.Count(now(), engine_.state().scheduling_cycle, 1, 0, 0);
  return true;
}

void Simulation::Realize(int32_t number, Time created, std::optional<Time> decided,
                         const std::function<WorkloadId()>& submit) {
  State& state = engine_.state();
  const absl::Cleanup restore = [&state, now = std::exchange(state.now, created)] {
    state.followed.steps.clear();
    state.now = now;
  };
  const WorkloadId id = submit();
  At(number).workload = id;
  job_of_.GrowTo(id, -1);
  job_of_[id] = number;
  if (decided) state.now = *decided;
  while (decided) {
    engine_.Settle();
    if (engine_.RunCycle().idle) break;
  }
}

void Simulation::StartCopy(int32_t number) {
  Job& job = At(number);
  const Workload& workload = WorkloadOf(number);
  Stir(job.queue);
  if (workload.IsEvicted()) {
    if (frees_by_hand_) to_free_.push_back(job.workload);  // The workload has no pods to stop.
    acted_ = true;
  } else if (workload.IsAdmitted()) {
    Start(number);
  }
}

Job Simulation::RemoveCopy(int32_t number) {
  Listen();
  Job& job = At(number);
  Stir(job.queue);
  if (!job.losing) job.last = {};
  if (job.state == JobState::kRunning) {
    if (job.started >= 0 && !job.losing) {
      const RunModel model = ModelOf(number);
      job.last = BreakRun(model, now() - job.started, job.startup);
      job.done = model.on_eviction == OnEviction::kRestart ? 0 : job.done + job.last.kept;
      job.lost += job.last.lost;
      job.overhead += job.last.overhead;
      if (Counts(number)) figures_.Spend(WorkloadOf(number), job.last);
    }
    recorder_.EndRun(now(), RunOutcome::kEvicted, job, columns_->Row(number), job.last);
    job.held += now() - job.reserved;
    if (columns_->runtime[static_cast<size_t>(number)] >= 0) --ending_;
  } else if (job.state == JobState::kWaiting) {
    figures_.Wait(engine_.state(), job.queue, AsksOf(columns_->shape[static_cast<size_t>(number)]), -1);
  }
  next_term_ = std::max(next_term_, job.term + 1);
  if (job.workload != kNoId) job_of_[job.workload] = -1;
  int32_t& slot = slots_[static_cast<size_t>(number)];
  free_slots_.push_back(slot);
  slot = -1;
  return job;
}

// Handles a workload of the manager that finished because its copy finished.
void Simulation::Finished(int32_t number) {
  Job& job = At(number);
  if (job.state == JobState::kWaiting)
    figures_.Wait(engine_.state(), job.queue, AsksOf(columns_->shape[static_cast<size_t>(number)]), -1);
  if (job.reserved >= 0) {
    recorder_.EndRun(now(), RunOutcome::kFinished, job, columns_->Row(number), {});
    job.held += now() - job.reserved;
    if (columns_->runtime[static_cast<size_t>(number)] >= 0) --ending_;
  }
  ++job.term;
  job.reserved = job.started = -1;
  job.end = now();
  job.state = JobState::kFinished;
  Touch(job.queue);
  recorder_.Decide(engine_.state(), DecisionKind::kFinished, job, columns_->Row(number));
  ++stats_.finished;
  stats_.end = now();
}

void Simulation::Forget(int32_t number) {
  const WorkloadId id = At(number).workload;
  engine_.Delete(id);
  job_of_[id] = -1;
}

}  // namespace kueue
