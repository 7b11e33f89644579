"""Step functions: durations of values, integrals, and means over intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import SECOND
from kueuepy.simulation.spans import span
from kueuepy.tables import Categorical, Columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

MOST_STEPS = 10_000_000
"""The largest number of intervals in a table."""


def series_of(
    table: Columns, by: tuple[str, str] = ("cluster_queue", "flavor_resource")
) -> Iterator[tuple[str, str, NDArray[np.int64]]]:
    """Yield the rows for each pair of names in two columns, such as ClusterQueue and `flavor/resource`.

    Args:
        table: A table in chronological order.
        by: The names of the two columns.
    """
    first, second = table[by[0]], table[by[1]]
    key = first.codes.astype(np.int64) * max(1, len(second.names)) + second.codes
    order = np.argsort(key, kind="stable")
    bounds = np.flatnonzero(np.diff(key[order], prepend=-1))
    for rows in np.split(order, bounds[1:]) if len(order) else []:
        yield first[rows[0]], second[rows[0]], rows


def pieces(
    usage: Columns, low: float, high: float, end: float
) -> Iterator[tuple[str, str, NDArray[np.int64], NDArray[np.float64]]]:
    """Yield the rows of each ClusterQueue and `flavor/resource`, and the seconds that each row covers in a window.

    Args:
        usage: The table of usage.
        low: The beginning of the window, in seconds.
        high: The end of the window, in seconds.
        end: The end of the simulation, in seconds.
    """
    for queue, cell, rows in series_of(usage):
        begin = usage["seconds"][rows]
        until = np.append(begin[1:], max(end, high))
        yield queue, cell, rows, np.maximum(np.minimum(until, high) - np.maximum(begin, low), 0.0)


def integral_to(begin: NDArray[Any], values: NDArray[Any], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the integral of a step function up to each edge; a value applies from its time to the next one.

    Args:
        begin: The times of the values.
        values: The values.
        edges: The upper limits of the integrals.
    """
    # Sum of the complete steps before the edge, plus the incomplete one.
    total = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(begin))])
    place = np.searchsorted(begin, edges, side="right") - 1
    return np.where(place >= 0, total[place] + values[place] * (edges - begin[place]), 0.0)


def resample(usage: Columns, step: Any, end: float | None = None) -> Columns:
    """Return time-weighted means over intervals; see `UsageSeries.resample`."""
    width = span("resample", step) / SECOND
    last = float(usage["seconds"].max(initial=0.0)) if end is None else end
    _require_few("resample", max(last, width), width)
    edges = np.arange(0, max(last, width) + width * 0.999, width)
    names = ("used", "nominal", "borrowed", "waiting", "share")
    found: dict[str, list[Any]] = {
        "seconds": [],
        "cluster_queue": [],
        "flavor_resource": [],
        **{name: [] for name in names},
    }
    for _, _, rows in series_of(usage):
        begin = usage["seconds"][rows]
        for name in names:
            values = usage[name][rows].astype(np.float64)
            found[name].append(np.diff(integral_to(begin, values, edges)) / width)
        found["seconds"].append(edges[:-1])
        for name in ("cluster_queue", "flavor_resource"):
            found[name].append(np.full(len(edges) - 1, usage[name].codes[rows[0]], np.int32))
    joined = {name: np.concatenate(parts) if parts else np.zeros(0) for name, parts in found.items()}
    return Columns(
        {
            name: Categorical(values.astype(np.int32), usage[name].names)
            if name in ("cluster_queue", "flavor_resource")
            else values
            for name, values in joined.items()
        }
    )


def _require_few(where: str, seconds: float, step: float) -> None:
    """Check that a table does not get too many intervals.

    Raises:
        InvalidSpecError: There are more than `MOST_STEPS`.
    """
    if seconds / step > MOST_STEPS:
        raise InvalidSpecError(
            f"{where}: {step:g} s: comes {seconds / step:.3g} times; it must come at most {MOST_STEPS} times"
        )


def sampled(usage: Columns, step: float, end: float) -> dict[str, Any]:
    """Return the usage of each ClusterQueue and `flavor/resource`, sampled at regular times, as columns.

    Args:
        usage: The table of usage.
        step: The time between two samples, in seconds.
        end: The end of the simulation, in seconds.
    """
    _require_few("record: usage", end, step)
    at = np.arange(0.0, end + step * 1e-9, step)
    rows, times = [np.zeros(0, np.int64)], [np.zeros(0)]
    for _, _, own in series_of(usage):
        place = np.searchsorted(usage["seconds"][own], at, side="right") - 1
        rows.append(own[place[place >= 0]])
        times.append(at[place >= 0])
    order = np.argsort(np.concatenate(times), kind="stable")
    chosen = np.concatenate(rows)[order]
    found = {
        name: Categorical(column.codes[chosen], column.names) if isinstance(column, Categorical) else column[chosen]
        for name, column in ((name, usage[name]) for name in usage.names)
    }
    return {**found, "seconds": np.concatenate(times)[order]}
