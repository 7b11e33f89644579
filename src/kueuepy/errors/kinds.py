"""The exceptions of kueuepy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from typing_extensions import Self


# A word that a message does not quote in full: a file name has at most 255 characters.
_ENDLESS = re.compile(r"\S{400,}")
_QUOTED = 80


class KueueError(Exception):
    """Base class of all errors that kueuepy raises deliberately.

    Attributes:
        about: The manifest of a job as it was passed, or the key of a Workload that caused the error; `None` if
            unknown.
        path: The invalid field, as a sequence of keys and positions in the manifest; empty for the whole manifest.
    """

    about: object = None
    path: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        """Return the message, in which very long words are shortened."""
        return _ENDLESS.sub(lambda found: f"{found[0][:_QUOTED]}…", str(self.args[0])) if self.args else ""

    def locate(self, where: str) -> None:
        """Add a position in a file to the message."""
        self.args = (f"{where}: {self}", *self.args[1:])

    def at(self, *path: str | int) -> Self:
        """Set the path of the invalid field, and return the error."""
        self.path = path
        return self


def not_copied(self: object) -> NoReturn:
    """Reject copies and pickles of an object; the method `__reduce__` of classes that have none.

    Raises:
        UnsupportedError: The object cannot be copied or pickled.
    """
    name = type(self).__name__
    raise UnsupportedError(f"a {name} cannot be copied or pickled; create another one with the same arguments")


class InvalidSpecError(KueueError, ValueError):
    """A value has a wrong type, is out of range, or contradicts another value."""


class NotFoundError(KueueError, KeyError):
    """A name refers to an object that does not exist."""


class DuplicateError(KueueError, ValueError):
    """Two objects have the same name."""


class StateError(KueueError, RuntimeError):
    """A call is not allowed in the current state."""


class ApiError(KueueError, RuntimeError):
    """The API server of a cluster cannot be reached, or refuses a request.

    Attributes:
        status: The HTTP status of the response, such as 403; 0 if there was no response.
    """

    status: int = 0

    @classmethod
    def of(cls, message: str, status: int) -> Self:
        """Return the error for an HTTP status."""
        error = cls(message)
        error.status = status
        return error


class UnsupportedError(KueueError, NotImplementedError):
    """A field or kind is known but not modelled."""


class InternalError(KueueError, RuntimeError):
    """A bug in kueuepy: an invariant of the engine is violated."""


class LoopError(StateError):
    """A simulation with `on_loop="raise"` found a preemption loop."""


class about:  # noqa: N801 - a class because a generator takes several times as long
    """Set the attribute `about` of a KueueError raised in a `with` block, unless it is already set.

    If the object was read from a file, its method `where` returns the position, which is added to the message.
    """

    __slots__ = ("_thing",)

    def __init__(self, thing: object) -> None:
        """Create a context manager that sets `about` of a KueueError to an object."""
        self._thing = thing

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Complete a KueueError."""
        if isinstance(error, KueueError) and error.about is None:
            error.about = self._thing
            if (where := getattr(self._thing, "where", None)) is not None:
                error.locate(where(error.path))
