// The tables of a run as NumPy columns that lie in its memory, and its figures as plain data.
#ifndef KUEUE_BINDINGS_RUN_TABLES_H_
#define KUEUE_BINDINGS_RUN_TABLES_H_

#include <memory>

#include "bindings/pybind.h"
#include "simulation/simulation.h"

namespace kueue::python {

// By name, an array or a pair of codes and names. The arrays keep the run alive and are read-only.
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
// By the code of `flavors` of a run: (pod set, resource, flavor, amount) of all that was given.
py::list AssignedOf(const Simulation& run);
// (time, period, times, rows of the jobs).
py::list LoopsOf(const Simulation& run);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_RUN_TABLES_H_
