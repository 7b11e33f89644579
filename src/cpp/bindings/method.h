// Methods of the class Engine that are bound in separate files, one per concept, instead of in engine.cc.
#ifndef KUEUE_BINDINGS_METHOD_H_
#define KUEUE_BINDINGS_METHOD_H_

#include <utility>

#include "bindings/pybind.h"

namespace kueue::python {

template <typename Function, typename... Extra>
void AddMethod(py::module_& module, const char* name, Function&& function, const Extra&... extra) {
  const py::object engine = module.attr("Engine");
  engine.attr(name) =
      py::cpp_function(std::forward<Function>(function), py::name(name), py::is_method(engine), extra...);
}

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_METHOD_H_
