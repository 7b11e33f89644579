"""Values, means and percentiles of the metrics that are computed from individual jobs."""

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kueuepy.simulation.grouped import Groups
from kueuepy.tables.columns import Columns, is_named

BOUND = 10.0
"""The smallest runtime for the bounded slowdown, in seconds."""
_WAITS = ("wait", "first_wait")
_PERCENTILES = {"wait": (50, 95, 99), "first_wait": (50, 95, 99), "slowdown": (95,), "bounded_slowdown": (95,)}
_STATISTIC = re.compile(r"^(.+?)(?:_mean|_p(\d+))?$", re.ASCII)


def percentile(ordered: NDArray[np.float64], percent: float) -> float:
    """Return the nearest-rank percentile of sorted values; 0 if there are no values."""
    return float(ordered[math.ceil(len(ordered) * percent / 100) - 1]) if len(ordered) else 0.0


def job_values(
    jobs: Columns, rows: NDArray[Any], bound: float = BOUND
) -> dict[str, tuple[NDArray[np.bool_], NDArray[np.float64]]]:
    """Return the values of individual jobs by name: waits, slowdowns, and useful fractions of lifetimes.

    Args:
        jobs: The table of jobs of a result.
        rows: Row numbers of jobs, which determine the order of the values.
        bound: The smallest runtime for the bounded slowdown, in seconds.

    Returns:
        For each name, a mask of the rows that have a value, and their values.
    """
    first = jobs["first_wait"][rows]
    started = ~np.isnan(first)
    finished = is_named(jobs["state"], "Finished")[rows]
    waited, runtime, held = (jobs[name][rows] for name in ("waited", "runtime", "held"))
    life = waited + held  # more accurate than the difference of two times
    whole = finished & (runtime > 0) & (life > 0)
    done, spans = life[finished], np.maximum(runtime[finished], bound)
    return {
        "wait": (np.ones(len(rows), bool), waited),
        "first_wait": (started, first[started]),
        "slowdown": (whole, life[whole] / runtime[whole]),
        "bounded_slowdown": (finished, np.maximum(1.0, done / spans)),
        "goodput": (whole, held[whole] / life[whole]),
        "useful": (whole, runtime[whole] / life[whole]),
    }


def statistic(figure: str) -> tuple[str, int | None]:
    """Return the name of the values from which a metric is computed, and the percentile; `None` for a mean.

    >>> statistic("first_wait_p95"), statistic("slowdown")
    (('first_wait', 95), ('slowdown', None))
    """
    name, percent = _STATISTIC.findall(figure)[0]
    return name, int(percent) if percent else None


def job_figures(jobs: Columns, mask: NDArray[np.bool_], bound: float = BOUND) -> dict[str, Any]:
    """Return the metrics that are computed from individual jobs; a mean is `None` if no job has a value."""
    found = group_figures(jobs, Groups.by(mask.astype(np.int8) - 1, 1), bound)
    return {name: values[0].item() if has[0] else None for name, (values, has) in found.items()}


def group_figures(
    jobs: Columns, groups: Groups, bound: float = BOUND
) -> dict[str, tuple[NDArray[Any], NDArray[np.bool_]]]:
    """Return the metrics that are computed from individual jobs, for each group of jobs.

    Args:
        jobs: The table of jobs of a result.
        groups: Groups of rows of the table of jobs.
        bound: The smallest runtime for the bounded slowdown, in seconds.

    Returns:
        For each metric, its value by group, and a mask of the groups that have a value.
    """
    values = job_values(jobs, groups.rows, bound)
    all_ = np.ones(groups.count, bool)
    evictions = jobs["evictions"][groups.rows]
    finished, _ = values["bounded_slowdown"]
    found: dict[str, tuple[NDArray[Any], NDArray[np.bool_]]] = {
        "jobs": (groups.sizes, all_),
        "finished": (groups.where(finished).sizes, all_),
    }
    for name, percents in _PERCENTILES.items():
        mask, own = values[name]
        some = groups.where(mask)
        # The mean is taken of sorted values: its last digits must not depend on the order of the jobs.
        ordered, there = some.ordered(own), some.sizes > 0
        # Slowdowns are named without a suffix, as the literature does.
        mean = f"{name}_mean" if name in _WAITS else name
        found[mean] = some.means(ordered), all_ if name == "wait" else there
        for p in percents:
            found[f"{name}_p{p}"] = some.percentiles(ordered, p), all_ if name in _WAITS else there
        if name == "wait":
            found["longest_wait"] = some.percentiles(ordered, 100), all_
    for name in ("goodput", "useful"):
        mask, own = values[name]
        some = groups.where(mask)
        found[name] = some.means(own), some.sizes > 0
    found["evictions"] = groups.sums(evictions), all_
    found["evictions_max"] = groups.largest(evictions), all_
    return found
