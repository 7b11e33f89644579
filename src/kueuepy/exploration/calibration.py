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
from kueuepy.exploration.estimate import Eta, EtaSettings, FutureSettings, eta
from kueuepy.exploration.statistics import wilson
from kueuepy.notebook import Sheet, repr_html
from kueuepy.simulation.simulate import Simulation
from kueuepy.simulation.table import Jobs  # noqa: TC001 - help() shows fields
from kueuepy.tables import Categorical, Columns
from kueuepy.tables.framed import Framed

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.scheduler import Scheduler
    from kueuepy.simulation.result import Result

_LEVEL = 0.9
_LEAST = 60.0
_GOOD = (0.8, 0.95)
_OUTSIDE = (
    "runtimes that change together, as those of a new experiment",
    "jobs that arrive meanwhile, unless future= is given",
)


class Calibration(msgspec.Struct, Framed, frozen=True):
    """The coverage of 90% prediction intervals of `eta`, measured on held-out jobs. `calibrate` creates it.

    Attributes:
        coverage: The fraction of jobs in the second half of the log whose true waiting time lies in the widened
            interval.
        low: The lower end of the 95% confidence interval of the coverage (Wilson score). The jobs of a log are not
            independent, so this interval is too narrow.
        high: The upper end of that interval.
        raw: The coverage without widening.
        widen: The factor by which the lower end of an interval is divided and the upper end multiplied; 1 or more. The
            factor is determined from the first half of the log only.
        jobs: One row per evaluated job, with times in seconds: `job` (the row in the log), `queue`, `submit`, the true
            `wait`, the estimates `p5`, `p50` and `p95`, and whether the true wait is `within` the widened interval.
        known: The jobs of the first half, from which `eta` draws runtimes.
    """

    coverage: float
    low: float
    high: float
    raw: float
    widen: float
    jobs: Columns
    known: Jobs

    @property
    def is_good(self) -> bool:
        """Whether the coverage is between 80% and 95%."""
        return _GOOD[0] <= self.coverage <= _GOOD[1]

    @spelled_out(EtaSettings)
    def eta(self, scheduler: Scheduler, workload: Any, **options: Unpack[EtaSettings]) -> Eta:
        """Estimate when a workload gets quota, with the runtimes of the first half and widened intervals.

        Args:
            scheduler: The current state, which does not change.
            workload: The key of a pending workload, or a workload as `Scheduler.submit` accepts it.
            options: Further arguments of `eta`.

        Returns:
            The estimate, with `coverage` set.
        """
        found = eta(scheduler, workload, self.known, **options)
        return msgspec.structs.replace(
            found,
            p5=found.p5 / self.widen,
            p10=found.p10 / self.widen,
            p90=found.p90 * self.widen,
            p95=found.p95 * self.widen,
            coverage=self.coverage,
        )

    def __str__(self) -> str:
        """Return the answer in several lines."""
        n = len(self.jobs)
        note = "" if self.is_good else "; that is not the 80 to 95 % that were wanted: do not rely on intervals"
        span = f"{self.low:.0%} to {self.high:.0%}"
        return "\n".join(
            [
                f"{self.coverage:.0%} of {n} true waits are within their 90 % interval ({span}){note}",
                f"without widening {self.raw:.0%} are; each end is moved by a factor of {self.widen:.3g}",
                *(f"not modelled: {text}" for text in _OUTSIDE),
            ]
        )

    def to_table(self) -> Columns:
        """Return `jobs`."""
        return self.jobs

    def sheets(self) -> tuple[Sheet, ...]:
        """Return tables of the answer and of the jobs."""
        rows = [(text,) for text in str(self).splitlines()]
        return (Sheet(("calibration",), rows), *self.jobs.sheets())

    _repr_html_ = repr_html


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
    **options: Unpack[FutureSettings],
) -> Calibration:
    """Measure how reliable the estimates of `eta` are with runtimes drawn from a log.

    All jobs are simulated once, which gives the true waiting times. The first half of the log determines how much the
    intervals must be widened: runtimes of its first half are used to estimate the waiting times in its second half, and
    the intervals are scaled until 90% contain the true value (split conformal prediction). Then runtimes of the first
    half of the log are used to estimate the waiting times in the second half, to measure the coverage of the widened
    intervals. Jobs that wait for less than a minute are excluded, because their estimate is trivial.

    Args:
        cluster: The cluster.
        log: The jobs of the log, with their true runtimes.
        jobs: The number of jobs to evaluate in each of the two rounds, drawn from the jobs that waited. Default: 60.
        n: The number of futures per estimate. Default: 40.
        seed: The seed of the random numbers. Default: 0.
        threads: The number of futures to simulate in parallel. Default: the number of available cores.
        options: Further arguments of `eta`, such as `horizon`.

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
    run = Simulation(cluster, log)
    run.run()
    result = run.result()
    half = log.span / 2
    rounds = []
    for number, (known_until, end) in enumerate(((half / 2, half), (half, math.inf))):
        asked = _Round(result, log, known_until, end)
        rows = asked.some(jobs, np.random.Generator(np.random.PCG64([seed, number])))
        rounds.append((asked, rows, asked.estimates(rows, {"n": n, "seed": seed, "threads": threads, **options})))
    (_, _, first), (asked, rows, second) = rounds
    scores = np.sort(_score(first))
    widen = max(1.0, math.exp(scores[min(len(scores), math.ceil(_LEVEL * (len(scores) + 1))) - 1]))
    within = _score(second) <= math.log(widen) + 1e-12
    low, high = wilson(int(within.sum()), len(within))
    table = Columns(
        {
            "job": rows,
            "queue": Categorical(log["queue"].codes[rows], list(log["queue"].names)),
            "submit": result.jobs["submit"][rows],
            **dict(zip(("wait", "p5", "p50", "p95"), second.T, strict=True)),
            "within": within,
        }
    )
    raw = float((_score(second) <= 0).mean())
    return Calibration(float(within.mean()), low, high, raw, widen, table, asked.known)


def _score(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for each row (wait, p5, p50, p95), the log of the factor by which the interval must be widened."""
    wait, low, _, high = np.maximum(found, 1.0).T
    needed: NDArray[np.float64] = np.maximum(np.log(low / wait), np.log(wait / high))
    return needed


class _Round:
    """Estimates of waiting times in a time interval, from the runtimes of all jobs submitted before it."""

    def __init__(self, result: Result, log: Jobs, known_until: float, end: float) -> None:
        self.known = log.window(0, known_until)
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

    def estimates(self, rows: NDArray[np.int64], options: dict[str, Any]) -> NDArray[np.float64]:
        """Return one row per job: its true waiting time, and the 5th, 50th and 95th percentile of its estimate."""
        found = []
        for row in rows.tolist():
            scheduler = self._result.at(float(self._result.jobs["submit"][row]))
            (key,) = (key for key in scheduler.workloads["key"] if scheduler.workload(key).uid == f"{row:012d}")
            answer = eta(scheduler, key, self.known, **options)
            found.append((float(self._wait[row]), answer.p5, answer.p50, answer.p95))
        return np.array(found)
