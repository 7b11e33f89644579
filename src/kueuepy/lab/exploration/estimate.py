"""Estimate when a workload gets quota, whether it is evicted, and the next waits, from many simulated futures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError, StateError, checked, counted, spelled_out
from kueuepy.lab.exploration.remaining import Arrivals, Living, Runtimes
from kueuepy.lab.exploration.runs import NOTHING, in_order
from kueuepy.lab.exploration.statistics import wilson
from kueuepy.lab.exploration.trial import one_key
from kueuepy.look.notebook import Sheet
from kueuepy.look.numbers import duration
from kueuepy.objects import SECOND
from kueuepy.platform.metrics.series import OwnSeries
from kueuepy.session.session import session_of
from kueuepy.simulation.grouped import percentile
from kueuepy.simulation.model import Recording, RunSettings, time_after
from kueuepy.simulation.simulate import Simulation
from kueuepy.tables.columns import Framed, table_of
from kueuepy.tables.kinds import span

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from kueuepy.scheduler import Scheduler
    from kueuepy.simulation.table import Jobs
    from kueuepy.tables import Columns

QUANTILES = (0.1, 0.5, 0.9)
# The number of simulated jobs from which the quantiles of a queue are meaningful.
_LEAST = 20
# Most workloads get quota within an hour; a longer first simulation would include jobs that do not affect the estimate.
_FIRST_LOOK = 3600 * SECOND
# The core's state of a job with quota; larger states are later ones.
_RUNNING = 2
_PERCENTS = (5, 10, 50, 90, 95)
_MEDIAN = 50
_CLOSED = "assumes that no new job arrives; an interval needs future jobs"


class Eta(msgspec.Struct, Framed, frozen=True):
    """The time until a workload gets quota, estimated from simulated futures. `eta` creates it.

    All times are in seconds from now. A percentile is infinite if it lies beyond the horizon.

    Attributes:
        workload: The key of the workload.
        p5: The 5th percentile; with `p95`, the 90% prediction interval.
        p10: The 10th percentile.
        p50: The median.
        p90: The 90th percentile.
        p95: The 95th percentile.
        seconds: The time until the workload gets quota in each future, in order of seeds; infinite if the workload has
            no quota at the horizon.
        horizon: The simulated time span.
        closed: Whether the simulated futures contain no new jobs because `future` was not given. If `closed` is true
            and other users submit jobs, the percentiles may be too low, and the interval too narrow.

    Example:
        >>> Eta("default/job", 0.0, 60.0, 300.0, 600.0, 600.0, (60.0, 300.0, 600.0), 3600.0).by("5m")
        0.6666666666666666
    """

    workload: str
    p5: float
    p10: float
    p50: float
    p90: float
    p95: float
    seconds: tuple[float, ...]
    horizon: float
    closed: bool = False

    def by(self, when: Any) -> float:
        """Return the fraction of simulated futures in which the workload has quota at a given time.

        Args:
            when: The time from now, as seconds or a string such as `"2h"`.
        """
        end = time_after("by", when) / SECOND
        return sum(seconds <= end for seconds in self.seconds) / len(self.seconds)

    def __str__(self) -> str:
        """Return the estimate as a sentence."""
        late = sum(map(math.isinf, self.seconds))
        if late == len(self.seconds):
            return f"{self.workload}: no quota within {duration(self.horizon)} in any of {counted(late, 'future')}"
        more = f"; not within {duration(self.horizon)} in {late} of {len(self.seconds)}" if late else ""
        half = f"{self.workload}: quota in {duration(self.p50)} (median)"
        if self._is_vague:
            return f"{half}{more}; {_CLOSED}"
        return f"{half}, {duration(self.p10)} to {duration(self.p90)} (80% interval){more}"

    @property
    def _is_vague(self) -> bool:
        """Whether the percentiles are too unreliable to be printed."""
        return self.closed and self.p95 > 0

    def to_table(self) -> Columns:
        """Return one row per simulated future: its number, and the `seconds` until the workload gets quota."""
        return table_of(("future", "seconds"), enumerate(map(float, self.seconds)))

    def sheets(self) -> tuple[Sheet]:
        """Return a table of the percentiles."""
        rows = [(p, duration(getattr(self, f"p{p}"))) for p in _PERCENTS if p == _MEDIAN or not self._is_vague]
        return (Sheet(("percentile", "quota in"), rows, _CLOSED if self._is_vague else ""),)


class Risk(msgspec.Struct, Framed, frozen=True):
    """The probability that a workload is evicted, estimated from simulated futures. `risk` creates it.

    Attributes:
        workload: The key of the workload.
        probability: The fraction of simulated futures in which the workload is evicted.
        low: The lower end of the 95% confidence interval of the probability (Wilson score).
        high: The upper end of the 95% confidence interval of the probability.
        rules: For each preemption rule or eviction reason, the fraction of simulated futures in which it is the first
            to evict the workload.
        futures: The number of simulated futures.
        within: The simulated time span, in seconds from now.
        closed: Whether the simulated futures contain no new jobs because `future` was not given. Jobs that are
            submitted later could still preempt the workload.

    Example:
        >>> Risk("default/job", 0.25, 0.1, 0.5, {"InClusterQueue": 0.25}, 20, 3600.0).probability
        0.25
    """

    workload: str
    probability: float
    low: float
    high: float
    rules: dict[str, float]
    futures: int
    within: float
    closed: bool = False

    def to_table(self) -> Columns:
        """Return one row per rule that evicts the workload first: `rule` and its `probability`."""
        return table_of(("rule", "probability"), self.rules.items())

    def __str__(self) -> str:
        """Return the estimate as a sentence."""
        by = ", ".join(f"{rule} {part:.0%}" for rule, part in self.rules.items())
        often = f"{self.probability:.0%} of {counted(self.futures, 'future')} ({self.low:.0%} to {self.high:.0%})"
        assumed = "; assumes that no new job arrives" if self.closed else ""
        return f"{self.workload}: evicted within {duration(self.within)} in {often}{f': {by}' if by else ''}{assumed}"

    def sheets(self) -> tuple[Sheet]:
        """Return a table with the probability of an eviction, in total and by preemption rule."""
        rows = [("evicted", f"{self.probability:.1%}"), *((rule, f"{p:.1%}") for rule, p in self.rules.items())]
        return (Sheet(("what", "part of the futures"), rows),)


class _Futures:
    def __init__(
        self, scheduler: Scheduler, item: Any, runtimes: Any, future: Any, settings: RunSettings, *, users: str = ""
    ) -> None:
        # A fork, because the workload may be submitted to it.
        self._scheduler = scheduler.fork()
        self.key = one_key(self._scheduler, item)
        self.living = Living(self._scheduler, users)
        if self.key not in self.living.rows:
            raise StateError(f'Workload "{self.key}": has finished')
        self._runtimes = None if runtimes is None else Runtimes(runtimes)
        self._future, self._settings = future, settings
        self.row = self.living.rows[self.key]

    @property
    def is_certain(self) -> bool:
        """Whether all simulated futures are identical because nothing in them is random."""
        return self._runtimes is None and not callable(self._future) and not self._settings.get("delays")

    def run(self, seed: int, record: Recording) -> Simulation:
        """Return the simulation of one future, before its first event."""
        table = self.living.and_coming(self._runtimes, self._future, seed)
        return Simulation(self._scheduler, table, seed=seed, record=record, **self._settings)


def _expect_futures(function: str, n: int) -> None:
    if n < 1:
        raise InvalidSpecError(f"{function}: n {n}; it must be 1 or more")


@checked
@spelled_out(RunSettings)
def eta(
    scheduler: Scheduler,
    workload: Any,
    runtimes: Any,
    *,
    future: Any = None,
    n: int = 200,
    seed: int = 0,
    horizon: Any = "30d",
    threads: int | None = None,
    users: str = "",
    progress: Callable[[int], None] | None = None,
    **settings: Unpack[RunSettings],
) -> Eta:
    """Estimate when a workload gets quota.

    Each of `n` simulated futures draws the remaining runtimes of running workloads (given how long they have already
    run) and the runtimes of pending workloads. Kueue's rules determine all decisions in a future.

    Args:
        scheduler: The Scheduler with the current state; the function does not modify it.
        workload: The key of a pending workload, or a workload as `Scheduler.submit` accepts it.
        runtimes: The expected runtimes: one distribution or time for all workloads; one per LocalQueue, with `""` for
            all others; or a log (`Jobs`), from which the runtimes of jobs of the same queue are drawn. Unfinished jobs
            of a log are treated as censored at their running time so far (Kaplan-Meier).
        future: Jobs that will arrive, or a function that returns them for a seed, such as `Arrivals`; `submit` times
            count from now. Without `future`, no new job can overtake the workload, so the estimated times can be too
            low. The printed estimate contains no interval if `future` is absent.
        n: The number of simulated futures. Default: 200.
        seed: The seed of the first simulated future. Default: 0.
        horizon: The time span to simulate. Default: 30 days.
        threads: The number of futures to simulate in parallel. Default: the number of available cores.
        users: The label of workloads that names their user. If the log has a column `user`, and 20 or more finished
            jobs of the queue have the same user, runtimes are drawn from the jobs of this user. Default: none.
        progress: A function that is called with the number of futures simulated so far, at most ten times per second.
        settings: Further arguments of `simulate`, such as `model`, `clock` and `delays`.

    Returns:
        The percentiles of the time until the workload gets quota; 0 if it has quota already.

    Raises:
        NotFoundError: The workload does not exist, or `runtimes` does not cover a queue.
        StateError: The workload has finished.
        InvalidSpecError: An argument is not valid.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
        >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 1}})))
        >>> for name in ("first", "second"):
        ...     _ = scheduler.submit({"name": name, "queue": "team", "cpu": 1}), scheduler.settle()
        >>> eta(scheduler, "second", "10m", n=5).p50
        600.0
    """
    _expect_futures("eta", n)
    futures = _Futures(scheduler, workload, runtimes, future, settings, users=users)
    end = time_after("eta: horizon", horizon)

    def look(number: int, stop: threading.Event) -> float:
        # Most workloads get quota soon, so the simulated time starts short and doubles until they do.
        run, until = futures.run(number, NOTHING), min(_FIRST_LOOK, end)
        while not stop.is_set():
            run.run(until / SECOND)
            if run.states[futures.row] >= _RUNNING:
                started = float(run.result().jobs["first_start"][futures.row])
                return math.inf if math.isnan(started) else started
            if until >= end:
                break
            until = min(2 * until, end)
        return math.inf

    has_quota = futures.living.has_quota(futures.key)
    seconds = [0.0] * n if has_quota else in_order(look, range(seed, seed + n), threads, progress)
    percentiles = {f"p{percent}": percentile(np.sort(seconds), percent) for percent in _PERCENTS}
    return Eta(futures.key, **percentiles, seconds=tuple(seconds), horizon=end / SECOND, closed=future is None)


@checked
@spelled_out(RunSettings)
def risk(
    scheduler: Scheduler,
    workload: Any,
    *,
    within: Any = "24h",
    future: Any = None,
    runtimes: Any = None,
    n: int = 200,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    **settings: Unpack[RunSettings],
) -> Risk:
    """Estimate the probability that a workload is evicted, and by which rule.

    Args:
        scheduler: The Scheduler with the current state; the function does not modify it.
        workload: The key of a workload, or a workload as `Scheduler.submit` accepts it.
        within: The time span to simulate. Default: 24 hours.
        future: Jobs that will arrive, or a function that returns them for a seed; `submit` times count from now.
            Default: none.
        runtimes: The expected runtimes, as `eta` accepts them. Without `runtimes`, current workloads never finish.
        n: The number of simulated futures. Default: 200. If nothing is random, only one future is simulated.
        seed: The seed of the first simulated future. Default: 0.
        threads: The number of futures to simulate in parallel. Default: the number of available cores.
        progress: A function that is called with the number of futures simulated so far, at most ten times per second.
        settings: Further arguments of `simulate`, such as `model`, `clock` and `delays`.

    Returns:
        The probability, its confidence interval, and the rules.

    Raises:
        NotFoundError: The workload does not exist, or `runtimes` does not cover a queue.
        StateError: The workload has finished.
        InvalidSpecError: An argument is not valid.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, Preemption, ResourceFlavor, Scheduler
        >>> rules = Preemption(within_cluster_queue="LowerPriority")
        >>> queue = ClusterQueue.of("team", {"f": {"cpu": 1}}, preemption=rules)
        >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), queue))
        >>> _ = scheduler.submit({"name": "low", "queue": "team", "cpu": 1}), scheduler.settle()
        >>> urgent = {"name": "high", "queue": "team", "cpu": 1, "priority": 1, "submit": 60, "runtime": "1h"}
        >>> risk(scheduler, "low", future=[urgent]).rules
        {'InClusterQueue': 1.0}
    """
    _expect_futures("risk", n)
    futures = _Futures(scheduler, workload, runtimes, future, settings)
    end = time_after("risk: within", within)

    def look(number: int, _: threading.Event) -> str | None:
        run = futures.run(number, Recording(decisions=True, runs=False, usage=False))
        run.run(end / SECOND)
        decisions = run.result().decisions
        rows = np.flatnonzero((decisions["job"] == futures.row) & (decisions["kind"] == "Evicted"))
        # Not every eviction has a preemption rule.
        return decisions["rule"][rows[0]] or str(decisions["reason"][rows[0]]) if len(rows) else None

    # Identical futures need one simulation, whose answer has no sampling error.
    total = 1 if futures.is_certain else n
    found = [rule for rule in in_order(look, range(seed, seed + total), threads, progress) if rule is not None]
    low, high = wilson(len(found), total) if total > 1 else (float(len(found)), float(len(found)))
    rules = {rule: found.count(rule) / total for rule in sorted(set(found))}
    return Risk(futures.key, len(found) / total, low, high, rules, total, end / SECOND, closed=future is None)


@checked
def estimated_waits(
    scheduler: Scheduler,
    history: Jobs,
    *,
    within: Any = "1h",
    horizon: Any = "1d",
    n: int = 40,
    seed: int = 0,
    threads: int | None = None,
    users: str = "",
) -> dict[str, NDArray[np.float64]]:
    """Estimate the waits of the jobs that arrive next, by LocalQueue.

    Each of `n` simulated futures draws arrivals from the history (`Arrivals`) and the remaining runtimes of the current
    workloads, given how long they have run.

    Args:
        scheduler: The Scheduler with the current state; the function does not modify it.
        history: Jobs as they ran, from `Jobs.read` of a recording.
        within: The function returns the waits of jobs that arrive within this time from now. Default: 1 hour.
        horizon: The time span to simulate; a job that still waits at the end has an infinite wait. Default: 1 day.
        n: The number of simulated futures. Default: 40.
        seed: The seed of the first simulated future. Default: 0.
        threads: The number of futures to simulate in parallel. Default: the number of available cores.
        users: The label of workloads that names their user. Default: none.

    Returns:
        The waits in seconds by LocalQueue (`namespace/name`), for queues with 20 or more simulated jobs.

    Raises:
        InvalidSpecError: The history is empty, or an argument is not valid.
    """
    _expect_futures("estimated_waits", n)
    state = scheduler.fork()
    living, runtimes = Living(state, users), Runtimes(history)
    now = session_of(state).engine.now
    # Arrivals begin at the current time of day, because most logs have a daily pattern.
    coming = Arrivals(history, horizon, since=now / SECOND % 86400)
    end, last = (span(f"estimated_waits: {name}", given) for name, given in (("horizon", horizon), ("within", within)))

    def look(number: int, _: threading.Event) -> list[tuple[str, float]]:
        jobs = coming(number).exact()
        run = Simulation(state, living.and_coming(runtimes, jobs, number), seed=number, record=NOTHING)
        run.run(end / SECOND)
        started = run.result().jobs["first_start"][len(living.workloads) :]
        queue, submit = jobs["queue"], jobs["submit"]
        waits = np.where(np.isnan(started), np.inf, np.maximum(started - submit / SECOND, 0.0)).tolist()
        return [(queue[row], waits[row]) for row in np.flatnonzero(submit < last).tolist()]

    found: dict[str, list[float]] = {}
    for waits in in_order(look, range(seed, seed + n), threads):
        for queue, wait in waits:
            found.setdefault(queue, []).append(wait)
    return {queue: np.sort(waits) for queue, waits in sorted(found.items()) if len(waits) >= _LEAST}


def wait_series(waits: dict[str, NDArray[np.float64]]) -> OwnSeries:
    """Return the quantiles of waits as the series `kueuepy_estimated_wait_seconds`."""
    text = "Estimated waiting time of the next jobs of a LocalQueue, in seconds; from Monte Carlo simulations"
    series = OwnSeries("estimated_wait_seconds", "gauge", text)
    for queue, values in waits.items():
        for quantile in QUANTILES:
            index = min(len(values) - 1, int(quantile * len(values)))
            series.set(float(values[index]), queue=queue, quantile=f"{quantile:g}")
    return series
