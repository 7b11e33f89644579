// What Python sees of the engine: plain dicts, tuples and texts.
#ifndef KUEUE_BINDINGS_VIEW_H_
#define KUEUE_BINDINGS_VIEW_H_

#include <string>

#include "bindings/engine.h"
#include "bindings/pybind.h"

namespace kueue::python {

// What Python calls a kind of event.
inline const char* NameOf(EventKind kind) {
  static constexpr const char* kNames[] = {
      "QuotaReserved",     "Admitted", "Evicted",       "QuotaReleased", "Pending",
      "Finished",          "Deleted",  "Created",       "PodsReady",     "PreemptionSkipped",
      "TargetsRecomputed", "Assigned", "UnhealthyNodes"};
  return kNames[static_cast<int>(kind)];
}

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
