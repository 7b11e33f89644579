// Virtual time: arrivals, cycles and ends of jobs, one after another, as fast as the engine decides.
#ifndef KUEUE_SIMULATION_SIMULATION_H_
#define KUEUE_SIMULATION_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "simulation/calendar.h"
#include "simulation/delays.h"
#include "simulation/figures.h"
#include "simulation/jobs.h"
#include "simulation/loops.h"
#include "simulation/recorder.h"
#include "simulation/timed_change.h"

namespace kueue {

// What a scheduling cycle takes: nothing, so that cycles follow until one changes nothing, or `cycle` and
// `per_head` more for each head.
struct Clock {
  Time cycle = 0, per_head = 0;
  bool IsZero() const { return cycle == 0 && per_head == 0; }
};

enum class OnLoop : uint8_t { kHold, kStop, kRaise };

// Follows what happens to the jobs of a run, after the run itself has. Other changes than those of an event,
// such as a new priority, are reported as kCreated.
class RunListener {
 public:
  virtual ~RunListener() = default;
  virtual void Happened(int32_t site, EventKind kind, int32_t job, int32_t by) = 0;
};

struct SimulationOptions {
  RunModel model;
  Clock clock;
  Delays delays;
  std::vector<TimedChange> changes;  // by time
  Time until = INT64_MAX;            // the last moment
  Time warmup = 0;                   // after the start: figures begin there
  OnLoop on_loop = OnLoop::kHold;
  Recording record;
  std::optional<Time> start;  // without it: the first submission or change
  int32_t site = kNoId;       // in a fleet: the number of this cluster; kManager is the manager
  // As Kueue's scheduler performance test runs: no controllers, and a moment is over after a cycle that
  // neither admits nor evicts anybody. Otherwise it is over after one that changes nothing at all.
  bool as_performance_test = false;
};

inline constexpr int32_t kManager = 0;

struct SimulationStats {
  int64_t workloads = 0, cycles = 0, admissions = 0, evictions = 0, finished = 0;
  Time end = 0;  // of the last arrival or end of a job
};

// A tree whose preemption goes round; its heads wait until something happens in it.
struct Loop {
  Time at = 0;  // when it was first found
  int64_t period = 0, times = 0;
  std::vector<int32_t> jobs;  // their rows, ascending
};

// A nominal quota that is less than its ClusterQueue declares, as nodes have failed.
struct LoweredQuota {
  std::string queue, flavor, resource;
  int64_t declared = 0;  // as it was last applied
  int64_t broken = 0;    // of nodes that have failed
};

// A job that was added, and when it comes; a heap has the first one in front.
struct Arrival {
  Time at;
  int32_t job;
  bool operator<(const Arrival& other) const { return at != other.at ? at > other.at : job > other.job; }
};

// What became of an attempt to go on: nothing happens any more, a moment is under way, or one is over.
enum class Went : uint8_t { kNothing, kOn, kOver };

class Simulation {
 public:
  // The run goes on from the engine's state; `jobs` are sorted by submission.
  Simulation(Engine engine, std::shared_ptr<const JobColumns> jobs, SimulationOptions options);

  // Runs for about so much work (heads of cycles, and events), not beyond a time; whether anything is left. A
  // run in which jobs are evicted again and again without progress has no end; one without a last moment
  // stops there (`fruitless`).
  bool Run(int64_t work, Time until = INT64_MAX);
  // Goes on to the end of one moment, for about so much work.
  Went RunMoment(int64_t work, Time until = INT64_MAX);
  // Plans a change, not before now.
  void Plan(TimedChange change);
  // Takes in more jobs, in any order, with the numbers that follow; so do new shapes.
  void Extend(JobColumns jobs);
  // A workload that the engine knows already is this job.
  void NoteAsks(WorkloadId id, size_t shape);
  void Adopt(int32_t job, WorkloadId workload);
  // Brings all figures to the last moment, and records the runs under way. The run is over.
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
  // The jobs that have come, in that order.
  const std::vector<int32_t>& arrived() const { return arrived_; }
  // How many evictions in a row, if any, made Run stop since no job makes progress.
  int64_t fruitless() const { return is_endless_ ? fruitless_ : 0; }
  // The job of a workload; -1: it is none.
  int32_t JobOf(WorkloadId workload) const;
  // What all pods of a shape ask for, by resource.
  const std::vector<std::pair<ResourceId, int64_t>>& AsksOf(int32_t shape);
  // The place of a job in jobs(); a worker's are used again.
  size_t PlaceOf(int32_t job) const {
    return static_cast<size_t>(slots_.empty() ? job : slots_[static_cast<size_t>(job)]);
  }
  const Job& JobAt(int32_t job) const { return jobs_[PlaceOf(job)]; }
  // Whether the job is submitted to this cluster.
  bool IsOwn(int32_t job) const {
    return options_.site == kNoId || columns_->cluster[static_cast<size_t>(job)] == options_.site;
  }

  // site.cc: a run as one cluster of a fleet, which leads it from moment to moment.
  Engine& engine() { return engine_; }
  void Follow(RunListener* listener) { listener_ = listener; }
  // The next moment at which anything happens by itself.
  std::optional<Time> Next();
  // Begins a moment, or goes on with the one that began.
  void Enter(Time at);
  // Takes what is planned for now, up to a kind.
  void TakeUntil(Happening last);
  void TakeArrivals();
  void Settle();
  // Runs a cycle after a settle; returns whether there is more to decide.
  bool DecideSettled();
  // Settles, and goes on with the moment by one cycle; whether there is more to decide.
  bool Decide();
  void EndMoment();
  // A copy of a job came, is deleted, or its job was created.
  void AddCopy(int32_t job, WorkloadId workload, const Job& before);
  // Returns what became of it; runs of it have ended.
  Job RemoveCopy(int32_t job);
  void StartCopy(int32_t job);
  bool HasCopy(int32_t job) const { return slots_[static_cast<size_t>(job)] >= 0; }
  // A workload of the manager whose copy has finished is deleted.
  void Forget(int32_t job);

 private:
  // moment.cc: what happens at one moment.
  bool Begin(Time until);
  Went GoOn(Time until);
  bool Counts(int32_t job) const;
  // The next job that comes, and when; -1: there is none.
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
  void Fail(size_t failure);
  void Repair(size_t failure);
  void PlanFailure(size_t failure);
  void LowerFor(size_t failure, NodeId holder);
  void Lower(LoweredQuota& lowered, int64_t by);
  void LowerAgain(const std::vector<std::string>& queues);
  std::optional<Time> NextSample() const;

  // simulation.cc: cycles, and what becomes of jobs in them.
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
  bool IsEndless(Time until);
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
  std::vector<int32_t> slots_, free_slots_;  // on a worker: places of jobs that are there; -1: it is not
  int32_t next_term_ = 0;                    // of a copy: above those of all earlier ones
  std::vector<int32_t> job_of_;              // by workload
  std::vector<std::vector<std::pair<ResourceId, int64_t>>> asks_;  // by shape
  std::vector<bool> has_asks_;
  Calendar calendar_;
  int32_t next_ = 0;              // of the jobs that were there at the start: the first that has not come
  int32_t given_;                 // how many there were
  std::vector<Arrival> later_;    // a heap: jobs that were added, and have not come
  std::vector<int32_t> arrived_;  // all that have come
  Time start_;
  bool frees_by_hand_;  // evicted jobs keep their quota until the run frees it

  bool in_moment_ = false, acted_ = false, stopped_ = false, stirred_ = false, closed_ = false;
  bool is_endless_ = false;
  int64_t fruitless_ = 0;     // evictions since a job came, ended or kept any progress
  Time fruitless_since_ = 0;  // when the first of these was
  int64_t holding_ = 0;       // jobs that have quota
  int64_t ending_ = 0;        // jobs that have quota and will end
  int64_t cycles_at_moment_ = 0, idle_cycles_ = 0, work_ = 0;
  Time busy_until_ = 0;
  Time entered_ = INT64_MIN;  // the moment that was entered last
  LoopWatch watch_;
  std::vector<WorkloadId> to_free_;
  std::vector<NodeId> touched_;
  std::vector<bool> is_touched_;
  std::vector<bool> has_capacity_;     // by check: its capacity was added
  std::vector<int64_t> failures_;      // how many there were, by failure
  std::vector<LoweredQuota> lowered_;  // by nodes that have failed
  std::vector<std::vector<size_t>>
      broken_;  // by failure: the places in `lowered_` of its nodes, oldest first

  SimulationStats stats_;
  Recorder recorder_;
  Figures figures_;
  std::vector<Loop> loops_;
  RunListener* listener_ = nullptr;
};

}  // namespace kueue

#endif  // KUEUE_SIMULATION_SIMULATION_H_
