#include "model/release.h"

#include <utility>

namespace kueue {

namespace {

constexpr std::pair<const char*, bool ReleaseRules::*> kRules[] = {
    {"flavorless_quota_needs_all_checks", &ReleaseRules::flavorless_quota_needs_all_checks},
    {"scan_stops_at_first_missing_resource", &ReleaseRules::scan_stops_at_first_missing_resource},
    {"flavors_without_candidates_compete", &ReleaseRules::flavors_without_candidates_compete},
    {"label_keys_of_whole_group", &ReleaseRules::label_keys_of_whole_group},
    {"preemption_counts_pods", &ReleaseRules::preemption_counts_pods},
    {"zero_shares_do_not_borrow", &ReleaseRules::zero_shares_do_not_borrow},
    {"usage_in_thousandths", &ReleaseRules::usage_in_thousandths},
    {"pooled_entry_penalties", &ReleaseRules::pooled_entry_penalties},
    {"pooled_penalties_stay", &ReleaseRules::pooled_penalties_stay},
    {"usage_starts_from_admitted", &ReleaseRules::usage_starts_from_admitted},
    {"check_evictions_name_no_state", &ReleaseRules::check_evictions_name_no_state},
    {"nomination_texts_of_v0_17", &ReleaseRules::nomination_texts_of_v0_17},
    {"topology_faults_pass", &ReleaseRules::topology_faults_pass},
    {"topology_usage_by_quota", &ReleaseRules::topology_usage_by_quota},
    {"moved_pods_are_uncounted", &ReleaseRules::moved_pods_are_uncounted},
    {"pod_sets_without_requests_inherit_nothing", &ReleaseRules::pod_sets_without_requests_inherit_nothing},
    {"earlier_pod_sets_take_no_slot", &ReleaseRules::earlier_pod_sets_take_no_slot},
    {"devices_by_count_only", &ReleaseRules::devices_by_count_only},
    {"device_admin_access_refused", &ReleaseRules::device_admin_access_refused},
    {"multi_kueue_texts_of_v0_18", &ReleaseRules::multi_kueue_texts_of_v0_18},
    {"multi_kueue_nominates_during_retries", &ReleaseRules::multi_kueue_nominates_during_retries},
};

}  // namespace

bool ReleaseRules::Set(const std::string& name, bool value) {
  for (const auto& [rule, field] : kRules) {
    if (name != rule) continue;
    this->*field = value;
    return true;
  }
  return false;
}

}  // namespace kueue
