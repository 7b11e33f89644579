// Creation, change and deletion of copies on workers.
#ifndef KUEUE_FLEET_COPIES_H_
#define KUEUE_FLEET_COPIES_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "fleet/multikueue.h"
#include "state/names.h"

namespace kueue {

// The workers of a manager, and the copies of its workloads on them. Changes are reported to a listener.
class Copies {
 public:
  // See Dispatcher::Attach().
  void Attach(Engine* manager, std::vector<WorkerCluster>* clusters, DispatchListener* listener);

  Engine& engine() const { return *manager_; }
  State& manager() const { return manager_->state(); }
  Workload& WorkloadOf(const Local& local) const { return manager().At(local.id); }
  std::vector<WorkerCluster>& clusters() const { return *clusters_; }
  WorkerCluster& At(int32_t cluster) const { return (*clusters_)[static_cast<size_t>(cluster)]; }
  bool IsConnected(int32_t cluster) const {
    const WorkerCluster& at = At(cluster);
    return at.engine != nullptr && at.connected && at.declared;
  }
  Engine& EngineOf(const Copy& copy) const { return *At(copy.cluster).engine; }
  const Workload& WorkloadOf(const Copy& copy) const { return EngineOf(copy).state().At(copy.id); }

  // Returns null if the cluster has no copy.
  Copy* CopyOn(Local& local, int32_t cluster) const;
  // Drops the records of copies that another actor has deleted.
  void ForgetMissing(Local& local) const;
  // Adds records of the workloads of the same name on those of the clusters that are connected.
  void FindByName(Local& local, const std::vector<int32_t>& clusters) const;
  // Deletes the jobs on connected clusters whose copies another actor has deleted, except on clusters without
  // a rank. Mirrors workload.go:RemoveRemoteObjects.
  bool RemoveJobs(Local& local, const std::vector<int32_t>& ranks) const;
  // Deletes the copies on connected clusters whose workload the manager does not have, including those of
  // workloads that have no record.
  void CollectUnknown() const;

  // Creates a copy of a workload that will have at most `most` copies. With orchestrated preemption, a copy
  // may not preempt at first if it is `gated`.
  void Create(Local& local, int32_t cluster, size_t most, bool gated = true);
  // Submits a deferred copy to its worker. The copy is then no longer deferred.
  WorkloadId Realize(Local& local, int32_t cluster) const;
  // Removes the job, then the copy; the worker's quota is released immediately.
  void Remove(Local& local, int32_t cluster) const;
  // Removes the copies on these clusters except `kept`. Returns whether there were any.
  template <typename Clusters>
  bool RemoveAllBut(Local& local, const Clusters& clusters, int32_t kept) const {
    bool changed = false;
    for (int32_t cluster : clusters) {
      if (cluster != kept && RemoveFromWorker(local, cluster)) changed = true;
    }
    if (changed) EraseRemoved(local);
    return changed;
  }
  // Returns whether the spec of the copy agrees with the spec of the manager's workload.
  bool IsInSync(Copy& copy, const std::shared_ptr<const WorkloadSpec>& spec) const;
  // Updates the priority of a copy if it changed through a WorkloadPriorityClass, and its spec if an elastic
  // job was scaled down. Returns whether the copy was updated.
  bool UpdateInPlace(const Local& local, Copy& copy);
  // Calls `use` with the state of a cluster and with each workload there that shares its job with `local`.
  template <typename Use>
  void ForKin(const Local& local, int32_t cluster, const Use& use) const {
    if (local.kin.empty()) return;
    State& there = At(cluster).engine->state();
    for (const std::string& key : local.kin) {
      const WorkloadId id = FindByKey(there, key);
      if (id != kNoId && !there.At(id).deleted) use(there, id);
    }
  }
  // Returns whether another workload of the same job has already brought this job to a cluster.
  bool SharesJob(const Local& local, int32_t cluster) const;

  // Call the listener, if there is one.
  void Need(int32_t cluster, bool queues_stay = false) const {
    if (listener_ != nullptr) listener_->Needs(cluster, queues_stay);
  }
  void Report(Move move, const Local& local, const Copy& copy) const {
    if (listener_ != nullptr) listener_->Moved(move, local, copy);
  }

 private:
  void Submit(const Local& local, Copy& copy) const;
  // Deletes the job that other workloads brought to a cluster. Returns whether there was one.
  bool DropSharedJob(const Local& local, int32_t cluster) const;
  // Same as Remove(), but keeps the record of the copy, with `removed` set. Returns whether there is such a
  // copy.
  bool RemoveFromWorker(Local& local, int32_t cluster) const;
  static void EraseRemoved(Local& local);
  std::shared_ptr<const WorkloadSpec> SpecForCopy(const std::shared_ptr<const WorkloadSpec>& spec,
                                                  bool gated);

  Engine* manager_ = nullptr;
  std::vector<WorkerCluster>* clusters_ = nullptr;
  DispatchListener* listener_ = nullptr;
  // Specs of copies, keyed by the spec from which each copy was created. Each map entry keeps both specs
  // alive.
  using Made = std::pair<std::shared_ptr<const WorkloadSpec>, std::shared_ptr<const WorkloadSpec>>;
  absl::flat_hash_map<const WorkloadSpec*, Made> specs_;
};

}  // namespace kueue

#endif  // KUEUE_FLEET_COPIES_H_
