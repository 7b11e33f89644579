"""Metrics by ClusterQueue and by other columns of jobs, and preemptions by victim and preemptor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.simulation.catalogue import unit_text
from kueuepy.simulation.columns import core_amounts, is_resource
from kueuepy.simulation.figures import evenness, hours
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
    """Return the metrics of jobs by ClusterQueue, with used, borrowed and lost hours by `flavor/resource`."""
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
    """Return the work that a ClusterQueue lost by evictions, in hours by `flavor/resource`."""
    evictions = (lost for name, _, _, _, lost in result.totals["evictions"] if name == victim)
    return sums((f"lost_hours {cell}", _hours(cell, total)) for lost in evictions for cell, total in lost.items())


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
    values = _names(result, column)
    amounts = {name: result.jobs[name] * result.jobs["pods"] for name in result.jobs.names if is_resource(name)}
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
    """Return the used, lost and overhead hours of some jobs by resource."""
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
    """Return Jain's index over the values of a column, which compares dominant shares; see `Result.jain`."""
    values = _names(result, column)
    counted = np.asarray(result.jobs["counted"]) & (values.codes >= 0)
    nominal = sums((cell.partition("/")[2], total) for cell, total in result.totals["nominal"].items())
    parts = np.zeros(len(values.names))
    for resource in (name for name in result.jobs.names if is_resource(name)):
        if nominal.get(resource):
            held = (core_amounts(result.jobs, resource) * result.jobs["pods"] * result.jobs["held"])[counted]
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
    """Return the metrics of the simulation and of each ClusterQueue, one value per row; see `Result.tidy`."""
    rows = [("all", *_row(name, value)) for name, value in kpis.items()]
    table = by_queue(result)
    for row in table.rows():
        rows += [(row["cluster_queue"], *_row(name, row[name])) for name in table.names[1:]]
    return table_of(("cluster_queue", "figure", "flavor_resource", "value", "unit"), rows)


def _row(name: str, value: Any) -> tuple[str, str, float, str]:
    """Return the metric, flavor and resource, value and unit for a name such as `used_hours h100/cpu`."""
    figure, _, cell = name.partition(" ")
    return figure, cell, float("nan") if value is None else float(value), unit_text(name)


def preemptions(result: Recorded) -> Columns:
    """Return the evictions by ClusterQueue of victim and preemptor, and by rule; see `Result.preemptions`."""
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
