// Status of workloads, queues and Cohorts for dashboards and metrics. Ids are replaced by names, so the
// records remain valid when the state changes. The Python classes document the fields.
#ifndef KUEUE_QUESTIONS_STATUS_H_
#define KUEUE_QUESTIONS_STATUS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "questions/by_name.h"
#include "state/events.h"
#include "state/state.h"

namespace kueue {

// Workloads

struct ConditionView {
  bool is_true;
  std::string reason, message;
  Time transition;
};
std::optional<ConditionView> ConditionOf(const State& state, const Workload& workload,
                                         const std::string& type);
// Conditions are in the order of the workload's status.
ByName<ConditionView> ConditionsOf(const State& state, const Workload& workload);

struct CheckView {
  std::string name;
  CheckState state;
  std::string message;
  Time transition;
  std::optional<int64_t> retries, retry_after_seconds;
  std::string updates;
};
struct StatusView {
  std::vector<CheckView> checks;
  std::optional<int64_t> requeue_count, requeue_at, past_execution_seconds;
  std::map<std::string, int64_t> reclaimable;
  bool pods_ready, active;
  std::vector<std::string> unhealthy_nodes;
};
// Returns the status of a workload without its conditions and its admission.
StatusView StatusOf(const State& state, const Workload& workload);

std::vector<Serial> LivingIds(const State& state);
// Returns the pending checks of the workloads that hold quota and are not being evicted, oldest workload
// first.
std::vector<std::pair<Serial, std::string>> PendingChecks(const State& state);

struct PendingView {
  std::string namespace_, name, local_queue;
  int64_t priority;
  Time created;
  int position;
};
// Returns the pending workloads in queue order, or nothing for a queue that does not exist.
std::optional<std::vector<PendingView>> PendingIn(const State& state, const std::string& cluster_queue);
// Returns, for each queue with pending workloads, their keys in queue order and the inadmissible keys.
using PendingKeys = std::pair<std::vector<std::string>, std::vector<std::string>>;
ByName<PendingKeys> PendingByQueue(const State& state);
// Returns the number of pending workloads in BestEffortFIFO queues.
int64_t WaitingInBestEffort(const State& state);

// Events

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
struct ChangeView {
  EventKind kind;
  Serial workload, preemptor;
  std::string reason, preemption_reason;
};
// Return all recorded events, oldest first.
std::vector<EventView> EventsOf(const State& state);
std::vector<ChangeView> ChangesOf(const State& state);
// Returns two numbers of cycles with heads: cycles that reserved quota for at least one head, and all others.
std::pair<int64_t, int64_t> CycleCounts(const State& state);

// Queues and Cohorts

struct ResourceHolding {
  std::string resource;
  int64_t reserved, admitted, nominal, borrowing_limit, lending_limit;
};
struct FlavorHolding {
  std::string flavor;
  std::vector<ResourceHolding> resources;
};
struct ClusterQueueView {
  std::string name, cohort, why_inactive, message;
  int active, inadmissible, reserving, admitted;
  double share;
  std::vector<FlavorHolding> holdings;
};
std::vector<ClusterQueueView> ClusterQueueStatus(const State& state);

struct ConsumedView {
  double usage;
  Time updated;
  ByName<std::string> quantities;  // By resource.
};
struct LocalQueueView {
  std::string namespace_, name, cluster_queue;
  bool runs, is_found, is_active;
  int active, inadmissible, reserving, admitted, finished;
  std::optional<ConsumedView> consumed;  // Empty if the queue does not use admission fair sharing.
  std::vector<FlavorHolding> holdings;
};
std::vector<LocalQueueView> LocalQueueStatus(const State& state);

struct CohortCell {
  std::string flavor, resource;
  int64_t subtree_quota, reserved;
};
struct CohortView {
  std::string name, parent, root;
  bool is_declared;
  double share;
  std::vector<CohortCell> cells;
};
std::vector<CohortView> CohortStatus(const State& state);

struct BacklogView {
  std::string name;
  int finished;
  std::vector<std::pair<std::string, int64_t>> asked;  // Sorted by resource.
  int active, inadmissible, every;
};
std::vector<BacklogView> Backlogs(const State& state);

struct UnadmittedView {
  std::string namespace_, local_queue, cluster_queue, reason, underlying_cause;
  int count;
};
std::vector<UnadmittedView> Unadmitted(const State& state);

struct NodeRow {
  std::string name;
  const char* kind;
  int32_t parent;
  bool exists, is_active;
};
std::vector<NodeRow> NodeRows(const State& state);
// Returns "ClusterQueue" or "Cohort".
const char* KindOf(const Forest& forest, NodeId node);

// Usage

// Returns the usage of all queues, or of the active queues, by flavor/resource.
ByName<ByName<int64_t>> UsageByQueue(const State& state, bool active);
// Returns the precise weighted shares of the active queues with a nonzero share.
ByName<double> SharesByQueue(const State& state);
// Returns amounts in units of 10^-9 by LocalQueue, for LocalQueues with amounts. A key is the name of a
// resource for consumed usage, or "penalty:" followed by the name for pending penalties.
ByName<ByName<std::string>> ConsumedByLocalQueue(const State& state);

}  // namespace kueue

#endif  // KUEUE_QUESTIONS_STATUS_H_
