// The engine: objects and workloads in, decisions out.
#ifndef KUEUE_ENGINE_ENGINE_H_
#define KUEUE_ENGINE_ENGINE_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "scheduler/cycle.h"
#include "state/state.h"

namespace kueue {

// What a live cluster says of a workload (its status).
struct WorkloadStatus {
  struct ConditionRecord {
    std::string type, reason, message;
    bool status;
    Time transition;
  };
  struct PodSetRecord {
    std::string name;
    std::optional<int64_t> count;
    std::map<std::string, std::string> flavors;
    std::map<std::string, int64_t> usage;
    std::vector<std::string> levels;  // of the topology assignment; empty: none
    std::vector<std::pair<std::vector<std::string>, int32_t>> domains;  // level values, pods
    DelayedTopology delayed = DelayedTopology::kNone;
  };
  struct CheckRecord {
    std::string name, message;
    CheckState state = CheckState::kPending;
    Time transition = 0;
    std::optional<int64_t> requeue_after_seconds, retry_count;
    PodSetUpdates pod_set_updates;
  };
  std::vector<ConditionRecord> conditions;
  std::string cluster_queue;  // of the admission; empty: none
  std::vector<PodSetRecord> pod_sets;
  std::vector<CheckRecord> checks;
  std::optional<int64_t> requeue_count;
  std::optional<Time> requeue_at;
  std::optional<int64_t> past_execution_seconds;
  std::map<std::string, int64_t> reclaimable;
  std::vector<std::string> unhealthy_nodes;
};

// Every call that takes a time moves the engine's clock there; it never goes back. Not thread-safe: one
// engine is used by one thread at a time.
class Engine {
 public:
  Engine(Config config, RequestsConfig requests);

  State& state() { return state_; }
  const State& state() const { return state_; }
  // How long the job of an evicted workload takes to stop; until then the workload keeps its quota.
  void SetStopDelay(Time delay) { state_.stop_delay = delay; }
  void SetNow(Time now) { state_.now = now > state_.now ? now : state_.now; }

  // Objects, created or changed. `changed` tells whether the spec differs from what was applied before.
  void ApplyFlavor(ResourceFlavor spec);
  void DeleteFlavor(const std::string& name);
  void ApplyClusterQueue(ClusterQueueSpec spec, bool changed);
  void DeleteClusterQueue(const std::string& name);
  void ApplyCohort(CohortSpec spec, bool changed);
  void DeleteCohort(const std::string& name);
  void ApplyLocalQueue(LocalQueueSpec spec);
  void DeleteLocalQueue(const std::string& ns, const std::string& name);
  void ApplyNamespace(const std::string& name, std::map<std::string, std::string> labels);
  void DeleteNamespace(const std::string& name);
  void ApplyCheck(AdmissionCheckSpec spec);
  void DeleteCheck(const std::string& name);
  void ApplyTopology(const std::string& name, std::vector<std::string> levels);
  // Without a time, a node's readiness keeps that since which it has been so, or counts from now.
  void ApplyNode(Node node, std::optional<Time> ready_since = std::nullopt);
  void DeleteNode(const std::string& name);
  // A pod of the cluster, with its spec.
  void ApplyPod(const std::string& ns, const std::string& name, ClusterPod pod, const PodTemplate& spec);
  void DeletePod(const std::string& ns, const std::string& name);
  void DeleteTopology(const std::string& name);
  void ApplyLimitRange(const std::string& ns, const std::string& name, LimitRange limits);
  void DeleteLimitRange(const std::string& ns, const std::string& name);
  void ApplyRuntimeClass(const std::string& name, RuntimeClass runtime_class);
  void DeleteRuntimeClass(const std::string& name);
  // Without a time, a class counts as created when it was first applied.
  void ApplyDeviceClass(const std::string& name, DeviceClass device_class, std::optional<Time> created);
  void DeleteDeviceClass(const std::string& name);
  void ApplyResourceClaimTemplate(const std::string& ns, const std::string& name, ResourceClaimTemplate spec);
  void DeleteResourceClaimTemplate(const std::string& ns, const std::string& name);
  void ApplyResourceSlice(const std::string& name, ResourceSlice slice, bool changed);
  void DeleteResourceSlice(const std::string& name);

  // A workload was created; its key must be new.
  WorkloadId Submit(WorkloadObject object, const WorkloadStatus* status = nullptr);
  // It was written; `changed` tells whether its spec differs.
  void Update(WorkloadId id, WorkloadObject object, bool changed = true);
  // Its job is done: Succeeded, Failed or FailedToStart. Without a message the usual one of the reason.
  void Finish(WorkloadId id, Reason reason = Reason::kSucceeded, std::string message = "");
  void Delete(WorkloadId id);
  // Somebody else than the scheduler takes its quota away; nothing where it has none.
  void Evict(WorkloadId id, Reason reason, std::string message);
  // A check's controller wrote its state; what is not given stays as it is.
  void SetCheckState(WorkloadId id, const std::string& check, CheckState state,
                     std::optional<std::string> message = std::nullopt,
                     std::optional<int64_t> requeue_after_seconds = std::nullopt,
                     std::optional<PodSetUpdates> pod_set_updates = std::nullopt);
  void SetPodsReady(WorkloadId id, bool ready);
  // The pods of its job end at this time if it is evicted; until then it keeps its quota.
  void SetJobStop(WorkloadId id, Time at);
  // It is the workload that its queue tries first, because it waits for workloads that it has preempted.
  // Kueue keeps this in memory only. Nothing happens to a workload that is in no queue.
  void SetPreemptor(WorkloadId id);
  void SetReclaimable(WorkloadId id, std::map<std::string, int64_t> reclaimable);

  // Lets the controllers run until nothing changes; see kueue::Settle.
  void Settle(bool all_devices = false);
  // Retries what was notified, then runs one scheduling cycle if any active queue has a head. One that waits
  // for pods goes on once all are ready.
  CycleResult RunCycle(std::vector<Entry>* keep = nullptr);
  // What a cycle would answer for this workload alone: it may be pending or not yet in any queue.
  Entry TryAdmit(WorkloadId id);
  // Whether cycles leave notified trees alone, so that only Retry works them off. Kueue collects
  // notifications for a second (pkg/cache/queue/inadmissible_workloads.go); without this they take effect
  // with the next cycle.
  void HoldRetries(bool hold) { state_.holds_retries = hold; }
  // The trees in which inadmissible workloads are to be retried: "Cohort NAME", or "ClusterQueue NAME" of one
  // without a cohort.
  std::vector<std::string> NotifiedTrees() const;
  // Returns the inadmissible workloads of these trees to their queues, as far as the trees were notified.
  void Retry(const std::set<std::string>& trees);
  // Puts evicted workloads that still hold quota back into their queues, as a settle would.
  void ReleaseEvictedNow(const std::vector<WorkloadId>& evicted);

 private:
  bool HasNoHead() const;
  void ChangeActivity(std::vector<NodeId> before);
  std::vector<NodeId> ActiveQueues();
  void TouchTree(NodeId node);
  void Attach(NodeId node, const std::string& parent);
  void Detach(NodeId node);
  bool IsKept(NodeId node, const ClusterQueueSpec& spec);
  bool RemoveTerminated();
  void SetQuotas(NodeId node, const std::vector<ResourceGroup>& groups);
  void ChangeLimitRange(const std::string& ns, absl::FunctionRef<void(Namespace&)> change);
  void ChangeRuntimeClass(const std::string& name, absl::FunctionRef<void()> change);
  void Readjust(absl::FunctionRef<bool(const Workload&)> concerns, absl::FunctionRef<void()> change);
  DeviceObjects& EditDeviceObjects();
  void RetryRequesting(const std::string& resource);
  void RetryForSlice(const std::string& driver);
  void MarkQueueDirty(NodeId node);
  void MarkLocalQueueDirty(LocalQueueId id);
  void SetStatus(WorkloadId id, const WorkloadStatus& status);

  State state_;
  std::vector<WorkloadId> evicted_;
  std::vector<Entry> entries_;  // empty between cycles: their memory
};

}  // namespace kueue

#endif  // KUEUE_ENGINE_ENGINE_H_
