// Specs of queues, cohorts and flavors: plain values with the defaults of the API (v1beta2).
#ifndef KUEUE_MODEL_QUEUE_H_
#define KUEUE_MODEL_QUEUE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/ids.h"
#include "model/pod.h"
#include "model/selector.h"
#include "quantity/amount.h"

namespace kueue {

struct Taint {
  std::string key, value, effect;
};
inline bool operator==(const Taint& a, const Taint& b) {
  return a.key == b.key && a.value == b.value && a.effect == b.effect;
}

struct ResourceFlavor {
  std::string name;
  std::map<std::string, std::string> node_labels;
  std::vector<Taint> node_taints;
  std::vector<Toleration> tolerations;
  std::string topology_name;  // Empty: none.
};

// Quota of one resource in one flavor. An absent limit is Unlimited.
struct ResourceQuota {
  std::string name;
  Amount nominal;
  Amount borrowing_limit = Amount::Unlimited();
  Amount lending_limit = Amount::Unlimited();
};

struct FlavorQuotas {
  std::string name;
  std::vector<ResourceQuota> resources;
};

struct ResourceGroup {
  std::vector<std::string> covered_resources;
  std::vector<FlavorQuotas> flavors;
};

enum class PreemptionPolicy { kNever, kLowerPriority, kLowerOrNewerEqualPriority, kAny };

struct Preemption {
  PreemptionPolicy within_cluster_queue = PreemptionPolicy::kNever;
  PreemptionPolicy reclaim_within_cohort = PreemptionPolicy::kNever;
  bool borrow_within_cohort = false;  // borrowWithinCohort.policy is LowerPriority.
  std::optional<int64_t> max_priority_threshold;
};

enum class FungibilityPolicy { kMayStopSearch, kTryNextFlavor };
enum class FungibilityPreference { kBorrowingOverPreemption, kPreemptionOverBorrowing };

struct FlavorFungibility {
  FungibilityPolicy when_can_borrow = FungibilityPolicy::kMayStopSearch;
  FungibilityPolicy when_can_preempt = FungibilityPolicy::kTryNextFlavor;
  FungibilityPreference preference = FungibilityPreference::kBorrowingOverPreemption;
};

enum class QueueingStrategy { kBestEffortFIFO, kStrictFIFO };
enum class StopPolicy { kNone, kHold, kHoldAndDrain };

struct CheckRule {
  std::string name;
  // If the list is empty, the check applies to all flavors of the queue.
  std::vector<std::string> on_flavors;
};

// The field concurrentAdmissionPolicy.migration of a ClusterQueue.
struct ConcurrentAdmission {
  bool retains_first = false;   // The mode is RetainFirstAdmission rather than TryPreferredFlavors.
  std::string last_acceptable;  // constraints.lastAcceptableFlavorName; empty: none.
};

struct ClusterQueueSpec {
  std::string name;
  std::string cohort;  // Empty: none.
  std::vector<ResourceGroup> resource_groups;
  QueueingStrategy queueing_strategy = QueueingStrategy::kBestEffortFIFO;
  // An absent selector matches no namespace, so no workload is admitted.
  std::optional<LabelSelector> namespace_selector;
  FlavorFungibility flavor_fungibility;
  Preemption preemption;
  std::vector<CheckRule> admission_checks;
  StopPolicy stop_policy = StopPolicy::kNone;
  double fair_weight = 1.0;
  bool usage_based_admission_fair_sharing = false;
  std::optional<ConcurrentAdmission> concurrent_admission;
};

struct CohortSpec {
  std::string name;
  std::string parent;  // Empty: none.
  std::vector<ResourceGroup> resource_groups;
  double fair_weight = 1.0;
};

struct LocalQueueSpec {
  std::string ns, name;
  std::string cluster_queue;
  StopPolicy stop_policy = StopPolicy::kNone;
  double fair_weight = 1.0;
  std::map<std::string, Int128> consumed;  // Past usage from the status, in units of 10^-9.
};

struct AdmissionCheckSpec {
  std::string name, controller;
  bool active = true;
};

}  // namespace kueue

#endif  // KUEUE_MODEL_QUEUE_H_
