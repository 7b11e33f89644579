// MultiKueue controllers: workloads of a manager are nominated to worker clusters, copied there, and run on
// the cluster that admits a copy first. Mirrors pkg/controller/admissionchecks/multikueue/workload.go and
// pkg/controller/workloaddispatcher/incrementaldispatcher.go (kueue ff69552e79).
#ifndef KUEUE_FLEET_DISPATCHER_H_
#define KUEUE_FLEET_DISPATCHER_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fleet/copies.h"

namespace kueue {

// The MultiKueue check of a workload, and its clusters.
struct DispatchView {
  std::string check;
  CheckState state;
  std::string message;
  std::vector<int32_t> nominated;
  int32_t cluster;
};
// A copy that exists on a worker, and whether it has a job.
struct CopyView {
  int32_t cluster;
  Serial workload;
  bool has_job, is_active;
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
  // Sets when the status of the workload's job is copied, which depends on the kind of the job, and the other
  // workloads of the same job.
  void SetJob(WorkloadId id, StatusCopy copy, GroupRole role, std::vector<std::string> kin);
  void SetConnected(int32_t cluster, bool connected);
  // Sets whether the MultiKueueCluster of each cluster exists.
  void SetDeclared(const std::vector<bool>& declared);
  // Removes the record of a deleted workload that has no copies.
  void Forget(Serial serial) { locals_.erase(serial); }
  // Submits a deferred copy to its worker. The copy is then no longer deferred.
  WorkloadId Realize(Serial serial, int32_t cluster) { return copies_.Realize(locals_.at(serial), cluster); }
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
  // Returns nothing for a workload without a MultiKueue check.
  std::optional<DispatchView> StatusOf(const Workload& workload) const;
  std::vector<CopyView> CopiesOf(Serial serial) const;
  // Returns the MultiKueue check of a workload, or null if the workload has none.
  const WorkloadCheck* CheckOf(const Workload& workload) const;
  const Workload& WorkloadOf(const Copy& copy) const { return copies_.WorkloadOf(copy); }

 private:
  struct Turn {
    std::string key;
    Serial serial;
    WorkloadId id;  // kNoId: deleted.
  };

  // Returns all workloads sorted by key, including those deleted since the last reconciliation.
  std::vector<Turn> Turns() const;
  void RankClusters();
  Local& Of(WorkloadId id);
  void Succeed(const Local& old, WorkloadId successor);
  int32_t ConfigOf(const WorkloadCheck& check) const;
  int32_t ConfigOf(const Workload& workload) const;
  const CheckClusters& CheckClustersOf(const Local& local) const {
    return checks_[static_cast<size_t>(local.config)];
  }
  bool Reconcile(Local& local);
  const std::vector<int32_t>* ClustersToNominate(Local& local) const;
  bool LookIncrementally(Local& local);
  bool LookExternally(Local& local);
  bool NominateNext(Local& local, const std::vector<int32_t>& clusters);
  // kRefused: the nominations must change, but a cluster is already chosen.
  enum class Nominated : uint8_t { kKept, kChanged, kRefused };
  Nominated NominateAll(const Local& local);
  std::optional<int32_t> ClusterOfGroup(const Local& local) const;
  bool NominateAndSync(Local& local);
  bool AreOthersReady(const Local& local) const;

  State& manager() const { return copies_.manager(); }
  Workload& WorkloadOf(const Local& local) const { return copies_.WorkloadOf(local); }

  DispatcherOptions options_;
  std::vector<CheckClusters> checks_;
  // By check and then by cluster: position of the cluster in the configuration of the check; kNoId if the
  // configuration does not contain the cluster.
  std::vector<std::vector<int32_t>> ranks_;
  std::vector<std::vector<int32_t>> by_name_;  // By check: its clusters, sorted by name.
  std::vector<CheckId> check_ids_;             // On the manager.
  Copies copies_;
  External external_;
  const Local* looked_ = nullptr;
  std::vector<uint8_t> marks_;  // By cluster, in NominateAndSync(): whether it is nominated, or has a copy.
  std::map<Serial, Local> locals_;  // The map is ordered, so that simulations are reproducible.
};

}  // namespace kueue

#endif  // KUEUE_FLEET_DISPATCHER_H_
