// Views of the engine for Python: plain dicts, tuples and strings.
#ifndef KUEUE_BINDINGS_VIEW_H_
#define KUEUE_BINDINGS_VIEW_H_

#include <iterator>
#include <string>

#include "bindings/engine.h"
#include "bindings/pybind.h"

namespace kueue::python {

// Python names of the event kinds, exported as `_core.EVENT_KINDS`.
inline constexpr const char* kEventKindNames[] = {
    "QuotaReserved",     "Admitted", "Evicted",       "QuotaReleased", "Pending",
    "Finished",          "Deleted",  "Created",       "PodsReady",     "PreemptionSkipped",
    "TargetsRecomputed", "Assigned", "UnhealthyNodes"};
static_assert(std::size(kEventKindNames) == CountOf<EventKind>());
inline const char* NameOf(EventKind kind) { return kEventKindNames[static_cast<int>(kind)]; }

// Removes and returns the events as (kind, workload id, id of the preemptor or -1), oldest first.
py::list TakeEvents(SharedEngine& shared);
std::string KeyOf(SharedEngine& shared, Serial serial);
// Returns (status, reason, message, transition) or None.
py::object ConditionOf(SharedEngine& shared, Serial serial, const std::string& type);
py::dict ConditionsOf(SharedEngine& shared, Serial serial);
// Returns (ClusterQueue, ((pod set, count, {resource: (flavor, amount)}), ...)) or None.
py::object AdmissionOf(SharedEngine& shared, Serial serial);
// Returns {ClusterQueue: (keys in order, inadmissible keys)} for the queues with pending workloads.
py::dict QueuesOf(SharedEngine& shared);
// Returns {ClusterQueue: {flavor/resource: amount}} for all queues or, if `active` is true, for the active
// queues.
py::dict UsageOf(SharedEngine& shared, bool active);
// Returns {ClusterQueue: precise weighted share} for the queues with a nonzero share.
py::dict SharesOf(SharedEngine& shared);
// Returns {namespace/LocalQueue: {key: amount in nano units, as a string}}. A key is a resource name for
// consumed usage, and "penalty:" plus a resource name for pending penalties.
py::dict ConsumedOf(SharedEngine& shared);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_VIEW_H_
