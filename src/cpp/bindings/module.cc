#include "bindings/pybind.h"
#include "model/config.h"

namespace kueue::python {
void BindQuantity(py::module_& module);
void BindTotals(py::module_& module);
void BindEngine(py::module_& module);
void BindDecision(py::module_& module);
void BindTables(py::module_& module);
void BindAsk(py::module_& module);
void BindExplain(py::module_& module);
void BindPersist(py::module_& module);
void BindVisibility(py::module_& module);
void BindEvents(py::module_& module);
void BindFastReader(py::module_& module);
void BindSimulation(py::module_& module);
void BindFleet(py::module_& module);
void BindDispatch(py::module_& module);
void BindFleetRun(py::module_& module);
void BindSignals(py::module_& module);
void BindNodes(py::module_& module);
void BindArrow(py::module_& module);
void BindPlaces(py::module_& module);
void BindThreads(py::module_& module);
void BindDevices(py::module_& module);
void BindWire(py::module_& module);
}  // namespace kueue::python

PYBIND11_MODULE(_core, module, py::mod_gil_not_used()) {
  module.doc() =
      "C++ core of kueuepy: Kueue's admission decisions. Not a public API; use the package kueuepy.";
  kueue::python::RegisterErrors();
  py::dict gates;  // Supported feature gates and their defaults.
  for (const kueue::FeatureGate& gate : kueue::kFeatureGates) gates[gate.name] = gate.is_on;
  module.attr("FEATURE_GATES") = gates;
  kueue::python::BindQuantity(module);
  kueue::python::BindTotals(module);
  kueue::python::BindEngine(module);
  kueue::python::BindDecision(module);
  kueue::python::BindTables(module);
  kueue::python::BindAsk(module);
  kueue::python::BindExplain(module);
  kueue::python::BindPersist(module);
  kueue::python::BindVisibility(module);
  kueue::python::BindEvents(module);
  kueue::python::BindFastReader(module);
  kueue::python::BindSimulation(module);
  kueue::python::BindFleet(module);
  kueue::python::BindDispatch(module);
  kueue::python::BindFleetRun(module);
  kueue::python::BindSignals(module);
  kueue::python::BindNodes(module);
  kueue::python::BindArrow(module);
  kueue::python::BindPlaces(module);
  kueue::python::BindThreads(module);
  kueue::python::BindDevices(module);
  kueue::python::BindWire(module);
}
