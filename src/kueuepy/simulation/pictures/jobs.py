"""Data for the charts of jobs: waiting times, runs, evictions and slowdowns."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

from kueuepy.errors import StateError
from kueuepy.errors.words import counted
from kueuepy.look.colours import ALL, MOST_NAMES, OTHERS
from kueuepy.look.numbers import amount
from kueuepy.simulation.columns import is_resource
from kueuepy.simulation.groups import preemptions as evictions_of
from kueuepy.simulation.pictures.names import amounts_of, colours, groups, in_order, shown_as, time_unit, workers_of
from kueuepy.simulation.pictures.shown import SINCE, Bar, Bars, Line, Lines, Matrix
from kueuepy.tables.columns import is_named

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kueuepy.simulation.recorded import Recorded

_POINTS = 300
_LEAST = 1.0
_TICKS = (
    (1.0, "≤ 1 s"), (10.0, "10 s"), (60.0, "1 min"), (600.0, "10 min"), (3600.0, "1 h"), (6 * 3600.0, "6 h"),
    (86400.0, "1 d"), (7 * 86400.0, "7 d"), (30 * 86400.0, "30 d"), (365 * 86400.0, "1 y"),
)  # fmt: skip
_PERCENTILES = ((50, "median", OTHERS), (95, "95th percentile", ALL))
"""Percentiles with their names and colours, which are no colours of queues."""


def waits(run: Recorded, by: str = "queue") -> Lines:
    """Return the cumulative distribution of waiting times, in total and by group; waits below 1 s are shown as 1 s."""
    counts = np.asarray(run.jobs["counted"])
    if not counts.any():
        raise StateError("picture: needs at least one job that counts")
    values, names = groups(run, by)
    waited = run.jobs["waited"]
    longest = float(waited[counts].max(initial=0.0))
    lines = [_distribution("all jobs", ALL, waited[counts])]
    for name, place in names.items():
        own = waited[counts & is_named(values, name)]
        if len(own):
            lines.append(_distribution(name, place, own))
    rest = counts & ~np.isin(values.codes, [values.names.index(name) for name in names])
    if rest.any():
        lines.append(_distribution(*shown_as("others", names), waited[rest]))
    ticks = tuple((at, text) for at, text in _TICKS if at <= max(longest, _LEAST) * 2)
    return Lines(
        "Distribution of waiting times",
        "Waiting time (log scale)",
        "Jobs that waited at most this long",
        tuple(lines),
        log_x=True,
        shares=True,
        steps=True,
        ticks=ticks,
    )


def _distribution(name: str, place: int, waited: NDArray[np.float64]) -> Line:
    ordered = np.sort(waited)
    rows = np.ceil(np.linspace(0.0, 1.0, _POINTS + 1)[1:] * len(ordered)).astype(np.int64) - 1
    x = np.maximum(ordered[rows], _LEAST)
    last = np.append(x[1:] > x[:-1], [True])
    return Line(name, place, x[last], ((rows + 1) / len(ordered))[last])


def gantt(run: Recorded, flavor: str | None = None, jobs: int = 200, start: float = 0.0) -> Bars:
    """Return the runs of the first jobs after a time, each in the lowest free lane."""
    if not len(run.runs):
        raise StateError("picture: needs the runs; record them with Recording(runs=True)")
    runs, names = run.runs, colours(run)
    kept = _first_runs(run, flavor, jobs, start)
    ends = np.where(np.isnan(runs["end"]), run.seconds, runs["end"])
    span = float(ends[kept].max(initial=0.0) - start) if kept else 0.0
    x, second = time_unit(span)
    queues = run.jobs["cluster_queue"]
    bars = []
    for row, lane in zip(kept, _lanes(runs["reserved"][kept], ends[kept]), strict=True):
        job, end = int(runs["job"][row]), float(ends[row])
        queue, place = shown_as(queues[job] or "", names)
        cut = runs["outcome"][row] in ("Preempted", "Evicted")
        begin, lost = float(runs["reserved"][row]), float(runs["lost"][row])
        bars.append(Bar(lane, begin / second, end / second, (end - lost) / second, cut, run.name_of(job), queue, place))
    number = len(set(runs["job"][kept].tolist()))
    title = f"Runs of the first {counted(number, 'job')} with quota" + (f" on {flavor}" if flavor is not None else "")
    return Bars(title, SINCE, tuple(bars), x)


def dispatch(run: Recorded, jobs: int = 200, start: float = 0.0) -> Bars:
    """Return the runs of the first jobs of a fleet after a time, in lanes that are grouped and coloured by worker."""
    workers = workers_of(run)
    if not len(run.runs):
        raise StateError("picture: needs the runs; record them with Recording(runs=True)")
    runs = run.runs
    kept = [row for row in _first_runs(run, None, jobs, start) if not np.isnan(runs["start"][row])]
    ends = np.where(np.isnan(runs["end"]), run.seconds, runs["end"])
    x, second = time_unit(float(ends[kept].max(initial=0.0) - start) if kept else 0.0)
    names = runs["cluster"]
    bars: list[Bar] = []
    free = 0
    for code, cluster in enumerate(names.names):
        own = [row for row in kept if names.codes[row] == code]
        name, place = shown_as(cluster, workers)
        lanes = [free + lane for lane in _lanes(runs["start"][own], ends[own])]
        free = max([free, *(lane + 1 for lane in lanes)])
        for row, lane in zip(own, lanes, strict=True):
            begin, end, lost = float(runs["start"][row]), float(ends[row]), float(runs["lost"][row])
            cut, job = runs["outcome"][row] in ("Preempted", "Evicted"), run.name_of(int(runs["job"][row]))
            bars.append(Bar(lane, begin / second, end / second, (end - lost) / second, cut, job, name, place))
    title = f"Runs on each worker of the first {counted(len(set(runs['job'][kept].tolist())), 'job')}"
    return Bars(title, SINCE, tuple(bars), x)


def _first_runs(run: Recorded, flavor: str | None, jobs: int, start: float) -> list[int]:
    """Return the rows of the runs of the first jobs, in the order of their starts."""
    runs = run.runs
    chosen = runs["reserved"] >= start
    if flavor is not None:
        flavors = runs["flavors"]
        codes = [code for code, name in enumerate(flavors.names) if flavor in name.split(",")]
        chosen &= np.isin(flavors.codes, codes)
    rows = np.flatnonzero(chosen)
    rows = rows[np.lexsort((rows, runs["reserved"][rows]))]
    first: set[int] = set()
    for place, job in enumerate(runs["job"][rows].tolist()):
        if len(first) == jobs and job not in first:
            return list(rows[:place].tolist())
        first.add(job)
    return list(rows.tolist())


def _lanes(begin: NDArray[np.float64], end: NDArray[np.float64]) -> list[int]:
    """Return the lowest free lane for each run, in the order of their starts."""
    free: list[int] = []
    taken: list[tuple[float, int]] = []
    found = []
    for at, until in zip(begin.tolist(), end.tolist(), strict=True):
        while taken and taken[0][0] <= at:
            heapq.heappush(free, heapq.heappop(taken)[1])
        lane = heapq.heappop(free) if free else len(taken)
        heapq.heappush(taken, (until, lane))
        found.append(lane)
    return found


def preemptions(run: Recorded) -> Matrix:
    """Return the number of evictions and the lost resource-hours by ClusterQueue of victim and preemptor."""
    table = evictions_of(run)
    cells = [name for name in table.names if name.startswith("lost_hours ")]
    totals: dict[tuple[str, str], list[float]] = {}
    for row in range(len(table)):
        pair = (table["victim"][row] or "", table["preemptor"][row] or "no preemptor")
        found = totals.setdefault(pair, [0.0, 0.0])
        found[0] += float(table["count"][row])
        found[1] += float(sum(table[cell][row] for cell in cells[:1]))
    rows, columns = (_most(run, totals, side) for side in (0, 1))
    counts, hours = np.zeros((len(rows), len(columns))), np.zeros((len(rows), len(columns)))
    for (victim, preemptor), (count, lost) in totals.items():
        place = _place(victim, rows), _place(preemptor, columns)
        counts[place] += count
        hours[place] += lost
    return Matrix("Evictions by victim and preemptor", tuple(rows), tuple(columns), counts, hours)


def _place(name: str, names: list[str]) -> int:
    return names.index(name if name in names else "others")


def _most(run: Recorded, totals: dict[tuple[str, str], list[float]], side: int) -> list[str]:
    """Return the names with the most evictions, in the order of all charts, followed by `others` for the rest."""
    sums: dict[str, float] = {}
    for pair, (count, _) in totals.items():
        sums[pair[side]] = sums.get(pair[side], 0.0) + count
    order = sorted(sums, key=lambda name: (-sums[name], name))
    if len(order) <= MOST_NAMES:
        return in_order(run, order)
    return [*in_order(run, order[: MOST_NAMES - 1]), "others"]


def _asked(run: Recorded, resource: str | None) -> NDArray[np.float64]:
    """Return the requested amount of a resource, or the number of pods, of each job."""
    pods: NDArray[np.float64] = run.jobs["pods"]
    return pods * run.jobs[resource] if resource else pods * 1.0


def slowdown_by_size(run: Recorded, resource: str | None = None) -> Lines:
    """Return the median and 95th percentile of the bounded slowdown, by request rounded up to a power of two."""
    names = [name for name in run.jobs.names if is_resource(name)]
    resource = resource or next((name for name in names if "/" in name), names[0] if names else None)
    slow = run.jobs["bounded_slowdown"]
    counted = np.asarray(run.jobs["counted"]) & ~np.isnan(slow)
    amount = _asked(run, resource)
    power = np.ceil(np.log2(np.maximum(amount, 1.0))).astype(np.int64)
    sizes = np.unique(power[counted])
    lines = []
    for percent, name, place in _PERCENTILES:
        values = [np.sort(slow[counted & (power == size)]) for size in sizes]
        y = np.array([own[-(-len(own) * percent // 100) - 1] for own in values])
        lines.append(Line(name, place, 2.0**sizes, y))
    counts = [int((counted & (power == size)).sum()) for size in sizes]
    ticks = [(2.0**size, _size_text(resource, int(size), number)) for size, number in zip(sizes, counts, strict=True)]
    asked = f"Request of {_size_unit(resource)} per job, rounded up to a power of two (log scale)"
    return Lines(
        "Slowdown (lifetime / runtime) by job size",
        asked,
        "Bounded slowdown (log scale)",
        tuple(lines),
        log_x=True,
        log_y=True,
        points=True,
        ticks=tuple(ticks),
    )


def _size_unit(resource: str | None) -> str:
    return "pods" if resource is None else amounts_of(f"/{resource}")[0]


def _size_text(resource: str | None, power: int, jobs: int) -> str:
    """Return a label with a job size and, on a second line, the number of jobs of this size."""
    size = amount(resource, 2**power) if resource in ("memory", "ephemeral-storage") else f"{2**power:,}"
    return f"{size}\n{counted(jobs, 'job')}"
