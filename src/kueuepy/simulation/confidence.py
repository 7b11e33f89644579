"""Metrics within time windows, 95 % confidence intervals of metrics, and paired differences between results."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kueuepy.errors import InvalidSpecError
from kueuepy.simulation.catalogue import FIGURES
from kueuepy.simulation.grouped import Groups, Series, Steps, integral_to, job_values, lengths_between, statistic, sums
from kueuepy.simulation.intervals import BATCHES, Interval, of_mean, of_percentile, of_pieces
from kueuepy.simulation.recorded import Recorded, largest, require
from kueuepy.tables.columns import Columns, exact, is_named, table_of

_NANO = 1e9


def of_cohorts(run: Recorded, pair: str) -> float:
    """Return the time-weighted mean of the nominal quota of Cohorts, without the quota of their ClusterQueues."""
    of_queues = sum(queue["cells"].get(pair, (0, 0, 0, 0))[1] for queue in run.totals["queues"].values())
    return _beyond(run, pair, of_queues)


def _beyond(run: Recorded, pair: str, of_queues: float) -> float:
    seconds = run.seconds - run.warmup
    extra = float(run.totals["nominal"].get(pair, 0.0)) - float(of_queues)
    # A smaller difference is the rounding error of the sums.
    return extra / _NANO / seconds if seconds > 0 and extra > 1e-9 * of_queues else 0.0


def integrals(run: Recorded, low: float, high: float) -> dict[str, Any]:
    """Return the time integrals over a window, as amounts multiplied by nanoseconds, from the recorded tables.

    Args:
        run: The simulation.
        low: The beginning of the window, in seconds.
        high: The end of the window, in seconds.

    Raises:
        StateError: The usage was not recorded.
    """
    require(run, "figures of a window", "usage")
    usage = Series(exact(run.usage))
    lengths = usage.lengths(low, high)
    totals = {name: usage.integrals(usage.column(name), lengths) * _NANO for name in ("nominal", "used", "borrowed")}
    found: dict[str, Any] = {name: usage.by_second(total) for name, total in totals.items()}
    by_queue: dict[str, dict[str, float]] = {}
    for (queue, pair), total in zip(usage.keys, totals["used"].tolist(), strict=True):
        by_queue.setdefault(queue, {})[pair] = total
    of_queues = sums((pair, row[1]) for queue in run.totals["queues"].values() for pair, row in queue["cells"].items())
    for pair in found["nominal"]:
        # The table of usage has the quota of ClusterQueues, but not that of Cohorts.
        found["nominal"][pair] += _beyond(run, pair, of_queues.get(pair, 0)) * max(0.0, high - low) * _NANO
    waiting = usage.total(usage.column("waiting"), usage.of_queues())
    # The sum counts the queues that borrow; any one of them makes the time a time of borrowing.
    at, borrowing = usage.total(usage.column("borrowed") > 0)
    return {
        **found,
        "lent": _lent(run, usage, low, high),
        "idle": _idle(run, low, high),
        "waits": _integral(waiting, low, high) * _NANO,
        "most_waiting": int(_most(waiting, low, high)),
        "borrowing": _integral((at, np.minimum(borrowing, 1.0)), low, high) * _NANO,
        **_blocked(run, low, high),
        "by_queue": by_queue,
    }


def _integral(steps: Steps, low: float, high: float) -> float:
    at, values = steps
    return float((values * _lengths(at, low, high)).sum())


def _lengths(at: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    return lengths_between(at, np.append(at[1:], [high])[: len(at)], low, high)


def _most(steps: Steps, low: float, high: float) -> float:
    """Return the largest value of a step function within the window, excluding values of zero duration."""
    at, values = steps
    return float(values[_lengths(at, low, high) > 0].max(initial=0.0))


def _lent(run: Recorded, usage: Series, low: float, high: float) -> dict[str, float]:
    """Return the borrowed quota that comes from unused nominal quota of other ClusterQueues, by `flavor/resource`."""
    borrowed, nominal, used = (usage.column(name) for name in ("borrowed", "nominal", "used"))
    trees: dict[tuple[str, str], int] = {}
    keys = ((run.trees.get(queue, queue), pair) for queue, pair in usage.keys)
    tree_of = np.array([trees.setdefault(key, len(trees)) for key in keys], np.int64)
    borrows = np.bincount(tree_of, usage.groups.largest(borrowed)) > 0
    mine = borrows[tree_of][usage.groups.of]
    rows = np.flatnonzero(mine)
    # Within a tree, the changes of several queues must be in the order of time.
    rows = rows[np.argsort(usage.groups.rows[rows])]  # the table is in chronological order
    groups = Groups.by(tree_of[usage.groups.of[rows]], len(trees))
    rows = rows[groups.rows]
    changes = [usage.changes(values)[rows] for values in (borrowed, np.maximum(nominal - used, 0))]
    taken, unused = (groups.accumulated(change) for change in changes)
    until = np.append(usage.at[rows[1:]], [high])[: len(rows)]
    until[(groups.bounds[1:] - 1)[groups.sizes > 0]] = high
    lengths = lengths_between(usage.at[rows], until, low, high)
    totals = groups.sums(np.minimum(taken, unused) * lengths) * _NANO
    return sums((pair, total) for (_, pair), total in zip(trees, totals.tolist(), strict=True))


def _idle(run: Recorded, low: float, high: float) -> dict[str, float]:
    """Return the free quota that waiting jobs requested, summed over all cohort trees, by `flavor/resource`."""
    idle = Series(exact(run.idle), ("tree", "flavor_resource"))
    return idle.by_second(idle.integrals(idle.column("idle"), idle.lengths(low, high)) * _NANO)


def _blocked(run: Recorded, low: float, high: float) -> dict[str, float]:
    """Return two integrals over ClusterQueues with waiting jobs: used quota divided by entitled quota, and time."""
    table = Series(run.blocked, ("cluster_queue", "cluster_queue"))
    values, lengths = table.column("blocked"), table.lengths(low, high)
    return {
        "blocked": float(table.integrals(np.maximum(values, 0.0), lengths).sum()) * _NANO,
        "somebody_waits": float(table.integrals(values >= 0, lengths).sum()) * _NANO,
    }


def of_runs(run: Recorded, low: float, high: float, mask: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the held quota, lost work and overhead of jobs by `flavor/resource`, and their preemptions by rule.

    A run is the time from one admission of a job to the release of its quota. Held quota is counted only for the time
    of a run that lies within the window. Evictions, lost work and overhead are counted in the window in which the run
    ends. All results are empty if runs were not recorded.

    Args:
        run: The simulation.
        low: The beginning of the window, in seconds.
        high: The end of the window, in seconds.
        mask: A mask of the jobs to include.
    """
    runs = run.runs
    found: dict[str, Any] = {"held": {}, "lost": {}, "overhead": {}, "rules": {}}
    if not len(runs):
        return found
    pairs, amounts = _amounts(run)
    # A run that goes on holds its quota until the end of the simulation.
    end = np.where(np.isnan(runs["end"]), run.seconds, runs["end"])
    mine = mask[runs["job"]]
    inside = mine & (end >= low) & ((end < high) | (high >= run.seconds))
    held = np.where(mine, np.maximum(np.minimum(end, high) - np.maximum(runs["reserved"], low), 0.0), 0.0)
    values = {"held": held, "lost": runs["lost"] * inside, "overhead": runs["overhead"] * inside}
    for name, seconds in values.items():
        sums = np.bincount(runs["assignment"], weights=seconds, minlength=len(amounts)) @ amounts * _NANO
        found[name] = {pair: float(total) for pair, total in zip(pairs, sums, strict=True) if total}
    rules = runs["rule"]
    counts = np.bincount(rules.codes[inside & (rules.codes >= 0)], minlength=len(rules.names))
    found["rules"] = {name: int(count) for name, count in zip(rules.names, counts, strict=True) if count}
    return found


def _amounts(run: Recorded) -> tuple[list[str], NDArray[np.float64]]:
    """Return the names of flavors and resources, and the amounts of each assignment, of shape (assignments, names)."""
    known: dict[str, int] = {}
    for assigned in run.totals["assigned"]:
        for _, resource, flavor, _ in assigned:
            known.setdefault(f"{flavor}/{resource}", len(known))
    amounts = np.zeros((len(run.totals["assigned"]), len(known)))
    for index, assigned in enumerate(run.totals["assigned"]):
        for _, resource, flavor, amount in assigned:
            amounts[index, known[f"{flavor}/{resource}"]] += amount
    return list(known), amounts


_HOUR = 3600
_FRACTIONS = ("goodput", "useful", "utilisation", "submission_utilisation")


class Scope(NamedTuple):
    """The data from which a set of metrics is computed.

    Attributes:
        run: The simulation.
        mask: A mask of the jobs that the metrics include.
        low: The beginning of the window, in seconds.
        high: The end of the window, in seconds.
        ends: The time of the last submission, at which the window of `submission_utilisation` ends, in seconds.
        bound: The smallest runtime for the bounded slowdown, in seconds.
        some: Whether the metrics include only some of the jobs.
    """

    run: Recorded
    mask: NDArray[np.bool_]
    low: float
    high: float
    ends: float
    bound: float
    some: bool


def interval(scope: Scope, name: str, value: Any) -> Interval:
    """Return the 95 % confidence interval of a metric; see `Kpis.interval`.

    Args:
        scope: The data from which the metrics are computed.
        name: The name of the metric, optionally with `flavor/resource`.
        value: The value of the metric, or a dict of values.

    Raises:
        InvalidSpecError: The metric does not exist or has no interval, or there are too few jobs.
        StateError: The metric needs the usage, which was not recorded.
    """
    field, _, pair = name.partition(" ")
    source = FIGURES[field].source if field in FIGURES else None
    if source == "most":
        raise InvalidSpecError(f'interval: "{name}" is a maximum, for which one simulation gives no interval')
    if source not in ("jobs", "time"):
        allowed = ", ".join(name for name, figure in FIGURES.items() if figure.source in ("jobs", "time"))
        raise InvalidSpecError(f'interval: "{name}" is not a figure with an interval; those are {allowed}')
    if isinstance(value, dict):
        pair = _pair_of(name, pair, value)
        value = value[pair]
    elif pair:
        raise InvalidSpecError(f'interval: "{name}": {field} is not by flavor and resource')
    if value is None:
        raise InvalidSpecError(f'interval: "{name}": no job has it')
    try:
        low, high, doubt = _of_jobs(scope, field) if source == "jobs" else _of_time(scope, field, pair, value)
    except InvalidSpecError as error:
        raise InvalidSpecError(f'interval: "{name}": {error}') from None
    # Rounding must not exclude the value; no metric is negative, and no fraction exceeds 1.
    high = min(high, max(1.0, value)) if field in _FRACTIONS else high
    return Interval(min(max(low, 0.0), value), max(high, value), doubt)


def _pair_of(name: str, pair: str, value: dict[str, float]) -> str:
    """Return the `flavor/resource` in the name of a metric, or the only one of the metric if the name has none."""
    known = ", ".join(value) or "none"
    if pair and pair not in value:
        raise InvalidSpecError(f'interval: "{name}": "{pair}" names no flavor and resource; there are {known}')
    if not pair and len(value) != 1:
        raise InvalidSpecError(f'interval: "{name}": of which flavor and resource: {known}')
    return pair or next(iter(value))


def _of_jobs(scope: Scope, field: str) -> Interval:
    rows = np.flatnonzero(scope.mask)
    # Neighbours wait for each other; batches must keep them together.
    order = rows[np.argsort(scope.run.jobs["submit"][rows], kind="stable")]
    name, percent = statistic(field)
    _, values = job_values(scope.run.jobs, order, scope.bound)[name]
    return of_mean(values) if percent is None else of_percentile(values, percent)


def _of_time(scope: Scope, field: str, pair: str, value: float) -> Interval:
    if scope.some:
        raise InvalidSpecError("a figure over time has no interval for some jobs alone")
    end = scope.ends if field == "submission_utilisation" else scope.high
    # As many periods as batches of jobs, so that one theory serves both.
    edges = np.linspace(scope.low, end, BATCHES + 1)
    if not end > scope.low:
        raise InvalidSpecError("the window is empty")
    if field == "throughput":
        done = scope.mask & is_named(scope.run.jobs["state"], "Finished")
        # By submission: a period in which few jobs arrive cannot finish many.
        counts, _ = np.histogram(scope.run.jobs["submit"][done], edges)
        return of_pieces(value, (counts * _HOUR / np.diff(edges)).tolist())
    require(scope.run, "interval", "usage")
    pieces = _waiting(scope.run, edges) if field == "waiting_mean" else _utilisation(scope.run, edges, pair)
    return of_pieces(value, pieces.tolist())


def _waiting(run: Recorded, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean number of waiting jobs in each interval between consecutive time edges."""
    usage = Series(exact(run.usage))
    total = integral_to(*usage.total(usage.column("waiting"), usage.of_queues()), edges)
    return np.diff(total) / np.diff(edges)


def _utilisation(run: Recorded, edges: NDArray[np.float64], pair: str) -> NDArray[np.float64]:
    usage = Series(exact(run.usage))
    mine = np.array([own == pair for _, own in usage.keys], bool)
    used, nominal = (integral_to(*usage.total(usage.column(name), mine), edges) for name in ("used", "nominal"))
    there = np.diff(nominal + of_cohorts(run, pair) * edges)
    return np.divide(np.diff(used), there, out=np.zeros(len(there)), where=there > 0)


_MEANS = ("wait_mean", "first_wait_mean", "bounded_slowdown", "goodput")
_NAMES = ("policy", "metric", "jobs", "first", "second", "difference", "low", "high")


def differences(results: Mapping[str, Recorded]) -> Columns:
    """Return the paired differences between the first policy and each other policy; see `Comparison.differences`."""
    (_, first), *others = results.items()
    rows = []
    before = _by_job(first)
    for name, second in others:
        expect_alike(name, first, second)
        counts = np.asarray(first.jobs["counted"]) & np.asarray(second.jobs["counted"])
        order = np.argsort(first.jobs["submit"], kind="stable")
        for figure, values in _by_job(second).items():
            both = order[(counts & ~np.isnan(before[figure]) & ~np.isnan(values))[order]]
            low, high = _between(values[both] - before[figure][both])
            means = [float(column[both].mean()) if len(both) else np.nan for column in (before[figure], values)]
            apart = float((values[both] - before[figure][both]).mean()) if len(both) else np.nan
            rows.append((name, figure, len(both), *means, apart, low, high))
    return table_of(_NAMES, rows)


def intervals(results: Mapping[str, Recorded]) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the confidence intervals of differences from the first policy, by policy and metric."""
    try:
        rows = differences(results).rows()
    # Results of different jobs can be shown side by side, but not paired.
    except InvalidSpecError:
        return {}
    return {(row["policy"], row["metric"]): (row["low"], row["high"]) for row in rows if row["low"] == row["low"]}


def expect_alike(name: str, first: Recorded, second: Recorded) -> None:
    """Check that two results have the same jobs.

    Raises:
        InvalidSpecError: The results have different jobs.
    """
    pairs = ((first.jobs[column], second.jobs[column]) for column in ("submit", "runtime"))
    if len(first.jobs) != len(second.jobs) or not all(np.array_equal(a, b, equal_nan=True) for a, b in pairs):
        raise InvalidSpecError(
            f'differences: "{name}" has other jobs than the first policy; both must run the same jobs'
        )


def _by_job(run: Recorded) -> dict[str, NDArray[np.float64]]:
    """Return the values of the jobs by the name of the mean metric; NaN for a job without a value."""
    values = job_values(run.jobs, np.arange(len(run.jobs)))
    found = {name: np.full(len(run.jobs), np.nan) for name in _MEANS}
    for name, column in found.items():
        mask, own = values[statistic(name)[0]]
        column[mask] = own
    return found


def _between(differences: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95 % confidence interval of a mean difference; NaN if there are too few jobs."""
    with suppress(InvalidSpecError):
        low, high, _ = of_mean(differences)
        return float(low), float(high)
    return np.nan, np.nan


class Effect(NamedTuple):
    """The paired difference between the mean waits of the same jobs under two policies, in seconds.

    Attributes:
        name: The ClusterQueue; empty for all jobs.
        jobs: The number of jobs.
        first: The mean wait under the first policy.
        second: The mean wait under the second policy.
        low: The lower limit of the 95 % confidence interval of the difference; NaN if there are too few jobs.
        high: The upper limit of the 95 % confidence interval of the difference.
        evictions: The number of evictions under each policy.
    """

    name: str
    jobs: int
    first: float
    second: float
    low: float
    high: float
    evictions: tuple[int, int]

    @property
    def difference(self) -> float:
        """The mean wait under the second policy minus the mean wait under the first policy."""
        return self.second - self.first

    @property
    def is_zero(self) -> bool:
        """Whether the mean does not change, and no interval shows that it may."""
        return self.difference == 0 and not self.low < 0 < self.high

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the difference excludes 0."""
        return self.low > 0 or self.high < 0

    @property
    def has_interval(self) -> bool:
        """Whether there are enough jobs for an interval."""
        return self.low == self.low


class Effects:
    """The effects of one policy compared with another policy, for the same jobs."""

    def __init__(self, first: Recorded, second: Recorded) -> None:
        """Pair the jobs of two results.

        Raises:
            InvalidSpecError: The results have different jobs.
        """
        expect_alike("policy", first, second)
        self._pair = (first, second)
        self._counted = np.asarray(first.jobs["counted"]) & np.asarray(second.jobs["counted"])
        self._waits = tuple(np.asarray(run.jobs["waited"]) for run in (first, second))
        self._evictions = tuple(np.asarray(run.jobs["evictions"]) for run in (first, second))
        self.difference = self._waits[1] - self._waits[0]

    def of_all(self) -> Effect:
        """Return the effect on all jobs."""
        return self._effect("", np.flatnonzero(self._counted))

    def of_queues(self, most: int) -> tuple[list[Effect], int]:
        """Return the effects on the ClusterQueues with the largest total change of waits, and the number of all queues.

        Args:
            most: The largest number of ClusterQueues to return.
        """
        queues = self._pair[0].jobs["cluster_queue"]
        groups = Groups.by(np.where(self._counted, queues.codes, -1), len(queues.names))
        totals, parts = groups.sums(self.difference[groups.rows]), groups.parts()
        known = np.flatnonzero(groups.sizes).tolist()
        chosen = sorted(known, key=lambda code: (-abs(totals[code]), queues.names[code]))[:most]
        return [self._effect(queues.names[code], parts[code]) for code in chosen], len(known)

    def rows(self, most: int, *, longer: bool) -> list[int]:
        """Return the rows of the jobs whose waits change most, starting with the largest change.

        Args:
            most: The largest number of jobs to return.
            longer: Whether to return jobs that wait longer instead of jobs that wait less.
        """
        change = self.difference if longer else -self.difference
        return largest(np.flatnonzero(change > 0), change, most)

    def numbers(self) -> tuple[int, int]:
        """Return the number of jobs that wait less, and the number of jobs that wait longer."""
        change = self.difference[self._counted]
        return int((change < 0).sum()), int((change > 0).sum())

    def _effect(self, name: str, rows: NDArray[np.int64]) -> Effect:
        submit = self._pair[0].jobs["submit"][rows]
        # In the order of arrival, as batches need it.
        rows = rows[np.argsort(submit, kind="stable")]
        low, high = _between(self.difference[rows])
        first, second = (float(waits[rows].mean()) if len(rows) else 0.0 for waits in self._waits)
        evictions = (int(self._evictions[0][rows].sum()), int(self._evictions[1][rows].sum()))
        return Effect(name, len(rows), first, second, low, high, evictions)


def different_decisions(first: Recorded, second: Recorded, most: int) -> tuple[int, float]:
    """Count the quota reservations and evictions that occur in only one of the two results.

    Args:
        first: A result.
        second: The result to compare with, for the same jobs.
        most: The position of the decision whose time is returned, counted from 1 in order of time.

    Returns:
        The number of differing decisions, and the time of the decision at position `most`, or of the last decision if
        there are fewer.
    """
    keys = [_keys(run) for run in (first, second)]
    # Arrays, because both runs together can have millions of decisions.
    apart = np.setxor1d(keys[0], keys[1])
    if not len(apart):
        return 0, 0.0
    times = np.sort(apart["seconds"])
    return len(apart), float(times[min(most, len(times)) - 1])


def _keys(run: Recorded) -> NDArray[np.void]:
    table = run.decisions
    kinds = table["kind"]
    # A deactivation takes the quota as an eviction does.
    numbers = {"QuotaReserved": 0, "Evicted": 1, "Deactivated": 1}
    kind = np.array([*(numbers.get(name, -1) for name in kinds.names), -1])[kinds.codes]
    rows = np.flatnonzero(kind >= 0)
    found = np.zeros(len(rows), [("seconds", np.float64), ("job", np.int64), ("kind", np.int8)])
    found["seconds"], found["job"], found["kind"] = table["seconds"][rows], table["job"][rows], kind[rows]
    return np.unique(found)
