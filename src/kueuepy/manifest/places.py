"""Errors that say where what they are about was read."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from kueuepy.errors import KueueError
from kueuepy.errors.problems import ManifestError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def placed(place: Callable[[KueueError], KueueError | None]) -> Iterator[None]:
    """Around what raises errors about things that were read: they come out with file and line before them.

    Args:
        place: The error with its place; `None` for one about something else.

    Raises:
        KueueError: The error that was raised inside.
    """
    try:
        yield
    except KueueError as error:
        found = place(error)
        if found is None:
            raise
        raise found from None


def at_place(error: KueueError, place: str) -> KueueError:
    """The error with a place before it, or before each line of it."""
    if isinstance(error, ManifestError):
        return ManifestError([(f"{place}: {where}", problem) for where, problem in error.problems])
    return type(error)(f"{place}: {error}")
