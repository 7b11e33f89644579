// Translation of the core's errors to Python: each status code has one exception class in kueuepy.errors.
#ifndef KUEUE_BINDINGS_ERRORS_H_
#define KUEUE_BINDINGS_ERRORS_H_

#include "absl/status/status.h"

namespace kueue::python {

// Throws the Python exception for the status code: InvalidSpecError for InvalidArgument, NotFoundError for
// NotFound, DuplicateError for AlreadyExists, StateError for FailedPrecondition, UnsupportedError for
// Unimplemented, and InternalError for every other error. Does nothing if the status is ok.
void ThrowIfError(const absl::Status& status);

// Registers the exception translator with pybind11. Call this function once, before any binding is
// registered.
void RegisterErrors();

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_ERRORS_H_
