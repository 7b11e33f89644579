"""Data for the charts over time: usage, waiting jobs, shares and decayed usage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.look.colours import MOST_NAMES
from kueuepy.look.numbers import round_duration
from kueuepy.simulation.confidence import of_cohorts
from kueuepy.simulation.pictures.names import (
    amounts_of,
    cell_of,
    colours,
    largest,
    shown_as,
    time_unit,
    work,
    workers_of,
)
from kueuepy.simulation.pictures.shown import SINCE, Layer, Line, Lines, Mark, Stack
from kueuepy.simulation.series import series_of
from kueuepy.tables.columns import exact, is_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kueuepy.simulation.recorded import Recorded
    from kueuepy.tables import Columns

PIECES = 240
"""Maximum number of time intervals in a chart; the same for all drawings, so that they show the same values."""
_ABOVE = 1.15


def usage(run: Recorded, flavor_resource: str | None = None, pieces: int = PIECES) -> Stack:
    """Return the usage of a flavor and resource by ClusterQueue, and the nominal quota as the limit."""
    flavor_resource = cell_of(run, flavor_resource)
    unit, size = amounts_of(flavor_resource)
    rows = {queue: rows for queue, of, rows in _series(run) if of == flavor_resource}
    edges, mean = _edges(run.seconds, run.usage, rows, pieces)
    names, nominal = colours(run), np.zeros(len(edges) - 1)
    own: dict[str, Any] = {}
    borrowed: dict[str, Any] = {}
    for queue, places in rows.items():
        name, _ = shown_as(queue, names)
        used, over, mine = (_means(run.usage, places, fact, edges) / size for fact in ("used", "borrowed", "nominal"))
        own[name] = own.get(name, 0.0) + used - over
        borrowed[name] = borrowed.get(name, 0.0) + over
        nominal += mine
    x, second = time_unit(run.seconds)
    layers = tuple(Layer(name, shown_as(name, names)[1], own[name], borrowed[name]) for name in _ordered(own, names))
    return Stack(
        f"Usage of {flavor_resource}{mean}",
        SINCE,
        f"Usage ({unit})",
        edges / second,
        layers,
        nominal + of_cohorts(run, flavor_resource) / size,
        unit=x,
    )


def clusters(run: Recorded, flavor_resource: str | None = None, pieces: int = PIECES) -> Stack:
    """Return the usage of a flavor and resource by worker of a fleet, and the nominal quota of the workers."""
    workers = workers_of(run)
    flavor_resource = cell_of(run, flavor_resource)
    unit, size = amounts_of(flavor_resource)
    rows = {queue: places for queue, of, places in _series(run) if of == flavor_resource}
    edges, mean = _edges(run.seconds, run.usage, rows, pieces)
    used = {name: np.zeros(len(edges) - 1) for name in workers}
    nominal = np.zeros(len(edges) - 1)
    for queue, places in rows.items():
        name, _ = shown_as(queue.partition("/")[0], workers)
        used[name] = used.get(name, 0.0) + _means(run.usage, places, "used", edges) / size
        nominal += _means(run.usage, places, "nominal", edges) / size
    x, second = time_unit(run.seconds)
    nothing = np.zeros(len(edges) - 1)
    layers = tuple(Layer(name, shown_as(name, workers)[1], own, nothing) for name, own in used.items())
    title = f"Usage of {flavor_resource} by cluster{mean}"
    return Stack(title, SINCE, f"Usage ({unit})", edges / second, layers, nominal, unit=x)


def queue(run: Recorded, pieces: int = PIECES) -> Stack:
    """Return the number of waiting jobs by ClusterQueue."""
    rows = _first_series(run)
    edges, mean = _edges(run.seconds, run.usage, rows, pieces)
    names = colours(run)
    waiting: dict[str, Any] = {}
    for name, places in rows.items():
        shown, _ = shown_as(name, names)
        waiting[shown] = waiting.get(shown, 0.0) + _means(run.usage, places, "waiting", edges)
    x, second = time_unit(run.seconds)
    nothing = np.zeros(len(edges) - 1)
    layers = tuple(Layer(name, shown_as(name, names)[1], waiting[name], nothing) for name in _ordered(waiting, names))
    return Stack(f"Waiting jobs{mean}", SINCE, "Number of jobs", edges / second, layers, unit=x)


def shares(run: Recorded, pieces: int = PIECES) -> Lines:
    """Return the weighted share of each ClusterQueue with its own colour, and the times of admissions and evictions."""
    rows = _first_series(run)
    edges, mean = _edges(run.seconds, run.usage, rows, pieces)
    names = colours(run)
    x, second = time_unit(run.seconds)
    lines = _lines(run.usage, "share", rows, names, edges=edges, second=second)
    marks = tuple(
        Mark(name, at / second, weight)
        for name, kind in (("admissions", "QuotaReserved"), ("evictions", "Evicted"))
        for at, weight in [_happenings(run, kind, edges)]
        if len(at)
    )
    unit = "Weighted share (‰ of lendable quota)"
    title = f"Weighted share by ClusterQueue{mean}"
    return Lines(title, SINCE, unit, lines, steps=True, marks=marks, unit=x)


def consumed(run: Recorded, resource: str | None = None, pieces: int = PIECES) -> Lines:
    """Return the decayed usage of a resource by LocalQueue; by default, the first resource in alphabetical order."""
    series = list(series_of(run.consumed, ("local_queue", "resource")))
    known = sorted({name for _, name, _ in series})
    if resource is not None and known and resource not in known:
        raise InvalidSpecError(f'picture: resource: "{resource}"; it must be one of {", ".join(known)}')
    resource = resource or next(iter(known), "")
    rows = {queue: places for queue, name, places in series if name == resource}
    edges, mean = _edges(run.seconds, run.consumed, rows, pieces)
    queues = list(dict.fromkeys([*largest(run.jobs["queue"], work(run)), *sorted(rows)]))[:MOST_NAMES]
    x, second = time_unit(run.seconds)
    unit, size = amounts_of(f"/{resource}")
    size = 1.0 if resource == "cpu" else size  # the table has cores
    names = {name: place for place, name in enumerate(queues)}
    lines = _lines(run.consumed, "consumed", rows, names, edges=edges, second=second)
    lines = tuple(msgspec.structs.replace(line, y=line.y / size) for line in lines)
    title = f"Decayed usage by LocalQueue{f' ({resource})' if resource else ''}{mean}"
    return Lines(title, SINCE, f"Usage ({unit})" if resource else "Usage", lines, steps=True, unit=x)


def _lines(
    table: Columns, fact: str, rows: dict[str, Any], names: dict[str, int], *, edges: NDArray[Any], second: float
) -> tuple[Line, ...]:
    """Return a line for each name that has its own colour: the mean of a value in each interval."""
    found = []
    for name in _ordered({name: own for name, own in rows.items() if name in names}, names):
        means = _means(table, rows[name], fact, edges)
        found.append(Line(name, names[name], edges / second, np.append(means, means[-1])))
    return tuple(found)


def _happenings(run: Recorded, kind: str, edges: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the midpoints of the intervals that contain decisions of a kind, and the counts, scaled to at most 1."""
    kinds = run.decisions["kind"] if len(run.decisions) else None
    if kinds is None or kind not in kinds.names:
        return np.zeros(0), np.zeros(0)
    at = run.decisions["seconds"][is_named(kinds, kind)]
    counts, _ = np.histogram(at, edges)
    there = counts > 0
    return ((edges[:-1] + edges[1:]) / 2)[there], counts[there] / max(1, counts.max(initial=0))


def _ordered(found: dict[str, Any], names: dict[str, int]) -> list[str]:
    return sorted(found, key=lambda name: names.get(name, len(names)))


def _series(run: Recorded) -> Iterator[tuple[str, str, NDArray[np.int64]]]:
    if not len(run.usage):
        raise StateError("picture: needs the usage; record it with Recording(usage=True)")
    return series_of(run.usage)


def _first_series(run: Recorded) -> dict[str, NDArray[np.int64]]:
    """Return each ClusterQueue's rows for its first `flavor/resource`.

    Values of a whole ClusterQueue, such as `waiting` and `share`, are the same for each `flavor/resource`.
    """
    rows: dict[str, NDArray[np.int64]] = {}
    for name, _, places in _series(run):
        rows.setdefault(name, places)
    return rows


def _edges(seconds: float, table: Columns, rows: dict[str, Any], pieces: int) -> tuple[NDArray[np.float64], str]:
    """Return the times of all changes if there are few changes, otherwise the limits of intervals of equal length.

    The second value is the end of the chart's title, which names the length of the intervals.
    """
    end = seconds or 1.0
    places = np.concatenate([*rows.values(), np.zeros(0, np.int64)]).astype(np.int64)
    if len(places) <= PIECES * max(1, len(rows)):
        exact = np.unique(np.append(np.minimum(table["seconds"][places], end), [0.0, end]))
        if len(exact) <= pieces + 1:
            return exact, ""
    return np.linspace(0.0, end, pieces + 1), f", mean of {round_duration(end / pieces)}"


def _means(table: Columns, rows: NDArray[np.int64], fact: str, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of a value in each interval; infinite values are placed slightly above the largest finite one."""
    found = exact(table)
    begin, values = found["seconds"][rows], found[fact][rows].astype(np.float64)
    finite = np.isfinite(values)
    if not finite.all():
        values = np.where(finite, values, _ABOVE * values[finite].max(initial=1.0))
    total = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(begin))])
    place = np.searchsorted(begin, edges, side="right") - 1
    at = np.where(place >= 0, total[place] + values[place] * (edges - begin[place]), 0.0)
    means: NDArray[np.float64] = np.maximum(np.diff(at) / np.diff(edges), 0.0)
    return means
