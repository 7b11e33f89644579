// Pending workloads: admission gates, and the QuotaReserved condition while it is false. Mirrors
// pkg/controller/core/workload_controller.go (kueue ff69552e79).
#include "lifecycle/waiting.h"

#include "lifecycle/admissibility.h"
#include "lifecycle/conditions.h"
#include "lifecycle/controllers.h"
#include "lifecycle/devices.h"
#include "lifecycle/queueing.h"

namespace kueue {
namespace {

bool IsSetByScheduler(Reason reason) {
  for (Reason kept : {Reason::kWaitingForQuota, Reason::kNoMatchingFlavor, Reason::kExceedsMaxQuota,
                      Reason::kTopologyPlacementFailed, Reason::kWaitingForPreemptedWorkloads,
                      Reason::kWaitingForPodsReady, Reason::kPendingEvaluation}) {
    if (reason == kept) return true;
  }
  return false;
}

const Reason* BypassReason(const State& state, WorkloadId id) {
  const Workload& workload = state.At(id);
  if (workload.queued == kNoId || workload.place == QueuePlace::kInflight) return nullptr;
  const PendingQueue& pending = state.Queue(workload.queued).pending;
  if (!pending.IsInadmissible(state.workloads, id)) return nullptr;
  return pending.InadmissibleReason(workload.hash);
}

}  // namespace

QueueBlocker QueueBlockerOf(const State& state, const Workload& workload) {
  using Kind = QueueBlocker::Kind;
  const LocalQueue& local = state.Local(workload.local_queue);
  if (!local.exists) return {Kind::kLocalQueueMissing, workload.spec->queue_name};
  if (local.stop_policy != StopPolicy::kNone) return {Kind::kLocalQueueStopped, workload.spec->queue_name};
  const NodeId node = state.QueueOf(workload);
  const bool missing = node == kNoId;
  if (!missing && state.Queue(node).inactivity.IsActive()) return {};
  return {missing ? Kind::kClusterQueueMissing : Kind::kClusterQueueInactive,
          local.cluster_queue == kNoId ? "" : state.forest().Name(local.cluster_queue)};
}

Reason QueueBlocker::ConditionReason() const {
  if (kind == Kind::kNone) return Reason::kEmpty;
  const bool missing = kind == Kind::kLocalQueueMissing || kind == Kind::kClusterQueueMissing;
  return missing ? Reason::kMisconfigured : Reason::kSuspended;
}

Message QueueBlocker::ConditionMessage() const {
  switch (kind) {
    case Kind::kNone:
      return nullptr;
    case Kind::kLocalQueueMissing:
      return Say(Sentence::kLocalQueueMissing, {queue});
    case Kind::kLocalQueueStopped:
      return Say(Sentence::kLocalQueueInactive, {queue});
    case Kind::kClusterQueueMissing:
      return Say(Sentence::kClusterQueueMissing, {queue});
    case Kind::kClusterQueueInactive:
      return Say(Sentence::kClusterQueueInactive, {queue});
  }
  return nullptr;
}

bool IsStale(Reason reason) {
  for (Reason stale : {Reason::kEmpty, Reason::kDeactivated, Reason::kPendingEvaluation, Reason::kSuspended,
                       Reason::kPending}) {
    if (reason == stale) return true;
  }
  return false;
}

bool SyncQuotaReservedFalse(State& state, WorkloadId id) {
  Workload& workload = state.At(id);
  const Condition* current = workload.Find(ConditionType::kQuotaReserved);
  const auto write = [&](Reason reason, const Message& message) {
    const Write done = SetCondition(state, workload, ConditionType::kQuotaReserved, false, reason, message);
    if (done == Write::kContent) state.Record(EventKind::kPending, id);
    return done != Write::kNone;
  };
  // If a gated workload is also blocked for another reason, two writers in Kueue overwrite each other's
  // reason repeatedly. Here, the reason is always the gate.
  const bool gated = HasAdmissionGate(state, workload);
  if (!state.config.gates.unadmitted_workloads_observability) {
    const QueueBlocker blocker = QueueBlockerOf(state, workload);
    return !gated && !blocker.IsNone() && write(Reason::kInadmissible, blocker.ConditionMessage());
  }
  if (gated) return write(Reason::kAdmissionGated, Say(Sentence::kGated, {workload.spec->admission_gate}));
  if (!workload.spec->active) return write(Reason::kDeactivated, Say(Sentence::kDeactivated));
  if (IsOnHold(workload)) return false;
  const QueueBlocker blocker = QueueBlockerOf(state, workload);
  if (!blocker.IsNone()) return write(blocker.ConditionReason(), blocker.ConditionMessage());
  const Inadmissibility error =
      ValidateAdmissibility(state, workload, state.QueueOf(workload), PodTemplates::kAsWritten);
  if (!error.IsNone()) return write(Reason::kMisconfigured, error.ConditionMessage());
  const FeatureGates& gates = state.config.gates;
  const bool may_bypass =
      gates.scheduling_equivalence_hashing &&
      (current != nullptr ? IsStale(current->reason) : gates.unadmitted_workloads_explicit_status);
  if (const Reason* kept = may_bypass ? BypassReason(state, id) : nullptr) {
    return write(*kept, Say(Sentence::kBypassed));
  }
  if (current != nullptr && IsSetByScheduler(current->reason)) return false;
  if (current == nullptr && !gates.unadmitted_workloads_explicit_status) return false;
  return write(Reason::kPendingEvaluation, Say(Sentence::kPendingEvaluation));
}

bool WaitsUnchanged(const State& state, const Workload& workload) {
  const FeatureGates& gates = state.config.gates;
  if (workload.place != QueuePlace::kQueued || workload.deleted || !workload.spec->active ||
      workload.devices != nullptr || NeedsDevices(state, workload) || state.config.wait_for_pods_ready ||
      !gates.unadmitted_workloads_observability || gates.unadmitted_workloads_explicit_status ||
      HasAdmissionGate(state, workload)) {
    return false;
  }
  if (workload.status != nullptr) {
    const StatusDetails& status = *workload.status;
    const JobPlace job = status.dispatched.job;
    if (!status.checks.empty() || status.requeue_at || (job != JobPlace::kHere && job != JobPlace::kNone))
      return false;
  }
  bool is_refused = false, is_unadmitted = false;
  for (const Condition& condition : workload.conditions) {
    if (condition.generation != workload.generation) return false;
    if (condition.type == ConditionType::kQuotaReserved && !condition.status &&
        IsSetByScheduler(condition.reason) && !IsStale(condition.reason)) {
      is_refused = true;
    } else if (condition.type == ConditionType::kAdmitted && !condition.status &&
               condition.reason == Reason::kNoReservation &&
               condition.message == Say(Sentence::kNoReservation)) {
      is_unadmitted = true;
    } else {
      return false;
    }
  }
  if (is_refused != is_unadmitted) return false;
  const NodeId node = ManagedQueue(state, workload);
  return node != kNoId && node == workload.queued && state.forest().IsDeclared(node) &&
         state.Queue(node).checks.empty() && state.Queue(node).inactivity.IsActive() &&
         ValidateAdmissibility(state, workload, node, PodTemplates::kAsWritten).IsNone();
}

bool ReconcileGate(State& state, WorkloadId id) {
  if (!state.config.gates.admission_gated_by) return false;
  const Workload& workload = state.At(id);
  const bool gated = HasAdmissionGate(state, workload), held = workload.HasQuotaReservation();
  const bool says_gated = ReasonIn(workload, ConditionType::kQuotaReserved) == Reason::kAdmissionGated;
  if (gated == says_gated) return false;
  const Reason cleared =
      state.config.gates.unadmitted_workloads_observability ? Reason::kPendingEvaluation : Reason::kPending;
  UnsetQuotaReservation(
      state, id, gated ? Reason::kAdmissionGated : cleared,
      gated ? Say(Sentence::kGated, {workload.spec->admission_gate}) : Say(Sentence::kGateCleared));
  if (held) ReturnToPending(state, id);
  return true;
}

}  // namespace kueue
