// MultiKueue controllers: workloads of a manager are nominated to worker clusters, copied there, and run on
// the cluster that admits a copy first. Mirrors pkg/controller/admissionchecks/multikueue/workload.go and
// pkg/controller/workloaddispatcher/incrementaldispatcher.go (kueue ff69552e79).
#ifndef KUEUE_FLEET_DISPATCHER_H_
#define KUEUE_FLEET_DISPATCHER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "engine/engine.h"

namespace kueue {

// Preemption gate added to copies with orchestrated preemption.
inline constexpr const char* kMultiKueueGate = "kueue.x-k8s.io/multikueue";

enum class DispatcherKind : uint8_t { kAllAtOnce, kIncremental, kExternal };

struct DispatcherOptions {
  DispatcherKind kind = DispatcherKind::kAllAtOnce;
  int32_t step = 3;             // Number of clusters nominated in each round.
  Time round = 300 * kSecond;   // Duration of a round of the incremental dispatcher, in nanoseconds.
  bool in_config_order = true;  // Nominate clusters in the order of the configuration; if false, by name.
  Time worker_lost_timeout = 900 * kSecond;
  // Minimum time between opening two preemption gates of one workload, in nanoseconds.
  Time gate_timeout = 300 * kSecond;
  // If true, a round ends when the time reaches its deadline; if false, a round ends only after the deadline.
  bool is_virtual_time = false;
  // If a worker has a workload of the same name, that workload counts as a copy even if another actor created
  // it.
  bool finds_by_name = false;
};

// A MultiKueue admission check, and the clusters of its MultiKueueConfig in their configured order.
struct CheckClusters {
  std::string check;
  std::vector<int32_t> clusters;
  bool has_config = true;  // If false, the MultiKueueConfig does not exist.
};

// A worker cluster, identified by its index in the list of worker clusters. A cluster without an engine is
// never connected.
struct WorkerCluster {
  std::string name;
  Engine* engine = nullptr;
  bool connected = true;
  Time lost_since = 0;
  bool declared = true;  // If false, the MultiKueueCluster does not exist, and there is no connection.
};

// A copy of a manager's workload: a workload with the same name on a worker.
struct Copy {
  int32_t cluster = kNoId;
  WorkloadId id = kNoId;
  Serial serial = kNoId;
  // Spec of the manager's workload from which the copy was created, and spec of the copy.
  std::shared_ptr<const WorkloadSpec> local, made;
  // The copy was not submitted to the worker, because it would only wait there; see DispatchListener.
  bool deferred = false;
  bool has_job = false;  // Whether the job existed on the worker at the last reconciliation.
  bool removed = false;  // The copy was deleted, and its record is erased before the reconciliation ends.
};

// A workload of the manager that has been reconciled at least once.
struct Local {
  WorkloadId id = kNoId;
  Serial serial = kNoId;
  std::string key;
  // Index of the workload's check in Dispatcher::checks(); kNoId if the workload has no MultiKueue check or
  // the check is Rejected.
  int32_t config = kNoId;
  bool gone = false;          // Whether the workload was deleted and has been reconciled since then.
  std::vector<Copy> copies;   // Sorted by cluster.
  std::vector<int32_t> jobs;  // Clusters that still have a job although another actor deleted the copy.
  std::optional<Time> round;  // Start of the current round of the incremental dispatcher.
  std::optional<Time> again;  // Next time at which a reconciliation may have a different result.
  int32_t rounds = 0;         // Number of rounds of the incremental dispatcher so far.
};

enum class Move : uint8_t { kCreated, kDeleted, kUpdated, kStarted, kStopped, kOpened, kDeactivating };

// Observer of a dispatcher. The dispatcher reports a deletion before the deletion happens.
class DispatchListener {
 public:
  virtual ~DispatchListener() = default;
  virtual void Moved(Move move, const Local& local, const Copy& copy) = 0;
  // Called before a copy is created. Returns whether the copy is deferred: the dispatcher does not submit the
  // copy, and the listener applies the effects that the copy would have on its worker.
  virtual bool Defers(const Local&, int32_t /*cluster*/, const WorkloadSpec& /*made*/) { return false; }
  // Called before the dispatcher changes a worker. The listener must then call Realize() for the deferred
  // copies on this worker. If `queues_stay`, the change does not depend on the contents of the worker's
  // queues, except that it may remove a workload and make others active again.
  virtual void Needs(int32_t /*cluster*/, bool /*queues_stay*/) {}
  // Called before the deletion of a deferred copy. If the result is false, the listener has called Realize()
  // for the copy; otherwise Pass() follows.
  virtual bool MayPass(int32_t /*cluster*/) { return false; }
  // Applies the effects that the creation and the deletion of the deferred copy have on its worker. Called
  // after the deletion was reported.
  virtual void Pass(const Local&, int32_t /*cluster*/) {}
};

class Dispatcher {
 public:
  Dispatcher(DispatcherOptions options, std::vector<CheckClusters> checks);

  // Sets the manager, the clusters and the listener that the following calls use. The manager, the clusters
  // and the listener must outlive the calls. The names of clusters must not change.
  void Attach(Engine* manager, std::vector<WorkerCluster>* clusters, DispatchListener* listener);

  // Reconciles all workloads of the manager in the order of their keys, repeatedly until nothing changes.
  void LookAtAll();
  // Reconciles a workload once: runs the incremental dispatcher, if configured, and the MultiKueue
  // controller. Returns whether the call changed anything.
  bool Look(WorkloadId id);
  // Same as Look(), but for a deleted workload.
  bool LookAtDeleted(Serial serial);
  // Deletes the copies of deleted workloads on connected clusters.
  void CollectGarbage();
  // Sets the clusters to which a workload is nominated, on behalf of an external dispatcher.
  void Nominate(WorkloadId id, std::vector<int32_t> clusters);
  void SetConnected(int32_t cluster, bool connected);
  // Sets whether the MultiKueueCluster of each cluster exists.
  void SetDeclared(const std::vector<bool>& declared);
  // Removes the record of a deleted workload that has no copies.
  void Forget(Serial serial) { locals_.erase(serial); }
  // Submits a deferred copy to its worker. The copy is then no longer deferred.
  WorkloadId Realize(Serial serial, int32_t cluster);
  // Function that, at each reconciliation, selects the clusters of a workload from the clusters of its check.
  // If the function returns nullopt, the current selection is kept.
  using External = std::function<std::optional<std::vector<int32_t>>(const Local&, std::vector<int32_t>)>;
  void SetExternal(External external) { external_ = std::move(external); }
  // Updates the state of each MultiKueue check: a check is active if at least one of its clusters is
  // connected.
  void RefreshChecks();
  // Replaces the clusters of the checks. The checks must be the same, in the same order.
  void SetClusters(std::vector<CheckClusters> checks);

  // Returns the workload that was reconciled last, or null if that workload has no MultiKueue check.
  const Local* looked() const { return looked_; }
  // Returns null if the workload was never reconciled.
  const Local* Find(Serial serial) const;
  // Returns the MultiKueue check of a workload, or null if the workload has none.
  const WorkloadCheck* CheckOf(const Workload& workload) const;
  const DispatcherOptions& options() const { return options_; }
  const std::vector<CheckClusters>& checks() const { return checks_; }
  const Workload& WorkloadOf(const Copy& copy) const { return EngineOf(copy).state().At(copy.id); }

 private:
  // A reconciliation in progress. Copies on clusters that are not in `visible` are ignored.
  struct Group {
    Local& local;
    CheckState check;
    const std::vector<int32_t>& clusters;       // Clusters of the check's configuration.
    absl::InlinedVector<int32_t, 8> visible{};  // Connected clusters with a copy, in the order of `clusters`.
  };

  struct Turn {
    std::string key;
    Serial serial;
    WorkloadId id;  // kNoId: deleted.
  };

  // Functions that determine the order of reconciliations and that nominate clusters (dispatcher.cc).
  std::vector<Turn> Turns() const;
  void RankClusters();
  Local& Of(WorkloadId id);
  void Succeed(const Local& old, WorkloadId successor);
  int32_t ConfigOf(const WorkloadCheck& check) const;
  int32_t ConfigOf(const Workload& workload) const;
  const std::vector<int32_t>* ClustersToNominate(Local& local) const;
  bool LookIncrementally(Local& local);
  bool LookExternally(Local& local);
  bool NominateNext(Local& local, const std::vector<int32_t>& clusters);
  // kRefused: the nominations must change, but a cluster is already chosen.
  enum class Nominated : uint8_t { kKept, kChanged, kRefused };
  Nominated NominateAll(const Group& group);
  bool NominateAndSync(const Group& group);
  bool AreOthersReady(const Local& local) const;

  // Functions of the MultiKueue controller (look.cc).
  bool Reconcile(Local& local);
  bool ReconcileGroup(Group& group);
  bool FinishAs(const Group& group, const Copy& copy);
  std::optional<bool> FollowEviction(const Group& group, const Copy& copy);
  bool SyncSpecs(Group& group);
  bool LoseAdmitting(const Group& group);
  bool Converge(const Group& group, const Copy& copy);
  bool Admit(const Group& group, int32_t cluster);
  bool SyncTopology(const Group& group, int32_t cluster);
  bool OpenNextGate(const Group& group);
  bool OwnsJob(const Copy& copy) const;
  bool SyncJob(const Group& group, const Copy& copy);
  bool Deactivate(const Group& group, const Copy& copy);
  // The first visible copy, by the time of the transition, for which a condition is true; kNoId if none is.
  // Without the gate MultiKueueWaitForWorkloadAdmitted, `admitted` is the first that has a quota reservation.
  struct FirstTrue {
    int32_t finished = kNoId, evicted = kNoId, admitted = kNoId;
  };
  FirstTrue FindFirstTrue(const Group& group) const;
  void SetCheck(const Group& group, CheckState state, std::string message);

  // Functions for the copies on the workers (copies.cc).
  void ForgetMissing(Local& local);
  void FindByName(Group& group);
  void See(Group& group);
  Copy* CopyOn(Local& local, int32_t cluster) const;
  void Create(Local& local, int32_t cluster);
  void Submit(const Local& local, Copy& copy);
  void Remove(Local& local, int32_t cluster);
  bool RemoveFromWorker(Local& local, int32_t cluster);
  static void EraseRemoved(Local& local);
  bool RemoveAllBut(const Group& group, int32_t kept);
  bool RemoveJobs(Local& local);
  void CollectUnknown();
  bool IsInSync(Copy& copy, const std::shared_ptr<const WorkloadSpec>& spec) const;
  bool UpdatePriority(const Group& group, Copy& copy);
  std::shared_ptr<const WorkloadSpec> SpecForCopy(const std::shared_ptr<const WorkloadSpec>& spec);

  Engine& EngineOf(const Copy& copy) const { return *(*clusters_)[static_cast<size_t>(copy.cluster)].engine; }
  const WorkerCluster& At(int32_t cluster) const { return (*clusters_)[static_cast<size_t>(cluster)]; }
  // Returns kNoId if the configuration of the workload's check does not contain the cluster.
  int32_t RankOf(const Local& local, int32_t cluster) const {
    return ranks_[static_cast<size_t>(local.config)][static_cast<size_t>(cluster)];
  }
  bool IsConnected(int32_t cluster) const {
    const WorkerCluster& at = At(cluster);
    return at.engine != nullptr && at.connected && at.declared;
  }
  State& manager() const { return manager_->state(); }
  Workload& WorkloadOf(const Local& local) const { return manager().At(local.id); }
  void Again(Local& local, Time at) const { local.again = local.again ? std::min(*local.again, at) : at; }
  void Need(int32_t cluster, bool queues_stay = false) const {
    if (listener_ != nullptr) listener_->Needs(cluster, queues_stay);
  }
  void Report(Move move, const Local& local, const Copy& copy) const {
    if (listener_ != nullptr) listener_->Moved(move, local, copy);
  }

  DispatcherOptions options_;
  std::vector<CheckClusters> checks_;
  // By check and then by cluster: position of the cluster in the configuration of the check; kNoId if the
  // configuration does not contain the cluster.
  std::vector<std::vector<int32_t>> ranks_;
  std::vector<std::vector<int32_t>> by_name_;  // By check: its clusters, sorted by name.
  std::vector<CheckId> check_ids_;             // On the manager.
  Engine* manager_ = nullptr;
  std::vector<WorkerCluster>* clusters_ = nullptr;
  DispatchListener* listener_ = nullptr;
  External external_;
  const Local* looked_ = nullptr;
  std::vector<uint8_t> marks_;  // By cluster, in NominateAndSync(): whether it is nominated, or has a copy.
  std::map<Serial, Local> locals_;  // The map is ordered, so that simulations are reproducible.
  // Specs of copies, keyed by the spec from which each copy was created. Each map entry keeps both specs
  // alive.
  using Made = std::pair<std::shared_ptr<const WorkloadSpec>, std::shared_ptr<const WorkloadSpec>>;
  absl::flat_hash_map<const WorkloadSpec*, Made> specs_;
};

}  // namespace kueue

#endif  // KUEUE_FLEET_DISPATCHER_H_
