#include "model/release.h"

#include <utility>

namespace kueue {

bool ReleaseRules::Set(const std::string& name, bool value) {
  const std::pair<const char*, bool*> known[] = {
      {"flavorless_quota_needs_all_checks", &flavorless_quota_needs_all_checks},
      {"scan_stops_at_first_missing_resource", &scan_stops_at_first_missing_resource},
      {"flavors_without_candidates_compete", &flavors_without_candidates_compete},
      {"label_keys_of_whole_group", &label_keys_of_whole_group},
      {"preemption_counts_pods", &preemption_counts_pods},
      {"zero_shares_do_not_borrow", &zero_shares_do_not_borrow},
      {"usage_in_thousandths", &usage_in_thousandths},
      {"pooled_entry_penalties", &pooled_entry_penalties},
      {"pooled_penalties_stay", &pooled_penalties_stay},
      {"usage_starts_from_admitted", &usage_starts_from_admitted},
      {"check_evictions_name_no_state", &check_evictions_name_no_state},
      {"nomination_texts_of_v0_17", &nomination_texts_of_v0_17},
      {"topology_faults_pass", &topology_faults_pass},
      {"topology_usage_by_quota", &topology_usage_by_quota},
      {"moved_pods_are_uncounted", &moved_pods_are_uncounted},
      {"pod_sets_without_requests_inherit_nothing", &pod_sets_without_requests_inherit_nothing},
      {"earlier_pod_sets_take_no_slot", &earlier_pod_sets_take_no_slot},
  };
  for (const auto& [rule, field] : known) {
    if (name != rule) continue;
    *field = value;
    return true;
  }
  return false;
}

}  // namespace kueue
