// Reads values produced by a JSON or YAML parser (dict, list, str, int, float, bool, None). Raises
// InvalidSpecError with the path of the value if its type differs from the type in the API.
#ifndef KUEUE_BINDINGS_JSON_H_
#define KUEUE_BINDINGS_JSON_H_

#include <string>

#include "bindings/pybind.h"

namespace kueue::python {

// Returns a cached Python string for a literal. Fields are read so often that creating a Python string for
// each field name every time would be slow.
py::handle Interned(const char* literal);

// Raises InvalidSpecError with the message "where: what" if `holds` is false.
void Require(bool holds, const std::string& where, const char* what);

// Return the value of a key, or a null handle if the key is absent or its value is null. `where` is the path
// of `dict`, for error messages. The returned handle is a borrowed reference, owned by `dict`.
py::handle Get(const py::handle& dict, const char* key);
py::handle GetDict(const py::handle& dict, const char* key, const std::string& where);
py::handle GetList(const py::handle& dict, const char* key, const std::string& where);
// Returns the text value of a key, or an empty string if the key is absent.
std::string GetText(const py::handle& dict, const char* key, const std::string& where);

// Calls read(item, path of the item) for each item of the list that is the value of the key. Does nothing if
// the key is absent. Each item of the list must be an object.
template <typename Read>
void ForEachObject(const py::handle& dict, const char* key, const std::string& where, Read read) {
  const py::handle list = GetList(dict, key, where);
  if (!list) return;
  size_t index = 0;
  for (const py::handle item : list) {
    const std::string at = where + "." + key + "[" + std::to_string(index++) + "]";
    Require(py::isinstance<py::dict>(item), at, "it must be an object");
    read(item, at);
  }
}

// Appends a canonical string form of the value to `text`. Values that Kueue distinguishes have different
// string forms. In the string form, keys are sorted and strings are prefixed with their length. Keys with the
// values null, "" or [] are treated as absent, since Kueue omits them when it writes objects.
void AppendCanonical(std::string* text, const py::handle& value);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_JSON_H_
