#include "bindings/wire.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace kueue::python {
namespace {

std::vector<std::pair<const char*, const char*>>& Listed() {
  static auto* const listed = new std::vector<std::pair<const char*, const char*>>;
  return *listed;
}

bool IsAscii(absl::string_view text) {
  uint64_t bits = 0;
  for (uint64_t word = 0; text.size() >= sizeof(word); text.remove_prefix(sizeof(word))) {
    std::memcpy(&word, text.data(), sizeof(word));
    bits |= word;
  }
  for (const char c : text) bits |= static_cast<unsigned char>(c);
  return (bits & 0x8080808080808080) == 0;
}

}  // namespace

py::object Text(absl::string_view text) {
  const bool is_ascii = IsAscii(text);
  const auto size = static_cast<Py_ssize_t>(text.size());
  PyObject* const made =
      is_ascii ? PyUnicode_New(size, 0x7f) : PyUnicode_DecodeUTF8(text.data(), size, nullptr);
  if (made == nullptr) throw py::error_already_set();
  if (is_ascii && size > 0) std::memcpy(PyUnicode_1BYTE_DATA(made), text.data(), text.size());
  return py::reinterpret_steal<py::object>(made);
}

bool ListRecord(const char* path, const char* fields) {
  Listed().emplace_back(path, fields);
  return true;
}

std::vector<std::string> FieldNames(const char* fields) {
  std::vector<std::string> names = absl::StrSplit(fields, ", ");
  for (std::string& name : names) {
    if (name.back() == '_') name.pop_back();
  }
  return names;
}

py::object RecordClass(const char* path, const char* fields) {
  const std::string full = path;
  const size_t dot = full.rfind('.');
  py::object cls = py::module_::import(full.substr(0, dot).c_str()).attr(full.substr(dot + 1).c_str());
  const char* const listed = py::hasattr(cls, "_fields") ? "_fields" : "__struct_fields__";
  if (!py::tuple(cls.attr(listed)).equal(KeysOf(fields))) {
    ThrowIfError(absl::InternalError(absl::StrCat(path, ": its fields differ from the core's: ", fields)));
  }
  return cls;
}

py::object KeysOf(const char* fields) { return py::tuple(py::cast(FieldNames(fields))); }

py::object NewDict(py::handle keys, const py::object* fields, size_t size) {
  py::dict made;
  for (size_t i = 0; i < size; ++i) {
    if (PyDict_SetItem(made.ptr(), PyTuple_GET_ITEM(keys.ptr(), static_cast<Py_ssize_t>(i)),
                       fields[i].ptr()) != 0) {
      throw py::error_already_set();
    }
  }
  return std::move(made);
}

// Same as tuple.__new__ for a subclass, which NamedTuple does not override.
py::object NewRecord(py::handle cls, size_t size) {
  auto* const type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  PyObject* const made = type->tp_alloc(type, static_cast<Py_ssize_t>(size));
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

py::object NewStruct(py::handle cls, const py::object* fields, size_t size) {
  std::array<PyObject*, 16> items;
  for (size_t i = 0; i < size; ++i) items[i] = fields[i].ptr();
  PyObject* const made = PyObject_Vectorcall(cls.ptr(), items.data(), size, nullptr);
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

void BindWire(py::module_& module) {
  py::dict records;
  for (const auto& [path, fields] : Listed()) records[path] = KeysOf(fields);
  module.attr("RECORDS") = records;
}

}  // namespace kueue::python
