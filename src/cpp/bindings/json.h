// Reading values as a JSON or YAML reader leaves them (dict, list, str, int, float, bool, None), with errors
// that name the place: InvalidSpecError where a value is of another type than the API's.
#ifndef KUEUE_BINDINGS_JSON_H_
#define KUEUE_BINDINGS_JSON_H_

#include <string>

#include "bindings/pybind.h"

namespace kueue::python {

// The name as a Python string, made once for each literal: names of fields are looked up all the time.
py::handle Interned(const char* literal);

// Raises InvalidSpecError "where: what" unless the condition holds.
void Require(bool holds, const std::string& where, const char* what);

// The value of a key; a null handle where it is absent or null. `where` is the path of the dict itself.
py::handle Get(const py::handle& dict, const char* key);
py::handle GetDict(const py::handle& dict, const char* key, const std::string& where);
py::handle GetList(const py::handle& dict, const char* key, const std::string& where);
std::string GetText(const py::handle& dict, const char* key, const std::string& where);  // empty: absent

// Calls read(item, path of the item) for the items of the list under the key, if any; each must be an object.
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

// Appends an injective text of the value: keys sorted, strings behind their length. A key with null, "" or []
// is as good as none, since Kueue writes none of them back.
void AppendCanonical(std::string* text, const py::handle& value);

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_JSON_H_
