// Simulation of a fleet: one Simulation for the manager and one for each worker, which advance together and
// are connected by the dispatcher.
#ifndef KUEUE_FLEET_FLEET_RUN_H_
#define KUEUE_FLEET_FLEET_RUN_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fleet/deferred_copies.h"
#include "fleet/dispatcher.h"
#include "fleet/fleet_results.h"
#include "fleet/reconcile_queue.h"
#include "simulation/simulation.h"

namespace kueue {

struct FleetOptions {
  DispatcherOptions dispatcher;
  std::vector<CheckClusters> checks;
  std::vector<std::string> names;  // Names of the workers, by index.
  std::vector<Time> sync;          // By worker: delay until the manager observes a change on the worker.
  std::vector<ConnectionChange> connections;
  Time until = INT64_MAX;
};

// Advances all clusters together: takes the events of each time, reconciles the manager's workloads, and
// makes decisions. FleetResults records what happens to jobs and copies.
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
  const FleetResults& results() const { return results_; }
  Time now() const { return now_; }
  bool stopped() const;
  // Returns the number of consecutive evictions on the clusters on which the run stopped because no job makes
  // progress, and 0 otherwise.
  int64_t fruitless() const;
  // Returns the totals of all clusters. Copies are not counted as workloads, and a job counts as finished in
  // the cluster to which it was submitted.
  SimulationStats stats() const;

  void Happened(int32_t site, EventKind kind, int32_t job, int32_t by) override;
  void Moved(Move move, const Local& local, const Copy& copy) override;
  bool Defers(const Local& local, int32_t cluster, const WorkloadSpec& made) override;
  void Needs(int32_t cluster, bool queues_stay) override;
  bool MayPass(int32_t cluster) override { return deferred_.MayPass(SiteOf(cluster)); }
  void Pass(const Local& local, int32_t cluster) override { deferred_.Pass(SiteOf(cluster), local.serial); }

 private:
  // The next part of the current time: events up to a kind, or decisions.
  enum class Stage : uint8_t { kOver, kChanges, kPodsReady, kCycle, kDecisions };

  static constexpr Time kNoTime = INT64_MAX;
  static size_t SiteOf(int32_t cluster) { return static_cast<size_t>(cluster) + 1; }

  void Attach();
  bool GoOn(Time until);
  Time Next();
  bool IsEndless(Time until);
  void BeginMoment(Time at);
  void Take(Happening last);
  void TakeUntil(size_t site, Happening last);
  void EndSubmissions();
  void EndMoment();
  void Connect(const ConnectionChange& change);
  void Decide();
  void DecideOn(size_t site);
  bool LookAtChanged();
  void LookAtRest();
  bool LookAt(int32_t job);
  bool IsOver(int32_t job) const;
  void DropFinished(int32_t job, WorkloadId workload);
  void Create(const Copy& copy, int32_t job);
  void Start(int32_t site, int32_t job);
  void Remove(const Local& local, const Copy& copy, int32_t job);
  CopyOutcome OutcomeOf(const Local& local, const Copy& copy) const;
  // The jobs and the state of the manager.
  const JobStore& jobs() const { return manager().data().jobs; }
  State& state() const { return manager().data().engine.state(); }
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
  void ExpectNext(size_t site) { next_[site] = sites_[site]->Next(/*is_over=*/false).value_or(kNoTime); }

  std::vector<std::shared_ptr<Simulation>> sites_;
  FleetOptions options_;
  Dispatcher dispatcher_;
  std::vector<WorkerCluster> clusters_;
  ReconcileQueue queue_;
  DeferredCopies deferred_;
  FleetResults results_;
  // By site: whether the site may have decisions to make (`awake_`), and whether the site is being processed
  // at the current time (`entered_`).
  std::vector<uint8_t> awake_, entered_;
  // Sites that are processed at the current time (`present_`), and those of these sites that have scheduled
  // events (`due_`).
  std::vector<size_t> present_, due_;
  std::vector<size_t> to_decide_;  // Workers that may have decisions to make.
  std::vector<size_t> deciding_;   // Workers on which Decide() makes decisions.
  std::vector<Time> next_;         // By site: time of its next scheduled event.
  External external_;
  std::vector<int32_t> to_look_;  // Jobs that are being reconciled, the next one last.
  bool has_changed_ = false;      // Whether one of these reconciliations changed anything.
  Time now_ = 0;
  Stage stage_ = Stage::kOver;
  int64_t work_ = 0;
  bool has_begun_ = false;
  bool is_submitting_ = true;  // Whether jobs are still to arrive in any cluster.
};

}  // namespace kueue

#endif  // KUEUE_FLEET_FLEET_RUN_H_
