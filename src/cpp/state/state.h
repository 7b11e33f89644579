// Complete state of the engine: declared objects, quota and usage, workloads and their queues. All members
// have value semantics, so copying a State forks the engine. Large tables are stored in pages, which copies
// share until one copy changes a page (model/paged.h).
#ifndef KUEUE_STATE_STATE_H_
#define KUEUE_STATE_STATE_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/container/flat_hash_map.h"
#include "devices/counts.h"
#include "model/config.h"
#include "model/paged.h"
#include "model/queue.h"
#include "model/reason.h"
#include "model/workload_table.h"
#include "queue/candidates.h"
#include "queue/pending.h"
#include "quota/quota.h"
#include "state/events.h"
#include "state/known_fits.h"
#include "state/recent_admissions.h"
#include "state/refusals.h"
#include "state/topologies.h"
#include "workload/totals.h"

namespace kueue {

// The reason why a ClusterQueue is inactive (pkg/cache/scheduler/clusterqueue.go:inactiveReason).
enum class InactivityKind : uint8_t {
  kTerminating,
  kStopped,
  kFlavorNotFound,  // names: the flavors
  kCheckNotFound,   // names: the AdmissionChecks; the same holds for the next three kinds
  kCheckInactive,
  kMultipleMultiKueueChecks,
  kMultiKueueCheckPerFlavor,
  kMultiKueueWithProvisioning,  // names: the first check of each controller
  kTopologyNotFound,            // names: the Topology, and the flavor that refers to it
  kCohortCycle,
};
inline constexpr size_t kInactivityKinds = CountOf<InactivityKind>();
struct InactivityCause {
  InactivityKind kind;
  std::vector<std::string> names;
};
// The first cause determines the reason of the Active condition. `causes` is empty while the queue is active.
struct Inactivity {
  std::vector<InactivityCause> causes;
  bool IsActive() const { return causes.empty(); }
};

struct ResourceGroupIds {
  std::vector<ResourceId> covered;
  std::vector<FlavorId> flavors;
};

struct CheckIds {
  CheckId check;
  // The flavors that the rule names, or all flavors of the queue if the rule names none.
  std::vector<FlavorId> flavors;
};

struct ClusterQueue {
  ClusterQueueSpec spec;
  std::vector<ResourceGroupIds> groups;
  std::vector<FlavorId> flavors;  // Flavors of all resource groups.
  std::vector<CheckIds> checks;   // Sorted by name.
  bool covers_pods = false;
  // `only_topology`: all flavors have a topology, so every workload gets a topology assignment.
  // `provisioned`: flavors whose topology is assigned after a ProvisioningRequest. `multi_kueue`: topology
  // assignments are made in the worker clusters.
  bool only_topology = false;
  std::vector<FlavorId> provisioned;
  bool multi_kueue = false;
  bool terminating = false;
  Inactivity inactivity;
  int64_t generation = 0;             // AllocatableResourceGeneration in Kueue.
  std::vector<WorkloadId> workloads;  // Workloads that use the queue's quota, in arbitrary order.
  PendingQueue pending;

  int GroupOf(ResourceId resource) const {
    for (size_t i = 0; i < groups.size(); ++i) {
      for (ResourceId covered : groups[i].covered) {
        if (covered == resource) return static_cast<int>(i);
      }
    }
    return kNoId;
  }
};

struct LocalQueue {
  std::string ns, name;
  NamespaceId namespace_id = kNoId;
  bool exists = false;
  StopPolicy stop_policy = StopPolicy::kNone;
  NodeId cluster_queue = kNoId;
  double fair_weight = 1.0;
  bool IsRunning() const { return exists && stop_policy == StopPolicy::kNone; }
};

struct Namespace {
  std::string name;
  bool exists = false;
  std::map<std::string, std::string> labels;
  std::map<std::string, LimitRange> limit_ranges;
};

// An equivalence class: workloads that the scheduler treats as equal.
struct EquivalenceClass {
  // The entry of State::classes that stands for the scheduling hash (pkg/workload/workload.go:
  // computeSchedulingHash), in which neither the namespace nor a count without the reclaimable pods is
  // included. It has only totals, which the hash includes, so that saved states do not depend on the past.
  ClassId hash = kNoId;
  int64_t priority = 0;
  std::vector<PodSetSpec> pod_sets;
  std::vector<PodSetTotals> totals;              // Requests of a pending workload, before admission.
  std::shared_ptr<const DeviceCharges> devices;  // Devices included in `totals`; null if there are none.
  std::vector<PodTemplate>
      adjusted;  // Adjusted templates for the LimitRange checks; empty if there is nothing to check.
  std::string resource_error;  // Errors of ValidateResources(); empty if there are none.
  bool can_be_partially_admitted = false;
  std::vector<std::string> allowed_flavors;  // WorkloadSpec::allowed_flavors, with ConcurrentAdmission.
};

struct ResourceFlavorState {
  std::shared_ptr<const ResourceFlavor> spec;  // Spec of the object; null if the object does not exist.
};

struct AdmissionCheckState {
  bool exists = false;
  AdmissionCheckSpec spec;
};

// An entry of the admission fair sharing ledger, for one LocalQueue (pkg/cache/queue/afs).
using NanoAmounts = std::map<ResourceId, Int128>;  // Amounts in units of 10^-9 (nanocores for cpu).
struct LedgerEntry {
  bool exists = false;
  // Whether the entry was sampled at least once; the first sample includes `history`.
  bool is_sampled = false;
  NanoAmounts history;  // Consumption before this engine started, from the LocalQueue's status.
  NanoAmounts consumed;
  // By workload. In releases that do not track penalties by workload, the key kNoId holds the sum for all
  // workloads.
  std::map<WorkloadId, NanoAmounts> penalties;
  Time last_update = 0;
};

// Data that a running simulation uses. Of these fields, only `held_back` affects decisions. The data is not
// part of a saved state.
struct Followed {
  bool on = false;
  // Whether all steps are recorded. By default, only steps are recorded with which a workload gains or loses
  // quota, its admission or its job.
  bool all = false;
  std::vector<Step> steps;  // Steps recorded since this list was last emptied.
  // Whether cycles take no head from the queue. The list is empty if no queue is held back.
  IdVector<NodeId, bool> held_back;
  // Whether State::workload_of_key is empty although there are workloads.
  bool drops_keys = false;
};

// Caches. Caches are not saved; a loaded state starts with empty caches.
struct Caches {
  // Classes created from each template object. The cache is cleared when a LimitRange, a RuntimeClass or
  // another object used to adjust templates changes.
  Shared<absl::flat_hash_map<const PodTemplate*, std::vector<ClassId>>> classes;
  IdPaged<NodeId, Message, 64, /*kDirect=*/false> reserved;  // The "Quota reserved" message of each queue.
  // LocalQueues of specs, by a hash of the address. Different addresses may have the same hash, so an entry
  // is valid only if its names equal the names in the spec.
  Paged<LocalQueueId, 1024, /*kDirect=*/false> local_queues;
  RecentAdmissions admissions;
  // Queues that may have a head; reset when the set of queues changes.
  HeadCandidates heads;
  std::optional<std::vector<NodeId>> terminating;  // Deleted ClusterQueues that still hold workloads.
  KnownRefusals refusals;
  KnownFits fits;
  // Cached charges for devices; cleared when `classes` is cleared or a device object changes.
  DeviceCounts devices;
  // Whether nothing but the objects in State::requoted has changed since the last rebuild.
  bool only_quotas = false;
  // Roots of the trees that rebuilds have changed since a simulation last emptied the set; nullopt stands for
  // all trees.
  std::optional<std::set<NodeId>> rebuilt;
  // Workloads that Kueue deletes at a time (objectRetentionPolicies); collected by the first
  // ExpiredWorkloads().
  Shared<std::optional<std::set<std::pair<Time, WorkloadId>>>> retained;
};

// Deleted objects that are still in use: the finalizer kueue.x-k8s.io/resource-in-use keeps them at work
// until no ClusterQueue (for a topology: no flavor) refers to them.
struct Deleting {
  std::set<FlavorId> flavors;
  std::set<CheckId> checks;
  std::set<std::string> topologies;
};

// A cycle that is blocked because pods are not ready (waitForPodsReady.blockAdmission). The cycle is stored
// as two values: the state at its start, after its heads were taken, and the number of heads that fitted so
// far. Replaying the cycle from `start` reaches the point at which the cycle is blocked.
struct State;
struct WaitingCycle {
  std::shared_ptr<const State> start;  // The state at the start of the cycle; null if no cycle is blocked.
  int passed = 0;
  // Whether the cycle may continue because all pods have been ready at least once since the cycle was
  // blocked.
  bool released = false;
};

// Request for a second scheduling pass of a workload with a quota reservation, to compute its topology
// assignment (pkg/cache/queue/second_pass_queue.go).
struct SecondPass {
  WorkloadId workload;
  int iteration;
  Time due;
  // Snapshot of the workload taken when the pass was requested; the pass uses these values.
  std::vector<std::string> unhealthy_nodes;
  std::shared_ptr<const Admission> admission;
};

struct State {
  // The constructors, the assignment operators and the destructor are defined in state.cc, so that they are
  // not compiled in every file that copies a state.
  State();
  State(const State& other);
  State(State&& other) noexcept;
  State& operator=(const State& other);
  State& operator=(State&& other) noexcept;
  ~State();

  Config config;
  RequestsConfig requests;
  Interner<FlavorId> flavor_names;
  Interner<ResourceId> resource_names;
  Interner<NamespaceId> namespace_names;
  Interner<LocalQueueId> local_queue_names;
  Interner<CheckId> check_names;
  Interner<Reason> reasons = KnownReasons();
  // For each resource, ResourceOrder() of its name. The requests of a pod set are ordered by this value.
  IdVector<ResourceId, uint64_t> resource_order;
  ResourceId cpu = kNoId, pods = kNoId;
  IdVector<FlavorId, IdVector<ResourceId, FlavorResourceId>> flavor_resource_ids;
  IdVector<FlavorResourceId, std::pair<FlavorId, ResourceId>> flavor_resources;

  Quota quota;
  IdPaged<NodeId, ClusterQueue, 8> queues;                     // Entries of Cohorts are unused.
  IdPaged<NodeId, CohortSpec, 64, /*kDirect=*/false> cohorts;  // Entries of ClusterQueues are unused.
  IdVector<FlavorId, ResourceFlavorState> flavors;
  IdPaged<LocalQueueId, LocalQueue, 32> local_queues;
  IdVector<NamespaceId, Namespace> namespaces;
  IdVector<CheckId, AdmissionCheckState> checks;
  Topologies topology;
  Deleting deleting;
  std::map<std::string, RuntimeClass> runtime_classes;
  std::shared_ptr<const DeviceObjects> devices;  // Device objects; null if there are none.
  bool devices_changed = false;                  // Whether `devices` has changed since the last Settle().
  IdPaged<LocalQueueId, LedgerEntry, 32, /*kDirect=*/false> ledger;
  // Cached value of LocalQueueUsage() (fairness/ledger.h), updated after each change.
  Shared<UsageByLocalQueue> ledger_usage;

  WorkloadTable workloads;
  IdsByText<WorkloadId> workload_of_key;
  IdPaged<ClassId, EquivalenceClass, 16> classes;
  IdsByText<ClassId> class_of_key;
  Caches caches;

  // Whether derived values are out of date. Rebuild() updates the derived values before they are read.
  bool stale = true;
  // Marks all derived values as out of date. SetQuotas() marks those of a tree.
  void MarkStale() {
    stale = true;
    caches.only_quotas = false;
  }
  std::vector<NodeId> requoted;  // Nodes whose quotas have not been written to the tables yet.
  // Nodes whose trees the current call has changed. The generations of the queues in the changed trees will
  // be incremented.
  std::vector<NodeId> changed_nodes;
  bool only_added = false;  // Whether the current call only adds a ClusterQueue or Cohort to its tree.
  // Queues and Cohorts that were added by earlier calls, in the order of the calls. Rebuild() increments the
  // generations of the queues in their trees. Saved states contain the name of this field.
  std::vector<NodeId> added_queues;
  // Roots, or queues without a cohort, whose inadmissible workloads are to be requeued.
  std::set<NodeId> to_requeue;
  // Cohorts whose last change is part of a cycle, with the parent that each keeps in Kueue's queue manager.
  // The queue manager gets a Cohort only when the cache accepts it
  // (pkg/controller/core/cohort_controller.go).
  std::map<NodeId, NodeId> refused;
  bool holds_retries = false;  // If true, only Engine::Retry() processes `to_requeue`; cycles do not.
  int64_t scheduling_cycle = 0;
  int64_t successful_cycles = 0;  // Number of cycles in which at least one workload reserved quota.
  WaitingCycle waiting;
  Time stop_delay = 0;  // Time, in nanoseconds, that the job of an evicted workload needs to stop.
  Time now = 0;

  bool record_events = false;
  std::vector<Event> events;
  std::vector<WorkloadId> deleted;        // Deleted workloads to which the blocked cycle still refers.
  std::vector<SecondPass> second_passes;  // Requested second passes, in the order of the requests.
  Followed followed;

  // Workloads that the controllers must reconcile in the next Settle(), in arbitrary order.
  std::vector<WorkloadId> dirty;

  Forest& forest() { return quota.forest(); }
  const Forest& forest() const { return quota.forest(); }
  PendingQueue::Tables pending_tables() { return {workloads, *ledger_usage}; }
  ClusterQueue& Queue(NodeId node) { return queues[node]; }
  const ClusterQueue& Queue(NodeId node) const { return queues[node]; }
  ABSL_ATTRIBUTE_ALWAYS_INLINE Workload& At(WorkloadId id) { return workloads[id]; }
  const Workload& At(WorkloadId id) const { return workloads[id]; }
  LocalQueue& Local(LocalQueueId id) { return local_queues[id]; }
  const LocalQueue& Local(LocalQueueId id) const { return local_queues[id]; }
  const EquivalenceClass& Class(ClassId id) const { return classes[id]; }
  const ResourceFlavor* Flavor(FlavorId id) const { return flavors[id].spec.get(); }

  // Returns kNoId if no quota or usage has referred to the pair yet.
  FlavorResourceId FlavorResource(FlavorId flavor, ResourceId resource) const {
    const IdVector<ResourceId, FlavorResourceId>& row = flavor_resource_ids[flavor];
    return row.Contains(resource) ? row[resource] : kNoId;
  }

  // Returns the ClusterQueue of the workload's LocalQueue, or kNoId if there is none.
  NodeId QueueOf(const Workload& workload) const;
  // Returns the root of the tree of Kueue's queue manager that contains `node`, or kNoId if it is below a
  // cycle.
  NodeId RetryRoot(NodeId node) const;
  // Schedules a retry of all inadmissible workloads in the tree of `queue`.
  void NotifyRetry(NodeId queue);
  // MarkDirty() adds a workload to the list of workloads that the controllers reconcile in the next Settle().
  // UnmarkDirty() reverses MarkDirty().
  void MarkDirty(WorkloadId id) {
    Workload& workload = At(id);
    if (workload.dirty_place >= 0) return;
    workload.dirty_place = static_cast<int32_t>(dirty.size());
    dirty.push_back(id);
  }
  void UnmarkDirty(WorkloadId id);
  // Returns all workloads that are not deleted, in the order of submission.
  std::vector<WorkloadId> Living() const;
  void Record(EventKind kind, WorkloadId workload, Reason cause = Reason::kEmpty) {
    if (followed.on && (followed.all || ChangesJob(kind))) followed.steps.push_back({kind, workload});
    if (record_events) events.push_back(MakeEvent(*this, kind, workload, cause));
  }
  // Replaces the status details of the workload by a copy, because other workloads or states may share them.
  // Returns a reference to the copied details. The next EditStatus() of the workload invalidates the
  // reference.
  StatusDetails& EditStatus(Workload& workload);
};

// A trial. The destructor of a trial undoes all changes of quota usage and topology usage made since its
// construction. Between Quota::Part() and Quota::Join(), a trial concerns only the tree of `node`. At other
// times, `node` has no effect and may be kNoId.
class Trial {
 public:
  Trial(State& state, NodeId node)
      : quota_(state.quota),
        capacity_(state.topology.made.capacity),
        node_(node),
        has_capacity_(!capacity_.empty()),
        quota_mark_(quota_.Mark(node)),
        capacity_mark_(has_capacity_ ? capacity_.Mark() : 0) {}
  ~Trial() {
    quota_.Rollback(quota_mark_, node_);
    if (has_capacity_) capacity_.Rollback(capacity_mark_);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

 private:
  Quota& quota_;
  TopologyCapacity& capacity_;
  NodeId node_;
  bool has_capacity_;  // Whether there are topologies.
  size_t quota_mark_, capacity_mark_;
};

// Like State::NotifyRetry() for the ClusterQueue of the LocalQueue to which the workload was last assigned.
// Does nothing if there is none, or if that LocalQueue is stopped or missing
// (pkg/cache/queue/manager.go:QueueAssociatedInadmissibleWorkloadsAfter).
void NotifyRetryFor(State& state, const Workload& workload);
// Frees the slots of deleted workloads. Does nothing while a cycle is blocked, because the cycle may refer to
// deleted workloads.
void RemoveDeleted(State& state);

}  // namespace kueue

#endif  // KUEUE_STATE_STATE_H_
