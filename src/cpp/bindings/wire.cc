#include "bindings/wire.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "bindings/records.h"

namespace kueue::python {
namespace {

// Splits a list of fields, and removes the trailing underscore of a field whose name is a keyword of C++.
std::vector<std::string> Names(const char* fields) {
  std::vector<std::string> names = absl::StrSplit(fields, ", ");
  for (std::string& name : names) {
    if (name.back() == '_') name.pop_back();
  }
  return names;
}

template <typename... Types>
py::dict FieldLists(const std::tuple<Types...>*) {
  py::dict lists;
  ((lists[Wire<Types>::kName] = py::tuple(py::cast(Names(Wire<Types>::kFields)))), ...);
  return lists;
}

}  // namespace

py::object RecordClass(const char* name, const char* fields) {
  py::object cls = py::module_::import("kueuepy.engine.records").attr(name);
  if (!py::tuple(cls.attr("_fields")).equal(py::tuple(py::cast(Names(fields))))) {
    ThrowIfError(absl::InternalError(
        absl::StrCat("kueuepy.engine.records.", name, ": its fields differ from the core's: ", fields)));
  }
  return cls;
}

// Same as tuple.__new__ for a subclass, which NamedTuple does not override.
py::object NewRecord(py::handle cls, size_t size) {
  auto* const type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  PyObject* const made = type->tp_alloc(type, static_cast<Py_ssize_t>(size));
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

void BindWire(py::module_& module) {
  module.attr("RECORDS") = FieldLists(static_cast<const Records*>(nullptr));
}

}  // namespace kueue::python
