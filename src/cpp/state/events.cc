#include "state/events.h"

#include <utility>

#include "state/state.h"

namespace kueue {
namespace {

// Returns the condition that records the event.
const Condition* Telling(const Workload& workload, EventKind kind) {
  switch (kind) {
    case EventKind::kAdmitted:
      return workload.Find(ConditionType::kAdmitted);
    case EventKind::kEvicted:
      return workload.Find(ConditionType::kEvicted);
    case EventKind::kReleased:
      return workload.Find(workload.IsEvicted() ? ConditionType::kEvicted : ConditionType::kQuotaReserved);
    case EventKind::kFinished:
      return workload.Find(ConditionType::kFinished);
    case EventKind::kPodsReady:
      return workload.Find(ConditionType::kPodsReady);
    case EventKind::kReserved:
    case EventKind::kPending:
      return workload.Find(ConditionType::kQuotaReserved);
    default:
      return nullptr;
  }
}

// Returns the time at which a condition became True.
std::optional<Time> Since(const Workload& workload, ConditionType type) {
  if (!workload.IsTrue(type)) return std::nullopt;
  return workload.Find(type)->transition;
}

// Returns the start of the phase that an event ends, from which Kueue's duration metrics are computed
// (pkg/workload/workload.go:TotalExecutionTime, EvictionPendingLatency).
std::optional<Time> Beginning(const Workload& workload, EventKind kind) {
  switch (kind) {
    case EventKind::kAdmitted:  // Start of the wait for checks, if there are any.
      if (workload.Status().checks.empty()) return std::nullopt;
      return Since(workload, ConditionType::kQuotaReserved);
    case EventKind::kPodsReady:
      return Since(workload, ConditionType::kAdmitted);
    case EventKind::kEvicted:
      return Since(workload, ConditionType::kPodsReady);
    case EventKind::kReleased:
      return Since(workload, ConditionType::kEvicted);
    case EventKind::kFinished: {  // The start that a single execution without interruption would have had.
      const std::optional<Time> last = Since(workload, ConditionType::kAdmitted);
      if (!last) return std::nullopt;
      return SaturatingSub(*last,
                           SaturatingMul(workload.Status().past_execution_seconds.value_or(0), kSecond));
    }
    default:
      return std::nullopt;
  }
}

// Returns the underlying cause of an eviction (pkg/workload/evict/evict.go:Evict).
Reason UnderlyingCause(const Workload& workload, Reason reason) {
  if (reason == Reason::kPodsReadyTimeout) {
    const Condition* ready = workload.Find(ConditionType::kPodsReady);
    const bool recovers = ready != nullptr && ready->reason == Reason::kWaitForRecovery;
    return recovers ? Reason::kWaitForRecovery : Reason::kWaitForStart;
  }
  for (const auto& [deactivated, cause] :
       {std::pair(Reason::kDeactivatedDueToAdmissionCheck, Reason::kAdmissionCheck),
        std::pair(Reason::kDeactivatedDueToRequeuingLimitExceeded, Reason::kRequeuingLimitExceeded),
        std::pair(Reason::kDeactivatedDueToMaximumExecutionTimeExceeded,
                  Reason::kMaximumExecutionTimeExceeded)}) {
    if (reason == deactivated) return cause;
  }
  return Reason::kEmpty;
}

}  // namespace

Event MakeEvent(const State& state, EventKind kind, WorkloadId id, Reason cause) {
  const Workload& workload = state.At(id);
  Event event;
  event.kind = kind;
  event.workload = workload.serial;
  event.name = workload.name;
  event.spec = workload.spec;
  event.time = state.now;
  event.cycle = state.scheduling_cycle;
  event.queue = workload.charged != kNoId ? workload.charged : state.QueueOf(workload);
  if (workload.admission) {
    event.queue = workload.admission->cluster_queue;
  } else if (kind == EventKind::kFinished) {
    event.queue = kNoId;  // The workload never held quota, or no longer holds it.
  }
  if (const Condition* condition = Telling(workload, kind)) {
    event.reason = condition->reason;
    event.message = condition->message;
  }
  if (kind == EventKind::kEvicted) {
    cause = UnderlyingCause(workload, event.reason);
    const Condition* preempted = workload.Find(ConditionType::kPreempted);
    if (event.reason == Reason::kPreempted && preempted) event.preemption = preempted->reason;
  }
  event.cause = cause;
  const Condition* requeued = workload.Find(ConditionType::kRequeued);
  event.queued_since = requeued != nullptr ? requeued->transition : workload.created;
  event.since = Beginning(workload, kind);
  return event;
}

}  // namespace kueue
