// Methods of the class Engine that are bound in separate files, one per concept, instead of in engine.cc.
#ifndef KUEUE_BINDINGS_METHOD_H_
#define KUEUE_BINDINGS_METHOD_H_

#include <utility>

#include "bindings/engine.h"
#include "bindings/pybind.h"

namespace kueue::python {

template <typename Function, typename... Extra>
void AddMethod(py::module_& module, const char* name, Function&& function, const Extra&... extra) {
  const py::object engine = module.attr("Engine");
  engine.attr(name) =
      py::cpp_function(std::forward<Function>(function), py::name(name), py::is_method(engine), extra...);
}

// Return methods that call a function with the state: to read it, to read it and a workload with a given
// serial number, and to change it. The result is converted after the lock is released, so it must own its
// data and contain names instead of ids.
template <typename Result, typename... Arguments>
auto Reading(Result (*function)(const State&, Arguments...)) {
  return [function](SharedEngine& shared, const std::decay_t<Arguments>&... arguments) {
    return shared.Read([&](const Engine& engine) { return function(engine.state(), arguments...); });
  };
}
template <typename Result, typename... Arguments>
auto ReadingStored(Result (*function)(const State&, Arguments...)) {
  return [function](SharedEngine& shared, const std::decay_t<Arguments>&... arguments) {
    return shared.ReadStored([&](const Engine& engine) { return function(engine.state(), arguments...); });
  };
}
template <typename Result, typename... Arguments>
auto ReadingWorkload(Result (*function)(const State&, const Workload&, Arguments...)) {
  return [function](SharedEngine& shared, Serial serial, const std::decay_t<Arguments>&... arguments) {
    return shared.Read([&](const Engine& engine) {
      return function(engine.state(), WorkloadOf(engine.state(), serial), arguments...);
    });
  };
}
template <typename Result, typename... Arguments>
auto Writing(Result (*function)(State&, Arguments...)) {
  return [function](SharedEngine& shared, const std::decay_t<Arguments>&... arguments) {
    return shared.Write([&](Engine& engine) { return function(engine.state(), arguments...); });
  };
}

// Returns whether the object is an instance of the class that is bound to T.
template <typename T>
bool Is(PyObject* object) {
  static auto* const type = reinterpret_cast<PyTypeObject*>(py::type::of<T>().release().ptr());
  return PyObject_TypeCheck(object, type);
}

// Returns the C++ object of an instance of a bound class.
template <typename T>
T& Self(PyObject* object) {
  T* const self = reinterpret_cast<py::detail::instance*>(object)->get_value_and_holder().value_ptr<T>();
  if (self == nullptr) throw py::type_error("the object was not initialized");
  return *self;
}

// Adds a function of two positional arguments, which gets them as they are. The conversion of arguments by
// pybind11 costs more than a short call.
template <py::object (*kFunction)(PyObject* first, PyObject* second)>
void AddDirectFunction(py::module_& module, const char* name) {
  constexpr auto call = [](PyObject*, PyObject* const* arguments, Py_ssize_t count) -> PyObject* {
    try {
      if (count != 2) throw py::type_error("wrong number of arguments");
      return kFunction(arguments[0], arguments[1]).release().ptr();
    } catch (py::error_already_set& error) {
      error.restore();
    } catch (...) {
      py::detail::try_translate_exceptions();
    }
    return nullptr;
  };
  static PyMethodDef definition{name, nullptr, METH_FASTCALL, nullptr};
  definition.ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(+call));
  PyObject* const function = PyCFunction_New(&definition, nullptr);
  if (function == nullptr) throw py::error_already_set();
  module.attr(name) = py::reinterpret_steal<py::object>(function);
}

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_METHOD_H_
