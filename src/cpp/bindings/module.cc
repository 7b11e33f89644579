#include "bindings/pybind.h"
#include "model/config.h"

namespace kueue::python {

// The functions that bind the concepts, in the order in which they are called: methods of a class follow the
// class.
using Bind = void(py::module_& module);
Bind BindQuantity, BindTotals, BindEngine, BindDecision, BindTables, BindAsk, BindExplain, BindStatus,
    BindFastReader, BindSimulation, BindEnvironments, BindDispatch, BindFleetRun, BindArrow, BindThreads,
    BindDevices, BindWire;
constexpr Bind* kBinds[] = {
    &BindQuantity, &BindTotals, &BindEngine,     &BindDecision,   &BindTables,       &BindAsk,
    &BindExplain,  &BindStatus, &BindFastReader, &BindSimulation, &BindEnvironments, &BindDispatch,
    &BindFleetRun, &BindArrow,  &BindThreads,    &BindDevices,    &BindWire,
};

}  // namespace kueue::python

PYBIND11_MODULE(_core, module) {
  module.doc() =
      "C++ core of kueuepy: Kueue's admission decisions. Not a public API; use the package kueuepy.";
  module.attr("VERSION") = KUEUE_VERSION;
  kueue::python::RegisterErrors();
  py::dict gates;  // Supported feature gates and their defaults.
  for (const kueue::FeatureGate& gate : kueue::kFeatureGates) gates[gate.name] = gate.is_on;
  module.attr("FEATURE_GATES") = gates;
  for (kueue::python::Bind* const bind : kueue::python::kBinds) bind(module);
}
