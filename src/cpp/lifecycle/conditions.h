// The conditions of a workload, and the transitions between its states.
// Mirrors pkg/workload/{workload,admissionchecks}.go and pkg/workload/evict/evict.go (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_CONDITIONS_H_
#define KUEUE_LIFECYCLE_CONDITIONS_H_

#include <memory>

#include "state/state.h"

namespace kueue {

// Writes a condition; its transition time changes only with its status. Returns whether anything changed.
bool SetCondition(State& state, Workload& workload, ConditionType type, bool status, Reason reason,
                  const Message& message);
// The reason of a condition, or Reason::kEmpty where there is none.
int32_t ReasonIn(const Workload& workload, ConditionType type);
void RemoveCondition(Workload& workload, ConditionType type);

// The workload got quota: QuotaReserved is True, and Evicted and Preempted are over.
void SetQuotaReservation(State& state, WorkloadId id, std::shared_ptr<const Admission> admission);
// Takes the admission away and says why; returns whether anything changed.
bool UnsetQuotaReservation(State& state, WorkloadId id, Reason reason, const Message& message);
// Brings Admitted in line with the reservation and the checks; returns whether anything changed.
bool SyncAdmitted(State& state, WorkloadId id);
// Marks the workload Evicted and resets its checks. It keeps its quota until its job has stopped.
void Evict(State& state, WorkloadId id, Reason reason, const Message& message);
// The same without the event, for an eviction that an admission ends at once. Returns whether it is a new
// one.
bool MarkEvicted(State& state, WorkloadId id, Reason reason, const Message& message);

bool HasAllChecksReady(const Workload& workload);
bool HasCheckIn(const Workload& workload, CheckState check_state);
// The checks that a workload of the queue needs: for its admission's flavors, or those that cover all
// flavors.
std::vector<CheckId> RequiredChecks(const State& state, NodeId queue, const Workload& workload);
bool HasAllRequiredChecks(const State& state, NodeId queue, const Workload& workload);

// Whether it may wait in a queue at all.
bool IsAdmissible(const State& state, const Workload& workload);
bool IsOnHold(const Workload& workload);
bool HasAdmissionGate(const State& state, const Workload& workload);
// Whether no backoff keeps it from the queue.
bool IsBackoffExpired(const State& state, const Workload& workload);
// The timestamp that orders it (Ordering.GetQueueOrderTimestamp).
Time QueueOrderTime(const State& state, const Workload& workload);

// Puts the usage of the workload's admission on its queue's account, or takes it off again.
void ChargeAdmission(State& state, WorkloadId id);
void DischargeAdmission(State& state, WorkloadId id);
// Recomputes what the admission charges, after reclaimable pods changed. A removal and an addition to the
// cache.
void RefreshCharge(State& state, WorkloadId id);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_CONDITIONS_H_
