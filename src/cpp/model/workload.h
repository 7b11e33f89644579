// Workloads: spec and status.
#ifndef KUEUE_MODEL_WORKLOAD_H_
#define KUEUE_MODEL_WORKLOAD_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "model/devices.h"
#include "model/ids.h"
#include "model/message.h"
#include "model/pod.h"
#include "model/reason.h"
#include "model/topology.h"
#include "quantity/amount.h"

namespace kueue {

struct PodSetSpec {
  std::string name = "main";
  int64_t count = 1;
  std::optional<int64_t> min_count;
  std::shared_ptr<const PodTemplate> pod_template;
  std::string group;  // The field topologyRequest.podSetGroupName; if empty, the pod set forms its own group.
  std::shared_ptr<const TopologyRequest> topology;  // Null: none.
  // Canonical string form of the topology request; part of the equivalence class.
  std::string topology_request;
};

// Spec of a workload. Workloads with equal specs may share one object.
struct WorkloadSpec {
  std::string ns = "default", queue_name;
  std::string job_uid;         // Label kueue.x-k8s.io/job-uid.
  bool elastic = false;        // Annotation kueue.x-k8s.io/elastic-job.
  std::string admission_gate;  // Annotation kueue.x-k8s.io/admission-gated-by.
  // Annotation on a slice of an elastic job: `namespace/name` of the slice that it replaces.
  std::string replaces;
  int64_t priority = 0;        // The field spec.priority.
  int64_t priority_boost = 0;  // Annotation that is read only if the feature gate PriorityBoost is on.
  std::string priority_class;  // `group/kind/name` of the reference to a priority class.
  std::vector<std::string> preemption_gates;
  // Annotation kueue.x-k8s.io/workload-allowed-resource-flavors. An empty list allows all flavors.
  std::vector<std::string> allowed_flavors;
  std::string parent_uid;           // UID of the Workload of which this workload is a variant; empty: none.
  bool is_labelled_parent = false;  // Label kueue.x-k8s.io/concurrent-admission-parent.
  bool active = true;
  std::optional<int64_t> maximum_execution_time_seconds;
  std::vector<PodSetSpec> pod_sets;
};

// A workload at the time of its submission.
struct WorkloadObject {
  std::string name, uid;
  std::optional<Time> created;
  bool owned_by_single_pod = false;
  std::shared_ptr<const WorkloadSpec> spec;

  std::string Key() const { return absl::StrCat(spec->ns, "/", name); }
};

struct Condition {
  ConditionType type;
  bool status;
  // Id in State::reasons. For a known reason, the id equals the value of the enumerator of Reason.
  Reason reason;
  Message message;
  Time transition;
  // Generation of the spec at the last write (observedGeneration). A write with a new generation is a change.
  int32_t generation = 0;
};

// Requests by resource, sorted by the hash of the resource name (ResourceOrder) in ascending order.
using Requests = absl::InlinedVector<std::pair<ResourceId, int64_t>, 3>;

// Total requests of all counted pods of one pod set.
struct PodSetTotals {
  int64_t count = 0;
  Requests requests;
};

// State of a topology assignment that is delayed until the admission checks are ready.
enum class DelayedTopology : uint8_t { kNone, kPending, kReady };

struct PodSetAdmission {
  std::string name;
  int64_t count = 0;
  struct Resource {
    ResourceId resource;
    FlavorId flavor;  // Flavor of the resource; kNoId if the resource was recorded without a flavor.
    int64_t usage;    // Total usage of all pods.
  };
  absl::InlinedVector<Resource, 2> resources;
  // The topology assignment; null if there is none or it has not been computed yet.
  std::shared_ptr<const TopologyAssignment> topology;
  DelayedTopology delayed = DelayedTopology::kNone;
};

// The field status.admission, and the usage charged for the admission.
struct Admission {
  NodeId cluster_queue = kNoId;
  absl::InlinedVector<PodSetAdmission, 1> pod_sets;
};

// Position at which the flavor scan stopped for each resource of each pod set. Kueue keeps the scan progress
// in the queue's internal state, not in the API object.
struct ScanProgress {
  // By pod set. The position -1 means that all flavors were tried.
  std::vector<absl::InlinedVector<std::pair<ResourceId, int>, 2>> tried;
  int64_t generation = 0;
  int64_t cycle = 0;
  ClassId cls = kNoId;  // Workload::hash.
};

enum class CheckState : uint8_t { kPending, kReady, kRetry, kRejected };

// Changes to a pod set that an admission check makes when the check becomes Ready.
struct PodSetUpdate {
  std::string name;
  std::map<std::string, std::string> labels, annotations, node_selector;
  std::vector<Toleration> tolerations;
};

struct PodSetUpdates {
  std::string json;  // Empty: none.
  std::vector<PodSetUpdate> list;
};

struct WorkloadCheck {
  CheckId check;
  CheckState state = CheckState::kPending;
  std::string message;
  Time transition = 0;
  std::optional<int64_t> requeue_after_seconds;
  std::optional<int64_t> retry_count;
  std::string pod_set_updates;        // JSON; empty: none.
  std::vector<PodSetUpdate> updates;  // Parsed form of `pod_set_updates`.
};

// Where the job of a workload runs (MultiKueue).
enum class JobPlace : uint8_t {
  kHere,       // In this cluster.
  kElsewhere,  // The workload is on a manager; the job runs on a worker.
  kNone,       // The workload is a copy on a worker; the manager has not created the job there yet.
  kCopied      // The workload is a copy on a worker; the manager has created the job there.
};

// An open preemption gate. Gates that are not listed are closed.
struct OpenGate {
  std::string name;
  Time since = 0;
};

// MultiKueue state of a manager's workload or of its copy on a worker. Clusters are identified by their
// indexes in the dispatcher.
struct Dispatched {
  JobPlace job = JobPlace::kHere;
  bool suspended = true;  // Whether the job is suspended.
  // Whether the job has active pods. On the manager, this is the value last copied from the worker.
  bool active = false;
  std::vector<int32_t> nominated;
  int32_t cluster = kNoId;  // status.clusterName
  std::vector<OpenGate> open_gates;
};

// Status fields that most workloads never use.
struct StatusDetails {
  std::vector<WorkloadCheck> checks;  // Sorted by name.
  std::optional<int64_t> requeue_count;
  std::optional<Time> requeue_at;
  std::optional<int64_t> past_execution_seconds;
  std::map<std::string, int64_t> reclaimable;  // Number of reclaimable pods of each pod set, by pod set name.
  // Whether the job's pods are ready. The next Settle() reports the readiness of the pods.
  bool pods_ready = false;
  std::vector<std::string> unhealthy_nodes;  // Failed nodes to which the topology assignment assigns pods.
  // Time at which the job of an evicted workload stops. If this time is absent, the job stops
  // State::stop_delay after the eviction.
  std::optional<Time> job_stops_at;
  Dispatched dispatched;
};

inline const StatusDetails kNoStatusDetails;

// Queue state of a workload. A kQueued workload is active or inadmissible (PendingQueue::IsInadmissible). A
// kDelayed workload is inadmissible and also waits for its requeue backoff.
enum class QueuePlace : uint8_t { kNowhere, kQueued, kDelayed, kInflight };

// Pods of a workload in one domain of a flavor's topology.
struct TopologyUsage {
  FlavorId flavor;
  DomainId domain;
  int32_t count;
  Requests requests;  // Requests of one pod without the resource `pods`, sorted by resource name.
};

using TopologyUsages = absl::InlinedVector<TopologyUsage, 1>;

// All topology usage charged for a workload.
struct TopologyCharge {
  TopologyUsages entries;
};

struct Workload {
  Serial serial = 0;  // Serial number, assigned in the order of submission.
  std::string name, uid;
  std::shared_ptr<const WorkloadSpec> spec;
  LocalQueueId local_queue = kNoId;
  // LocalQueue with which the queue manager associates the workload; kNoId if it never was in a LocalQueue
  // (pkg/cache/queue/manager.go:workloadAssignedQueues).
  LocalQueueId assigned = kNoId;
  ClassId cls = kNoId;
  ClassId hash = kNoId;  // EquivalenceClass::hash of the class.
  int64_t priority = 0;  // Effective priority.
  Time created = 0;
  Time queue_time = 0;  // Timestamp used for queue ordering.
  absl::InlinedVector<Condition, 3> conditions;
  std::shared_ptr<const Admission> admission;
  NodeId charged = kNoId;      // Queue whose quota is charged for the workload.
  int32_t charged_place = -1;  // Index of the workload in the list of workloads of the queue `charged`.
  absl::InlinedVector<std::pair<FlavorResourceId, Amount>, 2> usage;  // Charged usage.
  NodeId queued = kNoId;  // Queue in which the workload is pending.
  QueuePlace place = QueuePlace::kNowhere;
  bool owned_by_single_pod = false;
  // Whether the workload is deleted; a blocked cycle may still refer to it.
  bool deleted = false;
  // Whether the workload is in the list of its LocalQueue, from which a new ClusterQueue takes its workloads
  // (pkg/cache/queue/local_queue.go:items). Workloads in a backoff after an eviction are not listed.
  bool listed = false;
  bool evaluated = false;    // Whether the workload has been the head of a cycle since its last change.
  int32_t dirty_place = -1;  // Index in State::dirty; -1 if the workload is not in this list.
  int32_t generation = 0;    // Number of changes of the spec.
  std::shared_ptr<const ScanProgress> progress;
  std::shared_ptr<const StatusDetails> status;
  // Topology usage, which is charged in addition to `usage`; null if there is none.
  std::shared_ptr<const TopologyCharge> topology_usage;
  // Data about the devices; null if no devices were counted since the workload became pending.
  std::shared_ptr<const DeviceQueueing> devices;

  std::string Key() const { return absl::StrCat(spec->ns, "/", name); }
  const Condition* Find(ConditionType type) const {
    for (const Condition& condition : conditions) {
      if (condition.type == type) return &condition;
    }
    return nullptr;
  }
  bool IsTrue(ConditionType type) const {
    const Condition* condition = Find(type);
    return condition != nullptr && condition->status;
  }
  bool IsFalse(ConditionType type) const {
    const Condition* condition = Find(type);
    return condition != nullptr && !condition->status;
  }
  bool IsFinished() const { return IsTrue(ConditionType::kFinished); }
  bool HasQuotaReservation() const { return IsTrue(ConditionType::kQuotaReserved); }
  bool IsAdmitted() const { return IsTrue(ConditionType::kAdmitted); }
  bool IsEvicted() const { return IsTrue(ConditionType::kEvicted); }
  const StatusDetails& Status() const { return status ? *status : kNoStatusDetails; }
};

}  // namespace kueue

#endif  // KUEUE_MODEL_WORKLOAD_H_
