// Names of enumerators in Python. An enumeration with a list of names (KUEUE_NAMES) is converted to and from
// a string, so a record can have fields of its type.
#ifndef KUEUE_BINDINGS_NAMES_H_
#define KUEUE_BINDINGS_NAMES_H_

#include <iterator>
#include <type_traits>

#include "bindings/json.h"
#include "bindings/pybind.h"
#include "fleet/dispatcher.h"
#include "questions/decision.h"
#include "questions/explain.h"
#include "simulation/simulation.h"

namespace kueue::python {

// A trait that KUEUE_NAMES specializes for each enumeration.
template <typename Enumeration>
struct Names : std::false_type {};

// Lists the names of all enumerators in the order of their declaration.
#define KUEUE_NAMES(Enumeration, ...)                                  \
  template <>                                                          \
  struct Names<Enumeration> : std::true_type {                         \
    static constexpr const char* kAll[] = {__VA_ARGS__};               \
    static_assert(std::size(kAll) == CountOf<Enumeration>(), "names"); \
  }

template <typename Enumeration>
constexpr const char* NameOf(Enumeration value) {
  return Names<Enumeration>::kAll[static_cast<size_t>(value)];
}

// Returns the enumerator with this name, or `otherwise` if there is none.
template <typename Enumeration>
Enumeration Named(absl::string_view name, Enumeration otherwise) {
  for (size_t i = 0; i < std::size(Names<Enumeration>::kAll); ++i) {
    if (name == Names<Enumeration>::kAll[i]) return static_cast<Enumeration>(i);
  }
  return otherwise;
}

KUEUE_NAMES(CheckState, "Pending", "Ready", "Retry", "Rejected");
KUEUE_NAMES(DelayedTopology, "", "Pending", "Ready");
KUEUE_NAMES(DispatcherKind, "AllAtOnce", "Incremental", "External");
KUEUE_NAMES(EventKind, "QuotaReserved", "Admitted", "Evicted", "QuotaReleased", "Pending", "Finished",
            "Deleted", "Created", "PodsReady", "PreemptionSkipped", "TargetsRecomputed", "Assigned",
            "UnhealthyNodes");
KUEUE_NAMES(Move, "created", "deleted", "updated", "started", "stopped", "opened", "deactivating");
KUEUE_NAMES(OnEviction, "restart", "checkpoint", "resume");

// Objects

KUEUE_NAMES(FairSharingStrategy, "LessThanOrEqualToFinalShare", "LessThanInitialShare");
KUEUE_NAMES(FungibilityPolicy, "MayStopSearch", "TryNextFlavor");
KUEUE_NAMES(FungibilityPreference, "BorrowingOverPreemption", "PreemptionOverBorrowing");
KUEUE_NAMES(PreemptionPolicy, "Never", "LowerPriority", "LowerOrNewerEqualPriority", "Any");
KUEUE_NAMES(QueueingStrategy, "BestEffortFIFO", "StrictFIFO");
KUEUE_NAMES(StopPolicy, "None", "Hold", "HoldAndDrain");

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
KUEUE_NAMES(PreemptionMode, "NoFit", "NoCandidates", "Preempt", "Reclaim", "Fit");
KUEUE_NAMES(PreemptionReason, "InClusterQueue", "InCohortReclamation", "InCohortFairSharing",
            "InCohortReclaimWhileBorrowing");
KUEUE_NAMES(RefusalKind, "ExceedsCapacity", "ShortOfQuota", "UndeclaredResource", "FlavorNotFound",
            "UntoleratedTaint", "NodeAffinity", "NotNominated", "ReplacedSliceFlavor", "TopologyRequired",
            "TopologyUnsupported", "TopologyUnknown", "TopologyLevelMissing", "Placement", "NoTopologyFlavor",
            "ManyTopologyFlavors", "NoTopologyInformation", "ElasticRequiredTopology",
            "ElasticPreferredTopology");
KUEUE_NAMES(Verdict, "Pending", "Preempting", "Admitted");

}  // namespace kueue::python

namespace pybind11::detail {

template <typename Enumeration>
struct type_caster_enum_type_enabled<Enumeration, std::enable_if_t<kueue::python::Names<Enumeration>::value>>
    : std::false_type {};

template <typename Enumeration>
struct type_caster<Enumeration, std::enable_if_t<kueue::python::Names<Enumeration>::value>> {
  static constexpr auto name = const_name("str");
  static handle cast(Enumeration value, return_value_policy, handle) {
    return kueue::python::Interned(kueue::python::NameOf(value)).inc_ref();
  }
};

}  // namespace pybind11::detail

#endif  // KUEUE_BINDINGS_NAMES_H_
