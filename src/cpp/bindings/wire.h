// Conversion of records to Python. A record is a plain struct with one list of its fields. For each record
// declared with KUEUE_WIRE, kueuepy.engine.records has a NamedTuple with the same name and the same fields,
// which the conversion fills directly. A record declared with KUEUE_STRUCT becomes a msgspec.Struct of
// another module, and a record declared with KUEUE_DICT a dict that a TypedDict describes. A bound function
// can return a record, or a container of records, without further conversion code.
#ifndef KUEUE_BINDINGS_WIRE_H_
#define KUEUE_BINDINGS_WIRE_H_

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "bindings/pybind.h"
#include "questions/by_name.h"

namespace kueue::python {

// A trait that KUEUE_WIRE specializes for each record.
template <typename T>
struct Wire : std::false_type {};

enum class Form { kTuple, kStruct, kDict };

// Lists all fields of a record in the order of their declaration, with their names in Python; a missing field
// is a compile error.
#define KUEUE_WIRE(Type, ...) KUEUE_FIELDS(Type, kTuple, "kueuepy.engine.records." #Type, __VA_ARGS__)
// Same, for a record whose Python class is the msgspec.Struct with the full name `path`.
#define KUEUE_STRUCT(Type, path, ...) KUEUE_FIELDS(Type, kStruct, path, __VA_ARGS__)
// Same, for a record that becomes a dict, which the TypedDict with the full name `path` describes.
#define KUEUE_DICT(Type, path, ...) KUEUE_FIELDS(Type, kDict, path, __VA_ARGS__)
#define KUEUE_FIELDS(Type, form, path, ...)                               \
  template <>                                                             \
  struct Wire<Type> : std::true_type {                                    \
    static constexpr Form kForm = Form::form;                             \
    static constexpr const char* kPath = path;                            \
    static inline const bool kIsListed = ListRecord(kPath, #__VA_ARGS__); \
    KUEUE_FIELD_LIST(Type, __VA_ARGS__)                                   \
  }
// Members of a class that describe all fields of a struct.
#define KUEUE_FIELD_LIST(Type, ...)                    \
  static constexpr const char* kFields = #__VA_ARGS__; \
  template <typename Use>                              \
  static auto Visit(const Type& record, Use use) {     \
    const auto& [__VA_ARGS__] = record;                \
    return use(__VA_ARGS__);                           \
  }

// Adds a record to `_core.RECORDS`, the fields of all records by the full names of their Python classes.
bool ListRecord(const char* path, const char* fields);

// Returns a new Python string. For ASCII, this costs half as much as the general conversion from UTF-8.
py::object Text(absl::string_view text);

// Splits a list of fields, and removes the trailing underscore of a field whose name is a keyword of C++.
std::vector<std::string> FieldNames(const char* fields);

// Returns the class of a record by its full name. Raises InternalError if the fields of the Python class
// differ from `fields`.
py::object RecordClass(const char* path, const char* fields);
// Returns the names of the fields as a tuple.
py::object KeysOf(const char* fields);

// Returns a new instance of the tuple class `cls`, whose items the caller must set.
py::object NewRecord(py::handle cls, size_t size);
// Returns the result of calling the class with these positional arguments.
py::object NewStruct(py::handle cls, const py::object* fields, size_t size);
py::object NewDict(py::handle keys, const py::object* fields, size_t size);

}  // namespace kueue::python

namespace pybind11::detail {

template <typename T>
struct type_caster<T, std::enable_if_t<kueue::python::Wire<T>::value>> {
  using Wire = kueue::python::Wire<T>;
  using Form = kueue::python::Form;
  static constexpr auto name = const_name("tuple");
  static handle cast(const T& record, return_value_policy policy, handle parent) {
    PYBIND11_CONSTINIT static gil_safe_call_once_and_store<object> stored;
    const handle cls = stored
                           .call_once_and_store_result([] {
                             return Wire::kForm == Form::kDict
                                        ? kueue::python::KeysOf(Wire::kFields)
                                        : kueue::python::RecordClass(Wire::kPath, Wire::kFields);
                           })
                           .get_stored();
    object made;
    Wire::Visit(record, [&](const auto&... fields) {
      if constexpr (Wire::kForm == Form::kTuple) {
        made = kueue::python::NewRecord(cls, sizeof...(fields));
        ssize_t at = 0;
        (PyTuple_SET_ITEM(made.ptr(), at++, Item(fields, policy, parent)), ...);
      } else {
        const object items[] = {reinterpret_steal<object>(Item(fields, policy, parent))...};
        made = Wire::kForm == Form::kDict ? kueue::python::NewDict(cls, items, sizeof...(fields))
                                          : kueue::python::NewStruct(cls, items, sizeof...(fields));
      }
    });
    return made.release();
  }

 private:
  template <typename Field>
  static PyObject* Item(const Field& field, return_value_policy policy, handle parent) {
    if constexpr (std::is_same_v<Field, absl::string_view>) {
      return kueue::python::Text(field).release().ptr();
    } else {
      const handle item = make_caster<Field>::cast(field, policy, parent);
      if (!item) throw error_already_set();
      return item.ptr();
    }
  }
};

template <>
struct type_caster<kueue::NameTuple> {
  static constexpr auto name = const_name("tuple");
  static handle cast(const kueue::NameTuple& value, return_value_policy, handle) {
    return tuple(pybind11::cast(value.names)).release();
  }
};

template <typename T>
struct type_caster<kueue::ByName<T>> {
  static constexpr auto name = const_name("dict");
  static handle cast(const kueue::ByName<T>& values, return_value_policy, handle) {
    dict made;
    for (const auto& [key, value] : values.items) made[str(key)] = pybind11::cast(value);
    return made.release();
  }
};

}  // namespace pybind11::detail

#endif  // KUEUE_BINDINGS_WIRE_H_
