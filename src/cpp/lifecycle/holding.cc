// Reconciliation of workloads with a quota reservation: admission checks, stopped queues, pods that do not
// become ready, and the execution time limit. Mirrors pkg/controller/core/workload_controller.go (kueue
// ff69552e79).
#include "lifecycle/holding.h"

#include <algorithm>

#include "lifecycle/conditions.h"
#include "lifecycle/controllers.h"
#include "lifecycle/queueing.h"
#include "state/variants.h"

namespace kueue {
namespace {

// Returns the names of the workload's checks in a state, each followed by its message if `with_messages` is
// set.
std::vector<std::string> ChecksIn(const State& state, const Workload& workload, CheckState check_state,
                                  bool with_messages) {
  std::vector<std::string> names;
  for (const WorkloadCheck& check : workload.Status().checks) {
    if (check.state != check_state) continue;
    names.push_back(state.check_names.Name(check.check));
    if (with_messages) names.push_back(check.message);
  }
  return names;
}

// Releases a quota reservation of a workload that is not admitted.
void Withdraw(State& state, WorkloadId id, Reason granular, const Message& message) {
  const Reason reason =
      state.config.gates.unadmitted_workloads_observability ? granular : Reason::kInadmissible;
  UnsetQuotaReservation(state, id, reason, message);
  ReturnToPending(state, id);
}

// A LocalQueue or ClusterQueue that a workload with quota depends on.
struct Controlling {
  const std::string& name;
  bool exists;
  StopPolicy policy;
  Reason evicted_by;                  // Reason of an eviction.
  Sentence evicts, missing, stopped;  // Messages of an eviction, and of a released reservation.
};

// Evicts a workload, or releases its reservation, if its LocalQueue or ClusterQueue is stopped or missing.
bool ActOnQueue(State& state, WorkloadId id, const Controlling& queue) {
  const Workload& workload = state.At(id);
  if (workload.IsAdmitted()) {
    if (queue.policy != StopPolicy::kHoldAndDrain || workload.IsEvicted()) return false;
    Evict(state, id, queue.evicted_by, Say(queue.evicts));
    return true;
  }
  if (!queue.exists) {
    Withdraw(state, id, Reason::kMisconfigured, Say(queue.missing, {queue.name}));
    return true;
  }
  if (queue.policy == StopPolicy::kNone) return false;
  Withdraw(state, id, Reason::kSuspended, Say(queue.stopped, {queue.name}));
  return true;
}

bool HasTimedOut(const State& state, const Workload& workload) {
  const WaitForPodsReady& config = *state.config.wait_for_pods_ready;
  const Condition* ready = workload.Find(ConditionType::kPodsReady);
  if (ready != nullptr && ready->status) return false;
  if (ready == nullptr || ready->reason == Reason::kWaitForStart) {
    return state.now - workload.Find(ConditionType::kAdmitted)->transition >= config.timeout;
  }
  // As in Kueue (pkg/controller/core/core.go:waitForPodsReady), 0 means that there is no limit.
  const Time recovery = config.recovery_timeout.value_or(0);
  return ready->reason == Reason::kWaitForRecovery && recovery > 0 &&
         state.now - ready->transition >= recovery;
}

// Returns the n-th backoff, without jitter. The first backoff is the base; each later backoff is twice the
// previous one, up to a cap.
Time Backoff(const WaitForPodsReady& config, int64_t n) {
  Time delay = SaturatingMul(config.backoff_base_seconds, kSecond);
  const Time cap =
      config.backoff_max_seconds > 0 ? SaturatingMul(config.backoff_max_seconds, kSecond) : INT64_MAX;
  for (int64_t i = 1; i < n && delay < cap; ++i) delay = delay > cap / 2 ? cap : 2 * delay;
  return n > 1 ? std::min(delay, cap) : delay;
}

}  // namespace

bool SyncChecks(State& state, WorkloadId id, NodeId node) {
  Workload& workload = state.At(id);
  const std::vector<WorkloadCheck>& listed = workload.Status().checks;
  if (state.Queue(node).checks.empty() && listed.empty()) return false;
  const std::vector<CheckId> required = RequiredChecks(state, node, workload);
  if (required.empty() && listed.empty()) return false;
  std::vector<WorkloadCheck> synced;
  bool added = false;
  for (CheckId check : required) {
    const auto known = std::find_if(listed.begin(), listed.end(),
                                    [check](const WorkloadCheck& entry) { return entry.check == check; });
    if (known != listed.end()) {
      synced.push_back(*known);
    } else {
      WorkloadCheck fresh;
      fresh.check = check;
      fresh.transition = state.now;
      synced.push_back(fresh);
      added = true;
    }
  }
  if (!added && synced.size() == listed.size()) return false;
  state.EditStatus(workload).checks = std::move(synced);
  AfterWrite(state, id);
  return true;
}

bool EvictByChecks(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  if (workload.IsEvicted()) return false;
  const bool names_state = !state.config.rules.check_evictions_name_no_state;
  if (HasCheckIn(workload, CheckState::kRejected)) {
    const Sentence rejected = names_state ? Sentence::kChecksRejected : Sentence::kChecksRejectedByName;
    SetCondition(state, workload, ConditionType::kDeactivationTarget, true, Reason::kAdmissionCheck,
                 Say(rejected, ChecksIn(state, workload, CheckState::kRejected, names_state)));
    return true;
  }
  if (!HasCheckIn(workload, CheckState::kRetry)) return false;
  Evict(state, id, Reason::kAdmissionCheck,
        names_state ? Say(Sentence::kChecksRetried, ChecksIn(state, workload, CheckState::kRetry, true))
                    : Say(Sentence::kSomeCheckFalse));
  return true;
}

bool ActOnQueues(State& state, WorkloadId id) {
  const LocalQueue& local = state.Local(state.At(id).local_queue);
  const StopPolicy local_policy = local.exists ? local.stop_policy : StopPolicy::kNone;
  if (ActOnQueue(
          state, id,
          {state.At(id).spec->queue_name, local.exists, local_policy, Reason::kLocalQueueStopped,
           Sentence::kStoppedByLocalQueue, Sentence::kLocalQueueTerminating, Sentence::kLocalQueueStopped})) {
    return true;
  }
  const NodeId node = ManagedQueue(state, state.At(id));
  if (node == kNoId) return false;
  const bool exists = state.forest().IsDeclared(node) && !state.Queue(node).terminating;
  const StopPolicy policy =
      state.forest().IsDeclared(node) ? state.Queue(node).spec.stop_policy : StopPolicy::kNone;
  return ActOnQueue(
      state, id,
      {state.forest().Name(node), exists, policy, Reason::kClusterQueueStopped,
       Sentence::kStoppedByClusterQueue, Sentence::kClusterQueueTerminating, Sentence::kClusterQueueStopped});
}

bool ReconcilePodsReadyTimeout(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  if (!state.config.wait_for_pods_ready || !workload.IsAdmitted() || !workload.spec->active ||
      workload.IsEvicted() || IsVariant(state, workload)) {
    return false;
  }
  if (!HasTimedOut(state, workload)) return false;
  const WaitForPodsReady& config = *state.config.wait_for_pods_ready;
  const int64_t count = workload.Status().requeue_count.value_or(0) + 1;
  if (config.backoff_limit_count && count > *config.backoff_limit_count) {
    return SetCondition(state, workload, ConditionType::kDeactivationTarget, true,
                        Reason::kRequeuingLimitExceeded, Say(Sentence::kRequeuingLimit)) != Write::kNone;
  }
  StatusDetails& status = state.EditStatus(workload);
  status.requeue_count = count;
  const Time until = SaturatingAdd(state.now, Backoff(config, count));
  if (!status.requeue_at || *status.requeue_at < until) status.requeue_at = until;
  Evict(state, id, Reason::kPodsReadyTimeout, Say(Sentence::kPodsReadyTimeout, {workload.Key()}));
  return true;
}

bool ReconcileExecutionTime(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  if (!workload.IsAdmitted() || !workload.spec->maximum_execution_time_seconds) return false;
  const Time past = SaturatingMul(workload.Status().past_execution_seconds.value_or(0), kSecond);
  const Time running = state.now - workload.Find(ConditionType::kAdmitted)->transition;
  const Time allowed = SaturatingMul(*workload.spec->maximum_execution_time_seconds, kSecond);
  if (SaturatingSub(SaturatingSub(allowed, past), running) > 0) return false;
  if (workload.IsTrue(ConditionType::kDeactivationTarget)) return false;
  SetCondition(state, workload, ConditionType::kDeactivationTarget, true,
               Reason::kMaximumExecutionTimeExceeded, Say(Sentence::kExecutionTime));
  if (workload.Status().past_execution_seconds)
    state.EditStatus(workload).past_execution_seconds = std::nullopt;
  return true;
}

}  // namespace kueue
