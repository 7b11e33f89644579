// Facts from which the text of a condition is rendered on demand (text/text.h). The scheduling rules
// themselves create no strings.
#ifndef KUEUE_MODEL_MESSAGE_H_
#define KUEUE_MODEL_MESSAGE_H_

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "model/enumerators.h"
#include "model/ids.h"
#include "model/queue.h"
#include "model/topology.h"
#include "quantity/amount.h"

namespace kueue {

enum class RefusalKind : uint8_t {
  kExceedsCapacity,     // The request exceeds what the queue can ever use.
  kShortOfQuota,        // The request exceeds the quota available now.
  kUndeclaredResource,  // No resource group of the queue covers the resource.
  kFlavorNotFound,
  kUntoleratedTaint,
  kNodeAffinity,
  kNotNominated,         // A recomputation within the cycle is limited to the nominated flavors.
  kNotAllowed,           // An annotation limits the workload to other flavors.
  kReplacedSliceFlavor,  // A slice of an elastic job must keep the flavor of the slice it replaces.
  kTopologyRequired,     // The flavor supports only topology-aware scheduling.
  kTopologyUnsupported,
  kTopologyUnknown,       // The flavor's topology has no tree.
  kTopologyLevelMissing,  // The topology lacks a requested level.
  kPlacement,             // The pods fit in no domain, whatever the quota.
  // This kind and all later kinds are errors, which terminate the search. With kNoTopologyFlavor, none of the
  // assigned flavors has a topology. With kManyTopologyFlavors, several assigned flavors have a topology.
  kNoTopologyFlavor,
  kManyTopologyFlavors,
  // No flavor of the queue has a topology.
  kNoTopologyInformation,
  kElasticRequiredTopology,
  kElasticPreferredTopology,
};
inline constexpr size_t kRefusalKinds = CountOf<RefusalKind>();

// Details of kExceedsCapacity. `earlier` is the amount that earlier pod sets of the workload request.
struct CapacityExcess {
  Amount earlier, requested, capacity;
};
// Details of kShortOfQuota. `requested` includes the amount that earlier pod sets request.
struct QuotaShortage {
  Amount missing, requested, available;
};
// Details of a refusal. The taint belongs to kUntoleratedTaint, and the placement failure belongs to
// kPlacement. The text is the name of the other flavor (kReplacedSliceFlavor) or the names of the flavors
// (kManyTopologyFlavors).
using RefusalDetail =
    std::variant<std::monostate, CapacityExcess, QuotaShortage, std::shared_ptr<const Taint>, std::string,
                 std::shared_ptr<const PlacementFailure>>;

// One reason why a flavor was not assigned. The kind of the refusal determines the alternative of `detail`.
struct Refusal {
  RefusalKind kind;
  FlavorId flavor = kNoId;
  ResourceId resource = kNoId;
  RefusalDetail detail = {};

  bool IsError() const { return kind >= RefusalKind::kNoTopologyFlavor; }
  // Returns whether `detail` has the type that belongs to the kind and contains no null pointer.
  bool HasItsDetail() const;
  // Each accessor may be called only for the kinds of refusal that have the corresponding detail.
  const CapacityExcess& excess() const { return std::get<CapacityExcess>(detail); }
  const QuotaShortage& shortage() const { return std::get<QuotaShortage>(detail); }
  const Taint& taint() const { return *std::get<std::shared_ptr<const Taint>>(detail); }
  const std::string& names() const { return std::get<std::string>(detail); }
  const PlacementFailure& placement() const {
    return *std::get<std::shared_ptr<const PlacementFailure>>(detail);
  }
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

// Text from an outside source: a live cluster or the caller.
struct Literal {
  std::string text;
};
// Fixed sentences of Kueue, grouped by condition; text/sentences.cc contains the wording of these sentences.
// A saved state stores the index of a sentence, so append new sentences at the end.
enum class Sentence : uint8_t {
  // Condition QuotaReserved
  kDeactivated,
  kGated,  // Names: the gate.
  kGateCleared,
  kLocalQueueMissing,  // Names of this sentence and the next three: the queue.
  kLocalQueueInactive,
  kClusterQueueMissing,
  kClusterQueueInactive,
  kPendingEvaluation,
  kBypassed,  // An equivalent workload was found inadmissible.
  kFailedChecks,
  kNamespaceMissing,  // Names: the namespace.
  kNamespaceMissingOfV017,
  kNamespaceMismatch,
  kNamespaceMismatchOfV017,
  kInvalidResources,     // Names: the errors.
  kLimitRangesViolated,  // Names: the errors.
  kWaitingForPodsReady,
  kDeferredFit,
  kOverlappingTargets,
  kNoLongerFits,
  kLocalQueueTerminating,  // Names of this sentence and the next three: the queue.
  kLocalQueueStopped,
  kClusterQueueTerminating,
  kClusterQueueStopped,
  // Condition Admitted
  kAdmitted,
  kNoReservation,
  kNoReservationNorChecks,
  kChecksNotReady,
  kDelayedTopologyPending,
  // Condition Evicted
  kStoppedByLocalQueue,
  kStoppedByClusterQueue,
  kChecksRetried,      // Names: each check's name and message.
  kSomeCheckFalse,     // Replaces kChecksRetried in releases with the rule check_evictions_name_no_state.
  kPodsReadyTimeout,   // Names: the workload.
  kManyNodesFailed,    // Names: the nodes.
  kNoNodeReplacement,  // Names: the failed nodes.
  // Condition DeactivationTarget
  kChecksRejected,        // Names: each check's name and message.
  kChecksRejectedByName,  // Names: the checks. Used in releases with the rule check_evictions_name_no_state.
  kRequeuingLimit,
  kExecutionTime,
  // Condition Requeued
  kLocalQueueRestarted,
  kClusterQueueRestarted,
  kReactivated,
  kBackoffFinished,
  // Condition PodsReady
  kPodsReady,
  kPodsNotReady,
  kPodFailed,
  // Condition Finished
  kJobSucceeded,
  kJobFailed,
  kReplacedBySlice,  // Names: UID and job UID of the replacing workload.
  // Conditions QuotaReserved and Requeued of workloads with devices
  kDevicesRefused,  // Names: the errors.
  kResourceClaimsUnsupported,
  kDevicesOff,
  // Conditions QuotaReserved and BlockedOnPreemptionGates
  kPreemptionGated,
};
inline constexpr size_t kSentences = CountOf<Sentence>();
struct Said {
  Sentence sentence;
  std::vector<std::string> names;  // Values that are inserted into the sentence.
};
// The reasons why a workload was not admitted, by pod set, and the number of pending preemptions that the
// workload waits for.
struct Refused {
  ClassId cls;
  absl::InlinedVector<PodSetRefusals, 1> pod_sets;
  int pending_preemptions = 0;  // Negative: the number of preemptions that failed.
};
bool operator==(const Refused& a, const Refused& b);
struct ReservedIn {
  NodeId cluster_queue;
};
// Text of a condition that a new quota reservation set to False: "Previously: ", followed by the old text.
struct Previously {
  Message before;
};

enum class PreemptionReason : uint8_t {
  kInClusterQueue,
  kInCohortReclamation,
  kInCohortFairSharing,
  kInCohortReclaimWhileBorrowing,
};
// An eviction because the workload was deactivated. `why` is the reason for the deactivation, or null if
// unknown.
struct DeactivatedDueTo {
  Message why;
};
// A queue and its ancestor Cohorts, up to the root.
using NodePath = absl::InlinedVector<NodeId, 4>;

struct PreemptedBy {
  Serial preemptor;  // Serial number of the preemptor, which may no longer exist.
  std::string preemptor_uid, preemptor_job_uid;
  PreemptionReason reason;
  NodePath preemptor_path, preemptee_path;
};

using MessageKinds =
    std::variant<Literal, Refused, ReservedIn, Previously, PreemptedBy, Said, DeactivatedDueTo>;
class MessageBody : public MessageKinds {
  using variant::variant;
};

inline Message Quote(std::string text) {
  return std::make_shared<const MessageBody>(Literal{std::move(text)});
}
// Returns the shared message of a sentence without names.
const Message& Say(Sentence sentence);
inline Message Say(Sentence sentence, std::vector<std::string> names) {
  return std::make_shared<const MessageBody>(Said{sentence, std::move(names)});
}

}  // namespace kueue

#endif  // KUEUE_MODEL_MESSAGE_H_
