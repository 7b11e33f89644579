"""The metrics of a run: waiting times, slowdowns, utilisation, lost work and fairness."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.errors.arguments import checked_methods
from kueuepy.notebook import Sheet, repr_html
from kueuepy.simulation.catalogue import figure_text, unit_text
from kueuepy.simulation.confidence import Scope, interval
from kueuepy.simulation.measures import BOUND, job_figures, percentile
from kueuepy.simulation.sums import sums
from kueuepy.simulation.windows import integrals, of_runs
from kueuepy.tables.framed import Framed, table_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from kueuepy.simulation.intervals import Interval
    from kueuepy.simulation.recorded import Recorded
    from kueuepy.tables import Columns

_HOUR = 3600
_NANO = 1e9
_STARVED = 10


@checked_methods
class Kpis(msgspec.Struct, Framed, frozen=True, dict=True):
    """The metrics of a run.

    A metric of resources is a dict by `flavor/resource`. Resource-hours count cores for cpu and base units (bytes for
    memory) otherwise. Percentiles use the nearest-rank method. Time integrals and averages cover a window, by default
    from the warm-up to the end of the run.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, simulate
    >>> cluster = Cluster(ResourceFlavor("h100"), ClusterQueue.of("team", {"h100": {"nvidia.com/gpu": 2}}))
    >>> jobs = [{"queue": "team", "submit": 60 * n, "runtime": "1h", "gpu": 1} for n in range(3)]
    >>> kpis = simulate(cluster, jobs).kpis
    >>> kpis.finished, kpis.wait_mean, kpis.used_hours
    (3, 1160.0, {'h100/nvidia.com/gpu': 3.0})

    Attributes:
        jobs: Number of jobs submitted in the window.
        finished: Number of these jobs that finished.
        seconds: Length of the window, in seconds.
        wait_mean: Mean waiting time, in seconds. The waiting time of a job is all time without quota from its
            submission until it finishes or the run ends, including time after evictions.
        wait_p50: Median of the waiting time, in seconds.
        wait_p95: 95th percentile of the waiting time, in seconds.
        wait_p99: 99th percentile of the waiting time, in seconds.
        longest_wait: Longest waiting time, in seconds, including jobs still waiting when the run ends.
        first_wait_mean: Mean time from submission to the first start, in seconds, over jobs that started.
        first_wait_p50: Median of the time from submission to the first start, in seconds.
        first_wait_p95: 95th percentile of the time from submission to the first start, in seconds.
        first_wait_p99: 99th percentile of the time from submission to the first start, in seconds.
        slowdown: Mean over finished jobs of their lifetime, from submission to end, divided by their runtime.
        slowdown_p95: 95th percentile of the slowdown.
        bounded_slowdown: Mean slowdown with runtimes of less than 10 s counted as 10 s, and at least 1 for each job.
        bounded_slowdown_p95: 95th percentile of the bounded slowdown.
        goodput: Mean over finished jobs of the fraction of their lifetime during which they held quota
            (kubernetes-sigs/kueue#10813).
        useful: Mean over finished jobs of their runtime divided by their lifetime: goodput without lost progress and
            overhead.
        submission_utilisation: Used divided by nominal quota of all queues and cohorts, from the warm-up to the last
            submission, that is while jobs still arrive. If all jobs arrive at once, it covers the whole window.
        utilisation: Used divided by nominal quota of all queues and cohorts, over the whole window. The window includes
            the time after the last submission, in which the last jobs finish and quota becomes idle, so the value
            depends more on the longest job than on the policy.
        effective_utilisation: Utilisation without lost progress, checkpoints, restores and pod starts.
        lost_hours: Resource-hours of progress lost by evictions.
        overhead_hours: Resource-hours of checkpoints, restores and pod starts.
        wasted: Lost and overhead hours as a fraction of the used hours, for the flavor and resource with the highest
            utilisation.
        makespan: Time from the first submission to the last end of a job, in seconds.
        throughput: Number of jobs finished per hour.
        waiting_mean: Time average of the number of waiting jobs.
        waiting_max: Maximum number of waiting jobs; jobs admitted at the time of their submission do not count.
        used_hours: Resource-hours used.
        borrowed_hours: Resource-hours that queues used beyond their nominal quota.
        lent_hours: Borrowed resource-hours that were unused nominal quota of other queues.
        borrowing_time: Fraction of the time during which at least one queue borrowed.
        idle_while_waiting: Resource-hours that were free in a cohort tree although its waiting jobs requested them,
            because of the policy or of fragmentation.
        promise_p95: 95th percentile of the time from submission to the first start, in seconds, over jobs that arrived
            while the free nominal quota of their own queue was sufficient.
        jain: Jain's fairness index over the ClusterQueues that had jobs, from 1 divided by their number (one queue used
            everything) to 1 (equal use). It compares dominant resource shares, that is the largest fraction of all
            nominal quota that a queue used of any resource, divided by the queue's fair sharing weight.
        blocked_share: Used quota divided by entitled quota, averaged over time and queues with waiting jobs. The value
            is a fraction: 1.22 means 122 % of the entitled quota. A queue is entitled to its nominal quota and, in
            proportion to its weight, to quota that its cohort has beyond that of its queues.
        evictions: Number of evictions.
        evictions_max: Largest number of evictions of one job.
        preemptions: Number of preemptions by rule.
        loops: Number of preemption loops found.
        starved: Number of jobs that never started although jobs submitted later, by more than 10 times
            `first_wait_p99`, did.
        cost: Used resource-hours multiplied by the given prices of flavors; `None` without prices.
    """

    jobs: int
    finished: int
    seconds: float
    wait_mean: float
    wait_p50: float
    wait_p95: float
    wait_p99: float
    longest_wait: float
    first_wait_mean: float | None
    first_wait_p50: float
    first_wait_p95: float
    first_wait_p99: float
    slowdown: float | None
    slowdown_p95: float | None
    bounded_slowdown: float | None
    bounded_slowdown_p95: float | None
    goodput: float | None
    useful: float | None
    submission_utilisation: dict[str, float]
    utilisation: dict[str, float]
    effective_utilisation: dict[str, float]
    lost_hours: dict[str, float]
    overhead_hours: dict[str, float]
    wasted: float
    makespan: float
    throughput: float
    waiting_mean: float
    waiting_max: int
    used_hours: dict[str, float]
    borrowed_hours: dict[str, float]
    lent_hours: dict[str, float]
    borrowing_time: float
    idle_while_waiting: dict[str, float]
    promise_p95: float | None
    jain: float | None
    blocked_share: float | None
    evictions: int
    evictions_max: int
    preemptions: dict[str, int]
    loops: int
    starved: int
    cost: float | None = None

    @property
    def preempted_hours(self) -> dict[str, float]:
        """Alias of `lost_hours`."""
        return self.lost_hours

    def interval(self, name: str) -> tuple[float, float]:
        """Return the 95 % confidence interval of a metric, which contains its value and is never below 0.

        The method divides the run into 32 batches. For metrics of single jobs, a batch consists of consecutive jobs by
        submission time. For utilisation, waiting jobs and throughput, the batches have equal lengths of time. The
        interval of a mean is Student's t interval over the batches, adjusted for autocorrelation and skewness
        (N-Skart). The interval of a percentile lies between two order statistics chosen by the same method. Maxima have
        no interval. If the run is so short that the interval may be too narrow, the method emits a UserWarning: waiting
        times in a busy queue are correlated over hundreds of jobs.

        Args:
            name: Name of the metric. For a metric of several resources, append the flavor and resource, as in
                `utilisation h100/nvidia.com/gpu`.

        Returns:
            The lower and the upper limit, in the unit of the metric.

        Raises:
            InvalidSpecError: The metric or the resource does not exist, the metric has no interval, or there are too
                few jobs: a mean needs 640, a 95th percentile 2,000 and a 99th percentile 10,000.
            StateError: The metric is an integral over time, and the usage was not recorded.
        """
        found = self._interval(name)
        if found.doubt:
            warnings.warn(f'interval: "{name}" may be too narrow: {found.doubt}', UserWarning, stacklevel=2)
        return found.low, found.high

    def _interval(self, name: str) -> Interval:
        return interval(self.__dict__["scope"], name, getattr(self, name.partition(" ")[0], None))

    def rows(self) -> list[tuple[str, float]]:
        """Return name and value of each metric, with one row for each flavor and resource."""
        found: list[tuple[str, float]] = []
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, dict):
                found += [(f"{name} {cell}", part) for cell, part in value.items()]
            elif value is not None:
                found.append((name, value))
        return found

    def to_table(self) -> Columns:
        """Return a table with the columns `figure` (the metric), `cell` (flavor and resource), `value` and `unit`."""
        rows = [(*name.partition(" ")[::2], float(value), unit_text(name)) for name, value in self.rows()]
        return table_of(("figure", "cell", "value", "unit"), rows)

    def __str__(self) -> str:
        """Format each metric as a line."""
        rows = self.rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {figure_text(name, value)}" for name, value in rows)

    def sheets(self) -> tuple[Sheet]:
        """Return one table with a row for each metric."""
        return (Sheet(("metric", "value"), [(name, figure_text(name, value)) for name, value in self.rows()]),)

    _repr_html_ = repr_html


def unit(cell: str) -> int:
    """Return the number of internal units per display unit of a resource: 1000 for cpu, otherwise 1."""
    return 1000 if cell.rpartition("/")[2] == "cpu" else 1


def hours(totals: dict[str, float]) -> dict[str, float]:
    """Convert amounts times nanoseconds to resource-hours; resources with a total of 0 are omitted."""
    return {cell: total / unit(cell) / _NANO / _HOUR for cell, total in totals.items() if total}


def kpis_of(
    run: Recorded,
    start: float | None = None,
    end: float | None = None,
    where: Any = None,
    *,
    bound: float = BOUND,
    prices: Mapping[str, float] | None = None,
) -> Kpis:
    """Compute the metrics of a run, of a time window, or of a subset of the jobs."""
    jobs = run.jobs
    mask = np.array(jobs["counted"]) if where is None else np.array(jobs["counted"]) & np.asarray(where, bool)
    low = run.warmup if start is None else start
    high = run.seconds if end is None else end
    whole = start is None and end is None
    totals = _totals(run) if whole else integrals(run, low, high)
    part = _of_run(run) if whole and where is None else of_runs(run, low, high, mask)
    if where is not None:
        totals["used"] = part["held"]
    if not whole:
        mask &= (jobs["submit"] >= low) & (jobs["submit"] < (math.inf if end is None else end))
    seconds = max(0.0, high - low)
    ends = min(high, float(jobs["submit"].max(initial=0.0)))
    of_jobs = job_figures(run, mask, bound)
    used, nominal, lost, overhead = totals["used"], totals["nominal"], part["lost"], part["overhead"]
    kept = {cell: used.get(cell, 0.0) - lost.get(cell, 0.0) - overhead.get(cell, 0.0) for cell in nominal}
    utilisation = {cell: used.get(cell, 0.0) / all_ if all_ > 0 else 0.0 for cell, all_ in nominal.items()}
    dominant = max(utilisation, key=lambda cell: utilisation[cell], default="")
    wasted = lost.get(dominant, 0.0) + overhead.get(dominant, 0.0)
    used_hours = hours(used)
    found = Kpis(
        **of_jobs,
        seconds=seconds,
        submission_utilisation=_while_submitting(run, (low, ends, high), mask, where, utilisation),
        utilisation=utilisation,
        effective_utilisation={cell: kept[cell] / all_ if all_ > 0 else 0.0 for cell, all_ in nominal.items()},
        lost_hours=hours(lost),
        overhead_hours=hours(overhead),
        wasted=wasted / used[dominant] if used.get(dominant) else 0.0,
        makespan=_makespan(jobs),
        throughput=of_jobs["finished"] / seconds * _HOUR if seconds else 0.0,
        waiting_mean=totals["waits"] / _NANO / seconds if seconds else 0.0,
        waiting_max=totals["most_waiting"],
        used_hours=used_hours,
        borrowed_hours=hours(totals["borrowed"]),
        lent_hours=hours(totals["lent"]),
        borrowing_time=totals["borrowing"] / _NANO / seconds if seconds else 0.0,
        idle_while_waiting=hours(totals["idle"]),
        promise_p95=_promise(jobs, mask),
        jain=jain(run, totals["by_queue"], nominal, mask),
        blocked_share=totals["blocked"] / totals["somebody_waits"] if totals["somebody_waits"] else None,
        preemptions=part["rules"],
        loops=len(run.loops),
        starved=_starved(run, mask),
        cost=None if prices is None else _cost(used_hours, prices),
    )
    found.__dict__["scope"] = Scope(run, mask, low, high, ends, bound, where is not None)
    return found


def _while_submitting(
    run: Recorded, window: tuple[float, float, float], mask: NDArray[np.bool_], where: Any, whole: dict[str, float]
) -> dict[str, float]:
    """Return used divided by nominal quota from the start of a window to the last submission in it."""
    low, ends, high = window
    known = run.totals.get("submitted", {"until": -1})
    if not low < ends < high:
        return whole
    if low == run.warmup and where is None and known["until"] >= 0 and ends == known["until"] / _NANO:
        used, nominal = known["used"], known["nominal"]
    elif len(run.usage):
        found = integrals(run, low, ends)
        nominal = found["nominal"]
        used = found["used"] if where is None else of_runs(run, low, ends, mask)["held"]
    else:
        return whole
    return {cell: used.get(cell, 0.0) / nominal[cell] if nominal.get(cell, 0.0) > 0 else 0.0 for cell in whole}


def _makespan(jobs: Columns) -> float:
    ends = jobs["end"][~np.isnan(jobs["end"])]
    return float(ends.max() - jobs["submit"].min()) if len(ends) else 0.0


def _promise(jobs: Columns, mask: NDArray[np.bool_]) -> float | None:
    """Return the 95th percentile of the first wait of jobs whose queue had enough free nominal quota."""
    waits = jobs["first_wait"][mask & jobs["promised"]]
    waits = np.sort(waits[~np.isnan(waits)])
    return percentile(waits, 95) if len(waits) else None


def _cost(used_hours: Mapping[str, float], prices: Mapping[str, float]) -> float:
    return sum(amount * prices.get(cell.partition("/")[0], 0.0) for cell, amount in used_hours.items())


def _of_run(run: Recorded) -> dict[str, Any]:
    """Return lost work, overhead and preemptions by rule of the whole run."""
    rules = sums((rule, count) for _, _, rule, count, _ in run.totals["evictions"] if rule)
    return {"lost": run.totals["lost"], "overhead": run.totals["overhead"], "rules": rules}


def _totals(run: Recorded) -> dict[str, Any]:
    """Return the time integrals of the whole run."""
    core = run.totals
    cells = [(name, *row) for name, queue in core["queues"].items() for row in queue["cells"].items()]
    by_queue: dict[str, dict[str, float]] = {}
    for name, cell, (used, *_) in cells:
        by_queue.setdefault(name, {})[cell] = used
    return {
        "nominal": core["nominal"],
        "used": sums((cell, used) for _, cell, (used, *_) in cells),
        "borrowed": sums((cell, borrowed) for _, cell, (_, _, borrowed, _) in cells),
        "idle": sums((cell, idle) for _, cell, idle, _ in core["trees"]),
        "lent": sums((cell, lent) for _, cell, _, lent in core["trees"]),
        **{name: core[name] for name in ("waits", "most_waiting", "borrowing")},
        **{name: sum(queue[name] for queue in core["queues"].values()) for name in ("blocked", "somebody_waits")},
        "by_queue": by_queue,
    }


def jain(run: Recorded, used: dict[str, dict[str, float]], nominal: dict[str, float], mask: Any) -> float | None:
    """Return Jain's index of the weighted dominant resource shares of the ClusterQueues that had jobs."""
    queues = run.jobs["cluster_queue"]
    had = np.bincount(queues.codes[mask & (queues.codes >= 0)], minlength=len(queues.names))
    values = []
    for code, name in enumerate(queues.names):
        weight = run.weights.get(name, 1.0)
        if had[code] and weight:
            parts = [total / nominal[cell] for cell, total in used.get(name, {}).items() if nominal.get(cell)]
            values.append(max(parts, default=0.0) / weight)
    return evenness(values)


def evenness(values: list[float]) -> float | None:
    """Return Jain's index, `(Σx)² / (k Σx²)`, or `None` if all values are 0."""
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else None


def _starved(result: Recorded, mask: NDArray[np.bool_]) -> int:
    jobs = result.jobs
    first = jobs["first_wait"][mask]
    started = ~np.isnan(first)
    if started.all() or not started.any():
        return 0
    submit = jobs["submit"][mask]
    late = _STARVED * percentile(np.sort(first[started]), 99)
    return int((submit[~started] + late < submit[started].max()).sum())
