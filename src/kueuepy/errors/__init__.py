"""The exceptions that kueuepy raises.

| class | is also a | raised if |
| --- | --- | --- |
| `InvalidSpecError` | `ValueError` | a value is not valid, such as a negative quota or an unknown policy |
| `NotFoundError` | `KeyError` | a name does not refer to anything |
| `DuplicateError` | `ValueError` | two objects have the same name |
| `StateError` | `RuntimeError` | a call does not fit the current state, such as finishing a finished workload |
| `UnsupportedError` | `NotImplementedError` | a field is known but not modelled; it is never silently ignored |
| `InternalError` | `RuntimeError` | kueuepy has a bug; please report it |

Messages have the form *place: problem; what is allowed*.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

__all__ = [
    "DuplicateError",
    "InternalError",
    "InvalidSpecError",
    "KueueError",
    "NotFoundError",
    "StateError",
    "UnsupportedError",
]


class KueueError(Exception):
    """The base class of all exceptions that kueuepy raises deliberately.

    Attributes:
        about: The affected object, if it is known: the manifest of a job as it was given, or the key of a Workload.
        path: The affected field of the object, as keys and positions from its top; empty for the whole object.

    Example:
        >>> try:
        ...     raise InvalidSpecError("count: is -1; it must be 0 or more")
        ... except KueueError as error:
        ...     print(error)
        count: is -1; it must be 0 or more
    """

    about: object = None
    path: tuple[str | int, ...] = ()

    def at(self, *path: str | int) -> Self:
        """Set the affected field, and return the error.

        Args:
            path: The keys and positions from the object's top.
        """
        self.path = path
        return self


class InvalidSpecError(KueueError, ValueError):
    """A value is not valid: it has a wrong type, is out of range, or contradicts another value.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> try:
        ...     Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": -1}}))
        ... except InvalidSpecError as error:
        ...     print(type(error).__name__)
        ManifestError
    """


class NotFoundError(KueueError, KeyError):
    """A name does not refer to anything.

    Example:
        >>> print(NotFoundError('Workload "job": there is no such workload'))
        Workload "job": there is no such workload
    """

    def __str__(self) -> str:
        """Return the message as it was written; `KeyError` would return its repr."""
        return str(self.args[0]) if self.args else ""


class DuplicateError(KueueError, ValueError):
    """Two objects have the same name.

    Example:
        >>> isinstance(DuplicateError("ResourceFlavor: spot"), ValueError)
        True
    """


class StateError(KueueError, RuntimeError):
    """A call does not fit the current state of its object.

    Example:
        >>> isinstance(StateError("Workload: is finished already"), RuntimeError)
        True
    """


class UnsupportedError(KueueError, NotImplementedError):
    """A field or kind is known but not modelled, or an optional library is not installed.

    Example:
        >>> isinstance(UnsupportedError("plot: matplotlib is not installed"), NotImplementedError)
        True
    """


class InternalError(KueueError, RuntimeError):
    """A bug in kueuepy: an invariant of the engine does not hold.

    Example:
        >>> issubclass(InternalError, KueueError)
        True
    """


@contextmanager
def about(thing: object) -> Iterator[None]:
    """Set `KueueError.about` of errors that are raised in the block, unless it is already set.

    Args:
        thing: The affected object.
    """
    try:
        yield
    except KueueError as error:
        if error.about is None:
            error.about = thing
        raise
