// Condition types and reasons, spelled as in Kueue's API (apis/kueue/v1beta2/workload_types.go).
#ifndef KUEUE_MODEL_REASON_H_
#define KUEUE_MODEL_REASON_H_

#include <cstdint>
#include <iterator>

#include "model/ids.h"
#include "model/message.h"

namespace kueue {

enum class ConditionType : uint8_t {
  kQuotaReserved,
  kAdmitted,
  kEvicted,
  kPreempted,
  kRequeued,
  kPodsReady,
  kFinished,
  kDeactivationTarget,
  kBlockedOnPreemptionGates,
};
inline constexpr const char* kConditionTypeNames[] = {
    "QuotaReserved", "Admitted",           "Evicted",
    "Preempted",     "Requeued",           "PodsReady",
    "Finished",      "DeactivationTarget", "BlockedOnPreemptionGates"};
static_assert(std::size(kConditionTypeNames) == CountOf<ConditionType>());

// clang-format off
#define KUEUE_REASONS(X)                                                                                  \
  X(QuotaReserved)                                                                                        \
  X(Admitted) X(NoReservation) X(UnsatisfiedAdmissionChecks) X(NoReservationUnsatisfiedChecks)            \
      X(UnsatisfiedChecks) X(Pending) X(Inadmissible) X(PendingEvaluation) X(Misconfigured) X(Suspended)  \
          X(Deactivated) X(AdmissionGated) X(OnHold) X(WaitingForQuota) X(NoMatchingFlavor)               \
              X(ExceedsMaxQuota) X(TopologyPlacementFailed) X(WaitingForPreemptedWorkloads)               \
                  X(WaitingForPodsReady) X(Waiting) X(Preempted) X(PodsReadyTimeout) X(AdmissionCheck)    \
                      X(ClusterQueueStopped) X(LocalQueueStopped) X(NodeFailures)                         \
                          X(DeactivatedDueToAdmissionCheck) X(DeactivatedDueToRequeuingLimitExceeded)     \
                              X(DeactivatedDueToMaximumExecutionTimeExceeded) X(RequeuingLimitExceeded)   \
                                  X(MaximumExecutionTimeExceeded) X(BackoffFinished) X(Reactivated)       \
                                      X(ClusterQueueRestarted) X(LocalQueueRestarted) X(InClusterQueue)   \
                                          X(InCohortReclamation) X(InCohortFairSharing)                   \
                                              X(InCohortReclaimWhileBorrowing) X(WaitForStart) X(Started) \
                                                  X(WaitForRecovery) X(Recovered) X(Succeeded) X(Failed)  \
                                                      X(WorkloadSliceReplaced) X(FailedToStart)           \
                                                          X(NewTargets) X(DeferredFit) X(Skipped)           \
                                                          X(PendingDelayedTopologyRequests)
// clang-format on

enum class Reason : int32_t {
  kEmpty,
#define KUEUE_REASON_VALUE(name) k##name,
  KUEUE_REASONS(KUEUE_REASON_VALUE)
#undef KUEUE_REASON_VALUE
};

// Returns an interner with the names of the known reasons, in the order of the enumerators of Reason. Other
// reasons, which are read from a live cluster, are appended to the interner.
Interner<Reason> KnownReasons();

Reason ReasonOf(PreemptionReason reason);

}  // namespace kueue

#endif  // KUEUE_MODEL_REASON_H_
