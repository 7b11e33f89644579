// What Python sees of the engine: plain dicts, tuples and texts.
#ifndef KUEUE_BINDINGS_VIEW_H_
#define KUEUE_BINDINGS_VIEW_H_

#include <iterator>
#include <string>

#include "bindings/engine.h"
#include "bindings/pybind.h"

namespace kueue::python {

// What Python calls the kinds of events; `_core.EVENT_KINDS`.
inline constexpr const char* kEventKindNames[] = {
    "QuotaReserved",     "Admitted", "Evicted",       "QuotaReleased", "Pending",
    "Finished",          "Deleted",  "Created",       "PodsReady",     "PreemptionSkipped",
    "TargetsRecomputed", "Assigned", "UnhealthyNodes"};
static_assert(std::size(kEventKindNames) == CountOf<EventKind>());
inline const char* NameOf(EventKind kind) { return kEventKindNames[static_cast<int>(kind)]; }

// (kind, workload id, id of the preemptor or -1), oldest first; they are forgotten.
py::list TakeEvents(SharedEngine& shared);
std::string KeyOf(SharedEngine& shared, Serial serial);
// (status, reason, message, transition) or None.
py::object ConditionOf(SharedEngine& shared, Serial serial, const std::string& type);
py::dict ConditionsOf(SharedEngine& shared, Serial serial);
// (ClusterQueue, ((pod set, count, {resource: (flavor, amount)}), ...)) or None.
py::object AdmissionOf(SharedEngine& shared, Serial serial);
// {ClusterQueue: (keys in order, inadmissible keys)} of queues where someone waits.
py::dict QueuesOf(SharedEngine& shared);
// {ClusterQueue: {flavor/resource: amount}}, of all queues or of the active ones.
py::dict UsageOf(SharedEngine& shared, bool active);
// {ClusterQueue: precise weighted share} where it is not zero.
py::dict SharesOf(SharedEngine& shared);
// {namespace/LocalQueue: {resource or penalty:resource: nano units as text}}.
py::dict ConsumedOf(SharedEngine& shared);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_VIEW_H_
