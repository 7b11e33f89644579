"""Progress of a running simulation."""

from __future__ import annotations

import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

_OFTEN = 0.1


class Progress(msgspec.Struct, frozen=True):
    """The progress of a simulation.

    >>> Progress(done=40, total=100, now=3600.0, admitted=55, evicted=5, waiting=10).done
    40

    Attributes:
        done: Number of finished jobs.
        total: Number of jobs.
        now: The current virtual time, in seconds after the first submission.
        admitted: Number of admissions.
        evicted: Number of evictions.
        waiting: Number of jobs that have been submitted and have not finished, including running jobs.
    """

    done: int
    total: int
    now: float
    admitted: int
    evicted: int
    waiting: int


class Teller:
    """A reporter of progress, which calls a function or updates a progress bar at most ten times a second."""

    def __init__(self, progress: Any, total: int, unit: str = "jobs") -> None:
        """Choose how to report progress.

        Args:
            progress: A function to call; `True` for a tqdm bar; `None` for a tqdm bar in notebooks and terminals only.
            total: The total amount of work.
            unit: The unit of work, for the progress bar.
        """
        self._tell = progress if callable(progress) else None
        self._bar: Any = None
        self._shows = progress is True or (progress is None and _is_interactive())
        self._total, self._unit = total, unit
        self._begin, self._last = time.monotonic(), 0.0

    def maybe(self, look: Callable[[], Any], *, last: bool = False) -> None:
        """Report progress if 0.1 s have passed since the last report, or if this is the last call.

        Args:
            look: A function that returns the current progress.
            last: Whether this is the last call.
        """
        now = time.monotonic()
        if now - self._last < _OFTEN and not last:
            return
        self._last = now
        if self._tell is not None:
            self._tell(look())
        elif self._shows and (self._bar is not None or now - self._begin > 1):
            self._show(look())

    def _show(self, progress: Any) -> None:
        if self._bar is None:
            try:
                tqdm = import_module("tqdm.auto").tqdm
            except ImportError:
                self._shows = False
                return
            self._bar = tqdm(total=self._total, unit=self._unit)
        self._bar.update(progress.done - self._bar.n)

    def close(self) -> None:
        """Close the progress bar."""
        if self._bar is not None:
            self._bar.close()


def _is_interactive() -> bool:
    import sys  # noqa: PLC0415 - only on use

    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", bool)())
