// A workload: what is declared, and what has become of it.
#ifndef KUEUE_MODEL_WORKLOAD_H_
#define KUEUE_MODEL_WORKLOAD_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
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
  std::string group;  // topologyRequest.podSetGroupName; empty: a group of its own
  std::shared_ptr<const TopologyRequest> topology;  // null: none
  std::string topology_request;                     // canonical text, part of the equivalence class
};

// What is declared of a workload; those that are declared alike may share it.
struct WorkloadSpec {
  std::string ns = "default", queue_name;
  std::string job_uid;         // label kueue.x-k8s.io/job-uid
  bool elastic = false;        // annotation kueue.x-k8s.io/elastic-job
  std::string admission_gate;  // annotation kueue.x-k8s.io/admission-gated-by
  std::string replaces;        // annotation of an elastic job's slice: namespace/name of the replaced one
  int64_t priority = 0;        // spec.priority
  int64_t priority_boost = 0;  // annotation, with the gate PriorityBoost
  std::string priority_class;  // group/kind/name of the reference
  std::vector<std::string> preemption_gates;
  bool active = true;
  std::optional<int64_t> maximum_execution_time_seconds;
  std::vector<PodSetSpec> pod_sets;
};

// A workload as it is submitted.
struct WorkloadObject {
  std::string name, uid;
  std::optional<Time> created;
  bool owned_by_single_pod = false;
  std::shared_ptr<const WorkloadSpec> spec;

  std::string Key() const { return spec->ns + "/" + name; }
};

struct Condition {
  ConditionType type;
  bool status;
  int32_t reason;  // an id of State::reasons; the known ones are the values of Reason
  Message message;
  Time transition;
};

using Requests = absl::InlinedVector<std::pair<ResourceId, int64_t>, 3>;  // by ascending hash of the name

// What one pod set asks for, all counted pods together.
struct PodSetTotals {
  int64_t count = 0;
  Requests requests;
};

// Whether the topology is assigned only after the admission checks.
enum class DelayedTopology : uint8_t { kNone, kPending, kReady };

struct PodSetAdmission {
  std::string name;
  int64_t count = 0;
  struct Resource {
    ResourceId resource;
    FlavorId flavor;  // kNoId: recorded without a flavor
    int64_t usage;    // of all pods
  };
  std::vector<Resource> resources;
  std::shared_ptr<const TopologyAssignment> topology;  // null: none (yet)
  DelayedTopology delayed = DelayedTopology::kNone;
};

// status.admission, and the usage that it charges.
struct Admission {
  NodeId cluster_queue = kNoId;
  std::vector<PodSetAdmission> pod_sets;
};

// Where the scan of the flavors of each pod set's resources left off (status of the queue, not of the API).
struct ScanProgress {
  std::vector<absl::InlinedVector<std::pair<ResourceId, int>, 2>> tried;  // by pod set; -1: all of them
  int64_t generation = 0;
  int64_t cycle = 0;
  ClassId cls = kNoId;
};

enum class CheckState : uint8_t { kPending, kReady, kRetry, kRejected };

// What a check adds to a pod set once it is ready.
struct PodSetUpdate {
  std::string name;
  std::map<std::string, std::string> labels, annotations, node_selector;
  std::vector<Toleration> tolerations;
};

struct PodSetUpdates {
  std::string json;  // empty: none
  std::vector<PodSetUpdate> list;
};

struct WorkloadCheck {
  CheckId check;
  CheckState state = CheckState::kPending;
  std::string message;
  Time transition = 0;
  std::optional<int64_t> requeue_after_seconds;
  std::optional<int64_t> retry_count;
  std::string pod_set_updates;        // JSON; empty: none
  std::vector<PodSetUpdate> updates;  // the same
};

// Where the job of a workload runs (MultiKueue).
enum class JobPlace : uint8_t {
  kHere,       // in this cluster
  kElsewhere,  // of a manager's workload: on a worker
  kNone,       // of a copy on a worker: the manager has not created it yet
  kCopied      // of a copy on a worker: the manager has created it there
};

// A preemption gate that was opened; one that is not listed is closed.
struct OpenGate {
  std::string name;
  Time since = 0;
};

// What MultiKueue adds to a workload, of the manager or a copy on a worker. Clusters are known by the
// dispatcher's numbers.
struct Dispatched {
  JobPlace job = JobPlace::kHere;
  bool suspended = true;  // the job
  bool active = false;    // the job has pods; on the manager, as last copied from the worker
  std::vector<int32_t> nominated;
  int32_t cluster = kNoId;  // status.clusterName
  std::vector<OpenGate> open_gates;
};

// What most workloads never have.
struct StatusDetails {
  std::vector<WorkloadCheck> checks;  // by name
  std::optional<int64_t> requeue_count;
  std::optional<Time> requeue_at;
  std::optional<int64_t> past_execution_seconds;
  std::map<std::string, int64_t> reclaimable;  // pods by pod set
  bool pods_ready = false;                     // as the job's pods are, reported at the next settle
  std::vector<std::string> unhealthy_nodes;    // that have pods of its topology assignment
  std::optional<Time> job_stops_at;  // of an evicted workload; absent: State::stop_delay after its eviction
  Dispatched dispatched;
};

inline const StatusDetails kNoStatusDetails;

// Whether a kQueued one is active or inadmissible, its queue knows (PendingQueue::IsInadmissible); a kDelayed
// one is inadmissible and waits for its backoff, too.
enum class QueuePlace : uint8_t { kNowhere, kQueued, kDelayed, kInflight };

// Pods of a workload in a domain of a flavor's topology.
struct TopologyUsage {
  FlavorId flavor;
  DomainId domain;
  int32_t count;
  Requests requests;  // of one pod, without `pods`; by name of the resource
};

// All that a workload charges of topologies.
struct TopologyCharge {
  std::vector<TopologyUsage> entries;
};

struct Workload {
  Serial serial = 0;  // its number in the order of submission
  std::string name, uid;
  std::shared_ptr<const WorkloadSpec> spec;
  LocalQueueId local_queue = kNoId;
  ClassId cls = kNoId;
  int64_t priority = 0;  // effective
  Time created = 0;
  Time queue_time = 0;  // the timestamp that orders it
  absl::InlinedVector<Condition, 3> conditions;
  std::shared_ptr<const Admission> admission;
  NodeId charged = kNoId;                                             // the queue whose quota it uses
  int32_t charged_place = -1;                                         // its place in that queue's list
  absl::InlinedVector<std::pair<FlavorResourceId, Amount>, 2> usage;  // what it charges
  NodeId queued = kNoId;                                              // the queue it waits in
  QueuePlace place = QueuePlace::kNowhere;
  bool owned_by_single_pod = false;
  bool deleted = false;      // gone, though a cycle that waits may still name it
  bool evaluated = false;    // has been the head of a cycle since its last change
  int32_t dirty_place = -1;  // its place among those that the controllers are to look at
  std::shared_ptr<const ScanProgress> progress;
  std::shared_ptr<const StatusDetails> status;
  std::shared_ptr<const TopologyCharge> topology_usage;  // charged beside `usage`; null: none
  std::shared_ptr<const DeviceQueueing> devices;         // null: none were counted since it was pending

  std::string Key() const { return spec->ns + "/" + name; }
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
