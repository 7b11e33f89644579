#include "bindings/json.h"

#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace kueue::python {
namespace {

bool IsList(const py::handle& value) {
  return py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value);
}

// Returns whether Go omits the value when it writes an object.
bool IsOmitted(const py::handle& value) {
  return value.is_none() || ((IsList(value) || py::isinstance<py::str>(value)) && py::len(value) == 0);
}

void AppendDict(std::string* text, const py::handle& dict) {
  std::map<std::string, py::handle> sorted;
  for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(dict)) {
    if (!IsOmitted(value)) sorted[py::str(key)] = value;
  }
  *text += '{';
  for (const auto& [key, value] : sorted) {
    absl::StrAppend(text, key.size(), ":", key);
    AppendCanonical(text, value);
  }
  *text += '}';
}

}  // namespace

void Require(bool holds, const std::string& where, const char* what) {
  if (!holds) ThrowIfError(absl::InvalidArgumentError(absl::StrCat(where, ": ", what)));
}

py::handle Interned(const char* literal) {
  static auto& names = *new absl::flat_hash_map<const char*, PyObject*>();  // By address; guarded by the GIL.
  PyObject*& name = names[literal];
  if (name == nullptr) name = PyUnicode_InternFromString(literal);
  return name;
}

py::handle Get(const py::handle& dict, const char* key) {
  const py::handle value = PyDict_GetItem(dict.ptr(), Interned(key).ptr());
  return value && !value.is_none() ? value : py::handle();
}

py::handle GetDict(const py::handle& dict, const char* key, const std::string& where) {
  const py::handle value = Get(dict, key);
  if (value && !py::isinstance<py::dict>(value))
    Require(false, absl::StrCat(where, ".", key), "it must be an object");
  return value;
}

py::handle GetList(const py::handle& dict, const char* key, const std::string& where) {
  const py::handle value = Get(dict, key);
  if (value && !IsList(value)) Require(false, absl::StrCat(where, ".", key), "it must be a list");
  return value;
}

std::string GetText(const py::handle& dict, const char* key, const std::string& where) {
  const py::handle value = Get(dict, key);
  if (!value) return std::string();
  if (!py::isinstance<py::str>(value)) Require(false, absl::StrCat(where, ".", key), "it must be a string");
  return value.cast<std::string>();
}

void AppendCanonical(std::string* text, const py::handle& value) {
  if (!value || value.is_none()) {
    *text += '~';
  } else if (py::isinstance<py::dict>(value)) {
    AppendDict(text, value);
  } else if (IsList(value)) {
    *text += '[';
    for (const py::handle item : value) AppendCanonical(text, item);
    *text += ']';
  } else {
    // The quotes distinguish "1" from 1 and "True" from true.
    const std::string scalar = py::str(value);
    absl::StrAppend(text, py::isinstance<py::str>(value) ? "\"" : "", scalar.size(), ":", scalar);
  }
}

}  // namespace kueue::python
