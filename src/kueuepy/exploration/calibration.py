"""How far estimates of `eta` can be trusted: held against a log that they have not seen, and widened until they can."""

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
    "who comes meanwhile, unless future= says it",
)


class Calibration(msgspec.Struct, Framed, frozen=True):
    """How often the true wait was within the 90 % interval of an estimate, of jobs that the fit had not seen.

    Attributes:
        coverage: Of the second half's jobs, the part whose true wait is within the widened interval.
        low: Where the 95 % interval of that part begins, by Wilson's score. The jobs of a log are no independent draws,
            so that it is too narrow.
        high: Where it ends.
        raw: The same part without widening.
        widen: What the ends of an interval are divided and multiplied by; found in the first half alone.
        jobs: A row a job that was looked at: `job`, `queue`, `submit`, the true `wait`, `p5`, `p50`, `p95` as they were
            estimated, and whether it is `within` the widened interval. Seconds.
        known: The jobs of the first half, from which runtimes are drawn.
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
        """Whether 80 to 95 % of the true waits are within."""
        return _GOOD[0] <= self.coverage <= _GOOD[1]

    @spelled_out(EtaSettings)
    def eta(self, scheduler: Scheduler, workload: Any, **options: Unpack[EtaSettings]) -> Eta:
        """The estimate of `eta` with the runtimes of the first half, its ends widened; it tells the coverage.

        Args:
            scheduler: As it is now; it is not changed.
            workload: The key of one that waits, or what `Scheduler.submit` takes.
            options: What `eta` takes beside.
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
        """The answer in lines."""
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
        """Return a row for each job that was looked at, as `jobs`."""
        return self.jobs

    def sheets(self) -> tuple[Sheet, ...]:
        """The answer, then the jobs."""
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
    """How far estimates of `eta` can be trusted with runtimes of a log.

    All jobs are run once; what they wait then is the truth. Of the first half, runtimes of its first half estimate the
    waits in its second: by how much the intervals must be widened there, in proportion, for 90 % to be within (split
    conformal prediction). Of the whole, runtimes of the first half estimate the waits in the second half, widened so;
    what part of them is within is told. Jobs that wait less than a minute are left out: of those one knows at once.

    Args:
        cluster: The configuration.
        log: The jobs, as they were.
        jobs: How many jobs are looked at in each of both rounds, drawn among those that waited.
        n: How many futures each estimate is made of.
        seed: Of what is drawn.
        threads: How many futures go on at once; by default one on each core.
        options: What `eta` takes beside, as `horizon`.

    Raises:
        InvalidSpecError: Fewer than ten jobs wait in one of the rounds, or an argument is not valid.
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
    """Of each row (wait, p5, p50, p95) the logarithm of what the interval must be widened by to have the wait in it."""
    wait, low, _, high = np.maximum(found, 1.0).T
    needed: NDArray[np.float64] = np.maximum(np.log(low / wait), np.log(wait / high))
    return needed


class _Round:
    """Estimates of what jobs waited between two times, with the runtimes of all jobs before the first."""

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
        """A random sample of `n` rows of the jobs that wait, sorted."""
        return np.sort(rng.choice(self._rows, min(n, len(self._rows)), replace=False))

    def estimates(self, rows: NDArray[np.int64], options: dict[str, Any]) -> NDArray[np.float64]:
        """A row a job: what it waited, and the 5th, 50th and 95th percentile that one would have been told."""
        found = []
        for row in rows.tolist():
            scheduler = self._result.at(float(self._result.jobs["submit"][row]))
            (key,) = (key for key in scheduler.workloads["key"] if scheduler.workload(key).uid == f"{row:012d}")
            answer = eta(scheduler, key, self.known, **options)
            found.append((float(self._wait[row]), answer.p5, answer.p50, answer.p95))
        return np.array(found)
