// Conditions of a workload, and transitions between its states. Mirrors
// pkg/workload/{workload,admissionchecks}.go and pkg/workload/evict/evict.go (kueue ff69552e79).
#ifndef KUEUE_LIFECYCLE_CONDITIONS_H_
#define KUEUE_LIFECYCLE_CONDITIONS_H_

#include <memory>

#include "state/state.h"

namespace kueue {

// Sets a condition to the current generation of the spec. The transition time of the condition changes only
// if its status changes. Returns whether anything changed: kGeneration if only the generation did, which is a
// write of the status like any other.
enum class Write : uint8_t { kNone, kGeneration, kContent };
Write SetCondition(State& state, Workload& workload, ConditionType type, bool status, Reason reason,
                   const Message& message);
// Returns the reason of a condition, or Reason::kEmpty if the condition is absent.
Reason ReasonIn(const Workload& workload, ConditionType type);
void RemoveCondition(Workload& workload, ConditionType type);

// Stores the admission, sets the condition QuotaReserved to True, and resets the conditions Evicted and
// Preempted.
void SetQuotaReservation(State& state, WorkloadId id, std::shared_ptr<const Admission> admission);
// Removes the admission and sets the condition QuotaReserved to False. Returns whether the call changed
// anything.
bool UnsetQuotaReservation(State& state, WorkloadId id, Reason reason, const Message& message);
// Updates the Admitted condition from the reservation and the checks. Returns whether the call changed
// anything.
bool SyncAdmitted(State& state, WorkloadId id);
// Sets the condition Evicted and resets the admission checks. The workload keeps its quota until its job has
// stopped.
void Evict(State& state, WorkloadId id, Reason reason, const Message& message);
// Like Evict(), but records no event. Use MarkEvicted() for an eviction that the pending write of an
// admission will overwrite. Returns true if the workload was not already evicted before the call.
bool MarkEvicted(State& state, WorkloadId id, Reason reason, const Message& message);

bool HasAllChecksReady(const Workload& workload);
bool HasCheckIn(const Workload& workload, CheckState check_state);
// Returns the checks that a workload of the queue needs: the checks for the flavors of its admission or, if
// it has no admission, the checks that apply to all flavors.
std::vector<CheckId> RequiredChecks(const State& state, NodeId queue, const Workload& workload);
bool HasAllRequiredChecks(const State& state, NodeId queue, const Workload& workload);

// Returns whether the workload may be in a queue.
bool IsAdmissible(const State& state, const Workload& workload);
bool IsOnHold(const Workload& workload);
bool HasAdmissionGate(const State& state, const Workload& workload);
// Returns true unless a requeue backoff is running.
bool IsBackoffExpired(const State& state, const Workload& workload);
// Returns the timestamp used for queue ordering (Ordering.GetQueueOrderTimestamp).
Time QueueOrderTime(const State& state, const Workload& workload);

// Add or remove the usage of the workload's admission. `placed` contains the topology usage if it is known;
// if `placed` is null, the topology usage is computed from the admission.
void ChargeAdmission(State& state, WorkloadId id, TopologyUsages* placed = nullptr);
void DischargeAdmission(State& state, WorkloadId id);
// Kueue replaces the cache entry of a workload that was written: it removes the entry and adds it again. This
// increments the generation of the queue. It changes the usage only where a sum has reached Unlimited.
void ReplaceCharge(State& state, WorkloadId id);
// Recomputes the charged usage after reclaimable pods changed. Kueue recomputes the usage by removing the
// workload from the cache and adding it again.
void RefreshCharge(State& state, WorkloadId id);

}  // namespace kueue

#endif  // KUEUE_LIFECYCLE_CONDITIONS_H_
