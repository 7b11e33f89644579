"""Measure how often true waiting times lie in the intervals of `kueuepy.lab.eta`, on held-out jobs of a log.

    python benchmarks/eta_coverage.py [LOG [FORMAT]]

All jobs of the log are simulated once, which yields the true waiting times. The runtimes in the first half of the log
are used to estimate the waiting times in the second half. The runtimes in the first quarter and the waiting times in
the second quarter determine how much the intervals must be widened (split conformal prediction).
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import kueuepy as kq
from kueuepy.errors import InvalidSpecError
from kueuepy.lab.exploration.statistics import wilson
from kueuepy.objects import SECOND
from kueuepy.simulation.base import CENSORED, censored_rows

# Jobs that wait for less than a minute are excluded, because their estimate is trivial.
LEAST_SECONDS = 60.0
FEWEST_JOBS = 10
ENDS = {0.9: ("p5", "p95"), 0.8: ("p10", "p90")}
# 90% intervals are never narrowed, so that they are conservative.
NARROWEST = {0.9: 1.0, 0.8: 0.5}


class Coverage(NamedTuple):
    """The coverage of the intervals of `eta` on held-out jobs.

    Attributes:
        coverage: The fraction of jobs whose true waiting time lies in the widened interval.
        low: The lower end of the 95% confidence interval of the coverage (Wilson score), which is too narrow because
            the jobs of a log are not independent.
        high: The upper end.
        raw: The coverage without widening.
        widen: The factor by which the lower end of an interval is divided and the upper end multiplied.
        found: One row per job: its true waiting time, and the low end, median and high end of its estimate, in seconds.
        rows: The rows of the jobs in the log.
    """

    coverage: float
    low: float
    high: float
    raw: float
    widen: float
    found: np.ndarray
    rows: np.ndarray


def coverage(
    cluster: kq.Cluster, log: kq.Jobs, *, jobs: int = 60, n: int = 40, seed: int = 0, level: float = 0.9, **options: Any
) -> Coverage:
    """Measure the coverage of intervals at a level of 0.9 or 0.8, with `jobs` jobs and `n` futures per estimate."""
    result = kq.simulate(cluster, log, progress=False)
    half = log.span / 2
    first, second = (
        _estimates(result, log, span, (jobs, seed, number), ends=ENDS[level], options={"n": n, "seed": seed, **options})
        for number, span in enumerate(((half / 2, half), (half, math.inf)))
    )
    scores = np.sort(_score(first[0]))
    widen = max(NARROWEST[level], math.exp(scores[min(len(scores), math.ceil(level * (len(scores) + 1))) - 1]))
    found, rows = second
    within = _score(found) <= math.log(widen) + 1e-12
    low, high = wilson(int(within.sum()), len(within))
    return Coverage(float(within.mean()), low, high, float((_score(found) <= 0).mean()), widen, found, rows)


def _score(found: np.ndarray) -> np.ndarray:
    """Return the logarithm of the factor by which each interval must be widened to contain the true wait."""
    wait, low, _, high = np.maximum(found, 1.0).T
    return np.maximum(np.log(low / wait), np.log(wait / high))


def _estimates(
    result: kq.Result,
    log: kq.Jobs,
    span: tuple[float, float],
    sample: tuple[int, int, int],
    *,
    ends: tuple[str, str],
    options: dict[str, Any],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the true waits and estimates of a sample of the jobs submitted in a time interval, and their rows."""
    submit, wait = result.jobs["submit"], result.jobs["first_wait"]
    rows = np.flatnonzero((submit >= span[0]) & (submit < span[1]) & (wait > LEAST_SECONDS))
    if len(rows) < FEWEST_JOBS:
        raise InvalidSpecError(f"{len(rows)} jobs wait a minute or longer in a part of the log; there must be ten")
    jobs, seed, number = sample
    rng = np.random.Generator(np.random.PCG64([seed, number]))
    rows = np.sort(rng.choice(rows, min(jobs, len(rows)), replace=False))
    known = _known_at(result, log, span[0])
    if options.get("future") == "history":
        options = {**options, "future": kq.lab.Arrivals(known, options.get("horizon", "7d"))}
    found = []
    for row in rows.tolist():
        scheduler = result.at(float(submit[row]))
        (key,) = (key for key in scheduler.workloads["key"] if scheduler.workload(key).uid == f"{row:012d}")
        answer = kq.lab.eta(scheduler, key, known, **options)
        found.append((float(wait[row]), getattr(answer, ends[0]), answer.p50, getattr(answer, ends[1])))
    return np.array(found), rows


def _known_at(result: kq.Result, log: kq.Jobs, until: float) -> kq.Jobs:
    """Return the part of a log that is known at a given time; jobs that have not finished by then are censored."""
    known = log.window(0, until)
    submit = log.exact()["submit"]
    rows = np.flatnonzero(submit < int(submit.min()) + round(until * SECOND))
    end, runtime = result.jobs["end"][rows], result.jobs["runtime"][rows]
    unfinished = ~(end <= until)
    if not unfinished.any():
        return known
    ran = np.where(np.isfinite(end), np.clip(until - (end - runtime), 0, runtime), 0)
    exact = known.exact()
    runtimes = np.where(unfinished, ran, exact["runtime"] / SECOND)
    return kq.Jobs._like(exact.assign(runtime=runtimes, **{CENSORED: unfinished | censored_rows(exact)}))  # noqa: SLF001


def main(arguments: list[str]) -> None:
    """Print the coverage for a log, by default the two weeks of Microsoft's Philly trace."""
    philly = Path(__file__).parents[1] / "examples" / "logs" / "philly.csv.gz"
    path, format_ = [*arguments, "auto"][:2] if arguments else (philly, "philly")
    log = kq.Jobs.read(path, format=format_)
    for level in ENDS:
        found = coverage(kq.sim.cluster_of(log), log, level=level)
        print(
            f"{found.coverage:.0%} of {len(found.rows)} true waits are within their {level:.0%} interval "
            f"({found.low:.0%} to {found.high:.0%}), {found.raw:.0%} without the factor {found.widen:.3g}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
