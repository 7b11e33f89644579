"""The exceptions of kueuepy."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self


class KueueError(Exception):
    """The base of every error that kueuepy raises on purpose.

    Attributes:
        about: What it is about, if that is known: the manifest of a job as it was given, or the key of a Workload.
        path: The field of it that is wrong, as keys and positions from its top; empty for the whole.
    """

    about: object = None
    path: tuple[str | int, ...] = ()

    def at(self, *path: str | int) -> Self:
        """The error, of this field."""
        self.path = path
        return self


class InvalidSpecError(KueueError, ValueError):
    """A value is wrong: it has the wrong type, is out of range, or contradicts another one."""


class NotFoundError(KueueError, KeyError):
    """A name refers to nothing."""

    def __str__(self) -> str:
        """The message as written, not its repr as `KeyError` would show it."""
        return str(self.args[0]) if self.args else ""


class DuplicateError(KueueError, ValueError):
    """Two things have one name."""


class StateError(KueueError, RuntimeError):
    """A call does not fit the state that its object is in."""


class ApiError(KueueError, RuntimeError):
    """The API server of a cluster cannot be reached, or refuses a request.

    Attributes:
        status: The HTTP status of the answer, such as 403; 0 if there was no answer.
    """

    status: int = 0

    @classmethod
    def of(cls, message: str, status: int) -> Self:
        """Return the error for an HTTP status."""
        error = cls(message)
        error.status = status
        return error


class UnsupportedError(KueueError, NotImplementedError):
    """A field or kind is understood but not modelled."""


class InternalError(KueueError, RuntimeError):
    """A bug of kueuepy: an invariant of the engine does not hold."""


class LoopError(StateError):
    """Preemption loops endlessly, and the simulation was run with `on_loop="raise"`."""


class ScenarioError(InvalidSpecError):
    """A scenario file cannot be read, or a scenario does not have the form that `kueuepy.replay` reads."""


@contextmanager
def about(thing: object) -> Iterator[None]:
    """Around what deals with one thing: an error that does not know yet what it is about is about this."""
    try:
        yield
    except KueueError as error:
        if error.about is None:
            error.about = thing
        raise
