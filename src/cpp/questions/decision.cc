#include "questions/decision.h"

#include "absl/strings/str_cat.h"
#include "lifecycle/conditions.h"
#include "lifecycle/devices.h"
#include "lifecycle/waiting.h"

namespace kueue {
namespace {

Verdict VerdictOf(const Entry& entry, bool assumed) {
  if (assumed) return Verdict::kAdmitted;
  const bool preempts = entry.nominated && entry.assignment.mode == Mode::kPreempt &&
                        !entry.targets.empty() && entry.status == EntryStatus::kNotNominated;
  return preempts ? Verdict::kPreempting : Verdict::kPending;
}

DecisionRecord Common(const State& state, const Entry& entry, bool assumed) {
  DecisionRecord record;
  record.workload = state.At(entry.workload).Key();
  record.queue = entry.queue;
  record.verdict = VerdictOf(entry, assumed);
  record.borrowing = entry.assignment.borrowing;
  if (record.verdict == Verdict::kPreempting) {
    for (const Target& target : entry.targets) {
      const Workload& victim = state.At(target.workload);
      record.targets.push_back({victim.Key(), target.reason, victim.charged});
    }
  }
  for (const PodSetAssignment& pod_set : entry.assignment.pod_sets) {
    for (const FlavorAttempt& attempt : pod_set.attempts)
      record.attempts.emplace_back(pod_set.pod_set, attempt);
  }
  return record;
}

Obstacle::Kind KindOf(QueueBlocker::Kind kind) {
  switch (kind) {
    case QueueBlocker::Kind::kNone:
      break;
    case QueueBlocker::Kind::kLocalQueueMissing:
      return Obstacle::Kind::kLocalQueueMissing;
    case QueueBlocker::Kind::kLocalQueueStopped:
      return Obstacle::Kind::kLocalQueueStopped;
    case QueueBlocker::Kind::kClusterQueueMissing:
      return Obstacle::Kind::kClusterQueueMissing;
    case QueueBlocker::Kind::kClusterQueueInactive:
      return Obstacle::Kind::kClusterQueueInactive;
  }
  return Obstacle::Kind::kNone;
}

// The condition records whether a workload is on hold or waits for pods to become ready.
Obstacle HoldUpOf(const State& state, const Workload& workload) {
  const Condition* reserved = workload.Find(ConditionType::kQuotaReserved);
  const bool waits = state.waiting.start != nullptr && workload.place == QueuePlace::kInflight;
  for (Reason said : {Reason::kOnHold, Reason::kWaitingForPodsReady, Reason::kWaiting}) {
    if (reserved == nullptr || reserved->reason != said) continue;
    const bool on_hold = said == Reason::kOnHold;
    if (!on_hold && !waits) continue;
    return {on_hold ? Obstacle::Kind::kOnHold : Obstacle::Kind::kPodsReady, "", said, reserved->message};
  }
  return {};
}

// A workload with devices is in its queue only after its devices were counted successfully.
Obstacle UncountedDevices(const State& state, const Workload& workload) {
  const bool waits = workload.place != QueuePlace::kNowhere || workload.HasQuotaReservation();
  if (waits || !NeedsDevices(state, workload)) return {};
  const Condition* reserved = workload.Find(ConditionType::kQuotaReserved);
  if (reserved != nullptr && IsDeviceRefusal(reserved->message))
    return {Obstacle::Kind::kDevicesRefused, "", reserved->reason, reserved->message};
  if (workload.devices != nullptr && workload.devices->charges != nullptr) return {};
  return {Obstacle::Kind::kDevicesUncounted, "", Reason::kPendingEvaluation, nullptr};
}

// Returns the admission that the entry's assignment would produce.
std::shared_ptr<const Admission> AdmissionBy(const State& state, const Entry& entry) {
  auto admission = std::make_shared<Admission>();
  admission->cluster_queue = entry.queue;
  const EquivalenceClass& cls = state.Class(state.At(entry.workload).cls);
  for (const PodSetAssignment& pod_set : entry.assignment.pod_sets) {
    PodSetAdmission& given = admission->pod_sets.emplace_back();
    given.name = cls.pod_sets[static_cast<size_t>(pod_set.pod_set)].name;
    given.count = pod_set.count;
    for (const auto& [resource, amount] : pod_set.requests) {
      const FlavorChoice* choice = pod_set.Find(resource);
      if (choice != nullptr) given.resources.push_back({resource, choice->flavor, amount});
    }
    given.topology = pod_set.topology;
    given.delayed = pod_set.delayed;
  }
  return admission;
}

}  // namespace

Obstacle ObstacleOf(const State& state, const Workload& workload) {
  if (!workload.spec->active) {
    return {Obstacle::Kind::kDeactivated, "", Reason::kDeactivated, Say(Sentence::kDeactivated)};
  }
  if (const QueueBlocker blocker = QueueBlockerOf(state, workload); !blocker.IsNone()) {
    return {KindOf(blocker.kind), blocker.queue, blocker.ConditionReason(), blocker.ConditionMessage()};
  }
  if (HasAdmissionGate(state, workload)) {
    return {Obstacle::Kind::kGated, "", Reason::kAdmissionGated,
            Say(Sentence::kGated, {workload.spec->admission_gate})};
  }
  if (const Obstacle held = HoldUpOf(state, workload); !held.IsNone()) return held;
  return UncountedDevices(state, workload);
}

DecisionRecord Decided(const State& state, const Entry& entry) {
  DecisionRecord record = Common(state, entry, entry.status == EntryStatus::kAssumed);
  const Workload& workload = state.At(entry.workload);
  if (record.verdict == Verdict::kAdmitted) {
    record.admission = workload.admission;
    record.admitted = workload.IsAdmitted();
  }
  if (entry.second_pass > 0 && record.verdict == Verdict::kPending) {  // The workload keeps its quota.
    record.reason = entry.quota_reserved_reason;
    record.message = entry.message;
  } else if (const Condition* condition = workload.Find(ConditionType::kQuotaReserved)) {
    record.reason = condition->reason;
    record.message = condition->message;
  }
  return record;
}

DecisionRecord Asked(const State& state, const Entry& entry) {
  DecisionRecord record = Common(state, entry, entry.nominated && entry.assignment.mode == Mode::kFit);
  record.message = entry.message;
  record.reason = entry.quota_reserved_reason;
  if (!entry.nominated) return record;
  if (record.verdict == Verdict::kPending) {
    const bool no_fit = entry.assignment.mode == Mode::kNoFit;
    record.reason = no_fit ? entry.assignment.no_fit_reason : Reason::kWaitingForQuota;
    return record;
  }
  record.reason =
      record.verdict == Verdict::kAdmitted ? Reason::kQuotaReserved : Reason::kWaitingForPreemptedWorkloads;
  if (record.verdict == Verdict::kPreempting)
    record.message = PendingPreemptions(entry, state.At(entry.workload).cls, 0);
  record.admission = AdmissionBy(state, entry);
  return record;
}

}  // namespace kueue
