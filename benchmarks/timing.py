"""Measure times of benchmarks that wait for the disk or take too long under valgrind, relative to a reference sort.

The reference is Python's sort of 2,000,000 random floats; it took 0.36 to 0.40 s on the machine on which Kueue was
measured. Times in sorts can be compared between machines; times in seconds cannot.
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
_LARGE = 100  # larger numbers are printed without decimals


class Took(NamedTuple):
    """Wall time and CPU time, in seconds."""

    wall: float
    cpu: float


@contextmanager
def taking(times: list[Took]) -> Iterator[None]:
    """Append the time of the `with` block to `times`."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    times.append(Took(time.perf_counter() - wall, time.process_time() - cpu))


def sort() -> Took:
    """Return the time of the reference sort."""
    rng = random.Random(1)  # noqa: S311 - not used for security
    values = [rng.random() for _ in range(2_000_000)]
    times: list[Took] = []
    with taking(times):
        values.sort()
    return times[0]


def middle(times: list[float]) -> str:
    """Format the median, the minimum and the maximum."""
    digits = 0 if min(times) > _LARGE else 2
    median, least, most = (f"{time:,.{digits}f}" for time in (statistics.median(times), min(times), max(times)))
    return f"{median} ({least} to {most})"


def say_load(name: str) -> None:
    """Print the load of the machine, and a warning if it is busy: wall times are then unreliable."""
    load = os.getloadavg()[0]
    busy = "; busy, so compare CPU times and sorts only" if load > _BUSY else ""
    print(f"{name}: load {load:.1f} on {os.cpu_count()} processors{busy}")
