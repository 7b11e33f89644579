// Simulation of a fleet: one Simulation for the manager and one for each worker, which advance together and
// are connected by the dispatcher.
#ifndef KUEUE_FLEET_FLEET_RUN_H_
#define KUEUE_FLEET_FLEET_RUN_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "fleet/dispatcher.h"
#include "simulation/simulation.h"

namespace kueue {

struct ConnectionChange {
  Time at = 0;
  int32_t cluster = kNoId;
  bool connected = true;
};

struct FleetOptions {
  DispatcherOptions dispatcher;
  std::vector<CheckClusters> checks;
  std::vector<std::string> names;  // Names of the workers, by index.
  std::vector<Time> sync;          // By worker: delay until the manager observes a change on the worker.
  std::vector<ConnectionChange> connections;
  Time until = INT64_MAX;
};

enum class CopyOutcome : int32_t { kWon, kLost, kEvicted, kWithdrawn, kPresent };

// A table with one row for each copy that was removed or that exists at the end of the simulation. Times are
// in seconds since the start of the simulation; NaN means never.
struct CopyTable {
  std::vector<int32_t> job, cluster;
  std::vector<double> made, reserved, admitted, removed;
  std::vector<int32_t> outcome;
  std::vector<int32_t> preempted;  // Number of evictions caused by the copy's preemptions.
  // Work lost through the evictions that the copy's preemptions caused, in seconds.
  std::vector<double> preempted_lost;
  std::vector<double> held;       // Time for which the copy held quota, in seconds.
  std::vector<int32_t> assigned;  // Code of the copy's last admission in the worker's recorder.
};

// Result of one of the manager's jobs, over all copies of the job.
struct Fate {
  Time dispatched = -1, admitted = -1, first_start = -1, end = -1, closed = -1;
  Time reserved = -1;  // Time of the quota reservation on the manager.
  // Start of the current period in which the job holds quota on the manager but no copy is running.
  Time idle_since = -1;
  Time idle = 0, done = 0, lost = 0, overhead = 0;
  int32_t copies = 0, starts = 0, retries = 0, rounds = 0;
  int32_t cluster = kNoId;    // Cluster where the job runs, or ran most recently.
  Time due = -1, again = -1;  // Times at which reconciliations are scheduled.
  Time retried_since = -1;    // Time of the first counted retry, used to detect dispatch loops.
  int32_t retries_since = 0;
  bool runs = false, changed = false, loops = false;
};

class FleetRun : public RunListener, public DispatchListener {
 public:
  using External =
      std::function<std::optional<std::vector<int32_t>>(const FleetRun&, int32_t job, std::vector<int32_t>)>;

  // `sites` contains the manager, followed by the workers in the order of their indexes. Only the FleetRun
  // may use these simulations.
  FleetRun(std::vector<std::shared_ptr<Simulation>> sites, FleetOptions options);
  FleetRun(const FleetRun& other);
  FleetRun& operator=(const FleetRun&) = delete;
  ~FleetRun() override = default;

  // Simulates about `work` units of work, but not beyond the time `until`. Returns whether any events are
  // left.
  bool Run(int64_t work, Time until = INT64_MAX);
  // Processes all events at the time of the next event. Returns false if there is no event up to `until`.
  bool RunMoment(Time until = INT64_MAX);
  void Close();
  // Sets the function that selects clusters for the dispatcher kExternal.
  void SetExternal(External external);

  const std::vector<std::shared_ptr<Simulation>>& sites() const { return sites_; }
  Simulation& manager() const { return *sites_[0]; }
  // Returns the result of one of the manager's jobs so far, including the results of its existing copies.
  Fate FateOf(int32_t job) const;
  const CopyTable& copies() const { return table_; }
  const FleetOptions& options() const { return options_; }
  Time now() const { return now_; }
  bool stopped() const;
  // Returns the number of consecutive evictions on the clusters on which the run stopped because no job makes
  // progress, and 0 otherwise.
  int64_t fruitless() const;
  // Returns the totals of all clusters. Copies are not counted as workloads, and a job counts as finished in
  // the cluster to which it was submitted.
  SimulationStats stats() const;
  Time dispatch_wait() const { return dispatch_wait_; }
  const std::vector<int32_t>& loops() const { return loops_; }

  void Happened(int32_t site, EventKind kind, int32_t job, int32_t by) override;
  void Moved(Move move, const Local& local, const Copy& copy) override;
  bool Defers(const Local& local, int32_t cluster, const WorkloadSpec& made) override;
  void Needs(int32_t cluster, bool queues_stay) override {
    queues_stay ? RealizeFirst(cluster + 1) : Realize(cluster + 1);
  }
  bool MayPass(int32_t cluster) override;
  void Pass(const Local& local, int32_t cluster) override;

 private:
  // An existing copy.
  struct Open {
    Time made = -1, reserved = -1, admitted = -1, preempted_lost = 0;
    int32_t preempted = 0;
    bool ran = false;
  };

  // A copy that was not submitted to its worker, because it is known that the copy only waits there. On busy
  // workers, most copies are deleted before anything else happens on the worker.
  struct Deferred {
    int32_t job = kNoId;
    Serial serial = kNoId;  // Of the manager's workload.
    Time created = 0;
    // Time of the first cycle that refused the copy. A copy without such a cycle is inadmissible because a
    // copy before it is.
    std::optional<Time> refused;
  };

  // The deferred copies of a worker, in the order of their creation. They wait in one queue and have one
  // class, so that a cycle refuses the first copy and makes all inadmissible.
  struct Waiting {
    absl::InlinedVector<Deferred, 2> copies;
    Engine::Wait wait;  // `cycles` are those that refused the first of the deferred copies.
    // `decided` is true after the cycles that make the copies inadmissible, and `stirred` is true if
    // something happened on the worker after those cycles. If both are false, the only copy is new.
    bool decided = false, stirred = false;
  };

  static constexpr Time kNoTime = INT64_MAX;

  void Attach();
  bool GoOn(Time until);
  Time Next();
  void BeginMoment(Time at);
  void TakeOwn(Happening last);
  void Connect(const ConnectionChange& change);
  void Decide();
  bool IsEndless(Time until);
  void DecideOn(size_t site);
  bool DecideOnDeferred(size_t site);
  bool PrepareHead(size_t site);
  void DecideOnHead(size_t site);
  bool Refuse(size_t site, const Engine::Wait& wait);
  void EndSubmissions();
  void TakeUntil(size_t site, Happening last);
  void Realize(int32_t site);
  void RealizeFirst(int32_t site);
  bool CanBeLeft(int32_t site);
  void RealizeOne(int32_t site, const Deferred& copy, bool is_new);
  void SubmitFirst(int32_t site);
  void RealizeAll();
  bool LookAtChanged();
  bool LookAt(int32_t job);
  bool IsOver(int32_t job) const;
  void DropFinished(int32_t job, WorkloadId workload);
  void OfManager(EventKind kind, int32_t job);
  void OfWorker(int32_t site, EventKind kind, int32_t job, int32_t by);
  void Retried(int32_t job);
  void Started(int32_t site, int32_t job);
  void Stopped(int32_t job);
  void Change(int32_t job);
  void PlanLook(int32_t job, int32_t cluster);
  void Remove(const Local& local, const Copy& copy, int32_t job);
  CopyOutcome OutcomeOf(const Local& local, const Copy& copy, const Open& open) const;
  void Record(int32_t site, int32_t job, const Open& open, const Job& ended, CopyOutcome outcome);
  Open& OpenOf(int32_t site, int32_t job);
  Fate& At(int32_t job) { return fates_[static_cast<size_t>(job)]; }
  Simulation& Site(int32_t site) { return *sites_[static_cast<size_t>(site)]; }
  void Enter(size_t site) {
    if (entered_[site] != 0) return;
    entered_[site] = 1;
    present_.push_back(site);
    sites_[site]->Enter(now_);
  }
  void Wake(int32_t site) {
    const auto place = static_cast<size_t>(site);
    Enter(place);
    if (awake_[place] != 0) return;
    awake_[place] = 1;
    if (place > 0) to_decide_.push_back(place);
  }
  void EndMoment();
  void ExpectNext(size_t site) { next_[site] = sites_[site]->Next(/*is_over=*/false).value_or(kNoTime); }

  std::vector<std::shared_ptr<Simulation>> sites_;
  FleetOptions options_;
  Dispatcher dispatcher_;
  std::vector<WorkerCluster> clusters_;
  std::vector<Fate> fates_;  // By job.
  // Existing copies, by the site of the worker and then by the index of the job in the worker's Simulation.
  std::vector<std::vector<Open>> open_;
  std::vector<Waiting> deferred_;  // By site.
  Calendar calendar_;
  std::vector<int32_t> changed_;  // Jobs to reconcile at the current time.
  // By site: whether the site may have decisions to make (`awake_`), and whether the site is being processed
  // at the current time (`entered_`).
  std::vector<uint8_t> awake_, entered_;
  // Sites that are processed at the current time (`present_`), and those of these sites that have scheduled
  // events (`due_`).
  std::vector<size_t> present_, due_;
  std::vector<size_t> to_decide_;  // Workers that may have decisions to make.
  std::vector<size_t> deciding_;   // Workers on which Decide() makes decisions.
  std::vector<Time> next_;         // By site: time of its next scheduled event.
  CopyTable table_;
  External external_;
  std::vector<int32_t> loops_;  // Jobs in a dispatch loop.
  Time now_ = 0, dispatch_wait_ = 0;
  int64_t work_ = 0, finished_ = 0, made_ = 0;
  bool has_begun_ = false;
  bool is_submitting_ = true;  // Whether jobs are still to arrive in any cluster.
};

}  // namespace kueue

#endif  // KUEUE_FLEET_FLEET_RUN_H_
