#include "bindings/errors.h"

#include <exception>

#include "bindings/pybind.h"

namespace kueue::python {
namespace {

const char* ClassName(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
      return "InvalidSpecError";
    case absl::StatusCode::kNotFound:
      return "NotFoundError";
    case absl::StatusCode::kAlreadyExists:
      return "DuplicateError";
    case absl::StatusCode::kFailedPrecondition:
      return "StateError";
    case absl::StatusCode::kUnimplemented:
      return "UnsupportedError";
    default:
      return "InternalError";
  }
}

}  // namespace

void RegisterErrors() {
  py::register_local_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const StatusError& error) {
      const py::object type = py::module_::import("kueuepy.errors").attr(ClassName(error.code()));
      py::set_error(type, error.what());
    }
  });
}

}  // namespace kueue::python
