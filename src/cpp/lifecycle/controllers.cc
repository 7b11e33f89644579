// Mirrors pkg/controller/core/workload_controller.go and pkg/controller/jobframework/reconciler.go
// (kueue ff69552e79).
#include "lifecycle/controllers.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "fairness/ledger.h"
#include "lifecycle/admissibility.h"
#include "lifecycle/conditions.h"
#include "lifecycle/queueing.h"

namespace kueue {
namespace {

int32_t Id(Reason reason) { return static_cast<int32_t>(reason); }

// The reason of a condition, or Reason::kEmpty where there is none.
int32_t ReasonIn(const Workload& workload, ConditionType type) {
  const Condition* condition = workload.Find(type);
  return condition == nullptr ? Id(Reason::kEmpty) : condition->reason;
}

bool IsRequeuedFalseBecause(const Workload& workload, Reason reason) {
  return workload.IsFalse(ConditionType::kRequeued) &&
         ReasonIn(workload, ConditionType::kRequeued) == Id(reason);
}

bool SetRequeued(State& state, WorkloadId id, bool status, Reason reason, Message message) {
  Workload& workload = state.At(id);
  if (!SetCondition(state, workload, ConditionType::kRequeued, status, reason, std::move(message)))
    return false;
  if (workload.HasQuotaReservation()) {
    AfterWrite(state, id);
  } else {
    AddOrUpdate(state, id, /*changed=*/true);
  }
  return true;
}

// --- backoffs and deactivation
// --------------------------------------------------------------------------------------

// The latest time that a check in Retry asks to wait for.
std::optional<Time> RetryTime(const Workload& workload) {
  std::optional<Time> latest;
  for (const WorkloadCheck& check : workload.Life().checks) {
    if (check.state != CheckState::kRetry || !check.requeue_after_seconds) continue;
    const Time time = check.transition + *check.requeue_after_seconds * kSecond;
    latest = std::max(latest.value_or(time), time);
  }
  return latest;
}

bool PropagateRetryTime(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  const std::optional<Time> retry = RetryTime(workload);
  if (!retry || *retry <= state.now) return false;
  // Kueue writes the time and, once the workload is inactive and evicted, deletes it again, without end until
  // the time has come; here there is none.
  if (!workload.spec->active && workload.IsEvicted()) return false;
  const std::optional<Time>& stored = workload.Life().requeue_at;
  if (stored && *stored >= *retry) return false;
  state.EditLife(workload).requeue_at = retry;
  AfterWrite(state, id);
  return true;
}

enum class Outcome { kGoOn, kChanged, kWait };

Outcome ReconcileActive(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  if (workload.IsTrue(ConditionType::kDeactivationTarget)) {
    auto spec = std::make_shared<WorkloadSpec>(*workload.spec);
    spec->active = false;
    workload.spec = std::move(spec);
    LeaveEverything(state, id);
    return Outcome::kChanged;
  }
  if (workload.Life().requeue_at) {
    if (*workload.Life().requeue_at > state.now) return Outcome::kWait;
    if (!workload.HasQuotaReservation()) {
      state.EditLife(workload).requeue_at = std::nullopt;
      AddOrUpdate(state, id, /*changed=*/false);
      return Outcome::kChanged;
    }
  }
  static const Message* const reactivated = new Message(Say("The workload was reactivated"));
  static const Message* const finished = new Message(Say("The workload backoff was finished"));
  if (IsRequeuedFalseBecause(workload, Reason::kDeactivated)) {
    SetRequeued(state, id, true, Reason::kReactivated, *reactivated);
    return Outcome::kChanged;
  }
  if (IsRequeuedFalseBecause(workload, Reason::kPodsReadyTimeout) ||
      IsRequeuedFalseBecause(workload, Reason::kAdmissionCheck)) {
    if (workload.Life().requeue_at) state.EditLife(workload).requeue_at = std::nullopt;
    SetRequeued(state, id, true, Reason::kBackoffFinished, *finished);
    return Outcome::kChanged;
  }
  return Outcome::kGoOn;
}

Reason DeactivationReason(int32_t cause) {
  if (cause == Id(Reason::kAdmissionCheck)) return Reason::kDeactivatedDueToAdmissionCheck;
  if (cause == Id(Reason::kRequeuingLimitExceeded)) return Reason::kDeactivatedDueToRequeuingLimitExceeded;
  return Reason::kDeactivatedDueToMaximumExecutionTimeExceeded;
}

Outcome ReconcileInactive(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  const bool evict = !workload.IsEvicted();
  const bool has_requeue_state = workload.Life().requeue_at || workload.Life().requeue_count;
  if (!evict && !has_requeue_state) return Outcome::kGoOn;
  const Condition* target = workload.Find(ConditionType::kDeactivationTarget);
  Reason reason = Reason::kDeactivated;
  Message message = Say("The workload is deactivated");
  if (target != nullptr) {
    reason = DeactivationReason(target->reason);
    const Literal* why = target->message ? std::get_if<Literal>(target->message.get()) : nullptr;
    message = Say(absl::StrCat("The workload is deactivated due to ", why != nullptr ? why->text : ""));
    RemoveCondition(workload, ConditionType::kDeactivationTarget);
  }
  if (has_requeue_state) {
    Lifecycle& life = state.EditLife(workload);
    life.requeue_at = std::nullopt;
    life.requeue_count = std::nullopt;
  }
  if (evict) Evict(state, id, reason, message);
  AfterWrite(state, id);
  return Outcome::kChanged;
}

// --- queues
// ---------------------------------------------------------------------------------------------------------

// The ClusterQueue that the queue manager knows for a workload: a LocalQueue that is stopped or missing has
// left it, so no ClusterQueue does. Mirrors pkg/cache/queue/manager.go:ClusterQueueForWorkload.
NodeId ManagedQueue(const State& state, const Workload& workload) {
  const LocalQueue& local = state.Local(workload.local_queue);
  return local.IsRunning() ? local.cluster_queue : kNoId;
}

bool SyncChecks(State& state, WorkloadId id, NodeId node) {
  Workload& workload = state.At(id);
  const std::vector<CheckId> required = RequiredChecks(state.Queue(node), workload);
  const std::vector<WorkloadCheck>& listed = workload.Life().checks;
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
  state.EditLife(workload).checks = std::move(synced);
  AfterWrite(state, id);
  return true;
}

}  // namespace

std::pair<Reason, std::string> QueueBlocker(const State& state, const Workload& workload) {
  const LocalQueue& local = state.Local(workload.local_queue);
  const std::string& name = workload.spec->queue_name;
  if (!local.exists) return {Reason::kMisconfigured, absl::StrCat("LocalQueue ", name, " doesn't exist")};
  if (local.stop_policy != StopPolicy::kNone) {
    return {Reason::kSuspended, absl::StrCat("LocalQueue ", name, " is inactive")};
  }
  const std::string queue = local.cluster_queue == kNoId ? "" : state.forest().Name(local.cluster_queue);
  const NodeId node = state.QueueOf(workload);
  if (node == kNoId) return {Reason::kMisconfigured, absl::StrCat("ClusterQueue ", queue, " doesn't exist")};
  if (!state.Queue(node).inactivity.reason.empty()) {
    return {Reason::kSuspended, absl::StrCat("ClusterQueue ", queue, " is inactive")};
  }
  return {Reason::kEmpty, ""};
}

namespace {

// Reasons that tell nothing of a scheduling attempt, so that a bypass may replace them
// (shouldCheckEquivalenceHash).
bool IsStale(int32_t reason) {
  for (Reason stale : {Reason::kEmpty, Reason::kDeactivated, Reason::kPendingEvaluation, Reason::kSuspended,
                       Reason::kPending}) {
    if (reason == Id(stale)) return true;
  }
  return false;
}

bool IsSetByScheduler(int32_t reason) {
  for (Reason kept : {Reason::kWaitingForQuota, Reason::kNoMatchingFlavor, Reason::kExceedsMaxQuota,
                      Reason::kTopologyPlacementFailed, Reason::kWaitingForPreemptedWorkloads,
                      Reason::kWaitingForPodsReady, Reason::kPendingEvaluation}) {
    if (reason == Id(kept)) return true;
  }
  return false;
}

const Reason* BypassReason(const State& state, WorkloadId id) {
  const Workload& workload = state.At(id);
  if (workload.queued == kNoId || workload.place == QueuePlace::kInflight) return nullptr;
  const PendingQueue& pending = state.Queue(workload.queued).pending;
  if (!pending.IsInadmissible(state.workloads, id)) return nullptr;
  return pending.ParkedReason(workload.cls);
}

Message GatedBy(const Workload& workload) {
  return Say("Admission is gated by: " + workload.spec->admission_gate);
}

bool SyncQuotaReservedFalse(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  const Condition* current = workload.Find(ConditionType::kQuotaReserved);
  const auto write = [&](Reason reason, Message message) {
    const bool changed =
        SetCondition(state, workload, ConditionType::kQuotaReserved, false, reason, std::move(message));
    if (changed) state.Record(EventKind::kPending, id);
    return changed;
  };
  // Kueue's own two writers disagree about a gated workload that something else stands in the way of, too,
  // and overwrite each other without end; here the gate stays.
  const bool gated = HasAdmissionGate(state, workload);
  if (!state.config.gates.unadmitted_workloads_observability) {
    const auto [reason, text] = QueueBlocker(state, workload);
    return !gated && !text.empty() && write(Reason::kInadmissible, Say(text));
  }
  static const Message* const deactivated = new Message(Say("The workload is deactivated"));
  if (gated) return write(Reason::kAdmissionGated, GatedBy(workload));
  if (!workload.spec->active) return write(Reason::kDeactivated, *deactivated);
  if (IsOnHold(workload)) return false;
  const auto [reason, text] = QueueBlocker(state, workload);
  if (!text.empty()) return write(reason, Say(text));
  const Inadmissibility error =
      ValidateAdmissibility(state, workload, state.QueueOf(workload), PodTemplates::kAsWritten);
  if (!error.text.empty()) return write(Reason::kMisconfigured, Say(error.text));
  const FeatureGates& gates = state.config.gates;
  const bool may_bypass =
      gates.scheduling_equivalence_hashing &&
      (current != nullptr ? IsStale(current->reason) : gates.unadmitted_workloads_explicit_status);
  static const Message* const bypassed =
      new Message(Say("Bypassed scheduling evaluation because an equivalent workload recently failed"));
  if (const Reason* kept = may_bypass ? BypassReason(state, id) : nullptr) return write(*kept, *bypassed);
  if (current != nullptr && IsSetByScheduler(current->reason)) return false;
  if (current == nullptr && !gates.unadmitted_workloads_explicit_status) return false;
  static const Message* const pending =
      new Message(Say("Workload is pending evaluation in the scheduling queue"));
  return write(Reason::kPendingEvaluation, *pending);
}

bool ReconcileGate(State& state, WorkloadId id) {
  if (!state.config.gates.admission_gated_by) return false;
  const Workload& workload = state.At(id);
  const bool gated = HasAdmissionGate(state, workload), held = workload.HasQuotaReservation();
  const bool says_gated = ReasonIn(workload, ConditionType::kQuotaReserved) == Id(Reason::kAdmissionGated);
  if (gated == says_gated) return false;
  const Reason cleared =
      state.config.gates.unadmitted_workloads_observability ? Reason::kPendingEvaluation : Reason::kPending;
  static const Message* const waits =
      new Message(Say("AdmissionGatedBy cleared, waiting for quota reservation"));
  UnsetQuotaReservation(state, id, gated ? Reason::kAdmissionGated : cleared,
                        gated ? GatedBy(workload) : *waits);
  if (held) ReturnToPending(state, id);
  return true;
}

// --- workloads that hold quota
// --------------------------------------------------------------------------------------

std::string ChecksMessage(const State& state, const Workload& workload, CheckState check_state,
                          const char* name) {
  std::string parts;
  int count = 0;
  for (const WorkloadCheck& check : workload.Life().checks) {
    if (check.state != check_state) continue;
    absl::StrAppend(&parts, count++ == 0 ? "" : "; ", "\"", state.check_names.Name(check.check), "\"");
    if (!check.message.empty()) absl::StrAppend(&parts, " (", check.message, ")");
  }
  return absl::StrCat(count > 1 ? "AdmissionChecks" : "AdmissionCheck", " in ", name, " state: ", parts);
}

bool EvictByChecks(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  if (workload.IsEvicted()) return false;
  if (HasCheckIn(workload, CheckState::kRejected)) {
    SetCondition(state, workload, ConditionType::kDeactivationTarget, true, Reason::kAdmissionCheck,
                 Say(ChecksMessage(state, workload, CheckState::kRejected, "Rejected")));
    return true;
  }
  if (!HasCheckIn(workload, CheckState::kRetry)) return false;
  Evict(state, id, Reason::kAdmissionCheck,
        Say("Evicted due to " + ChecksMessage(state, workload, CheckState::kRetry, "Retry")));
  return true;
}

// Withdraws a reservation that is not (yet) an admission.
void Withdraw(State& state, WorkloadId id, Reason granular, std::string text) {
  const Reason reason =
      state.config.gates.unadmitted_workloads_observability ? granular : Reason::kInadmissible;
  UnsetQuotaReservation(state, id, reason, Say(std::move(text)));
  ReturnToPending(state, id);
}

// What a stopped or missing queue of either kind does to a workload that holds quota.
bool ActOnQueue(State& state, WorkloadId id, bool exists, StopPolicy policy, const char* kind,
                const std::string& name, Reason stopped) {
  const Workload& workload = state.At(id);
  if (workload.IsAdmitted()) {
    if (policy != StopPolicy::kHoldAndDrain || workload.IsEvicted()) return false;
    Evict(state, id, stopped, Say(absl::StrCat("The ", kind, " is stopped")));
    return true;
  }
  if (!exists) {
    Withdraw(state, id, Reason::kMisconfigured, absl::StrCat(kind, " ", name, " is terminating or missing"));
    return true;
  }
  if (policy == StopPolicy::kNone) return false;
  Withdraw(state, id, Reason::kSuspended, absl::StrCat(kind, " ", name, " is stopped"));
  return true;
}

bool ActOnQueues(State& state, WorkloadId id) {
  const LocalQueue& local = state.Local(state.At(id).local_queue);
  if (ActOnQueue(state, id, local.exists, local.exists ? local.stop_policy : StopPolicy::kNone, "LocalQueue",
                 state.At(id).spec->queue_name, Reason::kLocalQueueStopped)) {
    return true;
  }
  const NodeId node = ManagedQueue(state, state.At(id));
  if (node == kNoId) return false;
  const bool exists = state.forest().IsDeclared(node) && !state.Queue(node).terminating;
  const StopPolicy policy =
      state.forest().IsDeclared(node) ? state.Queue(node).spec.stop_policy : StopPolicy::kNone;
  return ActOnQueue(state, id, exists, policy, "ClusterQueue", state.forest().Name(node),
                    Reason::kClusterQueueStopped);
}

bool HasTimedOut(const State& state, const Workload& workload) {
  const WaitForPodsReady& config = *state.config.wait_for_pods_ready;
  const Condition* ready = workload.Find(ConditionType::kPodsReady);
  if (ready != nullptr && ready->status) return false;
  if (ready == nullptr || ready->reason == Id(Reason::kWaitForStart)) {
    return state.now - workload.Find(ConditionType::kAdmitted)->transition >= config.timeout;
  }
  return ready->reason == Id(Reason::kWaitForRecovery) && config.recovery_timeout &&
         state.now - ready->transition >= *config.recovery_timeout;
}

// The n-th backoff: the base, then doubling up to the cap, which does not apply to the first (no jitter
// here).
Time Backoff(const WaitForPodsReady& config, int64_t n) {
  Time delay = config.backoff_base_seconds * kSecond;
  const Time cap = config.backoff_max_seconds > 0 ? config.backoff_max_seconds * kSecond : INT64_MAX;
  for (int64_t i = 1; i < n && delay < cap; ++i) delay = delay > cap / 2 ? cap : 2 * delay;
  return n > 1 ? std::min(delay, cap) : delay;
}

bool ReconcilePodsReadyTimeout(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  if (!state.config.wait_for_pods_ready || !workload.IsAdmitted() || !workload.spec->active ||
      workload.IsEvicted()) {
    return false;
  }
  if (!HasTimedOut(state, workload)) return false;
  const WaitForPodsReady& config = *state.config.wait_for_pods_ready;
  const int64_t count = workload.Life().requeue_count.value_or(0) + 1;
  if (config.backoff_limit_count && count > *config.backoff_limit_count) {
    return SetCondition(state, workload, ConditionType::kDeactivationTarget, true,
                        Reason::kRequeuingLimitExceeded,
                        Say("exceeding the maximum number of re-queuing retries"));
  }
  Lifecycle& life = state.EditLife(workload);
  life.requeue_count = count;
  const Time until = state.now + Backoff(config, count);
  if (!life.requeue_at || *life.requeue_at < until) life.requeue_at = until;
  Evict(state, id, Reason::kPodsReadyTimeout,
        Say(absl::StrCat("Exceeded the PodsReady timeout ", workload.Key())));
  return true;
}

bool ReconcileExecutionTime(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  if (!workload.IsAdmitted() || !workload.spec->maximum_execution_time_seconds) return false;
  const Time past = workload.Life().past_execution_seconds.value_or(0) * kSecond;
  const Time running = state.now - workload.Find(ConditionType::kAdmitted)->transition;
  if (*workload.spec->maximum_execution_time_seconds * kSecond - past - running > 0) return false;
  if (workload.IsTrue(ConditionType::kDeactivationTarget)) return false;
  SetCondition(state, workload, ConditionType::kDeactivationTarget, true,
               Reason::kMaximumExecutionTimeExceeded, Say("exceeding the maximum execution time"));
  if (workload.Life().past_execution_seconds) state.EditLife(workload).past_execution_seconds = std::nullopt;
  return true;
}

// Whether only time, or another workload's failure, can give the controllers something to do here.
bool NeedsWatching(const State& state, const Workload& workload) {
  if (workload.deleted || workload.IsFinished()) return false;
  if (workload.Life().requeue_at || workload.HasQuotaReservation()) {
    return workload.Life().requeue_at || state.config.wait_for_pods_ready ||
           workload.spec->maximum_execution_time_seconds || workload.IsEvicted();
  }
  const Condition* reserved = workload.Find(ConditionType::kQuotaReserved);
  return reserved != nullptr && IsStale(reserved->reason);
}

}  // namespace

void AfterAdmission(State& state, WorkloadId id) {
  const NodeId node = state.At(id).admission->cluster_queue;
  if (UsesAdmissionFairSharing(state, node)) SettlePenalty(state, id);
}

void AfterWrite(State& state, WorkloadId id) {
  const Workload& workload = state.At(id);
  if (workload.IsFinished() || !workload.spec->active) {
    LeaveEverything(state, id);
  } else if (workload.charged != kNoId) {
    ++state.Queue(workload.charged).generation;
  } else if (!workload.HasQuotaReservation()) {
    AddOrUpdate(state, id, /*changed=*/false);
  }
}

void LeaveEverything(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  RemoveFromQueue(state, id);
  DischargeAdmission(state, id);
  state.NotifyRetryFor(workload);
  if (!workload.HasQuotaReservation() || workload.IsFinished() || workload.deleted) DropPenalty(state, id);
  state.MarkDirty(id);
}

void ReturnToPending(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  DischargeAdmission(state, id);
  workload.queue_time = QueueOrderTime(state, workload);
  workload.progress = nullptr;
  const std::optional<Time>& requeue_at = workload.Life().requeue_at;
  if (!requeue_at || *requeue_at <= state.now) AddOrUpdate(state, id, /*changed=*/true);
  state.NotifyRetryFor(workload);
  if (!workload.spec->active) DropPenalty(state, id);
  state.MarkDirty(id);
}

void ReleaseEvicted(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  const Condition evicted = *workload.Find(ConditionType::kEvicted);
  const bool by_pod =
      state.config.gates.skip_reassignment_for_pod_owned_workloads && workload.owned_by_single_pod;
  const bool requeued =
      (evicted.reason == Id(Reason::kPreempted) || evicted.reason == Id(Reason::kNodeFailures)) && !by_pod;
  SetCondition(state, workload, ConditionType::kRequeued, requeued, static_cast<Reason>(evicted.reason),
               evicted.message);
  const Reason reason =
      state.config.gates.unadmitted_workloads_observability ? Reason::kPendingEvaluation : Reason::kPending;
  UnsetQuotaReservation(state, id, reason, evicted.message);
  ReturnToPending(state, id);
}

bool ReconcileWorkload(State& state, WorkloadId id) {
  if (state.At(id).deleted || state.At(id).IsFinished()) return false;
  if (PropagateRetryTime(state, id)) return true;
  const Outcome outcome =
      state.At(id).spec->active ? ReconcileActive(state, id) : ReconcileInactive(state, id);
  if (outcome != Outcome::kGoOn) return outcome == Outcome::kChanged;
  Workload& workload = state.At(id);
  static const Message* const local_restarted =
      new Message(Say("The LocalQueue was restarted after being stopped"));
  static const Message* const queue_restarted =
      new Message(Say("The ClusterQueue was restarted after being stopped"));
  const LocalQueue& local = state.Local(workload.local_queue);
  if (local.IsRunning() && IsRequeuedFalseBecause(workload, Reason::kLocalQueueStopped)) {
    return SetRequeued(state, id, true, Reason::kLocalQueueRestarted, *local_restarted);
  }
  if (ReconcileGate(state, id)) return true;
  const NodeId node = ManagedQueue(state, workload);
  if (node != kNoId && state.forest().IsDeclared(node)) {
    if (IsRequeuedFalseBecause(workload, Reason::kClusterQueueStopped) &&
        state.Queue(node).spec.stop_policy == StopPolicy::kNone) {
      return SetRequeued(state, id, true, Reason::kClusterQueueRestarted, *queue_restarted);
    }
    if (SyncChecks(state, id, node)) return true;
  }
  bool changed = false;
  if (!workload.IsAdmitted()) {
    if (!workload.HasQuotaReservation()) changed = SyncQuotaReservedFalse(state, id);
    if (SyncAdmitted(state, id)) {
      changed = true;
      if (workload.IsAdmitted()) AfterAdmission(state, id);
    }
    if (changed) AfterWrite(state, id);
  }
  if (!workload.HasQuotaReservation()) return changed;
  if (EvictByChecks(state, id) || ActOnQueues(state, id)) {
    AfterWrite(state, id);
    return true;
  }
  const bool timed_out = ReconcilePodsReadyTimeout(state, id), exceeded = ReconcileExecutionTime(state, id);
  if (timed_out || exceeded) AfterWrite(state, id);
  return changed || timed_out || exceeded;
}

bool ReconcileJob(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  if (workload.deleted || workload.IsFinished()) return false;
  if (state.config.wait_for_pods_ready) {
    static const Message* const all_ready =
        new Message(Say("All pods reached readiness and the workload is running"));
    static const Message* const not_ready = new Message(Say("Not all pods are ready or succeeded"));
    static const Message* const failed =
        new Message(Say("At least one pod has failed, waiting for recovery"));
    const Condition* known = workload.Find(ConditionType::kPodsReady);
    Reason reason = Reason::kWaitForStart;
    bool ready = false;
    if (workload.IsAdmitted()) {
      const bool recovering = known != nullptr && (known->reason == Id(Reason::kWaitForRecovery) ||
                                                   known->reason == Id(Reason::kRecovered));
      ready = workload.Life().pods_ready;
      if (ready) {
        reason = recovering ? Reason::kRecovered : Reason::kStarted;
      } else if (known != nullptr && (known->status || known->reason == Id(Reason::kWaitForRecovery))) {
        reason = Reason::kWaitForRecovery;
      }
    }
    if (known == nullptr || known->status != ready || known->reason != Id(reason)) {
      const Message& message = ready ? *all_ready : reason == Reason::kWaitForStart ? *not_ready : *failed;
      SetCondition(state, workload, ConditionType::kPodsReady, ready, reason, message);
      if (ready) state.Record(EventKind::kPodsReady, id);
      AfterWrite(state, id);
      state.MarkDirty(id);
      return true;
    }
  }
  if (!workload.IsEvicted()) return false;
  if (workload.Life().pods_ready)
    state.EditLife(workload).pods_ready = false;  // a stopped job's pods are gone
  if (!workload.HasQuotaReservation()) return false;
  if (state.now - workload.Find(ConditionType::kEvicted)->transition < state.stop_delay) return false;
  ReleaseEvicted(state, id);
  return true;
}

void Settle(State& state) {
  state.EnsureBuilt();
  std::vector<WorkloadId> round, watched;
  while (!state.dirty.empty()) {
    round.swap(state.dirty);
    state.dirty.clear();
    for (WorkloadId id : round) state.is_dirty[static_cast<size_t>(id)] = false;
    std::sort(round.begin(), round.end(), [&state](WorkloadId a, WorkloadId b) {
      const Workload &left = state.At(a), &right = state.At(b);
      if (left.spec->ns != right.spec->ns) return left.spec->ns + "/" < right.spec->ns + "/";
      return left.name != right.name ? left.name < right.name : a < b;
    });
    for (WorkloadId id : round) {
      const bool by_workload = ReconcileWorkload(state, id);
      const bool by_job = ReconcileJob(state, id);
      if (by_workload || by_job) {
        state.MarkDirty(id);
      } else if (NeedsWatching(state, state.At(id))) {
        watched.push_back(id);
      }
    }
    round.clear();
  }
  for (WorkloadId id : watched) state.MarkDirty(id);
  if (state.config.admission_fair_sharing) Sample(state);
}

}  // namespace kueue
