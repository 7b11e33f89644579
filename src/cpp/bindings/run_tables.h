// Tables of a run as NumPy columns that share its memory, and its metrics as plain data.
#ifndef KUEUE_BINDINGS_RUN_TABLES_H_
#define KUEUE_BINDINGS_RUN_TABLES_H_

#include <memory>

#include "bindings/pybind.h"
#include "simulation/simulation.h"

namespace kueue::python {

// Return arrays by name, or pairs of codes and names. The arrays are read-only and keep the run alive.
using SharedRun = std::shared_ptr<Simulation>;
py::dict JobColumnsOf(const SharedRun& run);
py::dict RunColumnsOf(const SharedRun& run);
py::dict DecisionColumnsOf(const SharedRun& run);
py::dict UsageColumnsOf(const SharedRun& run);
py::dict IdleColumnsOf(const SharedRun& run);
py::dict BlockedColumnsOf(const SharedRun& run);
py::dict ConsumedColumnsOf(const SharedRun& run);
py::dict CycleColumnsOf(const SharedRun& run);

py::dict FiguresOf(const Simulation& run);
// Returns for each code of the column `flavors` the tuples (pod set, resource, flavor, amount) of the
// admission.
py::list AssignedOf(const Simulation& run);
// Returns tuples (time, period, times, rows of the jobs).
py::list LoopsOf(const Simulation& run);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_RUN_TABLES_H_
