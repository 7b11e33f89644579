// Facts that become the text of a condition when someone reads it (text/text.h). The rules write no prose.
#ifndef KUEUE_MODEL_MESSAGE_H_
#define KUEUE_MODEL_MESSAGE_H_

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "model/enumerators.h"
#include "model/ids.h"
#include "model/topology.h"
#include "quantity/amount.h"

namespace kueue {

enum class RefusalKind : uint8_t {
  kExceedsCapacity,     // more than the queue could ever hold
  kShortOfQuota,        // more than is free now
  kUndeclaredResource,  // no resource group of the queue covers it
  kFlavorNotFound,
  kUntoleratedTaint,
  kNodeAffinity,
  kNotNominated,         // a recomputation within the cycle keeps to the nominated flavors
  kReplacedSliceFlavor,  // an elastic job keeps the flavor of the slice it replaces
  kTopologyRequired,     // the flavor supports topology-aware scheduling only
  kTopologyUnsupported,
  kInvalidSelector,
  kTopologyUnknown,       // the flavor's topology has no tree
  kTopologyLevelMissing,  // the topology has not all levels that are asked for
  kPlacement,             // quota there may be, but no place: `placement`
  // Errors, which end the search: all but one flavor, or all, of the pod set have no topology ...
  kNoTopologyFlavor,
  kManyTopologyFlavors,  // text: their names
  // ... no flavor of the queue has one; or an elastic job asks for what it may not.
  kNoTopologyInformation,
  kElasticRequiredTopology,
  kElasticPreferredTopology,
};
inline constexpr size_t kRefusalKinds = CountOf<RefusalKind>();

// One reason why one flavor did not (yet) do.
struct Refusal {
  RefusalKind kind;
  FlavorId flavor = kNoId;
  ResourceId resource = kNoId;
  // kExceedsCapacity: what earlier pod sets took, what this one asks, the most there can be.
  // kShortOfQuota: how much more is needed, the amount asked in all, what is available.
  // kUntoleratedTaint: which of the flavor's taints, as of now.
  Amount first, second, third;
  std::string text;  // kUntoleratedTaint: the taint as of then; kReplacedSliceFlavor: the other flavor's name
  std::shared_ptr<const PlacementFailure> placement = nullptr;
  bool IsError() const { return kind >= RefusalKind::kNoTopologyFlavor; }
};
bool operator==(const Refusal& a, const Refusal& b);
using Refusals = absl::InlinedVector<Refusal, 1>;

struct PodSetRefusals {
  int pod_set;
  Refusals refusals;
};
bool operator==(const PodSetRefusals& a, const PodSetRefusals& b);

class MessageBody;
using Message = std::shared_ptr<const MessageBody>;

// Text from outside: of a live cluster, or of a caller.
struct Literal {
  std::string text;
};
// What Kueue says in a sentence of its own, condition by condition; the words are in text/sentences.cc. A
// saved state knows a sentence by its number, so new ones go to the end.
enum class Sentence : uint8_t {
  // QuotaReserved
  kDeactivated,
  kGated,  // by: the gate
  kGateCleared,
  kLocalQueueMissing,  // this and the three below: the name
  kLocalQueueInactive,
  kClusterQueueMissing,
  kClusterQueueInactive,
  kPendingEvaluation,
  kBypassed,  // as an equivalent workload failed
  kFailedChecks,
  kNamespaceMissing,  // the name
  kNamespaceMissingOfV017,
  kNamespaceMismatch,
  kNamespaceMismatchOfV017,
  kInvalidResources,     // the errors
  kLimitRangesViolated,  // the errors
  kWaitingForPodsReady,
  kDeferredFit,
  kOverlappingTargets,
  kNoLongerFits,
  kLocalQueueTerminating,  // this and the three below: the name
  kLocalQueueStopped,
  kClusterQueueTerminating,
  kClusterQueueStopped,
  // Admitted
  kAdmitted,
  kNoReservation,
  kNoReservationNorChecks,
  kChecksNotReady,
  kDelayedTopologyPending,
  // Evicted
  kStoppedByLocalQueue,
  kStoppedByClusterQueue,
  kChecksRetried,      // each check's name and message
  kSomeCheckFalse,     // the same, of releases with check_evictions_name_no_state
  kPodsReadyTimeout,   // the workload
  kManyNodesFailed,    // their names
  kNoNodeReplacement,  // the names of the failed nodes
  // DeactivationTarget
  kChecksRejected,        // each check's name and message
  kChecksRejectedByName,  // the checks' names, of releases with check_evictions_name_no_state
  kRequeuingLimit,
  kExecutionTime,
  // Requeued
  kLocalQueueRestarted,
  kClusterQueueRestarted,
  kReactivated,
  kBackoffFinished,
  // PodsReady
  kPodsReady,
  kPodsNotReady,
  kPodFailed,
  // Finished
  kJobSucceeded,
  kJobFailed,
  kReplacedBySlice,  // UID and job UID of the workload that replaces it
  // QuotaReserved and Requeued, of devices
  kDevicesRefused,  // the errors
  kResourceClaimsUnsupported,
  kDevicesOff,
  // QuotaReserved and BlockedOnPreemptionGates
  kPreemptionGated,
};
inline constexpr size_t kSentences = CountOf<Sentence>();
struct Said {
  Sentence sentence;
  std::vector<std::string> names;  // that stand in it
};
// What stood in a workload's way, pod set by pod set, and how many victims it waits for.
struct Refused {
  ClassId cls;
  absl::InlinedVector<PodSetRefusals, 1> pod_sets;
  int pending_preemptions = 0;
};
bool operator==(const Refused& a, const Refused& b);
struct ReservedIn {
  NodeId cluster_queue;
};
// A condition that a new reservation turned off keeps its text behind "Previously: ".
struct Previously {
  Message before;
};

enum class PreemptionReason : uint8_t {
  kInClusterQueue,
  kInCohortReclamation,
  kInCohortFairSharing,
  kInCohortReclaimWhileBorrowing,
};
// Evicted as it was deactivated, and why that was, if it is known.
struct DeactivatedDueTo {
  Message why;
};
struct PreemptedBy {
  Serial preemptor;  // it may be gone
  std::string preemptor_uid, preemptor_job_uid;
  PreemptionReason reason;
  std::vector<NodeId> preemptor_path, preemptee_path;  // from the queue up to the root
};

using MessageKinds =
    std::variant<Literal, Refused, ReservedIn, Previously, PreemptedBy, Said, DeactivatedDueTo>;
class MessageBody : public MessageKinds {
  using variant::variant;
};

inline Message Quote(std::string text) {
  return std::make_shared<const MessageBody>(Literal{std::move(text)});
}
// A sentence without names: one message for all that say it.
const Message& Say(Sentence sentence);
inline Message Say(Sentence sentence, std::vector<std::string> names) {
  return std::make_shared<const MessageBody>(Said{sentence, std::move(names)});
}

}  // namespace kueue

#endif  // KUEUE_MODEL_MESSAGE_H_
