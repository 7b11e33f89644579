// Saving and loading of engines.
#include "persist/persist.h"

#include "bindings/engine.h"
#include "bindings/method.h"
#include "bindings/pybind.h"

namespace kueue::python {
namespace {

using Release = py::gil_scoped_release;

py::bytes Save(SharedEngine& shared) {
  std::string text;
  {
    const Release release;
    text = shared.Read([](const Engine& engine) { return SaveState(engine.state()); });
  }
  return py::bytes(text);
}

std::unique_ptr<SharedEngine> Load(const py::bytes& data) {
  const absl::string_view text(PyBytes_AsString(data.ptr()), static_cast<size_t>(PyBytes_Size(data.ptr())));
  absl::StatusOr<State> state = [text] {
    const Release release;
    return LoadState(text);
  }();
  ThrowIfError(state.status());
  auto engine = std::make_shared<Engine>(state->config, state->requests);
  engine->state() = *std::move(state);
  return std::make_unique<SharedEngine>(std::move(engine));
}

}  // namespace

void BindPersist(py::module_& module) {
  AddMethod(module, "save", &Save);
  module.attr("Engine").attr("load") =
      py::module_::import("builtins")
          .attr("staticmethod")(py::cpp_function(&Load, py::name("load"), py::arg("data")));
}

}  // namespace kueue::python
