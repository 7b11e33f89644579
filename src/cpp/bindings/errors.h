// How errors of the core reach Python: one status, one exception class of kueuepy.errors.
#ifndef KUEUE_BINDINGS_ERRORS_H_
#define KUEUE_BINDINGS_ERRORS_H_

#include "absl/status/status.h"

namespace kueue::python {

// Throws what Python sees as the class of the status's code: InvalidArgument as InvalidSpecError, NotFound as
// NotFoundError, AlreadyExists as DuplicateError, FailedPrecondition as StateError, Unimplemented as
// UnsupportedError, all else as InternalError. Does nothing where the status is ok.
void ThrowIfError(const absl::Status& status);

// Teaches pybind11 to translate what ThrowIfError throws. Called once, before anything is bound.
void RegisterErrors();

}  // namespace kueue::python

#endif  // KUEUE_BINDINGS_ERRORS_H_
