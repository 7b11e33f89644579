// Names of enumerators in Python. An enumeration with a list of names (KUEUE_NAMES) is converted to a string,
// so a record can have fields of its type.
#ifndef KUEUE_BINDINGS_NAMES_H_
#define KUEUE_BINDINGS_NAMES_H_

#include <type_traits>

#include "bindings/pybind.h"
#include "bindings/read.h"
#include "fleet/dispatcher.h"
#include "model/names.h"
#include "questions/decision.h"
#include "questions/explain.h"
#include "simulation/simulation.h"

namespace kueue {

KUEUE_NAMES(DispatcherKind, "AllAtOnce", "Incremental", "External");
KUEUE_NAMES(GroupRole, "Alone", "Leads", "Follows", "Waits");
KUEUE_NAMES(StatusCopy, "UnlessSuspended", "Always", "Never");
KUEUE_NAMES(EventKind, "QuotaReserved", "Admitted", "Evicted", "QuotaReleased", "Pending", "Finished",
            "Deleted", "Created", "PodsReady", "PreemptionSkipped", "TargetsRecomputed", "Assigned",
            "UnhealthyNodes");
KUEUE_NAMES(Move, "created", "deleted", "updated", "started", "stopped", "opened", "deactivating");
KUEUE_NAMES(OnEviction, "restart", "checkpoint", "resume");

// Decisions and their reasons

KUEUE_NAMES(CandidateVerdict, "Taken", "NotNeeded", "NotEnough", "WithinClusterQueueNever",
            "ReclaimWithinCohortNever", "PriorityNotLower", "NotNewer", "QueueNotBorrowing",
            "CohortNotBorrowing", "FairSharing", "QueueInactive", "BorrowWithinCohortNever",
            "BorrowPriorityNotLower", "AboveMaxPriorityThreshold");
KUEUE_NAMES(Inadmissibility::Kind, "", "FailedChecks", "NamespaceMissing", "NamespaceMismatch", "Resources",
            "LimitRange");
KUEUE_NAMES(InactivityKind, "Terminating", "Stopped", "FlavorNotFound", "CheckNotFound", "CheckInactive",
            "MultipleMultiKueueChecks", "MultiKueueCheckPerFlavor", "MultiKueueWithProvisioning",
            "TopologyNotFound", "CohortCycle");
KUEUE_NAMES(Limit, "quota", "borrowingLimit");
KUEUE_NAMES(Obstacle::Kind, "", "Deactivated", "LocalQueueMissing", "LocalQueueStopped",
            "ClusterQueueMissing", "ClusterQueueInactive", "Gated", "OnHold", "PodsReady", "DevicesRefused",
            "DevicesUncounted");
KUEUE_NAMES(PlacementFailure::Exclusion, "nodeSelector", "affinity", "topologyDomain", "taint", "resource");
KUEUE_NAMES(PlacementFailure::Kind, "SliceSizeMissing", "NoLevel", "UnknownLevel", "UnknownSliceLevel",
            "SliceAboveRequest", "UnknownLayerLevel", "LayerNotBelow", "LayerSizeIndivisible",
            "InvalidPodSetUpdate", "NoDomains", "NotFit", "LayersNotFit", "StaleDomain", "NoReplacement");
KUEUE_NAMES(Precedence, "Usage", "Preemptor", "Priority", "Time", "Uid");
KUEUE_NAMES(PreemptionMode, "NoFit", "NoCandidates", "Preempt", "Reclaim", "Fit");
KUEUE_NAMES(PreemptionReason, "InClusterQueue", "InCohortReclamation", "InCohortFairSharing",
            "InCohortReclaimWhileBorrowing");
KUEUE_NAMES(RefusalKind, "ExceedsCapacity", "ShortOfQuota", "UndeclaredResource", "FlavorNotFound",
            "UntoleratedTaint", "NodeAffinity", "NotNominated", "NotAllowed", "ReplacedSliceFlavor",
            "TopologyRequired", "TopologyUnsupported", "TopologyUnknown", "TopologyLevelMissing", "Placement",
            "NoTopologyFlavor", "ManyTopologyFlavors", "NoTopologyInformation", "ElasticRequiredTopology",
            "ElasticPreferredTopology");
KUEUE_NAMES(Verdict, "Pending", "Preempting", "Admitted");

}  // namespace kueue

namespace pybind11::detail {

template <typename Enumeration>
struct type_caster_enum_type_enabled<Enumeration, std::enable_if_t<kueue::Names<Enumeration>::value>>
    : std::false_type {};

template <typename Enumeration>
struct type_caster<Enumeration, std::enable_if_t<kueue::Names<Enumeration>::value>> {
  static constexpr auto name = const_name("str");
  static handle cast(Enumeration value, return_value_policy, handle) {
    return kueue::python::Interned(kueue::NameOf(value)).inc_ref();
  }
};

}  // namespace pybind11::detail

#endif  // KUEUE_BINDINGS_NAMES_H_
