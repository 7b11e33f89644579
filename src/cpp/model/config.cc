#include "model/config.h"

#include <utility>

namespace kueue {

bool FeatureGates::Set(const std::string& name, bool value) {
  const std::pair<const char*, bool*> known[] = {
      {"PartialAdmission", &partial_admission},
      {"FlavorFungibility", &flavor_fungibility},
      {"FlavorFungibilityPreserveScanProgress", &flavor_fungibility_preserve_scan_progress},
      {"PrioritySortingWithinCohort", &priority_sorting_within_cohort},
      {"PrioritizePreemptorWorkloads", &prioritize_preemptor_workloads},
      {"FairSharingPreemptWithinNominal", &fair_sharing_preempt_within_nominal},
      {"FairSharingPrioritizeNonBorrowing", &fair_sharing_prioritize_non_borrowing},
      {"SchedulingEquivalenceHashing", &scheduling_equivalence_hashing},
      {"RecomputeAssignmentUponPreemptionTargetsOverlap",
       &recompute_assignment_upon_preemption_targets_overlap},
      {"UnadmittedWorkloadsObservability", &unadmitted_workloads_observability},
      {"UnadmittedWorkloadsExplicitStatus", &unadmitted_workloads_explicit_status},
      {"ReclaimablePods", &reclaimable_pods},
      {"PriorityBoost", &priority_boost},
      {"AdmissionFairSharing", &admission_fair_sharing},
      {"QuotaCheckStrategy", &quota_check_strategy},
      {"AdmissionGatedBy", &admission_gated_by},
      {"ElasticJobsViaWorkloadSlices", &elastic_jobs_via_workload_slices},
      {"SkipReassignmentForPodOwnedWorkloads", &skip_reassignment_for_pod_owned_workloads},
      {"TopologyAwareScheduling", &topology_aware_scheduling},
      {"TASProfileMixed", &tas_profile_mixed},
      {"TASBalancedPlacement", &tas_balanced_placement},
      {"TASRespectNodeAffinityPreferred", &tas_respect_node_affinity_preferred},
      {"TASHandleOverlappingFlavors", &tas_handle_overlapping_flavors},
      {"TASRecomputeAssignmentWithinSchedulingCycle", &tas_recompute_assignment_within_scheduling_cycle},
      {"TASCacheNodeMatchResults", &tas_cache_node_match_results},
      {"TASFailedNodeReplacement", &tas_failed_node_replacement},
      {"TASFailedNodeReplacementFailFast", &tas_failed_node_replacement_fail_fast},
      {"TASReplaceNodeOnPodTermination", &tas_replace_node_on_pod_termination},
      {"TASReplaceNodeDueToNotReadyOverFixedTime", &tas_replace_node_due_to_not_ready_over_fixed_time},
      {"TASReplaceNodeOnNodeTaints", &tas_replace_node_on_node_taints},
      {"ElasticJobsViaWorkloadSlicesWithTAS", &elastic_jobs_via_workload_slices_with_tas},
  };
  for (const auto& [gate, field] : known) {
    if (name != gate) continue;
    *field = value;
    return true;
  }
  return false;
}

void FeatureGates::Resolve() {
  tas_failed_node_replacement = tas_failed_node_replacement && topology_aware_scheduling;
  for (bool* gate : {&tas_failed_node_replacement_fail_fast, &tas_replace_node_on_pod_termination,
                     &tas_replace_node_due_to_not_ready_over_fixed_time}) {
    *gate = *gate && tas_failed_node_replacement;
  }
  elastic_jobs_via_workload_slices_with_tas = elastic_jobs_via_workload_slices_with_tas &&
                                              elastic_jobs_via_workload_slices && topology_aware_scheduling;
}

}  // namespace kueue
