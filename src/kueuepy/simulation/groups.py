"""Metrics by ClusterQueue and by other columns of the table of jobs, and preemptions by victim and preemptor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.simulation.catalogue import COUNTS, unit_text
from kueuepy.simulation.columns import is_resource
from kueuepy.simulation.figures import evenness, hours
from kueuepy.simulation.grouped import Groups, sums
from kueuepy.simulation.measures import group_figures
from kueuepy.tables import Columns
from kueuepy.tables.columns import as_names, categorical, exact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from kueuepy.simulation.recorded import Recorded

_HOUR = 3600


def by_queue(result: Recorded) -> Columns:
    """Return the metrics of jobs by ClusterQueue, with used, borrowed and lost hours by `flavor/resource`."""
    column, totals = result.jobs["cluster_queue"], result.totals["queues"]
    names = sorted({*totals, *column.names})
    places = {name: place for place, name in enumerate(names)}
    codes = np.array([*(places[name] for name in column.names), -1], np.int64)[column.codes]
    groups = Groups.by(np.where(np.asarray(result.jobs["counted"]), codes, -1), len(names))
    found = _figures(result, groups)
    seconds = max(result.seconds - result.warmup, 0.0)
    waits = np.array([totals[name]["waits"] if name in totals else 0.0 for name in names])
    found["waiting_mean"] = waits / 1e9 / seconds if seconds else np.zeros(len(names))
    found["waiting_max"] = np.array([totals[name]["most_waiting"] if name in totals else 0 for name in names], np.int64)
    losses: dict[str, list[dict[str, float]]] = {}
    for victim, _, _, _, lost in result.totals["evictions"]:
        losses.setdefault(victim, []).append(lost)
    for place, name in enumerate(names):
        row = _of_cells(totals[name]["cells"]) if name in totals else {}
        for column_name, value in (row | _lost_hours(losses.get(name, ()))).items():
            if column_name not in found:
                found[column_name] = np.full(len(names), np.nan)
            found[column_name][place] = value
    return _table("cluster_queue", names, found)


def _of_cells(cells: Mapping[str, Any]) -> dict[str, float]:
    """Return the usage of a ClusterQueue by `flavor/resource`, from the time integrals of the core."""
    row = {}
    for cell, (used, nominal, borrowed, _) in cells.items():
        row[f"used_hours {cell}"] = _hours(cell, used)
        row[f"borrowed_hours {cell}"] = _hours(cell, borrowed)
        row[f"utilisation {cell}"] = used / nominal if nominal else np.nan
    return row


def _lost_hours(evictions: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the work that evictions lost, in hours by `flavor/resource`."""
    return sums((f"lost_hours {cell}", _hours(cell, total)) for lost in evictions for cell, total in lost.items())


def _figures(result: Recorded, groups: Groups) -> dict[str, NDArray[Any]]:
    """Return the metrics that are computed from individual jobs, for each group; NaN where a group has no value."""
    found = group_figures(result, groups)
    return {name: values if has.all() else np.where(has, values, np.nan) for name, (values, has) in found.items()}


def _hours(cell: str, total: float) -> float:
    return hours({cell: total}).get(cell, 0.0)


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


def _hours_of(result: Recorded, amounts: Mapping[str, NDArray[Any]], groups: Groups) -> dict[str, NDArray[np.float64]]:
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
    nominal = sums((cell.partition("/")[2], total) for cell, total in result.totals["nominal"].items())
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
    places = np.append(np.zeros(len(kpis), np.int64), np.repeat(np.arange(1, count + 1), len(names) - len(kpis)))
    metric, cell, unit = (categorical([part[place] for part in parts]) for place in range(3))
    return Columns(
        {
            "cluster_queue": queues[places],
            "metric": metric[rows],
            "flavor_resource": cell[rows],
            "value": np.append(whole, of_queues.T.ravel()),
            "unit": unit[rows],
        }
    )


def preemptions(result: Recorded) -> Columns:
    """Return the evictions by ClusterQueue of victim and preemptor and by rule; see `Result.preemptions`."""
    rows = [
        {"victim": victim, "preemptor": preemptor, "rule": rule, "count": count, "lost": hours(lost)}
        for victim, preemptor, rule, count, lost in result.totals["evictions"]
    ]
    cells = dict.fromkeys(cell for row in rows for cell in row["lost"])
    columns: dict[str, Any] = {}
    for name in ("victim", "preemptor", "rule"):
        columns[name] = categorical([row[name] or None for row in rows])
    columns["count"] = np.array([row["count"] for row in rows], np.int64)
    columns |= {f"lost_hours {cell}": np.array([row["lost"].get(cell, 0.0) for row in rows]) for cell in cells}
    return Columns(columns)
