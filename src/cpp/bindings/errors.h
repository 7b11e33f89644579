// Translation of the core's errors to Python: each status code has one exception class in kueuepy.errors.
#ifndef KUEUE_BINDINGS_ERRORS_H_
#define KUEUE_BINDINGS_ERRORS_H_

#include "objects/status_error.h"

namespace kueue::python {

// Registers the exception translator with pybind11. A StatusError becomes the Python exception for its code:
// InvalidSpecError for InvalidArgument, NotFoundError for NotFound, DuplicateError for AlreadyExists,
// StateError for FailedPrecondition, UnsupportedError for Unimplemented, and InternalError for all other
// codes. Call this function once, before any binding is registered.
void RegisterErrors();

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_ERRORS_H_
