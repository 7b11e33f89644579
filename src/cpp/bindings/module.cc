#include "bindings/pybind.h"

namespace kueue::python {
void BindQuantity(py::module_& module);
void BindTotals(py::module_& module);
void BindEngine(py::module_& module);
}  // namespace kueue::python

PYBIND11_MODULE(_core, module, py::mod_gil_not_used()) {
  module.doc() = "Kueue's admission, in C++. Use it through kueuepy.";
  kueue::python::RegisterErrors();
  kueue::python::BindQuantity(module);
  kueue::python::BindTotals(module);
  kueue::python::BindEngine(module);
}
