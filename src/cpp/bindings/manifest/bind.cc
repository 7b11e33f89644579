#include <algorithm>
#include <cstring>
#include <utility>

#include "bindings/manifest/values.h"
#include "bindings/records.h"
#include "manifest/blocks.h"
#include "manifest/json.h"
#include "manifest/scalars.h"

namespace kueue::python {
namespace {

using Reader = FastReader<PythonValues>;

// Returns the result of `read`, or None if the exact parser must be used.
template <typename Read>
py::object UnlessUnsupported(Read read) {
  try {
    return read();
  } catch (const Unsupported&) {
    return py::none();
  }
}

// Returns whether the data contains control characters other than tabs and line breaks.
bool HasControls(const py::bytes& data) {
  const auto* const begin = reinterpret_cast<const unsigned char*>(PyBytes_AS_STRING(data.ptr()));
  const Py_ssize_t size = PyBytes_GET_SIZE(data.ptr());
  constexpr Py_ssize_t kAtOnce = 1 << 16;
  for (Py_ssize_t start = 0; start < size; start += kAtOnce) {
    const Py_ssize_t stop = std::min(start + kAtOnce, size);
    unsigned found = 0;
    for (Py_ssize_t i = start; i < stop; ++i) {
      const unsigned char c = begin[i];
      found |= static_cast<unsigned>((c < 0x20) & (c != '\t') & (c != '\n') & (c != '\r')) | (c == 0x7f);
    }
    if (found != 0) return true;
  }
  return false;
}

// Returns the offsets of document separator lines, and the offset of the first line that starts with %. The
// latter is None if there is no such line.
py::tuple Marks(const py::bytes& data) {
  const char* const begin = PyBytes_AS_STRING(data.ptr());
  const char* const end = begin + PyBytes_GET_SIZE(data.ptr());
  py::list marks;
  py::object directive = py::none();
  for (const char* line = begin; line != end;) {
    const auto left = static_cast<size_t>(end - line);
    if (*line == '%' && directive.is_none()) directive = py::int_(line - begin);
    if (left >= 3 && (*line == '-' || *line == '.') && line[1] == *line && line[2] == *line &&
        (left == 3 || std::strchr(" \t\r\n", line[3]) != nullptr)) {
      marks.append(line - begin);
    }
    const void* const next = std::memchr(line, '\n', left);
    if (next == nullptr) break;
    line = static_cast<const char*>(next) + 1;
  }
  return py::make_tuple(marks, directive);
}

}  // namespace

void BindFastReader(py::module_& module) {
  module.def("has_controls", &HasControls, py::arg("data"));
  module.def("marks", &Marks, py::arg("data"));
  py::class_<Reader>(module, "FastReader")
      .def(py::init([](const py::bytes& data, size_t start, size_t stop, size_t line, py::function resolve,
                       size_t depth, size_t scalar_bytes) {
             const absl::string_view text(PyBytes_AS_STRING(data.ptr()), stop);
             return std::make_unique<Reader>(Reader::Span{text, start, stop, line},
                                             Reader::Bounds{depth, scalar_bytes},
                                             PythonValues(std::move(resolve)));
           }),
           py::arg("data"), py::arg("start"), py::arg("stop"), py::arg("line"), py::arg("resolve"),
           py::arg("depth"), py::arg("scalar_bytes"), py::keep_alive<1, 2>())
      .def("open",
           [](Reader& reader) {
             return UnlessUnsupported([&]() -> py::object { return py::bool_(reader.Open()); });
           })
      .def(
          "items",
          [](Reader& reader, size_t size) {
            return UnlessUnsupported([&]() -> py::object { return py::cast(reader.Items(size)); });
          },
          py::arg("size"))
      .def("pass_over",
           [](Reader& reader) {
             return UnlessUnsupported([&]() -> py::object { return py::cast(reader.PassOver()); });
           })
      .def_property_readonly("value", [](const Reader& reader) { return reader.value(); })
      .def_property_readonly("is_json", &Reader::is_json)
      .def_property_readonly("is_in_list", &Reader::is_in_list);
}

}  // namespace kueue::python
