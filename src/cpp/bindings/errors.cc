#include "bindings/errors.h"

#include <exception>
#include <string>
#include <utility>

#include "bindings/pybind.h"

namespace kueue::python {
namespace {

class StatusError : public std::exception {
 public:
  explicit StatusError(absl::Status status) : status_(std::move(status)), message_(status_.message()) {}
  const char* what() const noexcept override { return message_.c_str(); }
  absl::StatusCode code() const { return status_.code(); }

 private:
  absl::Status status_;
  std::string message_;
};

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

void ThrowIfError(const absl::Status& status) {
  if (!status.ok()) throw StatusError(status);
}

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
