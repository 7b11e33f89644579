// Requeuing of workloads: backoffs, deactivation and reactivation. Mirrors
// pkg/controller/core/workload_controller.go (kueue ff69552e79).
#include "lifecycle/returning.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lifecycle/conditions.h"
#include "lifecycle/controllers.h"
#include "lifecycle/devices.h"
#include "lifecycle/dispatched.h"
#include "lifecycle/queueing.h"

namespace kueue {
namespace {

// Returns the latest retry time requested by a check in state Retry.
std::optional<Time> RetryTime(const Workload& workload) {
  std::optional<Time> latest;
  for (const WorkloadCheck& check : workload.Status().checks) {
    if (check.state != CheckState::kRetry || !check.requeue_after_seconds) continue;
    const Time time = SaturatingAdd(check.transition, SaturatingMul(*check.requeue_after_seconds, kSecond));
    latest = std::max(latest.value_or(time), time);
  }
  return latest;
}

// Returns the eviction reason for a deactivation with this cause.
Reason DeactivationReason(State& state, Reason cause) {
  if (cause == Reason::kAdmissionCheck) return Reason::kDeactivatedDueToAdmissionCheck;
  if (cause == Reason::kRequeuingLimitExceeded) return Reason::kDeactivatedDueToRequeuingLimitExceeded;
  if (cause == Reason::kMaximumExecutionTimeExceeded)
    return Reason::kDeactivatedDueToMaximumExecutionTimeExceeded;
  return InternReason(state, ("DeactivatedDueTo" + state.reasons.Name(cause)).c_str());
}

}  // namespace

bool IsRequeuedFalseBecause(const Workload& workload, Reason reason) {
  return workload.IsFalse(ConditionType::kRequeued) && ReasonIn(workload, ConditionType::kRequeued) == reason;
}

bool SetRequeued(State& state, WorkloadId id, bool status, Reason reason, const Message& message) {
  Workload& workload = state.At(id);
  if (SetCondition(state, workload, ConditionType::kRequeued, status, reason, message) == Write::kNone)
    return false;
  if (workload.HasQuotaReservation()) {
    AfterWrite(state, id);
  } else {
    AddOrUpdate(state, id, /*changed=*/true);
  }
  return true;
}

bool SetActive(State& state, WorkloadId id, bool active) {
  Workload& workload = state.At(id);
  if (workload.spec->active == active) return false;
  auto spec = std::make_shared<WorkloadSpec>(*workload.spec);
  spec->active = active;
  workload.spec = std::move(spec);
  ++workload.generation;
  state.MarkDirty(id);
  if (!active || workload.IsFinished()) {
    LeaveEverything(state, id);
  } else if (workload.HasQuotaReservation()) {
    RefreshCharge(state, id);
  } else {
    AddOrUpdate(state, id, /*changed=*/true);
  }
  return true;
}

bool PropagateRetryTime(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  const std::optional<Time> retry = RetryTime(workload);
  if (!retry || *retry <= state.now) return false;
  // Kueue writes this time and, if the workload is inactive and evicted, deletes it again, repeatedly until
  // the time has passed. Here, the time is not written in that case.
  if (!workload.spec->active && workload.IsEvicted()) return false;
  const std::optional<Time>& stored = workload.Status().requeue_at;
  if (stored && *stored >= *retry) return false;
  state.EditStatus(workload).requeue_at = retry;
  AfterWrite(state, id);
  return true;
}

Reconciled ReconcileActive(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  if (workload.IsTrue(ConditionType::kDeactivationTarget)) {
    SetActive(state, id, false);
    return Reconciled::kChanged;
  }
  if (workload.Status().requeue_at) {
    if (*workload.Status().requeue_at > state.now) return Reconciled::kWait;
    if (!workload.HasQuotaReservation()) {
      state.EditStatus(workload).requeue_at = std::nullopt;
      if (!NeedsDevices(state, workload)) {
        AddOrUpdate(state, id, /*changed=*/false);
      } else if (IsAdmissible(state, workload)) {
        AddOrUpdateUncounted(state, id);  // The next reconciliation counts its devices again.
      }
      return Reconciled::kChanged;
    }
  }
  if (!workload.IsFalse(ConditionType::kRequeued)) return Reconciled::kGoOn;
  if (IsRequeuedFalseBecause(workload, Reason::kDeactivated)) {
    SetRequeued(state, id, true, Reason::kReactivated, Say(Sentence::kReactivated));
    return Reconciled::kChanged;
  }
  if (IsRequeuedFalseBecause(workload, Reason::kPodsReadyTimeout) ||
      IsRequeuedFalseBecause(workload, Reason::kAdmissionCheck)) {
    if (workload.Status().requeue_at) state.EditStatus(workload).requeue_at = std::nullopt;
    SetRequeued(state, id, true, Reason::kBackoffFinished, Say(Sentence::kBackoffFinished));
    return Reconciled::kChanged;
  }
  return Reconciled::kGoOn;
}

Reconciled ReconcileInactive(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  const bool evict = !workload.IsEvicted();
  const bool has_requeue_state = workload.Status().requeue_at || workload.Status().requeue_count;
  if (!evict && !has_requeue_state) return Reconciled::kGoOn;
  const Condition* target = workload.Find(ConditionType::kDeactivationTarget);
  Reason reason = Reason::kDeactivated;
  Message message = Say(Sentence::kDeactivated);
  if (target != nullptr) {
    reason = DeactivationReason(state, target->reason);
    message = std::make_shared<const MessageBody>(DeactivatedDueTo{target->message});
    RemoveCondition(workload, ConditionType::kDeactivationTarget);
  }
  if (has_requeue_state) {
    StatusDetails& status = state.EditStatus(workload);
    status.requeue_at = std::nullopt;
    status.requeue_count = std::nullopt;
  }
  if (evict) Evict(state, id, reason, message);
  AfterWrite(state, id);
  return Reconciled::kChanged;
}

}  // namespace kueue
