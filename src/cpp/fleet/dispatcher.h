// MultiKueue's controllers: a manager's workloads are nominated to clusters, copied there, and run where a
// copy is admitted first. Mirrors pkg/controller/admissionchecks/multikueue/workload.go and
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

// The gate that copies get with orchestrated preemption.
inline constexpr const char* kMultiKueueGate = "kueue.x-k8s.io/multikueue";

enum class DispatcherKind : uint8_t { kAllAtOnce, kIncremental, kExternal };

struct DispatcherOptions {
  DispatcherKind kind = DispatcherKind::kAllAtOnce;
  int32_t step = 3;             // clusters of a round
  Time round = 300 * kSecond;   // how long a round lasts
  bool in_config_order = true;  // rounds take clusters in the order of the configuration, else by name
  Time worker_lost_timeout = 900 * kSecond;
  Time gate_timeout = 300 * kSecond;  // between the openings of two gates of one workload
  bool is_virtual_time = false;       // a round ends at its deadline, not only after it
  bool finds_by_name = false;         // workloads of the same name that others made on workers are copies
};

// A MultiKueue check and the clusters of its MultiKueueConfig, in order.
struct CheckClusters {
  std::string check;
  std::vector<int32_t> clusters;
};

// A cluster is known by its place in a list of these. One without an engine is never connected.
struct WorkerCluster {
  std::string name;
  Engine* engine = nullptr;
  bool connected = true;
  Time lost_since = 0;
};

// A workload of the same name on a worker.
struct Copy {
  int32_t cluster = kNoId;
  WorkloadId id = kNoId;
  Serial serial = kNoId;
  std::shared_ptr<const WorkloadSpec> local, made;  // the spec that it was made of, and the one that it got
};

// A workload of the manager that was looked at.
struct Local {
  WorkloadId id = kNoId;
  Serial serial = kNoId;
  std::string key;
  int32_t config = kNoId;     // its check, by its place in Dispatcher::checks(); kNoId: none, or Rejected
  bool gone = false;          // deleted, and looked at since
  std::vector<Copy> copies;   // by cluster
  std::optional<Time> round;  // when its round of the incremental dispatcher began
  std::optional<Time> again;  // when time changes the answer of a look
  int32_t rounds = 0;         // of the incremental dispatcher, so far
};

enum class Move : uint8_t { kCreated, kDeleted, kUpdated, kStarted, kStopped, kOpened, kDeactivating };

// Follows what a dispatcher does. Deletions are reported before they happen.
class DispatchListener {
 public:
  virtual ~DispatchListener() = default;
  virtual void Moved(Move move, const Local& local, const Copy& copy) = 0;
};

class Dispatcher {
 public:
  Dispatcher(DispatcherOptions options, std::vector<CheckClusters> checks);

  // What the calls that follow work on; kept by the caller. Names of clusters do not change.
  void Attach(Engine* manager, std::vector<WorkerCluster>* clusters, DispatchListener* listener);

  // Looks at all workloads of the manager in the order of their keys, again until nothing changes.
  void LookAtAll();
  // One look: of the incremental dispatcher, where that is configured, and of the MultiKueue controller.
  // Returns whether anything changed.
  bool Look(WorkloadId id);
  // The same for a workload that was deleted.
  bool LookAtDeleted(Serial serial);
  // Deletes the copies of deleted workloads on connected clusters.
  void CollectGarbage();
  // What an external dispatcher writes.
  void Nominate(WorkloadId id, std::vector<int32_t> clusters);
  void SetConnected(int32_t cluster, bool connected);
  // Forgets a deleted workload that has no copies.
  void Forget(Serial serial) { locals_.erase(serial); }
  // Chooses the clusters of a workload, of those of its check, at each look; nothing: they stay as they are.
  using External = std::function<std::optional<std::vector<int32_t>>(const Local&, std::vector<int32_t>)>;
  void SetExternal(External external) { external_ = std::move(external); }
  // Whether each MultiKueue check is active: any cluster of its configuration is connected.
  void RefreshChecks();

  // The workload of the last look; null where it has no MultiKueue check.
  const Local* looked() const { return looked_; }
  // Null for a workload that was never looked at.
  const Local* Find(Serial serial) const;
  // The MultiKueue check of a workload; null where it has none.
  const WorkloadCheck* CheckOf(const Workload& workload) const;
  const DispatcherOptions& options() const { return options_; }
  const std::vector<CheckClusters>& checks() const { return checks_; }
  const Workload& WorkloadOf(const Copy& copy) const { return EngineOf(copy).state().At(copy.id); }

 private:
  // A look under way. Copies that it does not see are as if there were none.
  struct Group {
    Local& local;
    CheckState check;
    const std::vector<int32_t>& clusters;       // of the check's configuration
    absl::InlinedVector<int32_t, 8> visible{};  // clusters with a copy, connected, in that order
  };

  struct Turn {
    std::string key;
    Serial serial;
    WorkloadId id;  // kNoId: deleted
  };

  // dispatcher.cc: whose turn it is, and nominations.
  std::vector<Turn> Turns() const;
  Local& Of(WorkloadId id);
  int32_t ConfigOf(const WorkloadCheck& check) const;
  const std::vector<int32_t>* ClustersToNominate(Local& local) const;
  bool LookIncrementally(Local& local);
  bool LookExternally(Local& local);
  bool NominateNext(Local& local, const std::vector<int32_t>& clusters);
  bool NominateAll(const Group& group);
  bool NominateAndSync(const Group& group);
  bool AreOthersReady(const Local& local) const;

  // look.cc: the MultiKueue controller.
  bool Reconcile(Local& local);
  bool ReconcileGroup(Group& group);
  bool FinishAs(const Group& group, const Copy& copy);
  std::optional<bool> FollowEviction(const Group& group, const Copy& copy);
  bool SyncSpecs(Group& group);
  bool LoseAdmitting(const Group& group);
  bool Converge(const Group& group, const Copy& copy);
  bool Admit(const Group& group, int32_t cluster);
  bool OpenNextGate(const Group& group);
  bool SyncJob(const Group& group, const Copy& copy);
  bool Deactivate(const Group& group, const Copy& copy);
  int32_t Best(const Group& group, ConditionType type) const;
  void SetCheck(const Group& group, CheckState state, std::string message);

  // copies.cc: what is on the workers.
  void ForgetMissing(Local& local);
  void FindByName(Group& group);
  void See(Group& group);
  Copy* CopyOn(Local& local, int32_t cluster) const;
  void Create(Local& local, int32_t cluster);
  void Remove(Local& local, int32_t cluster);
  bool RemoveAllBut(const Group& group, int32_t kept);
  bool IsInSync(Copy& copy, const std::shared_ptr<const WorkloadSpec>& spec) const;
  bool UpdatePriority(const Group& group, Copy& copy);
  std::shared_ptr<const WorkloadSpec> SpecForCopy(const std::shared_ptr<const WorkloadSpec>& spec);

  Engine& EngineOf(const Copy& copy) const { return *(*clusters_)[static_cast<size_t>(copy.cluster)].engine; }
  const WorkerCluster& At(int32_t cluster) const { return (*clusters_)[static_cast<size_t>(cluster)]; }
  bool IsConnected(int32_t cluster) const { return At(cluster).engine != nullptr && At(cluster).connected; }
  State& manager() const { return manager_->state(); }
  Workload& WorkloadOf(const Local& local) const { return manager().At(local.id); }
  void Again(Local& local, Time at) const { local.again = local.again ? std::min(*local.again, at) : at; }
  void Report(Move move, const Local& local, const Copy& copy) const {
    if (listener_ != nullptr) listener_->Moved(move, local, copy);
  }

  DispatcherOptions options_;
  std::vector<CheckClusters> checks_;
  std::vector<std::vector<int32_t>>
      ranks_;                       // by check and cluster: its place in the configuration; kNoId: none
  std::vector<CheckId> check_ids_;  // of the manager
  Engine* manager_ = nullptr;
  std::vector<WorkerCluster>* clusters_ = nullptr;
  DispatchListener* listener_ = nullptr;
  External external_;
  const Local* looked_ = nullptr;
  std::map<Serial, Local> locals_;  // ordered: runs repeat bit by bit
  // Specs of copies by those that they were made of, which are kept with them.
  using Made = std::pair<std::shared_ptr<const WorkloadSpec>, std::shared_ptr<const WorkloadSpec>>;
  absl::flat_hash_map<const WorkloadSpec*, Made> specs_;
};

}  // namespace kueue

#endif  // KUEUE_FLEET_DISPATCHER_H_
