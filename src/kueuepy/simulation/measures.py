"""Values, means and percentiles of the metrics that are computed from single jobs."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.tables.columns import is_named

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kueuepy.simulation.recorded import Recorded

BOUND = 10.0
"""The smallest runtime for the bounded slowdown, in seconds."""
_STATISTIC = re.compile(r"^(.+?)(?:_mean|_p(\d+))?$")


def percentile(ordered: NDArray[np.float64], percent: float) -> float:
    """Return the nearest-rank percentile of sorted values; 0 for no values."""
    return float(ordered[math.ceil(len(ordered) * percent / 100) - 1]) if len(ordered) else 0.0


def mean(values: NDArray[np.float64]) -> float | None:
    """Return the mean; `None` for no values."""
    return float(values.mean()) if len(values) else None


def job_values(result: Recorded, rows: Any, bound: float = BOUND) -> dict[str, NDArray[np.float64]]:
    """Return the values of single jobs by name: waits, slowdowns, and useful fractions of lifetimes.

    Args:
        result: The simulation.
        rows: A mask of jobs, or row numbers, which determine the order of the values.
        bound: The smallest runtime for the bounded slowdown, in seconds.
    """
    jobs = result.jobs
    first = jobs["first_wait"][rows]
    finished = np.asarray(is_named(jobs["state"], "Finished"))[rows]
    waited, runtime, held = (jobs[name][rows][finished] for name in ("waited", "runtime", "held"))
    life = waited + held  # more accurate than the difference of two times
    whole = (runtime > 0) & (life > 0)
    return {
        "wait": jobs["waited"][rows],
        "first_wait": first[~np.isnan(first)],
        "slowdown": life[whole] / runtime[whole],
        "bounded_slowdown": np.maximum(1.0, life / np.maximum(runtime, bound)),
        "goodput": held[whole] / life[whole],
        "useful": runtime[whole] / life[whole],
    }


def statistic(figure: str) -> tuple[str, int | None]:
    """Return the name of the values behind a metric, and its percentile; `None` for a mean.

    >>> statistic("first_wait_p95"), statistic("slowdown")
    (('first_wait', 95), ('slowdown', None))
    """
    name, percent = _STATISTIC.findall(figure)[0]
    return name, int(percent) if percent else None


def job_figures(result: Recorded, mask: NDArray[np.bool_], bound: float = BOUND) -> dict[str, Any]:
    """Return the metrics that are computed from single jobs."""
    jobs = result.jobs
    values = job_values(result, mask, bound)
    waits, first, slow, bounded = (np.sort(values[n]) for n in ("wait", "first_wait", "slowdown", "bounded_slowdown"))
    return {
        "jobs": int(mask.sum()),
        "finished": int((mask & is_named(jobs["state"], "Finished")).sum()),
        "wait_mean": mean(waits) or 0.0,
        **{f"wait_p{p}": percentile(waits, p) for p in (50, 95, 99)},
        "longest_wait": float(waits[-1]) if len(waits) else 0.0,
        "first_wait_mean": mean(first),
        **{f"first_wait_p{p}": percentile(first, p) for p in (50, 95, 99)},
        "slowdown": mean(slow),
        "slowdown_p95": percentile(slow, 95) if len(slow) else None,
        "bounded_slowdown": mean(bounded),
        "bounded_slowdown_p95": percentile(bounded, 95) if len(bounded) else None,
        "goodput": mean(values["goodput"]),
        "useful": mean(values["useful"]),
        "evictions": int(jobs["evictions"][mask].sum()),
        "evictions_max": int(jobs["evictions"][mask].max(initial=0)),
    }
