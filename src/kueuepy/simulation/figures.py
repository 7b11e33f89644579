"""The figures of a run: waits, slowdowns, utilisation, what was lost, how even it was."""

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
    """What came of a run, in figures; those of a resource are by `flavor/resource`, in hours of cores for cpu.

    Percentiles are by nearest rank: the smallest value that N of 100 do not exceed. Integrals go over the
    window, from the warm-up to the end of the run unless others are asked for.

    Attributes:
        jobs: How many jobs came and count.
        finished: How many of them were done.
        seconds: How long the window is.
        wait_mean: For how many seconds a job had no quota, from its submission to its end, or to the end of the run.
        wait_p50: The same of the middle one.
        wait_p95: That 95 of 100 do not exceed.
        wait_p99: That 99 of 100 do not exceed.
        longest_wait: Of the one that starves most, which may still be waiting.
        first_wait_mean: From submission to the first start, of those that started.
        first_wait_p50: The same of the middle one.
        first_wait_p95: That 95 of 100 do not exceed.
        first_wait_p99: That 99 of 100 do not exceed.
        slowdown: How many times longer a job's life is than its runtime, of those that are done.
        slowdown_p95: That 95 of 100 do not exceed.
        bounded_slowdown: The same over a runtime of 10 s at least, and 1 at least.
        bounded_slowdown_p95: That 95 of 100 do not exceed.
        goodput: The part of its life that a job has quota, on average over those that are done
            (kubernetes-sigs/kueue#10813).
        useful: The part of its life that a job's runtime is: goodput without what was lost.
        submission_utilisation: Used over nominal quota, of queues and cohorts, with its changes, from the warm-up to
            the last submission: while jobs still arrive. Of the whole window where all jobs arrive at once.
        utilisation: Used over nominal quota from the warm-up to the end of the run. It includes the time after the last
            submission, in which the last jobs finish and quota falls idle: it says more about the longest job than
            about the policy.
        effective_utilisation: `utilisation` without what was lost, and without checkpoints and restores.
        lost_hours: Progress that was thrown away, times what was held.
        overhead_hours: Checkpoints, restores and starts of pods, times what was held.
        wasted: The part of what was held that was lost or overhead, of the cell that was used most.
        makespan: From the first submission to the last end, in seconds.
        throughput: Jobs done an hour.
        waiting_mean: How many jobs waited, on average over time.
        waiting_max: How many did at most; who is admitted in the moment of coming does not wait.
        used_hours: What was used.
        borrowed_hours: What queues used beyond their nominal quota.
        lent_hours: What of that was others' nominal quota.
        borrowing_time: The part of the time in which any queue borrowed.
        idle_while_waiting: What was free in a tree of cohorts, as far as its waiting jobs asked for it, in hours: what
            policy or fragmentation kept from them.
        promise_p95: Of first waits of jobs for which their own queue had free nominal quota when they came: how long
            "nominal is ensured" takes.
        jain: Jain's index of how evenly the ClusterQueues that had jobs got resources, from 1 (all alike) to 1 over
            their number (one got all); compared is a queue's dominant part of all quota over its weight.
        blocked_share: Used over entitled of queues in which jobs wait, on average over time, as a fraction: 1.22 is
            122 % of what the queue is entitled to. Entitled are nominal quota and, by weight, a part of what the cohort
            has beside its queues' quotas.
        evictions: How many there were.
        evictions_max: Of one job, at most.
        preemptions: How many evictions were preemptions, by rule.
        loops: How much endless preemption was found.
        starved: Jobs that never started, though others were submitted later by 10 times the p99 wait and started.
        cost: What was used times the prices of flavors that were given; `None` without.
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
        """What was lost: another name of `lost_hours`."""
        return self.lost_hours

    def interval(self, name: str) -> tuple[float, float]:
        """Return the 95 % interval of a figure, which holds the value of the run and is never below 0.

        The run is cut into 32 batches: for figures of single jobs, jobs that follow each other by submission; for
        utilisation, waiting jobs and throughput, pieces of equal length. A mean has Student's interval of the batches,
        adjusted for their autocorrelation and skewness (N-Skart). A percentile has the order statistics between which
        the same rule places it. Maxima have no interval. A warning says when a run is so short that the interval may
        be too narrow: waits in a busy queue depend on each other over hundreds of jobs.

        Args:
            name: The figure; of a resource with its cell, as `utilisation h100/nvidia.com/gpu`, if there are several.

        Raises:
            InvalidSpecError: There is no such figure or cell, it has no interval, or too few jobs count: a mean needs
                640, a 95th percentile 2,000 and a 99th 10,000.
            StateError: A figure over time needs the usage, which was not recorded.
        """
        found = self._interval(name)
        if found.doubt:
            warnings.warn(f'interval: "{name}" may be too narrow: {found.doubt}', UserWarning, stacklevel=2)
        return found.low, found.high

    def _interval(self, name: str) -> Interval:
        return interval(self.__dict__["scope"], name, getattr(self, name.partition(" ")[0], None))

    def rows(self) -> list[tuple[str, float]]:
        """Name and value of each figure that there is, those of a resource one by one."""
        found: list[tuple[str, float]] = []
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, dict):
                found += [(f"{name} {cell}", part) for cell, part in value.items()]
            elif value is not None:
                found.append((name, value))
        return found

    def to_table(self) -> Columns:
        """Return a row for each figure: `figure`, `cell`, `value` and `unit`."""
        rows = [(*name.partition(" ")[::2], float(value), unit_text(name)) for name, value in self.rows()]
        return table_of(("figure", "flavor_resource", "value", "unit"), rows)

    def __str__(self) -> str:
        """A line for each figure."""
        rows = self.rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {figure_text(name, value)}" for name, value in rows)

    def sheets(self) -> tuple[Sheet]:
        """The figures, one a row."""
        rows = [(name, figure_text(name, value)) for name, value in self.rows()]
        return (Sheet(("figure", "value"), rows, source=".rows()"),)

    _repr_html_ = repr_html


def unit(cell: str) -> int:
    """How many of a table's units make one that people count: thousandths of cores, else ones."""
    return 1000 if cell.rpartition("/")[2] == "cpu" else 1


def hours(totals: dict[str, float]) -> dict[str, float]:
    """Amounts times nanoseconds in hours; nothing where there is none."""
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
    """The figures of a run, of a window of it, or of some of its jobs."""
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
    """Return used over nominal quota from the begin of a window to the last submission in it."""
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
    """The first wait of 95 of 100 of the jobs that were promised quota."""
    waits = jobs["first_wait"][mask & jobs["promised"]]
    waits = np.sort(waits[~np.isnan(waits)])
    return percentile(waits, 95) if len(waits) else None


def _cost(used_hours: Mapping[str, float], prices: Mapping[str, float]) -> float:
    return sum(amount * prices.get(cell.partition("/")[0], 0.0) for cell, amount in used_hours.items())


def _of_run(run: Recorded) -> dict[str, Any]:
    """What was lost in the whole run, and preemptions by rule, as the core has kept them."""
    rules = sums((rule, count) for _, _, rule, count, _ in run.totals["evictions"] if rule)
    return {"lost": run.totals["lost"], "overhead": run.totals["overhead"], "rules": rules}


def _totals(run: Recorded) -> dict[str, Any]:
    """The integrals of the whole run, as the core has kept them."""
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
    """Jain's index over the ClusterQueues that had jobs, of their dominant parts of all quota over their weights."""
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
    """Jain's index: `(Σx)² / (k Σx²)`; `None` if nobody has anything."""
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
