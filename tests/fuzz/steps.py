"""Run many steps in a sequence of worlds, and create a script for a failure."""

from __future__ import annotations

import faulthandler
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fuzz.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

LENGTH = 250
"""The number of steps in a world."""
LONGEST = 300.0
"""The maximum time for the steps of a world, in seconds; after that, the stack is printed and the process exits."""


class BrokenInvariant(NamedTuple):
    """A failure.

    Attributes:
        seed: The seed.
        steps: The numbers of the steps that cause the failure, including the last one.
        what: A description of the failure.
        error: The exception.
    """

    seed: int
    steps: tuple[int, ...]
    what: str
    error: BaseException

    @property
    def script(self) -> str:
        """A script that reproduces the failure."""
        told: list[str] = []
        _run(self.seed, self.steps, told.append)
        lines = [f"# {number}: {text}".replace("\n", " ") for number, text in zip(self.steps, told, strict=False)]
        lines += [f"# {self.steps[-1]}: {self.what}".replace("\n", " ")]
        call = f"repeat(seed={self.seed}, steps={list(self.steps)})"
        return "\n".join(
            ["# Run this script with PYTHONPATH=tests.", "from fuzz.steps import repeat", "", *lines, call, ""]
        )


def run(
    steps: int,
    seed: int,
    *,
    first: int = 0,
    tell: Callable[[int], None] | None = None,
    shorten: bool = True,
    longest: float = LONGEST,
) -> BrokenInvariant | None:
    """Run a number of steps.

    Args:
        steps: The number of steps.
        seed: The seed, which determines all choices together with the number of the step.
        first: The number of the first step. A world begins at each multiple of its length. Default: 0.
        tell: A function that is called with the number of finished steps after each world. Default: none.
        shorten: Whether to remove steps that are not needed for a failure. Default: True.
        longest: The maximum time for the steps of a world, in seconds.

    Returns:
        The first failure; `None` if there is none.
    """
    end = first + steps
    while first < end:
        numbers = range(first, min(end, first + LENGTH - first % LENGTH))
        found = _run(seed, numbers, longest=longest)
        if found is not None:
            return _shortened(found) if shorten else found
        if tell is not None:
            tell(numbers[-1] + 1)
        first = numbers[-1] + 1
    return None


def repeat(seed: int, steps: Sequence[int]) -> None:
    """Repeat steps of one world, print each step, and raise the exception of a failure."""
    found = _run(seed, steps, print)
    if found is not None:
        raise found.error


def _run(
    seed: int, numbers: Sequence[int], tell: Callable[[str], object] | None = None, longest: float = LONGEST
) -> BrokenInvariant | None:
    done = []
    faulthandler.dump_traceback_later(longest, exit=True, file=sys.__stderr__ or sys.stderr)
    try:
        with tempfile.TemporaryDirectory(dir=_place()) as folder:
            world = World(seed, numbers[0] // LENGTH, Path(folder))
            for number in numbers:
                done.append(number)
                told = world.step(number)
                if tell is not None:
                    tell(told)
            world.close()
    except Exception as error:  # noqa: BLE001 - any exception is a failure
        return BrokenInvariant(seed, tuple(done), f"{type(error).__name__}: {error}", error)
    finally:
        faulthandler.cancel_dump_traceback_later()
    return None


def _place() -> str | None:
    """Return a directory in memory, if the system has one."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - a directory of its own is made there


def _shortened(found: BrokenInvariant) -> BrokenInvariant:
    """Remove ever smaller ranges of steps that are not needed for the failure, and return the result."""
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
