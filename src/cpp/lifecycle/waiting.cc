// Waiting for quota: admission gates, and what QuotaReserved says while it is false.
// Mirrors pkg/controller/core/workload_controller.go (kueue ff69552e79).
#include "absl/strings/str_cat.h"
#include "lifecycle/admissibility.h"
#include "lifecycle/conditions.h"
#include "lifecycle/controllers.h"
#include "lifecycle/steps.h"

namespace kueue {
namespace {

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
  return pending.InadmissibleReason(workload.cls);
}

Message GatedBy(const Workload& workload) {
  return Say("Admission is gated by: " + workload.spec->admission_gate);
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

bool IsStale(int32_t reason) {
  for (Reason stale : {Reason::kEmpty, Reason::kDeactivated, Reason::kPendingEvaluation, Reason::kSuspended,
                       Reason::kPending}) {
    if (reason == Id(stale)) return true;
  }
  return false;
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

}  // namespace kueue
