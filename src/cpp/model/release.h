// Rules in which older releases of Kueue differ from the current one. The table in kueuepy/profiles/rules.py
// lists the rules of each release and their location in Kueue's source.
#ifndef KUEUE_MODEL_RELEASE_H_
#define KUEUE_MODEL_RELEASE_H_

#include <string>

namespace kueue {

// A field is true if the selected release follows the old rule. Each field has the same name as the rule in
// the table.
struct ReleaseRules {
  bool flavorless_quota_needs_all_checks = false;
  bool scan_stops_at_first_missing_resource = false;
  bool flavors_without_candidates_compete = false;
  bool label_keys_of_whole_group = false;
  bool preemption_counts_pods = false;
  bool zero_shares_do_not_borrow = false;
  bool usage_in_thousandths = false;
  bool pooled_entry_penalties = false;
  bool pooled_penalties_stay = false;
  bool usage_starts_from_admitted = false;
  bool check_evictions_name_no_state = false;
  bool nomination_texts_of_v0_17 = false;
  bool topology_faults_pass = false;
  bool topology_usage_by_quota = false;
  bool moved_pods_are_uncounted = false;
  bool pod_sets_without_requests_inherit_nothing = false;
  bool earlier_pod_sets_take_no_slot = false;
  bool devices_by_count_only = false;
  bool device_admin_access_refused = false;
  bool multi_kueue_texts_of_v0_18 = false;
  bool multi_kueue_nominates_during_retries = false;

  // Enables or disables the rule with this name. Returns false if there is no such rule.
  bool Set(const std::string& name, bool value);
};

}  // namespace kueue

#endif  // KUEUE_MODEL_RELEASE_H_
