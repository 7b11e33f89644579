"""How far a run has come, for who waits for it."""

from __future__ import annotations

import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

_OFTEN = 0.1


class Progress(msgspec.Struct, frozen=True):
    """How far a run has come.

    Attributes:
        done: How many jobs have ended.
        total: How many there are.
        now: Seconds of virtual time after the first submission.
        admitted: How many admissions there were.
        evicted: How many evictions.
        waiting: How many jobs came and have neither ended nor, at the last look, quota.
    """

    done: int
    total: int
    now: float
    admitted: int
    evicted: int
    waiting: int


class Teller:
    """Tells of progress, at most ten times a second."""

    def __init__(self, progress: Any, total: int, unit: str = "jobs") -> None:
        """Takes who is told, of how many of what; `True` or `None` stand for tqdm."""
        self._tell = progress if callable(progress) else None
        self._bar: Any = None
        self._shows = progress is True or (progress is None and _is_interactive())
        self._total, self._unit = total, unit
        self._begin, self._last = time.monotonic(), 0.0

    def maybe(self, look: Callable[[], Any], *, last: bool = False) -> None:
        """Tells if it is time to, and at the last call of all."""
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
        """The run is over."""
        if self._bar is not None:
            self._bar.close()


def _is_interactive() -> bool:
    import sys  # noqa: PLC0415 - only on use

    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", bool)())
