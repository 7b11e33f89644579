// Records that the engine returns to Python. The Python classes document their fields.
#ifndef KUEUE_BINDINGS_RECORDS_H_
#define KUEUE_BINDINGS_RECORDS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "bindings/names.h"
#include "bindings/wire.h"
#include "manifest/fast_reader.h"
#include "model/ids.h"

namespace kueue::python {

// Workloads

struct ConditionView {
  bool is_true;
  std::string reason, message;
  Time transition;
};
KUEUE_WIRE(ConditionView, is_true, reason, message, transition);

struct CheckView {
  std::string name;
  CheckState state;
  std::string message;
  Time transition;
  std::optional<int64_t> retries, retry_after_seconds;
  std::string updates;
};
KUEUE_WIRE(CheckView, name, state, message, transition, retries, retry_after_seconds, updates);

struct StatusView {
  std::vector<CheckView> checks;
  std::optional<int64_t> requeue_count, requeue_at, past_execution_seconds;
  std::map<std::string, int64_t> reclaimable;
  bool pods_ready, active;
  std::vector<std::string> unhealthy_nodes;
};
KUEUE_WIRE(StatusView, checks, requeue_count, requeue_at, past_execution_seconds, reclaimable, pods_ready,
           active, unhealthy_nodes);

// `resources` maps each resource to a tuple (flavor, amount). `place` is a tuple (levels, ((values, pods),
// ...)).
struct PodSetAdmissionView {
  std::string name;
  int64_t pods;
  py::dict resources;
  py::object place;
  DelayedTopology delayed;
};
KUEUE_WIRE(PodSetAdmissionView, name, pods, resources, place, delayed);

struct AdmissionView {
  std::string cluster_queue;
  py::tuple pod_sets;
};
KUEUE_WIRE(AdmissionView, cluster_queue, pod_sets);

// Decisions. Texts of the decisions refer to the state.

struct DomainView {
  py::tuple values;
  int32_t count;
};
KUEUE_STRUCT(DomainView, "kueuepy.objects.topology.TopologyDomain", values, count);

struct TopologyView {
  py::tuple levels, domains;
};
KUEUE_STRUCT(TopologyView, "kueuepy.objects.topology.TopologyAssignment", levels, domains);

struct AssignmentView {
  absl::string_view name;
  py::dict flavors, resource_usage;
  int64_t count;
  std::optional<TopologyView> topology_assignment;
  std::optional<DelayedTopology> delayed_topology_request;
};
KUEUE_STRUCT(AssignmentView, "kueuepy.objects.status.PodSetAssignment", name, flavors, resource_usage, count,
             topology_assignment, delayed_topology_request);

struct AttemptView {
  int pod_set;
  absl::string_view flavor;
  PreemptionMode mode;
  int borrowing_level;
  absl::string_view reason;
};
KUEUE_STRUCT(AttemptView, "kueuepy.engine.decisions.decision.FlavorAttempt", pod_set, flavor, mode,
             borrowing_level, reason);

struct TargetView {
  absl::string_view workload;
  PreemptionReason reason;
  absl::string_view cluster_queue;
};
KUEUE_STRUCT(TargetView, "kueuepy.engine.decisions.decision.Target", workload, reason, cluster_queue);

struct AdmittedView {
  absl::string_view workload, cluster_queue;
  py::tuple pod_sets;
  int borrowing_level;
  bool admitted;
  py::tuple attempts, not_modelled;
};
KUEUE_STRUCT(AdmittedView, "kueuepy.engine.decisions.decision.Admitted", workload, cluster_queue, pod_sets,
             borrowing_level, admitted, attempts, not_modelled);

struct PreemptingView {
  absl::string_view workload;
  py::tuple targets;
  absl::string_view cluster_queue, reason, message;
  py::tuple attempts, not_modelled;
};
KUEUE_STRUCT(PreemptingView, "kueuepy.engine.decisions.decision.Preempting", workload, targets, cluster_queue,
             reason, message, attempts, not_modelled);

struct RefusedView {
  absl::string_view workload, reason, cluster_queue, message;
  py::tuple attempts, not_modelled;
};
KUEUE_STRUCT(RefusedView, "kueuepy.engine.decisions.decision.Pending", workload, reason, cluster_queue,
             message, attempts, not_modelled);

struct CycleView {
  bool idle;
  int admitted, evicted;
  bool moved;
};
KUEUE_WIRE(CycleView, idle, admitted, evicted, moved);

// Events and queues

struct EventView {
  Time time;
  int64_t cycle;
  EventKind kind;
  std::string workload, local_queue, priority_class, cluster_queue;
  std::string reason, underlying_cause, preemption_reason, message;
  std::string preemptor, preemptor_cluster_queue;
  Time queued_since;
  std::optional<Time> since;
};
KUEUE_WIRE(EventView, time, cycle, kind, workload, local_queue, priority_class, cluster_queue, reason,
           underlying_cause, preemption_reason, message, preemptor, preemptor_cluster_queue, queued_since,
           since);

struct ChangeView {
  EventKind kind;
  Serial workload, preemptor;
  std::string reason, preemption_reason;
};
KUEUE_WIRE(ChangeView, kind, workload, preemptor, reason, preemption_reason);

struct PendingView {
  std::string namespace_, name, local_queue;
  int64_t priority;
  Time created;
  int position;
};
KUEUE_WIRE(PendingView, namespace_, name, local_queue, priority, created, position);

struct ResourceHolding {
  std::string resource;
  int64_t reserved, admitted, nominal, borrowing_limit, lending_limit;
};
KUEUE_WIRE(ResourceHolding, resource, reserved, admitted, nominal, borrowing_limit, lending_limit);

struct FlavorHolding {
  std::string flavor;
  std::vector<ResourceHolding> resources;
};
KUEUE_WIRE(FlavorHolding, flavor, resources);

struct ConsumedView {
  double usage;
  Time updated;
  py::dict quantities;  // By resource.
};
KUEUE_WIRE(ConsumedView, usage, updated, quantities);

struct ClusterQueueView {
  std::string name, cohort, why_inactive, message;
  int active, inadmissible, reserving, admitted;
  double share;
  std::vector<FlavorHolding> holdings;
};
KUEUE_WIRE(ClusterQueueView, name, cohort, why_inactive, message, active, inadmissible, reserving, admitted,
           share, holdings);

struct LocalQueueView {
  std::string namespace_, name, cluster_queue;
  bool runs, is_found, is_active;
  int active, inadmissible, reserving, admitted, finished;
  std::optional<ConsumedView> consumed;
  std::vector<FlavorHolding> holdings;
};
KUEUE_WIRE(LocalQueueView, namespace_, name, cluster_queue, runs, is_found, is_active, active, inadmissible,
           reserving, admitted, finished, consumed, holdings);

struct CohortCell {
  std::string flavor, resource;
  int64_t subtree_quota, reserved;
};
KUEUE_WIRE(CohortCell, flavor, resource, subtree_quota, reserved);

struct CohortView {
  std::string name, parent, root;
  bool is_declared;
  double share;
  std::vector<CohortCell> cells;
};
KUEUE_WIRE(CohortView, name, parent, root, is_declared, share, cells);

struct BacklogView {
  std::string name;
  int finished;
  std::vector<std::pair<std::string, int64_t>> asked;
  int active, inadmissible, every;
};
KUEUE_WIRE(BacklogView, name, finished, asked, active, inadmissible, every);

struct UnadmittedView {
  std::string namespace_, local_queue, cluster_queue, reason, underlying_cause;
  int count;
};
KUEUE_WIRE(UnadmittedView, namespace_, local_queue, cluster_queue, reason, underlying_cause, count);

struct NodeRow {
  std::string name;
  const char* kind;
  int32_t parent;
  bool exists, is_active;
};
KUEUE_WIRE(NodeRow, name, kind, parent, exists, is_active);

// Topologies

struct TreeDomain {
  int level, parent;
  std::string value;
};
KUEUE_WIRE(TreeDomain, level, parent, value);

struct TreeUse {
  int32_t leaf;
  std::string workload;
  int32_t pods;
  py::dict requests;  // Requests of one pod, by resource.
};
KUEUE_WIRE(TreeUse, leaf, workload, pods, requests);

struct TreeView {
  std::string topology;
  py::tuple levels;
  std::vector<std::string> resources;
  std::vector<TreeDomain> domains;
  std::vector<int32_t> leaves;
  std::vector<std::vector<int64_t>> capacity, free, used;
  std::vector<TreeUse> uses;
  std::vector<std::pair<std::string, const char*>> absent;
};
KUEUE_WIRE(TreeView, topology, levels, resources, domains, leaves, capacity, free, used, uses, absent);

// Manifests

// An item of a list object: its position in the text, and its value.
using ItemView = ManifestItem<py::object>;
KUEUE_WIRE(ItemView, start, stop, line, value);

// Simulations and fleets

struct AssignedFlavor {
  std::string pod_set, resource, flavor;
  int64_t amount;
};
KUEUE_WIRE(AssignedFlavor, pod_set, resource, flavor, amount);

struct DetectedLoop {
  double seconds;
  int64_t period, times;
  std::vector<int32_t> jobs;
};
KUEUE_WIRE(DetectedLoop, seconds, period, times, jobs);

struct DispatchView {
  std::string check;
  CheckState state;
  std::string message;
  std::vector<int32_t> nominated;
  int32_t cluster;
};
KUEUE_WIRE(DispatchView, check, state, message, nominated, cluster);

struct CopyView {
  int32_t cluster;
  Serial workload;
  bool has_job, is_active;
};
KUEUE_WIRE(CopyView, cluster, workload, has_job, is_active);

// Types of all records; their field names are exported to Python as `_core.RECORDS`.
using Records = std::tuple<ConditionView, CheckView, StatusView, PodSetAdmissionView, AdmissionView,
                           DomainView, TopologyView, AssignmentView, AttemptView, TargetView, AdmittedView,
                           PreemptingView, RefusedView, CycleView, EventView, ChangeView, PendingView,
                           ResourceHolding, FlavorHolding, ConsumedView, ClusterQueueView, LocalQueueView,
                           CohortCell, CohortView, BacklogView, UnadmittedView, NodeRow, TreeDomain, TreeUse,
                           TreeView, ItemView, AssignedFlavor, DetectedLoop, DispatchView, CopyView>;

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_RECORDS_H_
