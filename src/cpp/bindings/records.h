// Field lists of the records that the engine returns to Python. The Python classes document the fields.
// Most records without Python objects are defined where their values are computed (questions/status.h,
// questions/tree.h).
#ifndef KUEUE_BINDINGS_RECORDS_H_
#define KUEUE_BINDINGS_RECORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/string_view.h"
#include "bindings/names.h"
#include "bindings/wire.h"
#include "fleet/dispatcher.h"
#include "manifest/fast_reader.h"
#include "model/ids.h"
#include "questions/explain.h"
#include "questions/status.h"
#include "questions/tree.h"
#include "simulation/figures.h"
#include "simulation/job_runs.h"

namespace kueue::python {

// Workloads

KUEUE_WIRE(ConditionView, is_true, reason, message, transition);
KUEUE_WIRE(CheckView, name, state, message, transition, retries, retry_after_seconds, updates);
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
  py::object reason;
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
  absl::string_view cluster_queue;
  py::object reason;
  absl::string_view message;
  py::tuple attempts, not_modelled;
};
KUEUE_STRUCT(PreemptingView, "kueuepy.engine.decisions.decision.Preempting", workload, targets, cluster_queue,
             reason, message, attempts, not_modelled);

struct RefusedView {
  absl::string_view workload;
  py::object reason;
  absl::string_view cluster_queue, message;
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

KUEUE_WIRE(EventView, time, cycle, kind, workload, local_queue, priority_class, cluster_queue, reason,
           underlying_cause, preemption_reason, message, preemptor, preemptor_cluster_queue, queued_since,
           since);
KUEUE_WIRE(ChangeView, kind, workload, preemptor, reason, preemption_reason);
KUEUE_WIRE(PendingView, namespace_, name, local_queue, priority, created, position);
KUEUE_WIRE(ResourceHolding, resource, reserved, admitted, nominal, borrowing_limit, lending_limit);
KUEUE_WIRE(FlavorHolding, flavor, resources);
KUEUE_WIRE(ConsumedView, usage, updated, quantities);
KUEUE_WIRE(ClusterQueueView, name, cohort, why_inactive, message, active, inadmissible, reserving, admitted,
           share, holdings);
KUEUE_WIRE(LocalQueueView, namespace_, name, cluster_queue, runs, is_found, is_active, active, inadmissible,
           reserving, admitted, finished, consumed, holdings);
KUEUE_WIRE(CohortCell, flavor, resource, subtree_quota, reserved);
KUEUE_WIRE(CohortView, name, parent, root, is_declared, share, cells);
KUEUE_WIRE(BacklogView, name, finished, asked, active, inadmissible, every);
KUEUE_WIRE(UnadmittedView, namespace_, local_queue, cluster_queue, reason, underlying_cause, count);
KUEUE_WIRE(NodeRow, name, kind, parent, exists, is_active);

// Topologies

KUEUE_WIRE(TreeDomain, level, parent, value);
KUEUE_WIRE(TreeUse, leaf, workload, pods, requests);
KUEUE_WIRE(TreeView, topology, levels, resources, domains, leaves, capacity, free, used, uses, absent);

// Manifests

// An item of a list object: its position in the text, and its value.
using ItemView = ManifestItem<py::object>;
KUEUE_WIRE(ItemView, start, stop, line, value);

// Simulations and fleets

#define KUEUE_TOTALS(Type, ...) KUEUE_DICT(Type, "kueuepy.engine.totals." #Type, __VA_ARGS__)

KUEUE_WIRE(SimulationStats, workloads, cycles, admissions, evictions, finished, end);

KUEUE_WIRE(CellTotals, used, nominal, borrowed, last_used);
KUEUE_TOTALS(QueueTotals, waits, most_waiting, blocked, somebody_waits, cells);
KUEUE_WIRE(TreeTotals, tree, flavor_resource, idle, lent);
KUEUE_WIRE(EvictionTotals, victim, preemptor, rule, count, lost);
KUEUE_TOTALS(SubmittedTotals, until, used, nominal);
KUEUE_TOTALS(Totals, submitted, queues, trees, evictions, nominal, lost, overhead, waits, most_waiting,
             borrowing);

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

KUEUE_WIRE(DispatchView, check, state, message, nominated, cluster);
KUEUE_WIRE(CopyView, cluster, workload, has_job, is_active);

// Explanations: ids become names (explain.cc), and records become dicts.

#define KUEUE_FACTS(Type, Name, ...) KUEUE_DICT(Type, "kueuepy.engine.facts." Name, __VA_ARGS__)
#define KUEUE_PLACES(Type, Name, ...) KUEUE_DICT(Type, "kueuepy.engine.places." Name, __VA_ARGS__)

KUEUE_PLACES(PlaceFailureView, "PlaceFailureView", kind, fit, of, in_slices, first, second, total_nodes);
KUEUE_PLACES(PlaceDomainView, "DomainView", level, values, pods, pods_if_empty, nodes, excluded, unmanaged);
KUEUE_PLACES(PlaceView, "PlaceFactsView", topology, levels, count, has_leader, resolved, mode, level,
             slice_size, slice_level, failure, failure_if_empty, largest, largest_if_empty, most_on_a_node,
             domains, domain_counts, nearest, sufficient_alone, absent);

KUEUE_FACTS(NodeFacts, "NodeView", name, kind, nominal, subtree, usage, guaranteed, borrowing_limit,
            lending_limit, available);
KUEUE_FACTS(QuotaUserFacts, "QuotaUserView", name, kind, meets, nominal, usage, borrowed, lends);
KUEUE_FIELDS(Shortage, kTuple, "kueuepy.engine.facts.Shortage", node, limit, amount);
KUEUE_FACTS(FlavorResourceFacts, "CellView", flavor, resource, before, asked, available, potential, short_,
            where, limit, missing, shortages, may_preempt, path, quota_users, sufficient_alone);
KUEUE_FACTS(RefusalView, "RefusalView", kind, message, taint);
KUEUE_FACTS(FlavorFacts, "FlavorView", flavor, resource_group, chosen, mode, borrowing_level, reason,
            ineligible, cells, place);
KUEUE_FACTS(PodSetFacts, "PodSetView", name, count, requests, undeclared, flavors);
KUEUE_FACTS(ComparisonFacts, "ComparisonView", strategy, ours, theirs, our_share, their_share, final_share,
            holds);
KUEUE_FACTS(CandidateFacts, "CandidateView", workload, cluster_queue, verdict, reason, leaving, priority,
            holds, comparisons);
KUEUE_FACTS(ShareFacts, "ShareView", name, kind, weight, share, rounded, resource, borrowed, lendable,
            borrowing);
KUEUE_FACTS(ObstacleView, "ObstacleView", kind, queue, reason, message);
KUEUE_FACTS(InactivityView, "InactivityView", reason, message, causes);
KUEUE_FACTS(FactsView, "FactsView", workload, cluster_queue, priority, nominated, pod_sets, contested,
            candidates, counts, shares, strict_fifo, position, ahead, holds, obstacle, inadmissibility,
            inactivity, preemptor, goes_on, verdict, reason, message);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_RECORDS_H_
