"""Figures by ClusterQueue, by any column of jobs, and of who evicted whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.simulation.catalogue import unit_text
from kueuepy.simulation.columns import is_resource
from kueuepy.simulation.figures import evenness, hours, unit
from kueuepy.simulation.measures import job_figures
from kueuepy.simulation.sums import sums
from kueuepy.tables import Categorical, Columns
from kueuepy.tables.columns import categorical, is_named
from kueuepy.tables.framed import table_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from kueuepy.simulation.recorded import Recorded

_HOUR = 3600


def by_queue(result: Recorded) -> Columns:
    """The figures of jobs by ClusterQueue, and what the queue used, borrowed and lost, in hours by cell."""
    names = sorted({*result.totals["queues"], *result.jobs["cluster_queue"].names})
    return _table("cluster_queue", names, [_of_queue(result, name) for name in names])


def _of_queue(result: Recorded, name: str) -> dict[str, Any]:
    mask = is_named(result.jobs["cluster_queue"], name)
    totals = result.totals["queues"].get(name, {"waits": 0.0, "most_waiting": 0, "cells": {}})
    seconds = max(result.seconds - result.warmup, 0.0)
    row: dict[str, Any] = job_figures(result, mask & np.asarray(result.jobs["counted"]))
    row["waiting_mean"] = totals["waits"] / 1e9 / seconds if seconds else 0.0
    row["waiting_max"] = totals["most_waiting"]
    for cell, (used, nominal, borrowed, _) in totals["cells"].items():
        row[f"used_hours {cell}"] = _hours(cell, used)
        row[f"borrowed_hours {cell}"] = _hours(cell, borrowed)
        row[f"utilisation {cell}"] = used / nominal if nominal else np.nan
    return row | _lost_hours(result, name)


def _lost_hours(result: Recorded, victim: str) -> dict[str, float]:
    """By cell, what a ClusterQueue lost by evictions."""
    evictions = (lost for name, _, _, _, lost in result.totals["evictions"] if name == victim)
    return sums((f"lost_hours {cell}", _hours(cell, total)) for lost in evictions for cell, total in lost.items())


def _hours(cell: str, total: float) -> float:
    return hours({cell: total}).get(cell, 0.0)


def by_column(result: Recorded, column: str, start: float | None = None, end: float | None = None) -> Columns:
    """The figures of jobs for each value of a column, of those submitted in a window; hours as pods asked for it."""
    values = _names(result, column)
    amounts = {
        name: result.jobs[name] * result.jobs["pods"] / unit(f"/{name}")
        for name in result.jobs.names
        if is_resource(name)
    }
    counted = np.array(result.jobs["counted"])
    if start is not None or end is not None:
        submit = result.jobs["submit"]
        counted &= (submit >= (start or 0.0)) & (submit < (np.inf if end is None else end))
    rows, names = [], []
    for code, name in enumerate(values.names):
        mask = counted & (values.codes == code)
        if mask.any():
            rows.append(job_figures(result, mask) | _hours_of(result, amounts, mask))
            names.append(name)
    return _table(column, names, rows)


def _hours_of(result: Recorded, amounts: Mapping[str, NDArray[Any]], mask: NDArray[np.bool_]) -> dict[str, float]:
    """What these jobs used, lost and spent on overhead of each resource."""
    kinds = {"used": "held", "lost": "lost", "overhead": "overhead"}
    return {
        f"{name}_hours {resource}": _sum(amount, result.jobs[kind], mask)
        for resource, amount in amounts.items()
        for name, kind in kinds.items()
    }


def _names(result: Recorded, column: str) -> Categorical:
    values = result.jobs[column]
    if isinstance(values, Categorical):
        return values
    known, codes = np.unique(values, return_inverse=True)
    return Categorical(codes.astype(np.int32), [str(value) for value in known.tolist()])


def jain_by(result: Recorded, column: str) -> float | None:
    """Jain's index over the values of a column: of the dominant part of all quota that their jobs held."""
    values = _names(result, column)
    counted = np.asarray(result.jobs["counted"]) & (values.codes >= 0)
    nominal = sums((cell.partition("/")[2], total) for cell, total in result.totals["nominal"].items())
    parts = np.zeros(len(values.names))
    for resource in (name for name in result.jobs.names if is_resource(name)):
        if nominal.get(resource):
            held = (result.jobs[resource] * result.jobs["pods"] * result.jobs["held"])[counted]
            own = np.bincount(values.codes[counted], weights=held, minlength=len(parts)) * 1e9 / nominal[resource]
            parts = np.maximum(parts, own)
    had = np.bincount(values.codes[counted], minlength=len(parts)) > 0
    return evenness(parts[had].tolist())


def _sum(amount: NDArray[Any], seconds: NDArray[Any], mask: NDArray[np.bool_]) -> float:
    return float((amount[mask] * seconds[mask]).sum()) / _HOUR


def _table(key: str, names: list[str], rows: list[dict[str, Any]]) -> Columns:
    found = dict.fromkeys(name for row in rows for name in row)
    columns = {
        name: np.array([np.nan if row.get(name) is None else row[name] for row in rows], _type(name)) for name in found
    }
    return Columns({"group" if key in columns else key: categorical(names), **columns})


def _type(name: str) -> Any:
    return np.int64 if name in ("jobs", "finished", "evictions", "evictions_max", "waiting_max") else np.float64


def tidy(result: Recorded, kpis: Mapping[str, Any]) -> Columns:
    """Return figures of the whole run and of each ClusterQueue, one value a row; see `Result.tidy`."""
    rows = [("all", *_row(name, value)) for name, value in kpis.items()]
    table = by_queue(result)
    for row in table.rows():
        rows += [(row["cluster_queue"], *_row(name, row[name])) for name in table.names[1:]]
    return table_of(("cluster_queue", "figure", "flavor_resource", "value", "unit"), rows)


def _row(name: str, value: Any) -> tuple[str, str, float, str]:
    """Return figure, cell, value and unit of a figure, whose name may be followed by its cell."""
    figure, _, cell = name.partition(" ")
    return figure, cell, float("nan") if value is None else float(value), unit_text(name)


def preemptions(result: Recorded) -> Columns:
    """Who evicted whom, by ClusterQueues and rule; evictions that nobody asked for have no preemptor."""
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
