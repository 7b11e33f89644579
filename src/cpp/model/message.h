// Facts that become the text of a condition when someone reads it (text/text.h). The rules write no prose.
#ifndef KUEUE_MODEL_MESSAGE_H_
#define KUEUE_MODEL_MESSAGE_H_

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
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
inline constexpr size_t kRefusalKinds = static_cast<size_t>(RefusalKind::kElasticPreferredTopology) + 1;

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

struct PodSetRefusals {
  int pod_set;
  std::vector<Refusal> refusals;
};

class MessageBody;
using Message = std::shared_ptr<const MessageBody>;

// Text as it stands.
struct Literal {
  std::string text;
};
// What stood in a workload's way, pod set by pod set, and how many victims it waits for.
struct Refused {
  ClassId cls;
  absl::InlinedVector<PodSetRefusals, 1> pod_sets;
  int pending_preemptions = 0;
};
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
struct PreemptedBy {
  Serial preemptor;  // it may be gone
  std::string preemptor_uid, preemptor_job_uid;
  PreemptionReason reason;
  std::vector<NodeId> preemptor_path, preemptee_path;  // from the queue up to the root
};

class MessageBody : public std::variant<Literal, Refused, ReservedIn, Previously, PreemptedBy> {
  using variant::variant;
};

inline Message Say(std::string text) { return std::make_shared<const MessageBody>(Literal{std::move(text)}); }

}  // namespace kueue

#endif  // KUEUE_MODEL_MESSAGE_H_
