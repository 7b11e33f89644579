"""The metrics of a simulation: waits, slowdowns, utilisation, lost work and fairness."""

import math
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from kueuepy.errors import checked_methods
from kueuepy.look.notebook import Sheet
from kueuepy.look.numbers import busiest
from kueuepy.simulation.catalogue import COUNTS, FLEET_FIGURES, figure_text, is_shown, titled, unit_text
from kueuepy.simulation.columns import is_resource
from kueuepy.simulation.confidence import Scope, integrals, interval, of_runs
from kueuepy.simulation.grouped import BOUND, Flags, Floats, Groups, group_figures, job_figures, percentile, sums
from kueuepy.simulation.intervals import Interval
from kueuepy.simulation.recorded import Recorded
from kueuepy.tables.columns import Columns, Framed, as_names, categorical, exact, table_of, unit_of

_HOUR = 3600
_NANO = 1e9
_STARVED = 10


@checked_methods
class Kpis(msgspec.Struct, Framed, frozen=True, dict=True):
    """The metrics of a simulation.

    Metrics of a resource are dicts with a key `flavor/resource` for each flavor and resource. For CPU, hours are
    core-hours. Percentiles use the nearest-rank method: the Nth percentile is the smallest value that at least N % of
    the values do not exceed. Time integrals cover the window, by default from the end of the warm-up to the end of the
    simulation. Metrics of jobs include only the jobs submitted in the window.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, simulate
    >>> cluster = Cluster(ResourceFlavor("h100"), ClusterQueue.of("team", {"h100": {"nvidia.com/gpu": 2}}))
    >>> jobs = [{"queue": "team", "submit": 60 * n, "runtime": "1h", "gpu": 1} for n in range(3)]
    >>> kpis = simulate(cluster, jobs).kpis
    >>> kpis.wait_mean, kpis.longest_wait
    (1160.0, 3480.0)
    >>> kpis.utilisation
    {'h100/nvidia.com/gpu': 0.75}

    Attributes:
        jobs: Number of jobs that were submitted in the window.
        finished: Number of jobs that were submitted in the window and finished.
        seconds: Length of the window, in seconds.
        wait_mean: Mean waiting time, in seconds. The waiting time of a job is the total time during which the job has
            no quota, from its submission to its end or to the end of the simulation. The values of `wait_mean`,
            `wait_p50`, `wait_p95`, `wait_p99` and `longest_wait` include jobs that still wait when the simulation ends.
        wait_p50: Median of the waiting time, in seconds.
        wait_p95: 95th percentile of the waiting time, in seconds.
        wait_p99: 99th percentile of the waiting time, in seconds.
        longest_wait: Longest waiting time, in seconds.
        first_wait_mean: Mean time from submission to first admission, in seconds, over the jobs that were admitted;
            `None` if no job was admitted.
        first_wait_p50: Median of the time from submission to first admission, in seconds.
        first_wait_p95: 95th percentile of the time from submission to first admission, in seconds.
        first_wait_p99: 99th percentile of the time from submission to first admission, in seconds.
        slowdown: Mean over finished jobs of lifetime divided by runtime; `None` without finished jobs. The lifetime of
            a job is the time from its submission to its end.
        slowdown_p95: 95th percentile of the slowdown of finished jobs.
        bounded_slowdown: Mean over finished jobs of max(1, lifetime / max(runtime, 10 s)).
        bounded_slowdown_p95: 95th percentile of the bounded slowdown of finished jobs.
        goodput: Mean over finished jobs of the fraction of their lifetime during which they held quota
            (kubernetes-sigs/kueue#10813). The time during which a job held quota is included even if the work of this
            time was later lost.
        useful: Mean over finished jobs of runtime divided by lifetime. Unlike `goodput`, `useful` excludes lost work
            and overhead.
        submission_utilisation: Used quota divided by nominal quota of ClusterQueues and Cohorts, from the beginning of
            the window to the last submission. If all jobs are submitted at once, `submission_utilisation` covers the
            whole window.
        utilisation: Used quota divided by nominal quota of ClusterQueues and Cohorts, over the whole window. The window
            includes the time after the last submission, during which only the longest jobs still run. To compare
            policies, prefer `submission_utilisation`.
        effective_utilisation: Utilisation, excluding quota used for lost work, checkpoints, restores and pod starts.
        lost_hours: Lost progress of evicted jobs, multiplied by the quota held, in hours.
        overhead_hours: Time for checkpoints, restores and pod starts, multiplied by the quota held, in hours.
        wasted: Fraction of the used quota that was spent on lost work or overhead, for the flavor and resource with the
            highest utilisation.
        makespan: Time from the first submission until the last job ends, in seconds.
        throughput: Number of finished jobs per hour.
        waiting_mean: Time-weighted mean of the number of waiting jobs.
        waiting_max: Largest number of waiting jobs. A job that is admitted at its submission time does not count as
            waiting.
        used_hours: Used quota multiplied by time, in hours.
        borrowed_hours: Usage above the nominal quota of the ClusterQueue, multiplied by time, in hours.
        lent_hours: The portion of the borrowed hours that came from the unused nominal quota of other ClusterQueues, in
            hours. The remaining borrowed hours came from the nominal quota of Cohorts.
        borrowing_time: Fraction of the window during which at least one ClusterQueue borrowed.
        idle_while_waiting: Quota that was free in a cohort tree although waiting jobs of the tree requested it, in
            hours. Policies or fragmentation prevented the jobs from using the free quota.
        promise_p95: 95th percentile of the time from submission to first admission, in seconds, over the jobs that
            fitted into the free nominal quota of their ClusterQueue at submission. The value is `None` if no job
            fitted.
        jain: Jain's fairness index over the ClusterQueues that had jobs, between 1/n (one of n queues held all quota)
            and 1 (all shares are equal). The share of a ClusterQueue is its largest fraction of all nominal quota of a
            resource, divided by its fair sharing weight. The index is `None` if no job held quota.
        blocked_share: Time-weighted mean of used quota divided by entitled quota, over the ClusterQueues in which jobs
            wait; `None` if no job waits. For example, a value of 1.22 means that the queues used 122 % of their
            entitled quota. The entitled quota of a ClusterQueue is its nominal quota plus its weighted share of the
            nominal quota of its cohorts.
        evictions: Number of evictions.
        evictions_max: Largest number of evictions of a single job.
        preemptions: Number of preemptions by rule, such as `InClusterQueue`.
        loops: Number of distinct preemption loops that were found.
        starved: Number of starved jobs. A starved job was never admitted, although a job submitted much later was
            admitted. "Much later" means later by more than 10 times the 99th percentile of the time to first admission.
        cost: Used hours multiplied by the prices of the flavors; `None` without prices.
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

    def interval(self, name: str) -> tuple[float, float]:
        """Return the 95 % confidence interval of a metric.

        The method splits the simulation into 32 batches. For metrics of individual jobs, a batch contains jobs with
        consecutive submission times. For utilisation, waiting jobs and throughput, a batch is a time interval. The
        interval of a mean is Student's t interval of the batch means, adjusted for autocorrelation and skewness
        (N-Skart). The N-Skart method also determines the two order statistics that are the limits of a percentile's
        interval. Waits in a busy queue are correlated over hundreds of jobs, so the interval of a short simulation may
        be too narrow. If an interval may be too narrow, the method emits a UserWarning.

        Args:
            name: The name of the metric. If the metric has several keys, append the key to the name, such as
                `utilisation h100/nvidia.com/gpu`.

        Returns:
            The lower and upper limits of the interval. The interval contains the value of the metric, and its limits
            are not negative.

        Raises:
            InvalidSpecError: The metric or the key does not exist, the metric has no interval (for example, a maximum),
                or there are too few jobs. An interval for a mean or median needs at least 640 jobs, for a 95th
                percentile 2,000 and for a 99th percentile 10,000.
            StateError: The metric is time-weighted and needs the usage, which was not recorded.
        """
        found = self._interval(name)
        if found.doubt:
            warnings.warn(f'interval: "{name}" may be too narrow: {found.doubt}', UserWarning, stacklevel=2)
        return found.low, found.high

    def _interval(self, name: str) -> Interval:
        return interval(self.__dict__["scope"], name, getattr(self, name.partition(" ")[0], None))

    def rows(self) -> list[tuple[str, float]]:
        """Return the name and value of each metric that is not None, with one entry per flavor and resource."""
        found: list[tuple[str, float]] = []
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, dict):
                found += [(f"{name} {pair}", part) for pair, part in value.items()]
            elif value is not None:
                found.append((name, value))
        return found

    def to_table(self) -> Columns:
        """Return one row per metric, with columns `metric`, `flavor_resource`, `value` and `unit`."""
        rows = [(*name.partition(" ")[::2], float(value), unit_text(name)) for name, value in self.rows()]
        return table_of(("metric", "flavor_resource", "value", "unit"), rows)

    def sheets(self) -> tuple[Sheet]:
        """Return the metrics as a table for display, with one metric per row and the most important metrics first."""
        rows = sorted(self.rows(), key=lambda row: _rank(row[0]))
        return (
            Sheet(
                ("Metric", "Value"),
                [(titled(name), figure_text(name, value)) for name, value in rows],
                source=".rows()",
            ),
        )


def _rank(name: str) -> int:
    """Return 0 for a main metric, 1 for a dispatching metric, and 2 for any other metric."""
    return 0 if is_shown("run", name) else 1 if name.partition(" ")[0] in FLEET_FIGURES else 2


def hours(totals: dict[str, float]) -> dict[str, float]:
    """Convert totals of amount multiplied by nanoseconds to hours; totals of zero are left out."""
    return {pair: total / unit_of(pair) / _NANO / _HOUR for pair, total in totals.items() if total}


def kpis_of(
    run: Recorded,
    start: float | None = None,
    end: float | None = None,
    where: Any = None,
    *,
    bound: float = BOUND,
    prices: Mapping[str, float] | None = None,
) -> Kpis:
    """Compute the metrics of a simulation, optionally for a time window or for some of the jobs.

    Args:
        run: The simulation.
        start: The beginning of the window, in seconds; the end of the warm-up by default.
        end: The end of the window, in seconds; the end of the simulation by default.
        where: A mask of the jobs to include; all jobs by default.
        bound: The smallest runtime for the bounded slowdown, in seconds.
        prices: The price of one unit for one hour, by flavor.
    """
    jobs = run.jobs
    mask = np.array(jobs["counted"]) if where is None else np.array(jobs["counted"]) & np.asarray(where, bool)
    low = run.warmup if start is None else start
    high = run.seconds if end is None else end
    whole = start is None and end is None
    # The core integrates the whole run exactly, even if no usage was recorded.
    totals = _totals(run) if whole else integrals(run, low, high)
    part = totals if whole and where is None else of_runs(run, low, high, mask)
    # The usage of a queue does not tell its jobs apart; their runs do.
    if where is not None:
        totals["used"] = part["held"]
    if not whole:
        mask &= (jobs["submit"] >= low) & (jobs["submit"] < (math.inf if end is None else end))
    seconds = max(0.0, high - low)
    # After the last submission, an empty queue and not the policy lowers the utilisation.
    ends = min(high, float(jobs["submit"].max(initial=0.0)))
    of_jobs = job_figures(jobs, mask, bound)
    used, nominal, lost, overhead = totals["used"], totals["nominal"], part["lost"], part["overhead"]
    kept = {pair: used.get(pair, 0.0) - lost.get(pair, 0.0) - overhead.get(pair, 0.0) for pair in nominal}
    utilisation = {pair: used.get(pair, 0.0) / all_ if all_ > 0 else 0.0 for pair, all_ in nominal.items()}
    # The scarcest resource decides how much of the cluster was wasted.
    dominant = busiest(utilisation)
    wasted = lost.get(dominant, 0.0) + overhead.get(dominant, 0.0)
    used_hours = hours(used)
    found = Kpis(
        **of_jobs,
        seconds=seconds,
        submission_utilisation=_while_submitting(run, (low, ends, high), mask, where, utilisation),
        utilisation=utilisation,
        effective_utilisation={pair: kept[pair] / all_ if all_ > 0 else 0.0 for pair, all_ in nominal.items()},
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
    # Not a field: fields are shown, compared and saved.
    found.__dict__["scope"] = Scope(run, mask, low, high, ends, bound, where is not None)
    return found


def _while_submitting(
    run: Recorded, window: tuple[float, float, float], mask: Flags, where: Any, whole: dict[str, float]
) -> dict[str, float]:
    """Return used quota divided by nominal quota, from the beginning of a window to the last submission in it."""
    low, ends, high = window
    known = run.totals.get("submitted", {"until": -1})
    if not low < ends < high:
        return whole
    # The core knows this window exactly; any other needs the recorded usage.
    if low == run.warmup and where is None and known["until"] >= 0 and ends == known["until"] / _NANO:
        used, nominal = known["used"], known["nominal"]
    elif len(run.usage):
        found = integrals(run, low, ends)
        nominal = found["nominal"]
        used = found["used"] if where is None else of_runs(run, low, ends, mask)["held"]
    else:
        return whole
    return {pair: used.get(pair, 0.0) / nominal[pair] if nominal.get(pair, 0.0) > 0 else 0.0 for pair in whole}


def _makespan(jobs: Columns) -> float:
    ends = jobs["end"][~np.isnan(jobs["end"])]
    return float(ends.max() - jobs["submit"].min()) if len(ends) else 0.0


def _promise(jobs: Columns, mask: Flags) -> float | None:
    """Return the 95th percentile of the first wait over jobs that fitted into free nominal quota at submission."""
    waits = jobs["first_wait"][mask & jobs["promised"]]
    waits = np.sort(waits[~np.isnan(waits)])
    return percentile(waits, 95) if len(waits) else None


def _cost(used_hours: Mapping[str, float], prices: Mapping[str, float]) -> float:
    return sum(amount * prices.get(pair.partition("/")[0], 0.0) for pair, amount in used_hours.items())


def _totals(run: Recorded) -> dict[str, Any]:
    """Return the time integrals of the whole simulation, as computed by the core."""
    core = run.totals
    pairs = [(name, *row) for name, queue in core["queues"].items() for row in queue["cells"].items()]
    by_queue: dict[str, dict[str, float]] = {}
    for name, pair, (used, *_) in pairs:
        by_queue.setdefault(name, {})[pair] = used
    return {
        "nominal": core["nominal"],
        "used": sums((pair, used) for _, pair, (used, *_) in pairs),
        "borrowed": sums((pair, borrowed) for _, pair, (_, _, borrowed, _) in pairs),
        "idle": sums((pair, idle) for _, pair, idle, _ in core["trees"]),
        "lent": sums((pair, lent) for _, pair, _, lent in core["trees"]),
        **{name: core[name] for name in ("waits", "most_waiting", "borrowing", "lost", "overhead")},
        "rules": sums((rule, count) for _, _, rule, count, _ in core["evictions"] if rule),
        **{name: sum(queue[name] for queue in core["queues"].values()) for name in ("blocked", "somebody_waits")},
        "by_queue": by_queue,
    }


def jain(run: Recorded, used: dict[str, dict[str, float]], nominal: dict[str, float], mask: Any) -> float | None:
    """Return Jain's index over the dominant shares of the ClusterQueues that had jobs; see `Kpis.jain`.

    Args:
        run: The simulation.
        used: Used quota multiplied by nanoseconds, by ClusterQueue and `flavor/resource`.
        nominal: Nominal quota multiplied by nanoseconds, by `flavor/resource`.
        mask: A mask of the jobs to include.
    """
    queues = run.jobs["cluster_queue"]
    had = np.bincount(queues.codes[mask & (queues.codes >= 0)], minlength=len(queues.names))
    values = []
    for code, name in enumerate(queues.names):
        weight = run.weights.get(name, 1.0)
        if had[code] and weight:
            parts = [total / nominal[pair] for pair, total in used.get(name, {}).items() if nominal.get(pair)]
            values.append(max(parts, default=0.0) / weight)
    return evenness(values)


def evenness(values: list[float]) -> float | None:
    """Return Jain's index `(Σx)² / (k Σx²)`; `None` if all values are 0."""
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else None


def _starved(result: Recorded, mask: Flags) -> int:
    jobs = result.jobs
    first = jobs["first_wait"][mask]
    started = ~np.isnan(first)
    if started.all() or not started.any():
        return 0
    submit = jobs["submit"][mask]
    # Ten times the 99th percentile separates starvation from a long wait.
    late = _STARVED * percentile(np.sort(first[started]), 99)
    return int((submit[~started] + late < submit[started].max()).sum())


def by_queue(result: Recorded) -> Columns:
    """Return the metrics of jobs by ClusterQueue, with used, borrowed and lost hours by `flavor/resource`."""
    column, totals = result.jobs["cluster_queue"], result.totals["queues"]
    # Queues without jobs have usage, and deleted queues have jobs.
    names = sorted({*totals, *column.names})
    indices = {name: index for index, name in enumerate(names)}
    codes = np.array([*(indices[name] for name in column.names), -1], np.int64)[column.codes]
    groups = Groups.by(np.where(np.asarray(result.jobs["counted"]), codes, -1), len(names))
    found = _figures(result, groups)
    seconds = max(result.seconds - result.warmup, 0.0)
    own = [totals.get(name, {"waits": 0.0, "most_waiting": 0, "cells": {}}) for name in names]
    waits = np.array([one["waits"] for one in own])
    found["waiting_mean"] = waits / 1e9 / seconds if seconds else np.zeros(len(names))
    found["waiting_max"] = np.array([one["most_waiting"] for one in own], np.int64)
    losses: dict[str, list[dict[str, float]]] = {}
    for victim, _, _, _, lost in result.totals["evictions"]:
        losses.setdefault(victim, []).append(lost)
    rows = [_of_pairs(one["cells"]) | _lost_hours(losses.get(name, ())) for name, one in zip(names, own, strict=True)]
    for key in dict.fromkeys(key for row in rows for key in row):
        found[key] = np.array([row.get(key, np.nan) for row in rows])
    return _table("cluster_queue", names, found)


def _of_pairs(pairs: Mapping[str, Any]) -> dict[str, float]:
    """Return the usage of a ClusterQueue by `flavor/resource`, from the time integrals of the core."""
    row = {}
    for pair, (used, nominal, borrowed, _) in pairs.items():
        row[f"used_hours {pair}"] = _hours(pair, used)
        row[f"borrowed_hours {pair}"] = _hours(pair, borrowed)
        row[f"utilisation {pair}"] = used / nominal if nominal else np.nan
    return row


def _lost_hours(evictions: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the work that evictions lost, in hours by `flavor/resource`."""
    return sums((f"lost_hours {pair}", _hours(pair, total)) for lost in evictions for pair, total in lost.items())


def _figures(result: Recorded, groups: Groups) -> dict[str, NDArray[Any]]:
    """Return the metrics that are computed from individual jobs, for each group; NaN where a group has no value."""
    found = group_figures(result.jobs, groups)
    return {name: values if has.all() else np.where(has, values, np.nan) for name, (values, has) in found.items()}


def _hours(pair: str, total: float) -> float:
    return hours({pair: total}).get(pair, 0.0)


def by_column(result: Recorded, column: str, start: float | None = None, end: float | None = None) -> Columns:
    """Return the metrics of jobs for each value of a column; see `Result.by`.

    Args:
        result: The simulation.
        column: The name of the column.
        start: The beginning of the window in seconds, or `None`.
        end: The end of the window in seconds, or `None`.
    """
    values = as_names(result.jobs[column])
    amounts = {name: result.jobs[name] * result.jobs["pods"] for name in result.jobs.names if is_resource(name)}
    counted = np.array(result.jobs["counted"])
    if start is not None or end is not None:
        submit = result.jobs["submit"]
        counted &= (submit >= (start or 0.0)) & (submit < (np.inf if end is None else end))
    groups = Groups.by(np.where(counted, values.codes, -1), len(values.names))
    there = groups.sizes > 0
    names = [name for name, is_there in zip(values.names, there.tolist(), strict=True) if is_there]
    found = _figures(result, groups) | _hours_of(result, amounts, groups)
    return _table(column, names, {name: own[there] for name, own in found.items()})


def _hours_of(result: Recorded, amounts: Mapping[str, NDArray[Any]], groups: Groups) -> dict[str, Floats]:
    """Return the used, lost and overhead hours for each group of jobs and each resource."""
    kinds = {"used": "held", "lost": "lost", "overhead": "overhead"}
    return {
        f"{name}_hours {resource}": groups.sums(amount[groups.rows] * result.jobs[kind][groups.rows]) / _HOUR
        for resource, amount in amounts.items()
        for name, kind in kinds.items()
    }


def jain_by(result: Recorded, column: str) -> float | None:
    """Return Jain's index over the dominant shares of the values of a column; see `Result.jain`."""
    values = as_names(result.jobs[column])
    counted = np.asarray(result.jobs["counted"]) & (values.codes >= 0)
    nominal = sums((pair.partition("/")[2], total) for pair, total in result.totals["nominal"].items())
    parts = np.zeros(len(values.names))
    for resource in (name for name in result.jobs.names if is_resource(name)):
        if nominal.get(resource):
            held = (exact(result.jobs)[resource] * result.jobs["pods"] * result.jobs["held"])[counted]
            own = np.bincount(values.codes[counted], weights=held, minlength=len(parts)) * 1e9 / nominal[resource]
            parts = np.maximum(parts, own)
    had = np.bincount(values.codes[counted], minlength=len(parts)) > 0
    return evenness(parts[had].tolist())


def _table(key: str, names: list[str], found: Mapping[str, NDArray[Any]]) -> Columns:
    types = {name: np.int64 if name in COUNTS else np.float64 for name in found}
    columns = {name: values.astype(types[name]) for name, values in found.items()} if names else {}
    return Columns({"group" if key in columns else key: categorical(names), **columns})


def tidy(result: Recorded, kpis: Mapping[str, Any]) -> Columns:
    """Return the metrics of the simulation and of each ClusterQueue, one value per row; see `Result.tidy`."""
    table = by_queue(result)
    names, count = [*kpis, *table.names[1:]], len(table)
    rows = np.append(np.arange(len(kpis)), np.tile(np.arange(len(kpis), len(names)), count))
    parts = [(*name.partition(" ")[::2], unit_text(name)) for name in names]
    whole = np.array([np.nan if value is None else value for value in kpis.values()], np.float64)
    of_queues = np.array([table[name] for name in table.names[1:]], np.float64).reshape(-1, count)
    queues = categorical(["all", *table["cluster_queue"]])
    indices = np.append(np.zeros(len(kpis), np.int64), np.repeat(np.arange(1, count + 1), len(names) - len(kpis)))
    metric, pair, unit = (categorical([part[index] for part in parts]) for index in range(3))
    return Columns(
        {
            "cluster_queue": queues[indices],
            "metric": metric[rows],
            "flavor_resource": pair[rows],
            "value": np.append(whole, of_queues.T.ravel()),
            "unit": unit[rows],
        }
    )


def preemptions(result: Recorded) -> Columns:
    """Return the evictions by ClusterQueue of victim and preemptor and by rule; see `Result.preemptions`."""
    made = result.totals["evictions"]
    lost = [hours(one) for *_, one in made]
    pairs = dict.fromkeys(pair for own in lost for pair in own)
    columns: dict[str, Any] = {
        name: categorical([row[index] or None for row in made])
        for index, name in enumerate(("victim", "preemptor", "rule"))
    }
    columns["count"] = np.array([row[3] for row in made], np.int64)
    columns |= {f"lost_hours {pair}": np.array([own.get(pair, 0.0) for own in lost]) for pair in pairs}
    return Columns(columns)
