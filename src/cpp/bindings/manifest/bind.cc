#include <utility>

#include "bindings/manifest/values.h"
#include "bindings/records.h"
#include "manifest/blocks.h"
#include "manifest/json.h"
#include "manifest/marks.h"
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

absl::string_view View(const py::bytes& data) {
  return {PyBytes_AS_STRING(data.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(data.ptr()))};
}

}  // namespace

void BindFastReader(py::module_& module) {
  module.def("has_controls", [](const py::bytes& data) { return HasControls(View(data)); }, py::arg("data"));
  module.def("marks", [](const py::bytes& data) { return Marks(View(data)); }, py::arg("data"));
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
