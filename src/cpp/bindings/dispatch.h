// Reads the settings of a MultiKueue dispatcher.
#ifndef KUEUE_BINDINGS_DISPATCH_H_
#define KUEUE_BINDINGS_DISPATCH_H_

#include <vector>

#include "bindings/pybind.h"
#include "fleet/dispatcher.h"

namespace kueue::python {

DispatcherOptions ReadDispatcher(const py::dict& options);
// Reads the MultiKueue checks from pairs (name of the check, indexes of its clusters). The indexes are None
// if the check has no MultiKueueConfig.
std::vector<CheckClusters> ReadCheckClusters(const py::handle& checks);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_DISPATCH_H_
