"""The number of threads on which the core nominates the heads of different cohort trees."""

import os
from numbers import Integral

from kueuepy.errors import InvalidSpecError

LEAST_HEADS = 64
"""A cycle with fewer heads uses one thread, because the others would start too late. A queue has at most one head."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def number_of_threads(threads: int | None) -> int:
    """Return the number of threads that an argument `threads` asks for; `None` asks for all available cores.

    Raises:
        InvalidSpecError: The argument is not a number from 1 to 1024.
    """
    if threads is None:
        return cores()
    # More would only be a mistake, such as a number of jobs.
    most = 1024
    if isinstance(threads, bool) or not isinstance(threads, Integral) or not 1 <= threads <= most:
        raise InvalidSpecError(f"threads: is {threads!r:.99}; it must be from 1 to {most}")
    return int(threads)


def for_cycles(threads: int | None) -> tuple[int, int]:
    """Return the arguments of `Engine.set_threads`."""
    return number_of_threads(threads), LEAST_HEADS
