"""Sums, means, maxima and percentiles by group, for all groups at once, and the metrics of jobs that they give."""

import math
import re
from collections.abc import Hashable, Iterable, Iterator
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import SECOND
from kueuepy.tables.columns import Categorical, Columns, is_named
from kueuepy.tables.kinds import span

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
K = TypeVar("K", bound="Hashable")
N = TypeVar("N", int, float)
# NumPy sorts integers below this number in linear time.
_RADIX = 1 << 16


def sums(amounts: Iterable[tuple[K, N]]) -> dict[K, N]:
    """Return the sum of the amounts for each key, with keys in the order of their first occurrence.

    >>> sums([("a", 1), ("b", 2), ("a", 3)])
    {'a': 4, 'b': 2}
    """
    found: dict[K, N] = {}
    for key, amount in amounts:
        found[key] = found.get(key, 0) + amount
    return found


def order_of(codes: NDArray[Any], count: int) -> Ints:
    """Return the positions that sort the codes in stable order.

    Args:
        codes: The codes, starting at 0.
        count: The number of distinct codes.
    """
    # NumPy sorts 16-bit integers by radix, in linear time.
    small: NDArray[Any] = codes.astype(np.uint16) if count <= _RADIX else codes
    return np.argsort(small, kind="stable")


class Groups:
    """Rows of a table, sorted by group. Rows of one group keep their order.

    Attributes:
        rows: The row numbers.
        of: The index of the group that each row belongs to.
        count: The number of groups; a group can be empty.
        bounds: The position of the first row of each group, followed by the number of rows.
        sizes: The number of rows of each group.
    """

    __slots__ = ("bounds", "count", "of", "rows", "sizes")

    def __init__(self, rows: Ints, of: NDArray[Any], count: int) -> None:
        """Store the rows, which are already sorted by group."""
        self.rows, self.of, self.count = rows, of, count
        self.bounds = np.searchsorted(of, np.arange(count + 1))
        self.sizes = np.diff(self.bounds)

    @classmethod
    def by(cls, codes: NDArray[Any], count: int) -> "Groups":
        """Group the rows of a column of codes.

        Args:
            codes: The group index of each row; a row with -1 does not belong to any group.
            count: The number of groups.
        """
        rows = np.flatnonzero(codes >= 0)
        own = codes[rows]
        order = order_of(own, count)
        return cls(rows[order], own[order], count)

    @property
    def firsts(self) -> Flags:
        """A mask of the positions at which a group begins."""
        found = np.ones(len(self.of), bool)
        found[1:] = self.of[1:] != self.of[:-1]
        return found

    def parts(self) -> list[Ints]:
        """Return the rows of each group."""
        return np.split(self.rows, self.bounds[1:-1]) if self.count else []

    def where(self, mask: Flags) -> "Groups":
        """Return the same groups, restricted to the selected rows.

        Args:
            mask: A mask of the rows to keep, by position in `rows`.
        """
        return Groups(self.rows[mask], self.of[mask], self.count)

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of the values of each group; 0 for an empty group.

        Each sum is identical to the result of `numpy.sum` for the group.

        Args:
            values: The values, by position in `rows`.
        """
        # Sums of flags and of 32-bit counts need a wider type.
        wide = values.astype(np.int64) if values.dtype.kind in "bi" else values
        return np.add.reduceat(*self._padded(wide)) if self.count else wide[:0]

    def largest(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the largest value of each group; 0 for a group that is empty or has no positive value.

        Args:
            values: The values, by position in `rows`.
        """
        return np.maximum.reduceat(*self._padded(values)) if self.count else values[:0]

    def _padded(self, values: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
        """Return the values with a 0 inserted before each group, and the positions of the zeros.

        `reduceat` adds the first value of a group to the sum of the remaining values. With a leading 0, `reduceat`
        returns the same result as `numpy.sum`, and an empty group has the sum 0.
        """
        found = np.zeros(len(values) + self.count, values.dtype)
        found[np.arange(len(values)) + self.of + 1] = values
        return found, self.bounds[:-1] + np.arange(self.count)

    def means(self, values: NDArray[Any]) -> Floats:
        """Return the mean of the values of each group; 0 for an empty group.

        Args:
            values: The values, by position in `rows`.
        """
        return self.sums(values) / np.maximum(self.sizes, 1)

    def accumulated(self, values: Floats) -> Floats:
        """Return the running sum within each group; rounding errors do not spread to other groups.

        Args:
            values: The values, by position in `rows`.
        """
        found = np.zeros(len(values))
        # One sum over all rows would carry rounding errors from group to group.
        for begin, end in pairwise(self.bounds.tolist()):
            if end > begin:
                np.cumsum(values[begin:end], out=found[begin:end])
        return found

    def ordered(self, values: Floats) -> Floats:
        """Return the values of each group in ascending order.

        Args:
            values: The values, by position in `rows`.
        """
        if self.count <= 1:
            return np.sort(values)
        # Sorting by value and then, stably, by group is faster than sorting each group.
        order = np.argsort(values)
        return values[order[order_of(self.of[order], self.count)]]

    def percentiles(self, ordered: Floats, percent: float) -> Floats:
        """Return the nearest-rank percentile of each group; 0 for an empty group.

        Args:
            ordered: The values, sorted within each group.
            percent: The percentile, between 0 and 100.
        """
        sizes, found = self.sizes, np.zeros(self.count)
        there = sizes > 0
        ranks = np.ceil(sizes * percent / 100).astype(np.int64)
        found[there] = ordered[(self.bounds[:-1] + ranks - 1)[there]]
        return found


MOST_STEPS = 10_000_000
"""The largest number of intervals in a table."""


Steps = tuple[Floats, NDArray[Any]]
"""Times in order, and a value from each of them to the next."""


def lengths_between(at: Floats, until: Floats, low: float, high: float) -> Floats:
    """Return, for each period between two times, the number of its seconds that lie within a window."""
    found: Floats = np.maximum(np.minimum(until, high) - np.maximum(at, low), 0.0)
    return found


class Series:
    """All series of a table, one for each pair of names in two columns, found with a single sort.

    Attributes:
        table: The table, in chronological order.
        groups: The rows of each series; every series has at least one row.
        keys: The two names of each series.
        first: For each series, the code of its name in the first column.
        second: For each series, the code of its name in the second column.
        at: The time of each row.
    """

    def __init__(self, table: Columns, by: tuple[str, str] = ("cluster_queue", "flavor_resource")) -> None:
        """Sort the rows of a table.

        Args:
            table: A table in chronological order, with the integers that the core uses.
            by: The names of the two columns.
        """
        first, second = table[by[0]], table[by[1]]
        size = max(1, len(second.names))
        key = first.codes.astype(np.int64) * size + second.codes
        order = order_of(key, len(first.names) * size)
        # Keys are 0 or more, so the first row always begins a series.
        new = np.diff(key[order], prepend=-1) != 0
        keys = key[order][new]
        self.table = table
        self.groups = Groups(order, np.cumsum(new) - 1, len(keys))
        self.first, self.second = keys // size, keys % size
        self.keys = [
            (first.names[one], second.names[two])
            for one, two in zip(self.first.tolist(), self.second.tolist(), strict=True)
        ]
        self.at: Floats = table["seconds"][order]

    def column(self, name: str) -> NDArray[Any]:
        """Return a column of the table, with one value per position."""
        found: NDArray[Any] = self.table[name][self.groups.rows]
        return found

    def lengths(self, low: float, high: float) -> Floats:
        """Return the seconds that each row covers in a window; a series lasts until the end of the window.

        Args:
            low: The beginning of the window, in seconds.
            high: The end of the window, in seconds.
        """
        until = np.append(self.at[1:], [high])[: len(self.at)]
        until[self.groups.bounds[1:] - 1] = high
        return lengths_between(self.at, until, low, high)

    def integrals(self, values: NDArray[Any], lengths: Floats) -> Floats:
        """Return the integral of each series.

        Args:
            values: The values, by position.
            lengths: The seconds that each row covers, as `lengths` returns them.
        """
        return self.groups.sums(values * lengths)

    def changes(self, values: NDArray[Any]) -> Floats:
        """Return the change of a value at each row; a value is 0 before its first row."""
        exact_values = values.astype(np.float64)
        found: Floats = np.diff(exact_values, prepend=0.0)
        firsts = self.groups.firsts
        found[firsts] = exact_values[firsts]
        return found

    def of_queues(self) -> Flags:
        """Return a mask that selects one series per name in the first column.

        Use this mask for values that are identical in all series of a name.
        """
        found: Flags = np.diff(self.first, prepend=-1) != 0
        return found

    def total(self, values: NDArray[Any], which: Flags | None = None) -> Steps:
        """Return the sum of some of the series as one step function, which is 0 before its first step.

        Args:
            values: The values, by position.
            which: A mask of the series to add; all by default.
        """
        change = self.changes(values)
        rows, at = self.groups.rows, self.at
        if which is not None:
            mine = which[self.groups.of]
            rows, at, change = rows[mine], at[mine], change[mine]
        order = np.argsort(rows)  # the table is in chronological order
        at = at[order]
        # Of several changes at one time, only the last value lasts.
        last = np.append(np.diff(at) > 0, [True])[: len(at)]
        return at[last], np.cumsum(change[order])[last]

    def positions(self, edges: Floats) -> Ints:
        """Return the position of the row of each series that applies at each time; -1 before its first row.

        Args:
            edges: The times, in order.

        Returns:
            Positions of shape (series, times).
        """
        size, count = len(edges) + 1, self.groups.count
        # Counting the rows before each edge finds all positions without a search for each series.
        begins = self.groups.of * size + np.searchsorted(edges, self.at, side="left")
        known = np.bincount(begins, minlength=count * size).reshape(count, size)[:, :-1].cumsum(axis=1)
        return np.where(known > 0, self.groups.bounds[:-1, None] + known - 1, -1)

    def integrals_to(self, values: NDArray[Any], edges: Floats) -> Floats:
        """Return the integral of each series up to each time, of shape (series, times).

        Args:
            values: The values, by position, which are finite.
            edges: The times, in order.
        """
        if not len(values):
            return np.zeros((0, len(edges)))
        steps = np.append([0.0], values[:-1] * np.diff(self.at))
        steps[self.groups.firsts] = 0.0
        total, indices = self.groups.accumulated(steps), self.positions(edges)
        return np.where(indices >= 0, total[indices] + values[indices] * (edges - self.at[indices]), 0.0)

    def integrals_between(self, values: NDArray[Any], edges: Floats) -> Floats:
        """Return the integral of each series between times; infinite if the value is infinite for some of the time.

        Args:
            values: The values, by position.
            edges: The times, in order.

        Returns:
            Integrals of shape (series, times - 1).
        """
        # A share is infinite while a queue of weight 0 borrows; infinity times 0 would be NaN.
        endless = np.isinf(values)
        totals: Floats = np.diff(self.integrals_to(np.where(endless, 0.0, values), edges))
        if endless.any():
            totals[np.diff(self.integrals_to(endless * 1.0, edges)) > 0] = np.inf
        return totals

    def by_second(self, totals: Floats) -> dict[str, float]:
        """Sum the values of all series with the same second name; the names are in the order of their first series."""
        _, indices = np.unique(self.second, return_index=True)
        sums = np.bincount(self.second, weights=totals)
        return {self.keys[index][1]: float(sums[self.second[index]]) for index in sorted(indices.tolist())}


def series_of(
    table: Columns, by: tuple[str, str] = ("cluster_queue", "flavor_resource")
) -> Iterator[tuple[str, str, Ints]]:
    """Yield the rows for each pair of names in two columns, such as ClusterQueue and `flavor/resource`.

    Args:
        table: A table in chronological order.
        by: The names of the two columns.
    """
    found = Series(table, by)
    for (first, second), rows in zip(found.keys, found.groups.parts(), strict=True):
        yield first, second, rows


def integral_to(begin: NDArray[Any], values: NDArray[Any], edges: Floats) -> Floats:
    """Return the integral of a step function up to each edge; a value applies from its time to the next time.

    Args:
        begin: The times of the values.
        values: The values.
        edges: The upper limits of the integrals.
    """
    if not len(begin):
        return np.zeros(len(edges))
    # Sum of the complete steps before the edge, plus the incomplete one.
    total = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(begin))])
    index = np.searchsorted(begin, edges, side="right") - 1
    return np.where(index >= 0, total[index] + values[index] * (edges - begin[index]), 0.0)


def resample(usage: Columns, step: Any, end: float | None = None) -> Columns:
    """Return time-weighted means over intervals; see `UsageSeries.resample`."""
    width = span("resample", step) / SECOND
    last = float(usage["seconds"].max(initial=0.0)) if end is None else end
    _require_few("resample", max(last, width), width)
    # The factor keeps the last edge in spite of rounding, and adds none behind it.
    edges = np.arange(0, max(last, width) + width * 0.999, width)
    series, first, second = Series(usage), usage["cluster_queue"], usage["flavor_resource"]
    count, begins = series.groups.count, edges[:-1]
    return Columns(
        {
            "seconds": np.tile(begins, count),
            "cluster_queue": Categorical(np.repeat(series.first, len(begins)).astype(np.int32), first.names),
            "flavor_resource": Categorical(np.repeat(series.second, len(begins)).astype(np.int32), second.names),
            **{
                name: (series.integrals_between(series.column(name).astype(np.float64), edges) / width).ravel()
                for name in ("used", "nominal", "borrowed", "waiting", "share")
            },
        }
    )


def _require_few(where: str, seconds: float, step: float) -> None:
    """Check that a table would have at most `MOST_STEPS` intervals.

    Raises:
        InvalidSpecError: There are more than `MOST_STEPS` intervals.
    """
    if seconds / step > MOST_STEPS:
        raise InvalidSpecError(
            f"{where}: {step:g} s: comes {seconds / step:.3g} times; it must come at most {MOST_STEPS} times"
        )


def sampled(usage: Columns, step: float, end: float) -> dict[str, Any]:
    """Return the usage of each ClusterQueue and `flavor/resource` as columns, sampled at regular times.

    Args:
        usage: The table of usage.
        step: The time between two samples, in seconds.
        end: The end of the simulation, in seconds.
    """
    _require_few("record: usage", end, step)
    at = np.arange(0.0, end + step * 1e-9, step)
    series = Series(usage)
    indices = series.positions(at)
    there = indices >= 0
    times = np.broadcast_to(at, indices.shape)[there]
    order = np.argsort(times, kind="stable")
    chosen = series.groups.rows[indices[there]][order]
    return {**{name: usage[name][chosen] for name in usage.names}, "seconds": times[order]}


BOUND = 10.0
"""The smallest runtime for the bounded slowdown, in seconds."""
_WAITS = ("wait", "first_wait")
_PERCENTILES = {"wait": (50, 95, 99), "first_wait": (50, 95, 99), "slowdown": (95,), "bounded_slowdown": (95,)}
_STATISTIC = re.compile(r"^(.+?)(?:_mean|_p(\d+))?$", re.ASCII)


def percentile(ordered: Floats, percent: float) -> float:
    """Return the nearest-rank percentile of sorted values; 0 if there are no values."""
    return float(ordered[math.ceil(len(ordered) * percent / 100) - 1]) if len(ordered) else 0.0


def job_values(jobs: Columns, rows: NDArray[Any], bound: float = BOUND) -> dict[str, tuple[Flags, Floats]]:
    """Return the values of individual jobs by name: waits, slowdowns, and useful fractions of lifetimes.

    Args:
        jobs: The table of jobs of a result.
        rows: Row numbers of jobs, which determine the order of the values.
        bound: The smallest runtime for the bounded slowdown, in seconds.

    Returns:
        For each name, a mask of the rows that have a value, and their values.
    """
    first = jobs["first_wait"][rows]
    started = ~np.isnan(first)
    finished = is_named(jobs["state"], "Finished")[rows]
    waited, runtime, held = (jobs[name][rows] for name in ("waited", "runtime", "held"))
    life = waited + held  # more accurate than the difference of two times
    whole = finished & (runtime > 0) & (life > 0)
    done, spans = life[finished], np.maximum(runtime[finished], bound)
    return {
        "wait": (np.ones(len(rows), bool), waited),
        "first_wait": (started, first[started]),
        "slowdown": (whole, life[whole] / runtime[whole]),
        "bounded_slowdown": (finished, np.maximum(1.0, done / spans)),
        "goodput": (whole, held[whole] / life[whole]),
        "useful": (whole, runtime[whole] / life[whole]),
    }


def statistic(figure: str) -> tuple[str, int | None]:
    """Return the name of the values from which a metric is computed, and the percentile; `None` for a mean.

    >>> statistic("first_wait_p95"), statistic("slowdown")
    (('first_wait', 95), ('slowdown', None))
    """
    name, percent = _STATISTIC.findall(figure)[0]
    return name, int(percent) if percent else None


def job_figures(jobs: Columns, mask: Flags, bound: float = BOUND) -> dict[str, Any]:
    """Return the metrics that are computed from individual jobs; a mean is `None` if no job has a value."""
    found = group_figures(jobs, Groups.by(mask.astype(np.int8) - 1, 1), bound)
    return {name: values[0].item() if has[0] else None for name, (values, has) in found.items()}


def group_figures(jobs: Columns, groups: Groups, bound: float = BOUND) -> dict[str, tuple[NDArray[Any], Flags]]:
    """Return the metrics that are computed from individual jobs, for each group of jobs.

    Args:
        jobs: The table of jobs of a result.
        groups: Groups of rows of the table of jobs.
        bound: The smallest runtime for the bounded slowdown, in seconds.

    Returns:
        For each metric, its value by group, and a mask of the groups that have a value.
    """
    values = job_values(jobs, groups.rows, bound)
    all_ = np.ones(groups.count, bool)
    evictions = jobs["evictions"][groups.rows]
    finished, _ = values["bounded_slowdown"]
    found: dict[str, tuple[NDArray[Any], Flags]] = {
        "jobs": (groups.sizes, all_),
        "finished": (groups.where(finished).sizes, all_),
    }
    for name, percents in _PERCENTILES.items():
        mask, own = values[name]
        some = groups.where(mask)
        # The mean is taken of sorted values: its last digits must not depend on the order of the jobs.
        ordered, there = some.ordered(own), some.sizes > 0
        # Slowdowns are named without a suffix, as the literature does.
        mean = f"{name}_mean" if name in _WAITS else name
        found[mean] = some.means(ordered), all_ if name == "wait" else there
        for p in percents:
            found[f"{name}_p{p}"] = some.percentiles(ordered, p), all_ if name in _WAITS else there
        if name == "wait":
            found["longest_wait"] = some.percentiles(ordered, 100), all_
    for name in ("goodput", "useful"):
        mask, own = values[name]
        some = groups.where(mask)
        found[name] = some.means(own), some.sizes > 0
    found["evictions"] = groups.sums(evictions), all_
    found["evictions_max"] = groups.largest(evictions), all_
    return found
