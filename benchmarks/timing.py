"""Times of what waits for the disk, or is too long for valgrind: beside each the yardstick, in the same minute.

The yardstick is Python's sort of 2,000,000 random floats, 0.36 to 0.40 s where Kueue's own figures were taken. A time
in sorts can be set beside one of another machine or hour; seconds cannot.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_BUSY = 1.5
_LARGE = 100  # numbers that need no decimals


class Took(NamedTuple):
    """What something took, in seconds: by the clock, and of the processor."""

    wall: float
    cpu: float


@contextmanager
def taking(times: list[Took]) -> Iterator[None]:
    """Takes the time of what is inside."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    times.append(Took(time.perf_counter() - wall, time.process_time() - cpu))


def sort() -> Took:
    """What the yardstick takes now."""
    rng = random.Random(1)  # noqa: S311 - no secret
    values = [rng.random() for _ in range(2_000_000)]
    times: list[Took] = []
    with taking(times):
        values.sort()
    return times[0]


def middle(times: list[float]) -> str:
    """The median, and from where to where they went."""
    digits = 0 if min(times) > _LARGE else 2
    median, least, most = (f"{time:,.{digits}f}" for time in (statistics.median(times), min(times), max(times)))
    return f"{median} ({least} to {most})"


def say_load(name: str) -> None:
    """How busy the machine is: figures of a busy one say little, but for those of the processor."""
    load = os.getloadavg()[0]
    busy = "; it is busy: look at the processor's time and at sorts" if load > _BUSY else ""
    print(f"{name}: load {load:.1f} on {os.cpu_count()} processors{busy}")
