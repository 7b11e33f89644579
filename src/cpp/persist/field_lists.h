// Field lists of all records of the engine's state, for the archive. Each list contains all fields in the
// order of their declaration; a missing field is a compile error.
#ifndef KUEUE_PERSIST_FIELD_LISTS_H_
#define KUEUE_PERSIST_FIELD_LISTS_H_

#include "state/state.h"

namespace kueue {

// Types with private fields declare this class as a friend.
class FieldLists {
 public:
  static std::string NameOf(const MessageBody&) { return "MessageBody"; }
#define KUEUE_RECORD(Type, ...)                                     \
  static std::string NameOf(const Type&) { return #Type; }          \
  static const char* FieldsOf(const Type&) { return #__VA_ARGS__; } \
  template <typename Use>                                           \
  static void Visit(Type& record, Use use) {                        \
    auto& [__VA_ARGS__] = record;                                   \
    use(__VA_ARGS__);                                               \
  }                                                                 \
  template <typename Use>                                           \
  static void Visit(const Type& record, Use use) {                  \
    const auto& [__VA_ARGS__] = record;                             \
    use(__VA_ARGS__);                                               \
  }

  // model/config.h, workload/totals.h
  KUEUE_RECORD(AdmissionFairSharing, usage_half_life_time, usage_sampling_interval, resource_weights)
  KUEUE_RECORD(WaitForPodsReady, timeout, recovery_timeout, block_admission, requeue_by_eviction_time,
               backoff_base_seconds, backoff_max_seconds, backoff_limit_count)
  KUEUE_RECORD(WorkloadRetention, after_finished, after_deactivated_by_kueue)
  KUEUE_RECORD(ReleaseRules, flavorless_quota_needs_all_checks, scan_stops_at_first_missing_resource,
               flavors_without_candidates_compete, label_keys_of_whole_group, preemption_counts_pods,
               zero_shares_do_not_borrow, usage_in_thousandths, pooled_entry_penalties, pooled_penalties_stay,
               usage_starts_from_admitted, check_evictions_name_no_state, nomination_texts_of_v0_17,
               topology_faults_pass, topology_usage_by_quota, moved_pods_are_uncounted,
               pod_sets_without_requests_inherit_nothing, earlier_pod_sets_take_no_slot,
               devices_by_count_only, device_admin_access_refused, multi_kueue_texts_of_v0_18,
               multi_kueue_nominates_during_retries)
  KUEUE_RECORD(Config, gates, rules, fair_sharing, admission_fair_sharing, wait_for_pods_ready,
               ignore_undeclared_resources, device_class_mappings, retention)
  KUEUE_RECORD(ResourceTransformation, input, replace, multiply_by, outputs)
  KUEUE_RECORD(RequestsConfig, excluded_prefixes, transformations)

  // model/devices.h
  KUEUE_RECORD(DeviceSource, is_capacity, name, driver, selector)
  KUEUE_RECORD(DeviceClassMapping, name, device_class_names, sources)
  KUEUE_RECORD(DeviceClass, selectors, extended_resource_name, created)
  KUEUE_RECORD(DeviceRequest, first_available, exactly, device_class_name, selectors, allocation_mode, count,
               admin_access, capacity)
  KUEUE_RECORD(ResourceClaimTemplate, requests, has_constraints, has_config)
  KUEUE_RECORD(CapacityRange, min, max, step)
  KUEUE_RECORD(CapacityRequestPolicy, default_request, valid_values, valid_range)
  KUEUE_RECORD(DeviceCapacity, value, request_policy)
  KUEUE_RECORD(Device, name, subject, capacity, counters, known)
  KUEUE_RECORD(ResourceSlice, driver, pool, generation, resource_slice_count, devices)
  KUEUE_RECORD(DeviceObjects, classes, templates, slices)
  KUEUE_RECORD(DeviceCharge, amounts, replaced)
  KUEUE_RECORD(DeviceCharges, pod_sets)
  KUEUE_RECORD(DeviceQueueing, charges, changed, ignores_requeued, failed_checks)

  // model/pod.h
  KUEUE_RECORD(PodResourceClaim, template_name, claim_name)
  KUEUE_RECORD(Container, requests, limits, restarts_always)
  KUEUE_RECORD(Toleration, key, op, value, effect, is_temporary)
  KUEUE_RECORD(NodeSelectorRequirement, key, op, values)
  KUEUE_RECORD(NodeSelectorTerm, match_expressions, match_fields)
  KUEUE_RECORD(PreferredSchedulingTerm, weight, preference)
  KUEUE_RECORD(PodTemplate, init_containers, containers, has_resources, resources, overhead,
               runtime_class_name, priority_class_name, tolerations, node_selector, has_affinity,
               affinity_terms, preferred_terms, resource_claims, shape)
  KUEUE_RECORD(RuntimeClass, pod_fixed)
  KUEUE_RECORD(LimitRange::Item, type, max, min, default_limit, default_request)
  KUEUE_RECORD(LimitRange, items)

  // model/queue.h, model/selector.h
  KUEUE_RECORD(Taint, key, value, effect)
  KUEUE_RECORD(ResourceFlavor, name, node_labels, node_taints, tolerations, topology_name)
  KUEUE_RECORD(ResourceQuota, name, nominal, borrowing_limit, lending_limit)
  KUEUE_RECORD(FlavorQuotas, name, resources)
  KUEUE_RECORD(ResourceGroup, covered_resources, flavors)
  KUEUE_RECORD(Preemption, within_cluster_queue, reclaim_within_cohort, borrow_within_cohort,
               max_priority_threshold)
  KUEUE_RECORD(FlavorFungibility, when_can_borrow, when_can_preempt, preference)
  KUEUE_RECORD(LabelSelectorRequirement, key, op, values)
  KUEUE_RECORD(LabelSelector, match_labels, match_expressions)
  KUEUE_RECORD(CheckRule, name, on_flavors)
  KUEUE_RECORD(ConcurrentAdmission, retains_first, last_acceptable)
  KUEUE_RECORD(ClusterQueueSpec, name, cohort, resource_groups, queueing_strategy, namespace_selector,
               flavor_fungibility, preemption, admission_checks, stop_policy, fair_weight,
               usage_based_admission_fair_sharing, concurrent_admission)
  KUEUE_RECORD(CohortSpec, name, parent, resource_groups, fair_weight)
  KUEUE_RECORD(AdmissionCheckSpec, name, controller, active)

  // model/message.h
  KUEUE_RECORD(PlacementFailure::Excluded, why, name, nodes)
  KUEUE_RECORD(PlacementFailure::LayerFit, level, fit, of)
  KUEUE_RECORD(PlacementFailure, kind, topology, first, second, fit, of, in_slices, layers, total_nodes,
               excluded)
  KUEUE_RECORD(CapacityExcess, earlier, requested, capacity)
  KUEUE_RECORD(QuotaShortage, missing, requested, available)
  KUEUE_RECORD(Refusal, kind, flavor, resource, detail)
  KUEUE_RECORD(PodSetRefusals, pod_set, refusals)
  KUEUE_RECORD(Literal, text)
  KUEUE_RECORD(Said, sentence, names)
  KUEUE_RECORD(DeactivatedDueTo, why)
  KUEUE_RECORD(Refused, cls, pod_sets, pending_preemptions)
  KUEUE_RECORD(ReservedIn, cluster_queue)
  KUEUE_RECORD(Previously, before)
  KUEUE_RECORD(PreemptedBy, preemptor, preemptor_uid, preemptor_job_uid, reason, preemptor_path,
               preemptee_path)

  // model/topology.h
  KUEUE_RECORD(Node, name, labels, annotations, taints, unschedulable, allocatable, ready, ready_since,
               other_conditions)
  KUEUE_RECORD(TopologyLayer, level, size)
  KUEUE_RECORD(TopologyRequest, required, preferred, unconstrained, layers, is_explicit)
  KUEUE_RECORD(DomainCount, domain, count)
  KUEUE_RECORD(TopologyAssignment, levels, domains)

  // model/workload.h
  KUEUE_RECORD(PodSetUpdate, name, labels, annotations, node_selector, tolerations)
  KUEUE_RECORD(TopologyUsage, flavor, domain, count, requests)
  KUEUE_RECORD(TopologyCharge, entries)
  KUEUE_RECORD(PodSetSpec, name, count, min_count, pod_template, group, topology, topology_request)
  KUEUE_RECORD(WorkloadSpec, ns, queue_name, job_uid, elastic, admission_gate, replaces, priority,
               priority_boost, priority_class, preemption_gates, allowed_flavors, parent_uid,
               is_labelled_parent, active, maximum_execution_time_seconds, pod_sets)
  KUEUE_RECORD(Condition, type, status, reason, message, transition, generation)
  KUEUE_RECORD(PodSetTotals, count, requests)
  KUEUE_RECORD(PodSetAdmission::Resource, resource, flavor, usage)
  KUEUE_RECORD(PodSetAdmission, name, count, resources, topology, delayed)
  KUEUE_RECORD(Admission, cluster_queue, pod_sets)
  KUEUE_RECORD(ScanProgress, tried, generation, cycle, cls)
  KUEUE_RECORD(WorkloadCheck, check, state, message, transition, requeue_after_seconds, retry_count,
               pod_set_updates, updates)
  KUEUE_RECORD(OpenGate, name, since)
  KUEUE_RECORD(Dispatched, job, suspended, active, nominated, cluster, open_gates)
  KUEUE_RECORD(StatusDetails, checks, requeue_count, requeue_at, past_execution_seconds, reclaimable,
               pods_ready, unhealthy_nodes, job_stops_at, dispatched)
  KUEUE_RECORD(Workload, serial, name, uid, spec, local_queue, assigned, cls, priority, created, queue_time,
               conditions, admission, charged, charged_place, usage, queued, place, owned_by_single_pod,
               deleted, listed, evaluated, dirty_place, generation, progress, status, topology_usage, devices,
               hash)
  KUEUE_RECORD(WorkloadTable::Listed, serial, id)
  KUEUE_RECORD(WorkloadTable, places, free, roll, next, living)

  // cohort/forest.h, quota/quota.h
  KUEUE_RECORD(Forest::Node, name, is_cluster_queue, declared, exists, active, parent, above, root, height,
               child_cohorts, child_queues, tree_queues)
  KUEUE_RECORD(Forest, nodes, node_of_queue, node_of_cohort, queue_names, cohort_names, queues, top_down,
               stale)
  KUEUE_RECORD(Quota::Change, node, fr, before)
  static std::string NameOf(const Quota&) { return "Quota"; }
  static const char* FieldsOf(const Quota&) {
    return "forest, nominal, borrowing, lending, subtree, local, potential, usage, declared, defined, log, "
           "open";
  }
  template <typename Use>
  static void Visit(Quota& record, Use use) {
    auto& [forest, limits, usage, log, parts] = record;
    auto& [nominal, borrowing, lending, subtree, local, potential, declared, defined] = limits.Edit();
    use(forest, nominal, borrowing, lending, subtree, local, potential, usage, declared, defined, log.changes,
        log.open);
  }
  template <typename Use>
  static void Visit(const Quota& record, Use use) {
    const auto& [forest, limits, usage, log, parts] = record;
    const auto& [nominal, borrowing, lending, subtree, local, potential, declared, defined] = *limits;
    use(forest, nominal, borrowing, lending, subtree, local, potential, usage, declared, defined, log.changes,
        log.open);
  }

  // queue/workload_run.h, queue/pending.h
  KUEUE_RECORD(WorkloadRun::Item, time, workload)
  KUEUE_RECORD(PendingQueue::Bucket, cls, local_queue, priority, active, inadmissible, place_in_heads,
               listed_as_inadmissible)
  KUEUE_RECORD(UsageHeap, items, place)
  KUEUE_RECORD(PendingQueue, preemptor, sticky, by_usage, pop_cycle, queue_inadmissible_cycle, buckets,
               bucket_of, heads, heap, inadmissible_buckets, delayed, inadmissible_classes, inflight,
               active_count, inadmissible_count)

  // state/state.h
  KUEUE_RECORD(InactivityCause, kind, names)
  KUEUE_RECORD(Inactivity, causes)
  KUEUE_RECORD(ResourceGroupIds, covered, flavors)
  KUEUE_RECORD(CheckIds, check, flavors)
  KUEUE_RECORD(ClusterQueue, spec, groups, flavors, checks, covers_pods, only_topology, provisioned,
               multi_kueue, terminating, inactivity, generation, workloads, pending)
  KUEUE_RECORD(LocalQueue, ns, name, namespace_id, exists, stop_policy, cluster_queue, fair_weight)
  KUEUE_RECORD(Namespace, name, exists, labels, limit_ranges)
  KUEUE_RECORD(EquivalenceClass, priority, pod_sets, totals, devices, adjusted, resource_error,
               can_be_partially_admitted, allowed_flavors, hash)
  KUEUE_RECORD(ResourceFlavorState, spec)
  KUEUE_RECORD(AdmissionCheckState, exists, spec)
  KUEUE_RECORD(LedgerEntry, exists, is_sampled, history, consumed, penalties, last_update)
  KUEUE_RECORD(Event, kind, workload, name, spec, by, by_key, by_queue, time, cycle, queue, reason,
               preemption, cause, message, queued_since, since)
  KUEUE_RECORD(ClusterPod, node, wanted, workload, by_topology, is_over, is_leaving, requests)
  KUEUE_RECORD(Topologies, levels, nodes, pods, domains, freed, waiting, made)
  KUEUE_RECORD(SecondPass, workload, iteration, due, unhealthy_nodes, admission)
  KUEUE_RECORD(Deleting, flavors, checks, topologies)
  KUEUE_RECORD(WaitingCycle, start, passed, released)
  KUEUE_RECORD(State, config, requests, flavor_names, resource_names, namespace_names, local_queue_names,
               check_names, reasons, resource_order, cpu, pods, flavor_resource_ids, flavor_resources, quota,
               queues, cohorts, flavors, local_queues, namespaces, checks, topology, deleting,
               runtime_classes, devices, devices_changed, ledger, ledger_usage, workloads, workload_of_key,
               classes, class_of_key, caches, stale, requoted, changed_nodes, only_added, added_queues,
               to_requeue, refused, holds_retries, scheduling_cycle, successful_cycles, waiting, stop_delay,
               now, record_events, events, followed, second_passes, deleted, dirty)
#undef KUEUE_RECORD

  // Caches are not saved. In saved states, the types of caches keep their original names.
  static std::string NameOf(const TopologyCaches&) { return "TopologyShortCuts"; }
  static const char* FieldsOf(const TopologyCaches&) { return ""; }
  template <typename Use>
  static void Visit(const TopologyCaches&, Use use) {
    use();
  }
  // Not saved.
  static std::string NameOf(const Caches&) { return "ShortCuts"; }
  static const char* FieldsOf(const Caches&) { return ""; }
  template <typename Use>
  static void Visit(const Caches&, Use use) {
    use();
  }

  // Not saved. A loaded state evaluates the selectors again.
  static std::string NameOf(const SelectorMemoRef&) { return "SelectorMemo"; }
  static const char* FieldsOf(const SelectorMemoRef&) { return ""; }
  template <typename Use>
  static void Visit(const SelectorMemoRef&, Use use) {
    use();
  }

  // Not saved.
  static std::string NameOf(const Followed&) { return "Followed"; }
  static const char* FieldsOf(const Followed&) { return ""; }
  template <typename Use>
  static void Visit(const Followed&, Use use) {
    use();
  }

  static std::vector<WorkloadRun::Item>& ItemsOf(WorkloadRun& run) { return run.items_; }
};

}  // namespace kueue

#endif  // KUEUE_PERSIST_FIELD_LISTS_H_
