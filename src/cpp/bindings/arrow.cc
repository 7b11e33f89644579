// Tables as Arrow streams, in a PyCapsule.
#include "absl/strings/str_cat.h"
#include "arrow/stream.h"
#include "bindings/pybind.h"
#include "bindings/read.h"

namespace kueue::python {
namespace {

// Arrays whose memory a stream uses. Any thread may be the last user.
struct Arrays {
  std::vector<PyObject*> held;

  Arrays() = default;
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;
  ~Arrays() {
    if (Py_IsInitialized() == 0) return;
    const py::gil_scoped_acquire acquire;
    for (PyObject* array : held) Py_DECREF(array);
  }
};

const char* FormatOf(const py::dtype& type) {
  const char kind = type.kind();
  const py::ssize_t size = type.itemsize();
  if (kind == 'f') return size == 8 ? "g" : size == 4 ? "f" : nullptr;
  if (kind == 'b') return "b";
  if (kind == 'M') return "tsn:";
  if (kind == 'm') return "tDn";
  const int place = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  if (kind == 'i') return std::vector<const char*>{"c", "s", "i", "l"}[static_cast<size_t>(place)];
  if (kind == 'u') return std::vector<const char*>{"C", "S", "I", "L"}[static_cast<size_t>(place)];
  return nullptr;
}

// Missing texts are empty.
std::unique_ptr<ArrowTexts> TextsOf(const py::handle& values) {
  auto texts = std::make_unique<ArrowTexts>();
  for (const py::handle& text : values)
    ThrowIfError(texts->Add(text.is_none() ? std::string() : text.cast<std::string>()));
  return texts;
}

// Uses the memory of the array without copying it.
void TakeArray(const py::array& array, ArrowColumn& column, Arrays& arrays) {
  const char* format = FormatOf(array.dtype());
  if (format == nullptr || array.ndim() != 1) {
    ThrowIfError(absl::UnimplementedError(
        absl::StrCat("column \"", column.name, "\": its type has no equivalent in Arrow")));
  }
  column.format = format;
  column.length = array.size();
  column.data = array.data();
  arrays.held.push_back(py::object(array).release().ptr());
  if (column.format == "b") column.PackBits();
}

void TakeCodes(const py::tuple& codes_and_names, ArrowColumn& column, Arrays& arrays) {
  TakeArray(py::array_t<int32_t, py::array::c_style>(codes_and_names[0]), column, arrays);
  column.names = TextsOf(codes_and_names[1]);
  column.MarkMissing();
}

ArrowColumn MakeColumn(const std::string& name, const py::handle& value, Arrays& arrays) {
  ArrowColumn column;
  column.name = name;
  if (py::isinstance<py::list>(value)) {
    column.format = "u";
    column.texts = TextsOf(value);
    column.length = static_cast<int64_t>(py::len(value));
  } else if (py::isinstance<py::tuple>(value)) {
    TakeCodes(value.cast<py::tuple>(), column, arrays);
  } else {
    TakeArray(py::array::ensure(value, py::array::c_style), column, arrays);
  }
  return column;
}

constexpr const char* kCapsule = "arrow_array_stream";

void ReleaseCapsule(PyObject* capsule) {
  auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, kCapsule));
  if (stream == nullptr) return PyErr_Clear();
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

// Each column is an array, a list of strings, or a pair of codes and names.
py::object StreamOf(const py::dict& columns) {
  auto table = std::make_shared<ArrowTable>();
  const auto arrays = std::make_shared<Arrays>();
  table->owner = arrays;
  for (const auto& [name, value] : columns) {
    table->columns.push_back(MakeColumn(name.cast<std::string>(), value, *arrays));
    table->rows = table->columns.back().length;
  }
  auto* const stream = NewArrowStream(std::move(table));
  return py::reinterpret_steal<py::object>(PyCapsule_New(stream, kCapsule, &ReleaseCapsule));
}

}  // namespace

void BindArrow(py::module_& module) { module.def("arrow_stream", &StreamOf, py::arg("columns")); }

}  // namespace kueue::python
