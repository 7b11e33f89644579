"""Errors that say where what they speak of was read."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from kueuepy.errors import KueueError
from kueuepy.errors.problems import ManifestError, Problem
from kueuepy.manifest.validation import validate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kueuepy.objects import Workload


def problem_in(workload: Workload, text: str) -> Problem | None:
    """What is wrong with a Workload, if it is the field that the text of an error begins with."""
    return next((found for found in validate(workload) if text.startswith(f"{found.field}: ")), None)


@contextmanager
def placed(move: Callable[[str, Problem | None], tuple[str, Problem | None]]) -> Iterator[None]:
    """Around what raises errors of objects: they come out with file and line before them.

    Args:
        move: What becomes of the text of an error; or of the place and the problem of one line of a ManifestError.

    Raises:
        KueueError: The error that was raised inside.
    """
    try:
        yield
    except ManifestError as error:
        moved = [move(*line) for line in error.problems]
        raise ManifestError([(where, problem) for where, problem in moved if problem is not None]) from None
    except KueueError as error:
        text, _ = move(str(error), None)
        if text == str(error):
            raise
        raise type(error)(text) from None
