#include "bindings/read.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace kueue::python {
namespace {

class PythonAccess : public ValueAccess {
 public:
  // Takes over a reference, or the error of the interpreter if there is none.
  static Value Take(PyObject* object);

  void AddReference(void* value) const override { Py_INCREF(Object(value)); }
  void RemoveReference(void* value) const override { Py_DECREF(Object(value)); }

  ValueKind KindOf(void* value) const override {
    PyObject* const object = Object(value);
    if (PyUnicode_Check(object)) return ValueKind::kText;
    if (PyLong_Check(object)) return ValueKind::kInteger;
    if (PyDict_Check(object)) return ValueKind::kMap;
    return PyList_Check(object) || PyTuple_Check(object) ? ValueKind::kList : ValueKind::kOther;
  }
  std::string TypeName(void* value) const override {
    return py::type::of(Handle(value)).attr("__name__").cast<std::string>();
  }
  Value Field(void* record, const char* name) const override {
    return Take(PyObject_GetAttr(Object(record), Interned(name).ptr()));
  }
  Value Get(void* map, const char* key) const override {
    PyObject* const value = PyDict_GetItem(Object(map), Interned(key).ptr());
    return Take(Py_NewRef(value == nullptr ? Py_None : value));
  }
  std::vector<Value> Items(void* list) const override {
    const auto items = py::reinterpret_steal<py::object>(PySequence_Fast(Object(list), "it must be a list"));
    if (!items) throw py::error_already_set();
    std::vector<Value> values;
    values.reserve(static_cast<size_t>(PySequence_Fast_GET_SIZE(items.ptr())));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i) {
      values.push_back(Take(Py_NewRef(PySequence_Fast_GET_ITEM(items.ptr(), i))));
    }
    return values;
  }
  std::vector<std::pair<Value, Value>> Entries(void* map) const override {
    std::vector<std::pair<Value, Value>> entries;
    for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(Handle(map))) {
      entries.emplace_back(ValueOf(key), ValueOf(value));
    }
    return entries;
  }

  std::string Text(void* text) const override { return Handle(text).cast<std::string>(); }
  std::string Printed(void* value) const override { return py::str(Handle(value)); }
  std::string Json(void* value) const override {
    return py::module_::import("json").attr("dumps")(Handle(value)).cast<std::string>();
  }
  int64_t Integer(void* value) const override { return Handle(value).cast<int64_t>(); }
  double Number(void* value) const override { return Handle(value).cast<double>(); }
  bool Bool(void* value) const override { return Handle(value).cast<bool>(); }
  const Quantity* AsQuantity(void* value) const override {
    return py::isinstance<Quantity>(Handle(value)) ? Handle(value).cast<const Quantity*>() : nullptr;
  }

 private:
  static PyObject* Object(void* value) { return value == nullptr ? Py_None : static_cast<PyObject*>(value); }
  static py::handle Handle(void* value) { return Object(value); }
};

const PythonAccess kPython;

Value PythonAccess::Take(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  if (object != Py_None) return Value(&kPython, object);
  Py_DECREF(object);
  return Value(&kPython, nullptr);
}

}  // namespace

Value ValueOf(const py::handle& object) { return PythonAccess::Take(object.inc_ref().ptr()); }

py::handle Interned(const char* literal) {
  static auto& names = *new absl::flat_hash_map<const char*, PyObject*>();  // By address; guarded by the GIL.
  PyObject*& name = names[literal];
  if (name == nullptr) name = PyUnicode_InternFromString(literal);
  return name;
}

std::string Briefly(const py::handle& value) {
  try {
    return py::cast<std::string>(py::repr(value));
    // The value is nested too deeply, or its class has a faulty repr().
  } catch (const py::error_already_set&) {
    return absl::StrCat("a ", Py_TYPE(value.ptr())->tp_name);
  }
}

}  // namespace kueue::python
