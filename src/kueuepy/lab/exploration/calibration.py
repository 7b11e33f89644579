"""Calibrate the estimates of `eta`: measure their coverage on a held-out part of a log, and widen their intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked
from kueuepy.errors.settings import spelled_out
from kueuepy.errors.words import counted, verb
from kueuepy.lab.exploration.arrivals import Arrivals
from kueuepy.lab.exploration.estimate import Eta, EtaSettings, FutureSettings, eta
from kueuepy.lab.exploration.statistics import wilson
from kueuepy.look.notebook import Sheet
from kueuepy.objects import SECOND
from kueuepy.simulation.censoring import COLUMN, censored_rows
from kueuepy.simulation.simulate import Simulation
from kueuepy.simulation.table import Jobs
from kueuepy.tables import Columns
from kueuepy.tables.columns import Framed

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.scheduler import Scheduler
    from kueuepy.simulation.result import Result

_LEAST = 60.0
_GOOD = {0.9: (0.8, 0.95), 0.8: (0.75, 0.85)}
"""For each level of intervals, the coverage that is acceptable."""
_ENDS = {0.9: ("p5", "p95"), 0.8: ("p10", "p90")}
_NARROWEST = {0.9: 1.0, 0.8: 0.5}
"""The smallest factor: 90% intervals are never narrowed, so that they are conservative."""
_HISTORY = "history"
_OUTSIDE = (
    "runtimes that change together, as those of a new experiment",
    "jobs that arrive meanwhile, unless future= is given",
)


class Calibration(msgspec.Struct, Framed, frozen=True):
    """The coverage of prediction intervals of `eta`, measured on held-out jobs. `calibrate` creates it.

    Attributes:
        coverage: The fraction of jobs in the second half of the log whose true waiting time lies in the widened
            interval.
        low: The lower end of the 95% confidence interval of the coverage (Wilson score). The jobs of a log are not
            independent, so the confidence interval is too narrow.
        high: The upper end of the 95% confidence interval of the coverage.
        raw: The coverage without widening.
        widen: The factor by which the lower end of an interval is divided and the upper end multiplied. Only the first
            half of the log determines the widening factor. The widening factor is 1 or more for 90% intervals; 80%
            intervals may also become narrower.
        jobs: One row per evaluated job, with times in seconds: `job` (the row in the log), `queue`, `submit`, the true
            `wait`, the estimates `p5`, `p50` and `p95` (`p10` and `p90` for 80% intervals), and whether the true wait
            is `within` the widened interval.
        known: The jobs of the first half, from which `eta` draws runtimes.
        level: The fraction of true waiting times that an interval should contain: 0.9 or 0.8.
    """

    coverage: float
    low: float
    high: float
    raw: float
    widen: float
    jobs: Columns
    known: Jobs
    level: float = 0.9

    @property
    def is_good(self) -> bool:
        """Whether the coverage is adequate: 80% to 95% for 90% intervals, or 75% to 85% for 80% intervals."""
        low, high = _GOOD[self.level]
        return low <= self.coverage <= high

    @spelled_out(EtaSettings)
    def eta(self, scheduler: Scheduler, workload: Any, **options: Unpack[EtaSettings]) -> Eta:
        """Estimate when a workload gets quota: draw runtimes from the first half of the log, and widen the intervals.

        Args:
            scheduler: The Scheduler with the current state; the function does not modify it.
            workload: The key of a pending workload, or a workload as `Scheduler.submit` accepts it.
            options: Further arguments of `eta`.

        Returns:
            The estimate, with `coverage` set.
        """
        found = eta(scheduler, workload, self.known, **options)
        return msgspec.structs.replace(
            found,
            p5=min(found.p5 / self.widen, found.p50),
            p10=min(found.p10 / self.widen, found.p50),
            p90=max(found.p90 * self.widen, found.p50),
            p95=max(found.p95 * self.widen, found.p50),
            coverage=self.coverage,
            level=self.level,
        )

    def __str__(self) -> str:
        """Return the answer as several lines of text."""
        n = len(self.jobs)
        least, most = (f"{100 * end:.0f}" for end in _GOOD[self.level])
        wanted = f"; that is not the {least} to {most} % that were wanted: do not rely on intervals"
        note = "" if self.is_good else wanted
        level = f"{100 * self.level:.0f}"
        span = f"{self.low:.0%} to {self.high:.0%}"
        return "\n".join(
            [
                f"{self.coverage:.0%} of {n} true waits are within their {level} % interval ({span}){note}",
                f"without widening {self.raw:.0%} are; each end is moved by a factor of {self.widen:.3g}",
                *(f"not modelled: {text}" for text in _OUTSIDE),
            ]
        )

    def to_table(self) -> Columns:
        """Return `jobs`."""
        return self.jobs

    def sheets(self) -> tuple[Sheet, ...]:
        """Return the answer and the jobs as tables."""
        rows = [(text,) for text in str(self).splitlines()]
        return (Sheet(("calibration",), rows), *self.jobs.sheets())


@checked
@spelled_out(FutureSettings)
def calibrate(
    cluster: Cluster,
    log: Jobs,
    *,
    jobs: int = 60,
    n: int = 40,
    seed: int = 0,
    threads: int | None = None,
    level: float = 0.9,
    **options: Unpack[FutureSettings],
) -> Calibration:
    """Measure how reliable the estimates of `eta` are with runtimes drawn from a log.

    All jobs are simulated once, which yields the true waiting times. The first half of the log determines how much the
    intervals must be widened. The runtimes in the first quarter of the log are used to estimate the waiting times in
    the second quarter. The intervals are scaled until a fraction `level` of them contains the true value (split
    conformal prediction). Finally, `calibrate` estimates the waiting times in the second half from the runtimes in the
    first half, and measures the coverage of the widened intervals. Jobs that wait for less than a minute are excluded,
    because their estimate is trivial. A job that has not finished at the end of the known part of the log is treated as
    censored at its running time so far (Kaplan-Meier).

    Args:
        cluster: The cluster.
        log: The jobs of the log, with their true runtimes.
        jobs: The number of jobs to evaluate in each of the two rounds, drawn from the jobs that waited. Default: 60.
        n: The number of simulated futures per estimate. Default: 40.
        seed: The seed of the random numbers. Default: 0.
        threads: The number of futures to simulate in parallel. Default: the number of available cores.
        level: The fraction of true waiting times that an interval should contain: 0.9 (5th to 95th percentile) or 0.8
            (10th to 90th). Default: 0.9.
        options: Further arguments of `eta`, such as `horizon`. With `future="history"`, new jobs arrive as in the known
            part of the log (`Arrivals`).

    Returns:
        The coverage and the factor by which intervals are widened.

    Raises:
        InvalidSpecError: Fewer than 10 jobs wait for a minute or longer in one of the rounds, or an argument is not
            valid.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, Jobs, ResourceFlavor
        >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 1}}))
        >>> rows = [{"queue": "team", "submit": 600 * n, "runtime": 540 + n % 7 * 30, "cpu": 1} for n in range(100)]
        >>> found = calibrate(cluster, Jobs.of(rows), jobs=10, n=5)
        >>> len(found.jobs), found.widen >= 1
        (10, True)
    """
    if jobs < 1:
        raise InvalidSpecError(f"calibrate: jobs {jobs}; it must be 1 or more")
    if level not in _ENDS:
        raise InvalidSpecError(f"calibrate: level: is {level}; it must be {' or '.join(map(str, _ENDS))}")
    run = Simulation(cluster, log)
    run.run()
    result = run.result()
    half = log.span / 2
    of_eta: dict[str, Any] = {"n": n, "seed": seed, "threads": threads, **options}
    rounds = [_Round(result, log, half / 2, half), _Round(result, log, half, math.inf)]
    picked = [
        asked.some(jobs, np.random.Generator(np.random.PCG64([seed, number]))) for number, asked in enumerate(rounds)
    ]
    first, second = (asked.estimates(rows, _ENDS[level], of_eta) for asked, rows in zip(rounds, picked, strict=True))
    asked, rows = rounds[1], picked[1]
    scores = np.sort(_score(first))
    widen = max(_NARROWEST[level], math.exp(scores[min(len(scores), math.ceil(level * (len(scores) + 1))) - 1]))
    within = _score(second) <= math.log(widen) + 1e-12
    low, high = wilson(int(within.sum()), len(within))
    low_name, high_name = _ENDS[level]
    table = Columns(
        {
            "job": rows,
            "queue": log["queue"][rows],
            "submit": result.jobs["submit"][rows],
            **dict(zip(("wait", low_name, "p50", high_name), second.T, strict=True)),
            "within": within,
        }
    )
    raw = float((_score(second) <= 0).mean())
    return Calibration(float(within.mean()), low, high, raw, widen, table, asked.known, level)


def _score(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of the factor by which each interval must be widened to contain the true wait."""
    wait, low, _, high = np.maximum(found, 1.0).T
    needed: NDArray[np.float64] = np.maximum(np.log(low / wait), np.log(wait / high))
    return needed


class _Round:
    """Estimates of waiting times in a time interval, from the runtimes of all jobs submitted before the interval."""

    def __init__(self, result: Result, log: Jobs, known_until: float, end: float) -> None:
        self.known = _known_at(result, log, known_until)
        self._result = result
        submit, self._wait = result.jobs["submit"], result.jobs["first_wait"]
        there = (submit >= known_until) & (submit < end) & (self._wait > _LEAST)
        self._rows = np.flatnonzero(there)
        if len(self._rows) < 10:  # noqa: PLR2004
            count = f"{counted(len(self._rows), 'job')} {verb(len(self._rows), 'wait')} a minute or longer"
            raise InvalidSpecError(f"calibrate: {count} in a part of the log; there must be ten")

    def some(self, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the sorted rows of a random sample of `n` waiting jobs."""
        return np.sort(rng.choice(self._rows, min(n, len(self._rows)), replace=False))

    def estimates(self, rows: NDArray[np.int64], ends: tuple[str, str], options: dict[str, Any]) -> NDArray[np.float64]:
        """Return one row per job: its true waiting time, and the low end, median and high end of its estimate."""
        found = []
        if options.get("future") == _HISTORY:
            options = {**options, "future": Arrivals(self.known, options.get("horizon", "7d"))}
        for row in rows.tolist():
            scheduler = self._result.at(float(self._result.jobs["submit"][row]))
            (key,) = (key for key in scheduler.workloads["key"] if scheduler.workload(key).uid == f"{row:012d}")
            answer = eta(scheduler, key, self.known, **options)
            found.append((float(self._wait[row]), getattr(answer, ends[0]), answer.p50, getattr(answer, ends[1])))
        return np.array(found)


def _known_at(result: Result, log: Jobs, until: float) -> Jobs:
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
    return Jobs._like(  # noqa: SLF001 - as the class methods of Jobs
        exact.assign(
            runtime=np.where(unfinished, ran, exact["runtime"] / SECOND),
            **{COLUMN: unfinished | censored_rows(exact)},
        )
    )
