// Tables of a simulation as NumPy arrays that share its memory, and its metrics as plain data.
#ifndef KUEUE_BINDINGS_RUN_TABLES_H_
#define KUEUE_BINDINGS_RUN_TABLES_H_

#include <memory>
#include <vector>

#include "bindings/engine.h"
#include "bindings/pybind.h"
#include "bindings/records.h"
#include "simulation/simulation.h"

namespace kueue::python {

// Return a dict that maps the name of each column to an array or to a pair (codes, names). The arrays are
// read-only and keep the simulation alive.
using SharedRun = std::shared_ptr<Simulation>;
py::dict JobColumnsOf(const SharedRun& run);
py::dict RunColumnsOf(const SharedRun& run);
py::dict DecisionColumnsOf(const SharedRun& run);
py::dict UsageColumnsOf(const SharedRun& run);
py::dict IdleColumnsOf(const SharedRun& run);
py::dict BlockedColumnsOf(const SharedRun& run);
py::dict ConsumedColumnsOf(const SharedRun& run);
py::dict CycleColumnsOf(const SharedRun& run);

// Returns the admission for each code in the column `flavors`.
std::vector<std::vector<AssignedFlavor>> AssignedOf(const Simulation& run);
std::vector<DetectedLoop> LoopsOf(const Simulation& run);
// Returns an engine with the state of the simulation, which can be used without it.
std::unique_ptr<SharedEngine> ForkOf(const Simulation& run);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_RUN_TABLES_H_
