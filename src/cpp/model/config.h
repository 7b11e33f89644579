// The parts of Kueue's Configuration that decide (group config.kueue.x-k8s.io), and its feature gates.
#ifndef KUEUE_MODEL_CONFIG_H_
#define KUEUE_MODEL_CONFIG_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/ids.h"
#include "model/release.h"

namespace kueue {

// Feature gates that change decisions, with their defaults at v0.20 (pkg/features/kube_features.go).
struct FeatureGates {
  bool partial_admission = true;
  bool flavor_fungibility = true;
  bool flavor_fungibility_preserve_scan_progress = true;
  bool priority_sorting_within_cohort = true;
  bool prioritize_preemptor_workloads = false;
  bool fair_sharing_preempt_within_nominal = true;
  bool fair_sharing_prioritize_non_borrowing = true;
  bool scheduling_equivalence_hashing = true;
  bool recompute_assignment_upon_preemption_targets_overlap = true;
  bool unadmitted_workloads_observability = true;
  bool unadmitted_workloads_explicit_status = false;
  bool reclaimable_pods = true;
  bool priority_boost = false;
  bool admission_fair_sharing = true;
  bool quota_check_strategy = true;
  bool admission_gated_by = true;
  bool elastic_jobs_via_workload_slices = true;
  bool skip_reassignment_for_pod_owned_workloads = true;
  bool topology_aware_scheduling = true;
  bool tas_profile_mixed = true;
  bool tas_balanced_placement = false;
  bool tas_respect_node_affinity_preferred = false;
  bool tas_handle_overlapping_flavors = true;
  bool tas_recompute_assignment_within_scheduling_cycle = true;
  bool tas_cache_node_match_results = true;
  bool tas_failed_node_replacement = true;
  bool tas_failed_node_replacement_fail_fast = true;
  bool tas_replace_node_on_pod_termination = true;
  bool tas_replace_node_due_to_not_ready_over_fixed_time = false;
  bool tas_replace_node_on_node_taints = true;
  bool elastic_jobs_via_workload_slices_with_tas = false;

  // Sets the gate of Kueue's name; false where the name is none of these.
  bool Set(const std::string& name, bool value);
  // Turns off what depends on a gate that is off.
  void Resolve();
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

struct Config {
  FeatureGates gates;
  ReleaseRules rules;
  std::optional<std::vector<FairSharingStrategy>> fair_sharing;  // present: on
  std::optional<AdmissionFairSharing> admission_fair_sharing;
  std::optional<WaitForPodsReady> wait_for_pods_ready;
  bool ignore_undeclared_resources = false;  // quotaCheckStrategy: IgnoreUndeclared
};

}  // namespace kueue

#endif  // KUEUE_MODEL_CONFIG_H_
