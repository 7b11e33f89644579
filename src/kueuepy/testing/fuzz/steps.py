"""Many steps, one world after the other; and a script for what they find."""

from __future__ import annotations

import faulthandler
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kueuepy.testing.fuzz.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

LENGTH = 250
"""The steps of one world."""
_LONGEST = 300
"""Seconds that the steps of a world may take; then it hangs, and where is told."""


class BrokenInvariant(NamedTuple):
    """Something that does not hold.

    Attributes:
        seed: The seed.
        steps: The numbers of the steps that lead there, the last one included.
        what: What does not hold.
        error: The error.
    """

    seed: int
    steps: tuple[int, ...]
    what: str
    error: BaseException

    @property
    def script(self) -> str:
        """A script that repeats it."""
        told: list[str] = []
        _run(self.seed, self.steps, told.append)
        lines = [f"# {number}: {text}".replace("\n", " ") for number, text in zip(self.steps, told, strict=False)]
        lines += [f"# {self.steps[-1]}: {self.what}".replace("\n", " ")]
        call = f"repeat(seed={self.seed}, steps={list(self.steps)})"
        return "\n".join(["from kueuepy.testing.fuzz import repeat", "", *lines, call, ""])


def run(
    steps: int, seed: int, *, first: int = 0, tell: Callable[[int], None] | None = None, shorten: bool = True
) -> BrokenInvariant | None:
    """Does that many steps.

    Args:
        steps: How many.
        seed: What all choices follow from, with the number of the step.
        first: The number of the first step; a world begins at each multiple of its length.
        tell: Is told how many are done, after each world.
        shorten: Whether steps that a finding does not need are left out of it.

    Returns:
        What was found first; `None` if all holds.
    """
    end = first + steps
    while first < end:
        numbers = range(first, min(end, first + LENGTH - first % LENGTH))
        found = _run(seed, numbers)
        if found is not None:
            return _shortened(found) if shorten else found
        if tell is not None:
            tell(numbers[-1] + 1)
        first = numbers[-1] + 1
    return None


def repeat(seed: int, steps: Sequence[int]) -> None:
    """Does these steps of one world, prints each, and raises what they find."""
    found = _run(seed, steps, print)
    if found is not None:
        raise found.error


def _run(seed: int, numbers: Sequence[int], tell: Callable[[str], object] | None = None) -> BrokenInvariant | None:
    done = []
    faulthandler.dump_traceback_later(_LONGEST, exit=True, file=sys.__stderr__ or sys.stderr)
    try:
        with tempfile.TemporaryDirectory(dir=_place()) as folder:
            world = World(seed, numbers[0] // LENGTH, Path(folder))
            for number in numbers:
                done.append(number)
                told = world.step(number)
                if tell is not None:
                    tell(told)
            world.close()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        return BrokenInvariant(seed, tuple(done), f"{type(error).__name__}: {error}", error)
    finally:
        faulthandler.cancel_dump_traceback_later()
    return None


def _place() -> str | None:
    """Where no disk has to turn, if there is such a place."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - a directory of its own is made there


def _shortened(found: BrokenInvariant) -> BrokenInvariant:
    """The finding without steps that it does not need, tried in ever smaller parts from the end on."""
    size = len(found.steps) // 2
    while size:
        for start in _starts(len(found.steps) - 1, size):
            fewer = found.steps[:start] + found.steps[start + size :]
            shorter = _run(found.seed, fewer)
            if shorter is not None and type(shorter.error) is type(found.error):
                found = shorter
        size //= 2
    return found


def _starts(end: int, size: int) -> Iterable[int]:
    return range(max(0, end - size), -1, -size)
