"""Every error that kueuepy raises, in one place.

| class | also a | raised when |
| --- | --- | --- |
| `InvalidSpecError` | `ValueError` | a value is wrong: a negative quota, an unknown policy, a resource in two groups |
| `NotFoundError` | `KeyError` | a name refers to nothing |
| `DuplicateError` | `ValueError` | two things have one name |
| `StateError` | `RuntimeError` | a call does not fit the state: finishing a workload that is already gone |
| `UnsupportedError` | `NotImplementedError` | a field is understood but not modelled: it is never silently ignored |
| `InternalError` | `RuntimeError` | a bug of kueuepy; please report it |
| `LoopError` | `StateError` | preemption loops endlessly in a simulation with `on_loop="raise"` |
| `ManifestError` | `InvalidSpecError` | objects or files are not valid; `problems` lists each problem |
| `LimitError` | `InvalidSpecError` | a file exceeds a limit of `kueuepy.manifest.Limits` |
| `ScenarioError` | `InvalidSpecError` | a scenario file of `kueuepy.replay` cannot be read |

A message reads *where: what is wrong; what is allowed*.
"""

from kueuepy.errors.kinds import (
    DuplicateError,
    InternalError,
    InvalidSpecError,
    KueueError,
    LoopError,
    NotFoundError,
    ScenarioError,
    StateError,
    UnsupportedError,
)
from kueuepy.errors.kinds import about as about
from kueuepy.errors.problems import LimitError, ManifestError

__all__ = [
    "DuplicateError",
    "InternalError",
    "InvalidSpecError",
    "KueueError",
    "LimitError",
    "LoopError",
    "ManifestError",
    "NotFoundError",
    "ScenarioError",
    "StateError",
    "UnsupportedError",
]

for _name in __all__:
    globals()[_name].__module__ = __name__  # where users import it from, and what a traceback shows
