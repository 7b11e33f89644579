"""The whole state of a Scheduler as versioned plain data with a checksum: what goes on from it is what would have."""

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
    """All that a Scheduler knows, as MessagePack; a Scheduler of the same history gives the same bytes.

    Raises:
        InvalidSpecError: An object of a file has numbers that no 64 bits hold, where admission does not read them.
    """
    return saved.to_bytes(session_of(scheduler))


@checked
def save(scheduler: Scheduler, path: str | os.PathLike[str]) -> None:
    """Writes all that a Scheduler knows to a file; one that is there already is replaced as a whole, or not at all.

    A new file can be read by its owner alone; another one keeps its mode.

    Raises:
        StateError: The file cannot be written.
    """
    saved.save(session_of(scheduler), path)


@checked
def from_bytes(data: bytes, *, name: str = "saved state") -> Scheduler:
    """The Scheduler that was saved. Any bytes are safe to read.

    Args:
        data: What `to_bytes` has given.
        name: What errors call it.

    Raises:
        InvalidSpecError: They are not what `to_bytes` gives, or are damaged.
        UnsupportedError: A later version of kueuepy has written them.
    """
    return scheduler_with(Scheduler, saved.from_bytes(data, name=name))


@checked
def load(path: str | os.PathLike[str]) -> Scheduler:
    """The Scheduler that `save` has written to a file.

    Raises:
        NotFoundError: The file cannot be read.
        InvalidSpecError: It is no saved state, or is damaged.
        UnsupportedError: A later version of kueuepy has written it.
    """
    return Scheduler.load(path)
