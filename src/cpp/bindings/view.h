// Views of the engine for Python: plain dicts, tuples and strings.
#ifndef KUEUE_BINDINGS_VIEW_H_
#define KUEUE_BINDINGS_VIEW_H_

#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "bindings/engine.h"
#include "bindings/pybind.h"
#include "bindings/records.h"

namespace kueue::python {

// Removes all recorded events from the engine and returns them, oldest first.
std::vector<ChangeView> TakeEvents(SharedEngine& shared);
std::string KeyOf(SharedEngine& shared, Serial serial);
std::optional<ConditionView> ConditionOf(SharedEngine& shared, Serial serial, const std::string& type);
// Returns {type: ConditionView} in the order of the workload's status.
py::dict ConditionsOf(SharedEngine& shared, Serial serial);
std::optional<AdmissionView> AdmissionOf(SharedEngine& shared, Serial serial);
// Returns {ClusterQueue: (keys in queue order, inadmissible keys)} for the queues with pending workloads.
py::dict QueuesOf(SharedEngine& shared);
// Returns {ClusterQueue: {flavor/resource: amount}} for all queues or, if `active` is true, for the active
// queues.
py::dict UsageOf(SharedEngine& shared, bool active);
// Returns {ClusterQueue: precise weighted share} for the queues with a nonzero share.
py::dict SharesOf(SharedEngine& shared);
// Returns {namespace/LocalQueue: {key: amount in units of 10^-9, as a string}}. A key is a resource name for
// consumed usage, or "penalty:" followed by a resource name for pending penalties.
py::dict ConsumedOf(SharedEngine& shared);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_VIEW_H_
