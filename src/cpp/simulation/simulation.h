// Discrete-event simulation of arrivals, scheduling cycles and job completions.
#ifndef KUEUE_SIMULATION_SIMULATION_H_
#define KUEUE_SIMULATION_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "engine/engine.h"
#include "simulation/calendar.h"
#include "simulation/delays.h"
#include "simulation/figures.h"
#include "simulation/jobs.h"
#include "simulation/loops.h"
#include "simulation/recorder.h"
#include "simulation/timed_change.h"

namespace kueue {

// Duration of a scheduling cycle. A cycle takes `cycle` plus `per_head` for each head. If both values are
// zero, cycles are repeated until a cycle changes nothing.
struct Clock {
  Time cycle = 0, per_head = 0;
  bool IsZero() const { return cycle == 0 && per_head == 0; }
};

enum class OnLoop : uint8_t { kHold, kStop, kRaise };

// Observer of the jobs of a simulation. The listener is called after the simulation has processed an event.
// Changes without an event kind of their own, such as a new priority, are reported as kCreated.
class RunListener {
 public:
  virtual ~RunListener() = default;
  virtual void Happened(int32_t site, EventKind kind, int32_t job, int32_t by) = 0;
};

struct SimulationOptions {
  RunModel model;
  Clock clock;
  Delays delays;
  std::vector<TimedChange> changes;  // Sorted by time.
  Time until = INT64_MAX;            // End of the simulation.
  Time warmup = 0;                   // Period after the start during which no metrics are collected.
  OnLoop on_loop = OnLoop::kHold;
  Recording record;
  // Start of the simulation; the default is the time of the first submission or change.
  std::optional<Time> start;
  int32_t site = kNoId;  // In a fleet: index of this cluster; kManager for the manager.
  // If true, behaves like Kueue's scheduler performance test: no controllers run, and the processing of the
  // current time ends after a cycle that admits and evicts no workload. If false, the processing ends after a
  // cycle that changes nothing.
  bool as_performance_test = false;
};

inline constexpr int32_t kManager = 0;

struct SimulationStats {
  int64_t workloads = 0, cycles = 0, admissions = 0, evictions = 0, finished = 0;
  Time end = 0;  // Time of the last arrival or completion.
};

// A tree with a preemption loop. No cycle takes heads from the tree until the state of the tree changes.
struct Loop {
  Time at = 0;  // Time at which the loop was first detected.
  int64_t period = 0, times = 0;
  std::vector<int32_t> jobs;  // Row numbers, ascending.
};

// A nominal quota that is lower than declared in its ClusterQueue, because nodes have failed.
struct LoweredQuota {
  std::string queue, flavor, resource;
  int64_t declared = 0;  // As last applied.
  int64_t broken = 0;    // Amount of the quota that belongs to failed nodes.
};

// An added job and its arrival time. The order puts the earliest arrival at the front of a heap.
struct Arrival {
  Time at;
  int32_t job;
  bool operator<(const Arrival& other) const { return at != other.at ? at > other.at : job > other.job; }
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

// Returns an error if nodes fail more than once per second on average.
absl::Status CheckFailures(const State& state, const std::vector<Failures>& failures);

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
  // Stores the total resource requests of a workload in the engine as the requests of the shape. All jobs of
  // the same shape have equal requests.
  void NoteAsks(WorkloadId id, size_t shape);
  // Assigns a workload that already exists in the engine to a job.
  void Adopt(int32_t job, WorkloadId workload);
  // Extends all metrics to the current time and records the unfinished runs of jobs. The simulation cannot
  // continue afterwards.
  void Close();
  bool closed() const { return closed_; }

  Time start() const { return start_; }
  Time now() const { return engine_.state().now; }
  const Engine& engine() const { return engine_; }
  const JobColumns& columns() const { return *columns_; }
  const std::vector<Job>& jobs() const { return jobs_; }
  const SimulationStats& stats() const { return stats_; }
  const Recorder& recorder() const { return recorder_; }
  Recorder& recorder() { return recorder_; }
  const Figures& figures() const { return figures_; }
  const std::vector<Loop>& loops() const { return loops_; }
  bool stopped() const { return stopped_; }
  // Returns the arrived jobs, in the order of arrival.
  const std::vector<int32_t>& arrived() const { return arrived_; }
  // Returns whether no jobs are still to arrive, and no job that holds quota has a time of completion.
  bool IsOver() const { return NextArrival() < 0 && ending_ == 0; }
  // Returns whether jobs are evicted repeatedly without any progress and no end is in sight before `until`.
  bool IsEndless(Time until);
  // Returns the number of consecutive evictions if the last call of IsEndless() returned true, and 0
  // otherwise.
  int64_t fruitless() const { return is_endless_ ? fruitless_ : 0; }
  // Returns the job of a workload, or -1 if the workload belongs to no job.
  int32_t JobOf(WorkloadId workload) const;
  // Returns the total requests of the pods of a shape, by resource.
  const std::vector<std::pair<ResourceId, int64_t>>& AsksOf(int32_t shape);
  // Returns the index of a job in jobs(). On a worker, the indexes of removed jobs are reused.
  size_t PlaceOf(int32_t job) const {
    return static_cast<size_t>(slots_.empty() ? job : slots_[static_cast<size_t>(job)]);
  }
  const Job& JobAt(int32_t job) const { return jobs_[PlaceOf(job)]; }
  // Returns whether the job is submitted to this cluster.
  bool IsOwn(int32_t job) const {
    return options_.site == kNoId || columns_->cluster[static_cast<size_t>(job)] == options_.site;
  }

  // Functions for a simulation that represents one cluster of a fleet (site.cc). The fleet controls when the
  // simulation advances.
  Engine& engine() { return engine_; }
  void Follow(RunListener* listener) {
    listener_ = listener;
    engine_.state().followed.all = listener != nullptr;
  }
  // Returns the time of the next scheduled event.
  std::optional<Time> Next() { return Next(IsOver()); }
  // Skips failures of nodes if `is_over`: they can no longer affect a job.
  std::optional<Time> Next(bool is_over);
  // Starts or continues the processing of events at the time `at`.
  void Enter(Time at);
  // Processes the events at the current time, up to and including the kind `last`.
  void TakeUntil(Happening last);
  void TakeArrivals();
  void Settle();
  // Runs a cycle. Call Settle() first. Returns whether another cycle is needed.
  bool DecideSettled();
  // Runs Settle() and then a cycle. Returns whether another cycle is needed.
  bool Decide();
  // DecideSettled() consists of these two steps. Follow() accepts the combined outcome of several simulations
  // that are advanced together.
  CycleOutcome RunCycle();
  bool Follow(const CycleOutcome& outcome);
  void EndMoment();
  // Handle three changes on a worker: the creation of a copy, its deletion, and the creation of the copy's
  // job.
  void AddCopy(int32_t job, WorkloadId workload, const Job& before);
  // Returns the final record of the job. In this record, no run of the job is in progress.
  Job RemoveCopy(int32_t job);
  void StartCopy(int32_t job);
  // Handle a deferred copy: a copy that only waits, and whose workload was not submitted to the engine.
  // CanDefer() returns whether a copy of the job can be deferred. AddDeferred() corresponds to AddCopy().
  // CountRefusals() corresponds to Decide(); if it returns false, it has changed nothing, and the copy must
  // be realized. Realize() calls `submit`, which submits the workload, at the time `created`. If the copy was
  // refused, Realize() then runs the cycles of the copy at the time `decided`; Engine::CountCycles() must
  // have subtracted them before.
  bool CanDefer(int32_t job) const;
  void AddDeferred(int32_t job, const Engine::Wait& wait, const Job& before);
  bool CountRefusals(const Engine::Wait& wait);
  void Realize(int32_t job, Time created, std::optional<Time> decided,
               const std::function<WorkloadId()>& submit);
  // Returns whether jobs are still to arrive in this cluster.
  bool HasArrivals() const { return NextArrival() >= 0; }
  // Ends the metrics of the period in which jobs arrive, because no jobs are to arrive in the whole fleet.
  void EndSubmissions(Time at) { figures_.EndSubmissions(at); }
  bool HasCopy(int32_t job) const { return slots_[static_cast<size_t>(job)] >= 0; }
  // Removes a workload of the manager whose copy has finished.
  void Forget(int32_t job);

 private:
  // Functions that process the events at one time (moment.cc).
  bool Begin(Time until);
  Went GoOn(Time until);
  bool Counts(int32_t job) const;
  // Returns the next job to arrive, or -1.
  int32_t NextArrival() const;
  Time SubmitOf(int32_t job) const { return columns_->submit[static_cast<size_t>(job)]; }
  int32_t TakeArrival();
  bool IsCurrent(int32_t job, int32_t term) const;
  void Happen(const Planned& planned);
  void Arrive(int32_t job);
  void End(int32_t job);
  void Free(int32_t job);
  void Change(const TimedChange& change);
  void Answer(int32_t job, size_t check);
  std::vector<int32_t> Holding() const;
  void Fail(size_t failure);
  void Repair(size_t failure);
  void PlanFailure(size_t failure);
  void LowerFor(size_t failure, NodeId holder);
  void Lower(LoweredQuota& lowered, int64_t by);
  void LowerAgain(const std::vector<std::string>& queues);
  std::optional<Time> NextSample() const;

  // Functions for cycles and the effects of cycles on jobs (simulation.cc).
  bool FollowsCycle(const CycleResult& result);
  void Listen();
  void Reserve(int32_t job);
  void Admit(int32_t job);
  void Start(int32_t job);
  void PlanExecutionLimit(int32_t job);
  void Finished(int32_t job);
  void Evicted(int32_t job, WorkloadId by);
  void Release(int32_t job);
  void FoundLoop(const LoopFound& found);
  void Touch(NodeId queue);
  void Stir(NodeId queue);
  void QuotasChanged();
  void LookAtAll();
  RunModel ModelOf(int32_t job) const;
  Time RuntimeOf(int32_t job, const Workload& workload) const;
  void SkipOthers();
  void TakeSlot(int32_t job);
  bool IsWorker() const { return options_.site > kManager; }
  JobPlace PlaceOfJob(int32_t job) const { return WorkloadOf(job).Status().dispatched.job; }
  Job& At(int32_t job) { return jobs_[PlaceOf(job)]; }
  const Workload& WorkloadOf(int32_t job) const { return engine_.state().At(JobAt(job).workload); }

  Engine engine_;
  RunColumns columns_;
  SimulationOptions options_;
  std::vector<Job> jobs_;
  // `slots_` and `free_slots_` are used only on a worker. `slots_` maps each job to its index in `jobs_`, or
  // to -1 if there is no copy. `free_slots_` contains the indexes that can be reused.
  std::vector<int32_t> slots_, free_slots_;
  // Term of the next copy; higher than the terms of all earlier copies.
  int32_t next_term_ = 0;
  IdVector<WorkloadId, int32_t> job_of_;
  std::vector<std::vector<std::pair<ResourceId, int64_t>>> asks_;  // By shape.
  std::vector<bool> has_asks_;
  Calendar calendar_;
  // First job that has not yet arrived, among the jobs passed to the constructor.
  int32_t next_ = 0;
  int32_t given_;                 // Number of jobs passed to the constructor.
  std::vector<Arrival> later_;    // A heap of added jobs that have not arrived.
  std::vector<int32_t> arrived_;  // All jobs that have arrived.
  Time start_;
  bool frees_by_hand_;  // Whether evicted jobs keep their quota until the simulation releases it.

  bool in_moment_ = false, acted_ = false, stopped_ = false, stirred_ = false, closed_ = false;
  bool is_endless_ = false;
  int64_t fruitless_ = 0;     // Number of evictions since a job last arrived, completed or kept any progress.
  Time fruitless_since_ = 0;  // Time of the first eviction that `fruitless_` counts.
  int64_t holding_ = 0;       // Number of jobs that hold quota.
  int64_t ending_ = 0;        // Number of jobs that hold quota and have a finite runtime.
  int64_t cycles_at_moment_ = 0, idle_cycles_ = 0, work_ = 0;
  Time busy_until_ = 0;
  Time entered_ = INT64_MIN;  // Time entered last.
  LoopWatch watch_;
  std::vector<WorkloadId> to_free_;
  std::vector<NodeId> touched_;
  IdVector<NodeId, bool> is_touched_;
  // By check: whether the changes in Provisioning::capacity have been applied.
  std::vector<bool> has_capacity_;
  std::vector<int64_t> failures_;      // Number of failures, by index in Delays::failures.
  std::vector<LoweredQuota> lowered_;  // Quotas lowered because of failed nodes.
  // For each element of Delays::failures: the indexes in `lowered_` of the failed nodes, oldest first.
  std::vector<std::vector<size_t>> broken_;

  SimulationStats stats_;
  Recorder recorder_;
  Figures figures_;
  std::vector<Loop> loops_;
  RunListener* listener_ = nullptr;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_SIMULATION_H_
