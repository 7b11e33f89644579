// Everything the engine knows: declared objects, quota and usage, workloads and where they wait. Plain
// values, so a copy of a State is a fork of the engine.
#ifndef KUEUE_STATE_STATE_H_
#define KUEUE_STATE_STATE_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "devices/counts.h"
#include "model/config.h"
#include "model/queue.h"
#include "model/reason.h"
#include "model/workload_table.h"
#include "queue/candidates.h"
#include "queue/pending.h"
#include "quota/quota.h"
#include "state/refusals.h"
#include "state/topologies.h"
#include "workload/totals.h"

namespace kueue {

// Why a ClusterQueue admits nothing (pkg/cache/scheduler/clusterqueue.go:inactiveReason).
enum class InactivityKind : uint8_t {
  kTerminating,
  kStopped,
  kFlavorNotFound,  // names: the flavors
  kCheckNotFound,   // names: the AdmissionChecks; so with those below
  kCheckInactive,
  kMultipleMultiKueueChecks,
  kMultiKueueCheckPerFlavor,
  kMultiKueueWithProvisioning,  // names: the first of either
  kTopologyNotFound,            // names: the Topology and the flavor that refers to it
  kCohortCycle,
};
inline constexpr size_t kInactivityKinds = CountOf<InactivityKind>();
struct InactivityCause {
  InactivityKind kind;
  std::vector<std::string> names;
};
// The first cause gives the reason of its Active condition; there is none while it is active.
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
  std::vector<FlavorId> flavors;  // all of the queue's where the rule names none
};

struct ClusterQueue {
  ClusterQueueSpec spec;
  std::vector<ResourceGroupIds> groups;
  std::vector<FlavorId> flavors;  // of all groups
  std::vector<CheckIds> checks;   // by name
  bool covers_pods = false;
  // All flavors have a topology, so that all workloads are placed in one; which flavors are placed after a
  // ProvisioningRequest; whether workers place all (MultiKueue).
  bool only_topology = false;
  std::vector<FlavorId> provisioned;
  bool multi_kueue = false;
  bool terminating = false;
  Inactivity inactivity;
  int64_t generation = 0;             // AllocatableResourceGeneration
  std::vector<WorkloadId> workloads;  // those that use its quota, in no order
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

// Workloads of one queue that the scheduler cannot tell apart
// (pkg/workload/workload.go:computeSchedulingHash).
struct EquivalenceClass {
  int64_t priority = 0;
  std::vector<PodSetSpec> pod_sets;
  std::vector<PodSetTotals> totals;              // of a pending workload
  std::shared_ptr<const DeviceCharges> devices;  // in the totals; null: none
  std::vector<PodTemplate>
      adjusted;                // for the checks against LimitRanges; empty where there is nothing to check
  std::string resource_error;  // of ValidateResources; empty: none
  bool can_be_partially_admitted = false;
};

struct ResourceFlavorState {
  std::shared_ptr<const ResourceFlavor> spec;  // null: no such object
};

struct AdmissionCheckState {
  bool exists = false;
  AdmissionCheckSpec spec;
};

// One LocalQueue's entry in the ledger of admission fair sharing (pkg/cache/queue/afs).
using NanoAmounts = std::map<ResourceId, Int128>;  // in 10^-9 units (cpu: cores)
struct LedgerEntry {
  bool exists = false;
  bool is_sampled = false;  // at least once, which takes `history` in
  NanoAmounts history;      // consumed before this engine began, as the LocalQueue's status says
  NanoAmounts consumed;
  std::map<WorkloadId, NanoAmounts>
      penalties;  // kNoId: of all workloads together, in releases that pool them
  Time last_update = 0;
};

enum class EventKind : uint8_t {
  kReserved,
  kAdmitted,
  kEvicted,
  kReleased,
  kPending,
  kFinished,
  kDeleted,
  kCreated,
  kPodsReady,
  kPreemptionSkipped,  // it has targets, and others of the same cycle need them or their quota
  kTargetsRecomputed,  // since others of the same cycle have them, too
  kAssigned,           // it has quota, and its topology assignment changed
  kUnhealthyNodes      // nodes of its topology assignment failed, or did not after all
};
// What it names may be gone when it is read, so that it says itself who that was.
struct Event {
  EventKind kind;
  Serial workload;
  std::string name;
  std::shared_ptr<const WorkloadSpec> spec;
  Serial by = kNoId;  // of an eviction by preemption: the preemptor
  std::string by_key;
  NodeId by_queue = kNoId;
  Time time = 0;
  int64_t cycle = 0;       // how many scheduling cycles had begun
  NodeId queue = kNoId;    // that gave the quota; else where the workload waits
  int32_t reason = 0;      // and message: of the condition that tells of the event
  int32_t preemption = 0;  // of an eviction by preemption: by which rule
  int32_t cause = 0;       // of another eviction: what is behind its reason; of targets: what came of them
  Message message;
  Time queued_since = 0;      // when the workload was created, or last put back into its queue
  std::optional<Time> since;  // when that began which this event ends
};

// A step in a workload's life, for who goes along with a run: unlike an Event it is about a place, and is
// taken before that may be used again.
struct Step {
  EventKind kind;
  WorkloadId workload;
  WorkloadId by = kNoId;  // of an eviction by preemption: the preemptor
};

// Of a state that a run of virtual time goes along with; no part of what a state means: a loaded one starts
// without.
struct Followed {
  bool on = false;
  std::vector<Step> steps;      // since they were last taken
  std::vector<bool> held_back;  // by node; cycles take no head of these queues; empty: of all
};

// Caches; not saved: a state that was loaded starts without.
struct Caches {
  // The classes made from one template object; forgotten when what fills templates in changes.
  absl::flat_hash_map<const PodTemplate*, std::vector<ClassId>> classes;
  std::vector<Message> reserved;                   // by queue: that quota is reserved in it
  HeadCandidates heads;                            // forgotten when there are other queues
  std::optional<std::vector<NodeId>> terminating;  // deleted ClusterQueues that still stand
  KnownRefusals refusals;
  DeviceCounts devices;  // forgotten with `classes`, and when objects of devices change
};

// A cycle under way that waits for pods to be ready (waitForPodsReady.blockAdmission): the state that it
// started from, its heads taken, and how many workloads it has admitted. Going through it again comes to
// where it waits.
struct State;
struct WaitingCycle {
  std::shared_ptr<const State> start;  // null: no cycle waits
  int passed = 0;
  bool released = false;  // all pods were ready meanwhile, if only for a moment: nothing holds it any more
};

// A workload that holds quota is to be looked at by the scheduler once more, for its topology
// (pkg/cache/queue/second_pass_queue.go).
struct SecondPass {
  WorkloadId workload;
  int iteration;
  Time due;
  // The workload as it was when the pass was asked for: that is what the pass looks at.
  std::vector<std::string> unhealthy_nodes;
  std::shared_ptr<const Admission> admission;
};

struct State {
  // Compiled once, and not wherever a state is copied.
  State();
  State(const State& other);
  State(State&& other) noexcept;
  State& operator=(const State& other);
  State& operator=(State&& other) noexcept;
  ~State();

  Config config;
  RequestsConfig requests;
  Interner flavor_names, resource_names, namespace_names, local_queue_names, check_names,
      reasons = KnownReasons();
  std::vector<uint64_t> resource_order;  // by resource: the hash that requests are visited by
  ResourceId cpu = kNoId, pods = kNoId;
  std::vector<std::vector<FlavorResourceId>> flavor_resource_ids;  // by flavor, by resource
  std::vector<std::pair<FlavorId, ResourceId>> flavor_resources;

  Quota quota;
  std::vector<ClusterQueue> queues;  // by node; meaningless for a Cohort
  std::vector<CohortSpec> cohorts;   // by node; meaningless for a ClusterQueue
  std::vector<ResourceFlavorState> flavors;
  std::vector<LocalQueue> local_queues;
  std::vector<Namespace> namespaces;
  std::vector<AdmissionCheckState> checks;
  Topologies topology;
  std::map<std::string, RuntimeClass> runtime_classes;
  std::shared_ptr<const DeviceObjects> devices;  // null: there are none
  bool devices_changed = false;                  // since the last settle
  std::vector<LedgerEntry> ledger;               // by LocalQueue
  std::vector<double> ledger_usage;  // by LocalQueue: fairness/ledger.h:LocalQueueUsage as of the last change

  WorkloadTable workloads;
  absl::flat_hash_map<std::string, WorkloadId> workload_of_key;
  std::vector<EquivalenceClass> classes;
  absl::flat_hash_map<std::string, ClassId> class_of_key;
  Caches caches;

  // Set by a change of configuration, worked off by Rebuild() before anything reads the numbers.
  bool stale = true;
  std::vector<NodeId> requoted;       // whose quotas are not yet in the tables
  std::vector<NodeId> changed_nodes;  // whose trees allocate anew, by the call under way
  bool only_added = false;            // that call does no more to the trees than to add a ClusterQueue
  std::vector<NodeId> added_queues;   // such calls of before that are not worked off, each by its queue
  std::set<NodeId> to_requeue;        // roots (or lone queues) whose inadmissible workloads are to be retried
  bool holds_retries = false;         // to_requeue is worked off by Engine::Retry alone, not by each cycle
  int64_t scheduling_cycle = 0;
  int64_t successful_cycles = 0;  // of those, in which some workload got quota
  WaitingCycle waiting;
  Time stop_delay = 0;  // for how long the job of an evicted workload takes to stop
  Time now = 0;

  bool record_events = false;
  std::vector<Event> events;
  std::vector<WorkloadId> deleted;        // that are still named by the cycle that waits
  std::vector<SecondPass> second_passes;  // in the order in which they were asked for
  Followed followed;

  std::vector<WorkloadId> dirty;  // to be looked at by the controllers at the next settle, in no order

  Forest& forest() { return quota.forest(); }
  const Forest& forest() const { return quota.forest(); }
  PendingQueue::Tables pending_tables() { return {workloads, ledger_usage}; }
  ClusterQueue& Queue(NodeId node) { return queues[static_cast<size_t>(node)]; }
  const ClusterQueue& Queue(NodeId node) const { return queues[static_cast<size_t>(node)]; }
  Workload& At(WorkloadId id) { return workloads[static_cast<size_t>(id)]; }
  const Workload& At(WorkloadId id) const { return workloads[static_cast<size_t>(id)]; }
  LocalQueue& Local(LocalQueueId id) { return local_queues[static_cast<size_t>(id)]; }
  const LocalQueue& Local(LocalQueueId id) const { return local_queues[static_cast<size_t>(id)]; }
  const EquivalenceClass& Class(ClassId id) const { return classes[static_cast<size_t>(id)]; }
  const ResourceFlavor* Flavor(FlavorId id) const { return flavors[static_cast<size_t>(id)].spec.get(); }

  FlavorId InternFlavor(absl::string_view name);
  ResourceId InternResource(absl::string_view name);
  NamespaceId InternNamespace(absl::string_view name);
  LocalQueueId InternLocalQueue(absl::string_view ns, absl::string_view name);
  CheckId InternCheck(absl::string_view name);
  NodeId InternClusterQueue(absl::string_view name);
  NodeId InternCohort(absl::string_view name);
  FlavorResourceId InternFlavorResource(FlavorId flavor, ResourceId resource);
  // kNoId where no quota or usage has ever named the pair.
  FlavorResourceId FlavorResource(FlavorId flavor, ResourceId resource) const {
    const std::vector<FlavorResourceId>& row = flavor_resource_ids[static_cast<size_t>(flavor)];
    return static_cast<size_t>(resource) < row.size() ? row[static_cast<size_t>(resource)] : kNoId;
  }
  WorkloadId FindWorkload(const std::string& key) const;

  // Brings everything derived from the declared objects up to date: quotas, heights, activity, generations.
  void Rebuild();
  void EnsureBuilt() {
    if (stale) Rebuild();
  }
  // Ends a call from outside. Each call that changes trees counts for the generations of their queues on its
  // own; queues that only come are worked off together, whoever reads first.
  void EndCall();
  // The same for what nodes have and workloads use of it.
  void EnsureTopologies() {
    if (topology.made.stale) RebuildTopologies(*this);
  }
  // Whether a scheduling cycle has the queue as a node.
  bool IsInSnapshot(NodeId queue) const { return forest().IsActive(queue); }

  // The ClusterQueue of a workload's LocalQueue, kNoId where there is none.
  NodeId QueueOf(const Workload& workload) const;
  // The deleted ClusterQueues that still stand, as of the last rebuild.
  const std::vector<NodeId>& Terminating();
  // Asks for a retry of the inadmissible workloads in the tree of `queue`.
  void NotifyRetry(NodeId queue);
  // The same for the queue of a workload; nothing while its LocalQueue is stopped or missing.
  void NotifyRetryFor(const Workload& workload) {
    if (Local(workload.local_queue).IsRunning()) NotifyRetry(QueueOf(workload));
  }
  // The controllers look at the workload at the next settle; or do not.
  void MarkDirty(WorkloadId id) {
    Workload& workload = At(id);
    if (workload.dirty_place >= 0) return;
    workload.dirty_place = static_cast<int32_t>(dirty.size());
    dirty.push_back(id);
  }
  void UnmarkDirty(WorkloadId id);
  // All workloads that there are, in the order of submission.
  std::vector<WorkloadId> Living() const;
  // Forgets those that are deleted, once no cycle that waits names them.
  void RemoveDeleted();
  void Record(EventKind kind, WorkloadId workload, Reason cause = Reason::kEmpty) {
    if (followed.on) followed.steps.push_back({kind, workload});
    if (record_events) AddEvent(kind, workload, cause);
  }
  // Lifecycle details for writing.
  StatusDetails& EditStatus(Workload& workload);

 private:
  void AddEvent(EventKind kind, WorkloadId workload, Reason cause);
  void RebuildQuotas();
  void RebuildTopologyOf(ClusterQueue& queue) const;
  void RebuildActivity();
  void BumpGenerations();
};

// Undoes the changes of usage, of quota and in topologies, made in its scope.
class Trial {
 public:
  explicit Trial(State& state)
      : quota_(state.quota),
        capacity_(state.topology.made.capacity),
        quota_mark_(quota_.Mark()),
        capacity_mark_(capacity_.Mark()) {}
  ~Trial() {
    quota_.Rollback(quota_mark_);
    capacity_.Rollback(capacity_mark_);
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

 private:
  Quota& quota_;
  TopologyCapacity& capacity_;
  size_t quota_mark_, capacity_mark_;
};

// Whether every check of the queue exists and is active, its flavors exist, and so on (spec: 6.1).
Inactivity InactivityOf(const State& state, NodeId queue);

}  // namespace kueue

#endif  // KUEUE_STATE_STATE_H_
