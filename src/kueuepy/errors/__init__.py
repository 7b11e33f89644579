"""The exceptions that kueuepy raises.

| class | is also a | raised if |
| --- | --- | --- |
| `InvalidSpecError` | `ValueError` | a value is not valid, such as a negative quota or an unknown policy |
| `ManifestError` | `InvalidSpecError` | objects of a file are not valid; the message lists each of them |
| `LimitError` | `InvalidSpecError` | a document is larger or deeper than the limits allow |
| `NotFoundError` | `KeyError` | a name does not refer to anything |
| `DuplicateError` | `ValueError` | two objects have the same name |
| `StateError` | `RuntimeError` | a call is not allowed in the current state, such as finishing a finished workload |
| `ApiError` | `RuntimeError` | the API server of a cluster cannot be reached, or refuses a request |
| `LoopError` | `StateError` | preemption loops in a simulation with `on_loop="raise"` |
| `UnsupportedError` | `NotImplementedError` | a field is known but not modelled; it is never silently ignored |
| `InternalError` | `RuntimeError` | kueuepy has a bug; please report it |

Messages have the form *location: problem; what is allowed*.
"""

from kueuepy.errors.arguments import briefly as briefly, checked as checked, checked_methods as checked_methods
from kueuepy.errors.arguments import spelled_out as spelled_out
from kueuepy.errors.kinds import (
    ApiError,
    DuplicateError,
    InternalError,
    InvalidSpecError,
    KueueError,
    LoopError,
    NotFoundError,
    StateError,
    UnsupportedError,
    about as about,
    not_copied as not_copied,
)
from kueuepy.errors.libraries import imported as imported
from kueuepy.errors.problems import LimitError, ManifestError, Path as Path, Problem as Problem
from kueuepy.errors.problems import ProblemKind as ProblemKind, path_text as path_text, shown as shown
from kueuepy.errors.problems import expect_known as expect_known, expect_one_of as expect_one_of
from kueuepy.errors.problems import nearest as nearest, steps as steps, suggestion as suggestion
from kueuepy.errors.words import counted as counted, first_of as first_of, plural as plural, verb as verb

# The public classes: each needs a row above. The names imported "as" themselves are for the package only.
__all__ = [
    "ApiError",
    "DuplicateError",
    "InternalError",
    "InvalidSpecError",
    "KueueError",
    "LimitError",
    "LoopError",
    "ManifestError",
    "NotFoundError",
    "StateError",
    "UnsupportedError",
]

for _name in __all__:
    globals()[_name].__module__ = __name__  # where users import it from, and what a traceback shows
