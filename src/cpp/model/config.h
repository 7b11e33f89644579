// The settings of Kueue's Configuration (API group config.kueue.x-k8s.io) that affect decisions, and its
// feature gates.
#ifndef KUEUE_MODEL_CONFIG_H_
#define KUEUE_MODEL_CONFIG_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/devices.h"
#include "model/ids.h"
#include "model/release.h"

namespace kueue {

// Feature gates that affect admission decisions. Each value comes from the Configuration or, if the
// Configuration does not set the gate, from the release's default.
struct FeatureGates {
  FeatureGates();  // Initializes every gate from kFeatureGates.
  bool partial_admission;
  bool flavor_fungibility;
  bool flavor_fungibility_preserve_scan_progress;
  bool priority_sorting_within_cohort;
  bool prioritize_preemptor_workloads;
  bool fair_sharing_preempt_within_nominal;
  bool fair_sharing_prioritize_non_borrowing;
  bool scheduling_equivalence_hashing;
  bool recompute_assignment_upon_preemption_targets_overlap;
  bool unadmitted_workloads_observability;
  bool unadmitted_workloads_explicit_status;
  bool reclaimable_pods;
  bool priority_boost;
  bool admission_fair_sharing;
  bool quota_check_strategy;
  bool admission_gated_by;
  bool elastic_jobs_via_workload_slices;
  bool skip_reassignment_for_pod_owned_workloads;
  bool topology_aware_scheduling;
  bool tas_profile_mixed;
  bool tas_balanced_placement;
  bool tas_respect_node_affinity_preferred;
  bool tas_handle_overlapping_flavors;
  bool tas_recompute_assignment_within_scheduling_cycle;
  bool tas_cache_node_match_results;
  bool tas_failed_node_replacement;
  bool tas_failed_node_replacement_fail_fast;
  bool tas_replace_node_on_pod_termination;
  bool tas_replace_node_due_to_not_ready_over_fixed_time;
  bool tas_replace_node_on_node_taints;
  bool elastic_jobs_via_workload_slices_with_tas;
  bool dra_integration;
  bool dra_reject_workloads_when_disabled;
  bool dra_extended_resource;
  bool dra_partitionable_devices;
  bool dra_consumable_capacity;
  bool multi_kueue_orchestrated_preemption;
  bool multi_kueue_wait_for_workload_admitted;
  bool multi_kueue_redo_admission_on_eviction_in_worker;
  bool concurrent_admission;

  // Sets the gate with the given Kueue name. Returns false if no gate has this name.
  bool Set(const std::string& name, bool value);
  // Turns off every gate that depends on another gate that is off.
  void Resolve();
};

// A feature gate: its name in Kueue, its field and its default in v0.20 (pkg/features/kube_features.go); a
// gate that v0.20 no longer has is on. Other releases override these defaults by setting gates.
struct FeatureGate {
  const char* name;
  bool FeatureGates::* field;
  bool is_on;
};
inline constexpr FeatureGate kFeatureGates[] = {
    {"PartialAdmission", &FeatureGates::partial_admission, true},
    {"FlavorFungibility", &FeatureGates::flavor_fungibility, true},
    {"FlavorFungibilityPreserveScanProgress", &FeatureGates::flavor_fungibility_preserve_scan_progress, true},
    {"PrioritySortingWithinCohort", &FeatureGates::priority_sorting_within_cohort, true},
    {"PrioritizePreemptorWorkloads", &FeatureGates::prioritize_preemptor_workloads, false},
    {"FairSharingPreemptWithinNominal", &FeatureGates::fair_sharing_preempt_within_nominal, true},
    {"FairSharingPrioritizeNonBorrowing", &FeatureGates::fair_sharing_prioritize_non_borrowing, true},
    {"SchedulingEquivalenceHashing", &FeatureGates::scheduling_equivalence_hashing, true},
    {"RecomputeAssignmentUponPreemptionTargetsOverlap",
     &FeatureGates::recompute_assignment_upon_preemption_targets_overlap, true},
    {"UnadmittedWorkloadsObservability", &FeatureGates::unadmitted_workloads_observability, true},
    {"UnadmittedWorkloadsExplicitStatus", &FeatureGates::unadmitted_workloads_explicit_status, false},
    {"ReclaimablePods", &FeatureGates::reclaimable_pods, true},
    {"PriorityBoost", &FeatureGates::priority_boost, false},
    {"AdmissionFairSharing", &FeatureGates::admission_fair_sharing, true},
    {"QuotaCheckStrategy", &FeatureGates::quota_check_strategy, true},
    {"AdmissionGatedBy", &FeatureGates::admission_gated_by, true},
    {"ElasticJobsViaWorkloadSlices", &FeatureGates::elastic_jobs_via_workload_slices, true},
    {"SkipReassignmentForPodOwnedWorkloads", &FeatureGates::skip_reassignment_for_pod_owned_workloads, true},
    {"TopologyAwareScheduling", &FeatureGates::topology_aware_scheduling, true},
    {"TASProfileMixed", &FeatureGates::tas_profile_mixed, true},
    {"TASBalancedPlacement", &FeatureGates::tas_balanced_placement, false},
    {"TASRespectNodeAffinityPreferred", &FeatureGates::tas_respect_node_affinity_preferred, false},
    {"TASHandleOverlappingFlavors", &FeatureGates::tas_handle_overlapping_flavors, true},
    {"TASRecomputeAssignmentWithinSchedulingCycle",
     &FeatureGates::tas_recompute_assignment_within_scheduling_cycle, true},
    {"TASCacheNodeMatchResults", &FeatureGates::tas_cache_node_match_results, true},
    {"TASFailedNodeReplacement", &FeatureGates::tas_failed_node_replacement, true},
    {"TASFailedNodeReplacementFailFast", &FeatureGates::tas_failed_node_replacement_fail_fast, true},
    {"TASReplaceNodeOnPodTermination", &FeatureGates::tas_replace_node_on_pod_termination, true},
    {"TASReplaceNodeDueToNotReadyOverFixedTime",
     &FeatureGates::tas_replace_node_due_to_not_ready_over_fixed_time, false},
    {"TASReplaceNodeOnNodeTaints", &FeatureGates::tas_replace_node_on_node_taints, true},
    {"ElasticJobsViaWorkloadSlicesWithTAS", &FeatureGates::elastic_jobs_via_workload_slices_with_tas, false},
    {"KueueDRAIntegration", &FeatureGates::dra_integration, true},
    {"KueueDRARejectWorkloadsWhenDRADisabled", &FeatureGates::dra_reject_workloads_when_disabled, true},
    {"KueueDRAIntegrationExtendedResource", &FeatureGates::dra_extended_resource, true},
    {"KueueDRAIntegrationPartitionableDevices", &FeatureGates::dra_partitionable_devices, true},
    {"KueueDRAIntegrationConsumableCapacity", &FeatureGates::dra_consumable_capacity, false},
    {"MultiKueueOrchestratedPreemption", &FeatureGates::multi_kueue_orchestrated_preemption, false},
    {"MultiKueueWaitForWorkloadAdmitted", &FeatureGates::multi_kueue_wait_for_workload_admitted, true},
    {"MultiKueueRedoAdmissionOnEvictionInWorker",
     &FeatureGates::multi_kueue_redo_admission_on_eviction_in_worker, true},
    {"ConcurrentAdmission", &FeatureGates::concurrent_admission, false},
};

enum class FairSharingStrategy { kLessThanOrEqualToFinalShare, kLessThanInitialShare };

struct AdmissionFairSharing {
  Time usage_half_life_time = 0;
  Time usage_sampling_interval = 300 * kSecond;
  std::map<std::string, double> resource_weights;
};

struct WaitForPodsReady {
  Time timeout = 300 * kSecond;
  std::optional<Time> recovery_timeout;
  bool block_admission = false;
  bool requeue_by_eviction_time = true;
  int64_t backoff_base_seconds = 60;
  int64_t backoff_max_seconds = 3600;
  std::optional<int64_t> backoff_limit_count;
};

// Times after which Kueue deletes workloads (objectRetentionPolicies.workloads); absent to keep them.
struct WorkloadRetention {
  std::optional<Time> after_finished, after_deactivated_by_kueue;
};

struct Config {
  FeatureGates gates;
  ReleaseRules rules;
  // Fair sharing is enabled if and only if `fair_sharing` has a value.
  std::optional<std::vector<FairSharingStrategy>> fair_sharing;
  std::optional<AdmissionFairSharing> admission_fair_sharing;
  std::optional<WaitForPodsReady> wait_for_pods_ready;
  bool ignore_undeclared_resources = false;  // True if `quotaCheckStrategy` is IgnoreUndeclared.
  std::vector<DeviceClassMapping> device_class_mappings;
  WorkloadRetention retention;
};

}  // namespace kueue

#endif  // KUEUE_MODEL_CONFIG_H_
