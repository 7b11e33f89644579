"""Save and load the complete state of a Scheduler, as versioned data with a checksum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy.errors.arguments import checked
from kueuepy.scheduler import Scheduler, scheduler_with
from kueuepy.session import saved
from kueuepy.session.saved import VERSION, is_saved
from kueuepy.session.session import session_of

if TYPE_CHECKING:
    import os

__all__ = ["VERSION", "from_bytes", "is_saved", "load", "save", "to_bytes"]


@checked
def to_bytes(scheduler: Scheduler) -> bytes:
    """Return the complete state of a Scheduler as MessagePack.

    Schedulers with the same history give the same bytes.

    Args:
        scheduler: The Scheduler.

    Returns:
        The state, which `from_bytes` reads.

    Raises:
        InvalidSpecError: An object contains a number that does not fit 64 bits, in a field that admission does not
            read.
    """
    return saved.to_bytes(session_of(scheduler))


@checked
def save(scheduler: Scheduler, path: str | os.PathLike[str]) -> None:
    """Write the complete state of a Scheduler to a file. An existing file is replaced atomically and keeps its mode.

    Only the owner can read a new file.

    Args:
        scheduler: The Scheduler.
        path: The file.

    Raises:
        StateError: The file cannot be written.
        InvalidSpecError: An object contains a number that does not fit 64 bits.
    """
    saved.save(session_of(scheduler), path)


@checked
def from_bytes(data: bytes, *, name: str = "saved state") -> Scheduler:
    """Return a Scheduler from the bytes of `to_bytes`. Untrusted bytes are safe to read.

    Args:
        data: The saved state.
        name: The name of the state in error messages.

    Returns:
        The Scheduler.

    Raises:
        InvalidSpecError: The bytes are not a saved state, or they are damaged.
        UnsupportedError: A later version of kueuepy wrote the bytes.
    """
    return scheduler_with(Scheduler, saved.from_bytes(data, name=name))


@checked
def load(path: str | os.PathLike[str]) -> Scheduler:
    """Read a Scheduler from a file written by `save`.

    Args:
        path: The file.

    Returns:
        The Scheduler.

    Raises:
        NotFoundError: The file cannot be read.
        InvalidSpecError: The file is not a saved state, or it is damaged.
        UnsupportedError: A later version of kueuepy wrote the file.
    """
    return Scheduler.load(path)
