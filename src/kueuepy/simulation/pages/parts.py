"""Sections that the report of one simulation and the report of a comparison share."""

from __future__ import annotations

import platform
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.look.colours import OTHERS, class_of
from kueuepy.look.numbers import duration
from kueuepy.profiles.version import describe, installed
from kueuepy.simulation.catalogue import columns_shown, figure_text
from kueuepy.simulation.labels import label_of
from kueuepy.simulation.pages.tables import MOST_ROWS, Cell, pair, paragraph, table
from kueuepy.simulation.pictures.names import colours

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kueuepy.simulation.result import Result

_TOP = 10


def group_class(result: Result, queue: str) -> str:
    """Return the CSS class for the colour of a ClusterQueue; the colour is the same in all charts and tables."""
    return class_of(colours(result).get(queue, OTHERS))


def queues(result: Result) -> str:
    """Return the table of ClusterQueues, starting with the ClusterQueue with the longest total wait."""
    found = result.queues
    names = columns_shown("report queues", found.names)
    waits = np.nan_to_num(found["wait_mean"]) * found["jobs"]
    order = np.argsort(-waits, kind="stable")[:MOST_ROWS].tolist()
    places = colours(result)
    rows = []
    for row in order:
        queue = str(found["cluster_queue"][row])
        cells = [Cell(queue, group=class_of(places.get(queue, OTHERS)))]
        cells += [_value(name, found[name][row]) for name in names]
        rows.append(cells)
    head: list[str | Cell] = ["ClusterQueue", *map(metric_cell, names)]
    return table(head, rows, "Sorted by total waiting time.", total=len(found))


def metric_cell(name: str) -> Cell:
    """Return a cell with the label of a metric and, in small letters, its flavor and resource."""
    own, _, key = name.partition(" ")
    return Cell(label_of(own), note=key)


def _value(name: str, value: Any) -> Cell:
    number = value.item()
    return Cell(figure_text(name, number), None if number != number else number)  # noqa: PLR0124 - NaN


def evictions(result: Result, drawn: str = "") -> str:
    """Return the evictions by victim and preemptor, and the jobs with the most evictions.

    Args:
        result: The result.
        drawn: A chart, beside which the jobs are listed.
    """
    if not result.kpis.evictions:
        return paragraph("No jobs were evicted.")
    found, jobs = result.preemptions, result.jobs
    rows = []
    for row in found.rows(MOST_ROWS):
        texts = [Cell(str(row[name] or "—")) for name in ("victim", "preemptor", "rule")]
        rest = [name for name in found.names if name not in ("victim", "preemptor", "rule")]
        counts = [Cell(figure_text("evictions" if name == "count" else name, row[name]), row[name]) for name in rest]
        rows.append([*texts, *counts])
    head: list[str | Cell] = ["ClusterQueue of the victim", "Of the preemptor", "Rule"]
    head += ["Evictions" if name == "count" else metric_cell(name) for name in found.names[3:]]
    order = np.argsort(-jobs["evictions"].astype(np.int64), kind="stable")[:_TOP].tolist()
    worst = [
        (
            result.name_of(row),
            Cell(jobs["cluster_queue"][row] or "—", group=group_class(result, jobs["cluster_queue"][row] or "")),
            Cell(f"{int(jobs['evictions'][row]):,}", int(jobs["evictions"][row])),
            *(Cell(duration(float(jobs[name][row])), float(jobs[name][row])) for name in ("lost", "waited")),
        )
        for row in order
        if jobs["evictions"][row]
    ]
    loops = "".join(
        paragraph(f"Preemption loop: {', '.join(map(str, loop.jobs[:_TOP]))}", "kq-warning")
        for loop in result.loops[:_TOP]
        if hasattr(loop, "jobs")
    )
    own = ("Job", "ClusterQueue", "Evictions", "Lost progress", "Waited")
    most = table(own, worst, "Jobs with most evictions.")
    return (
        loops + table(head, rows, total=len(found)) + (pair(drawn, f"<div>{most}</div>", alone=True) if drawn else most)
    )


def pending(result: Result) -> str:
    """Return the jobs that wait at the end, with the reason and an explanation that opens on a click."""
    waiting = result.waiting
    if not waiting:
        return paragraph("No jobs are pending at the end.")
    rows = [(job.job, job.cluster_queue, Cell(duration(job.waited), job.waited), job.reason) for job in waiting]
    details = "".join(
        f"<details><summary>Why {escape(job.job)} waits</summary><pre>{escape(job.explanation)}</pre></details>\n"
        for job in waiting
        if job.explanation
    )
    return table(("Job", "ClusterQueue", "Waited", "Reason"), rows, "The jobs that wait longest.") + details


def settings(results: Mapping[str, Result], command: str) -> str:
    """Return the settings, and the versions, hashes and the command that are needed to repeat the simulations."""
    from kueuepy.simulation.result import plain  # noqa: PLC0415 - of the same component

    given = {name: plain(result.settings) for name, result in results.items()}
    keys = dict.fromkeys(key for one in given.values() for key in one if key != "kind")
    rows: list[Sequence[Any]] = [
        ("Jobs", *(f"{len(result.jobs):,}" for result in results.values())),
        ("Virtual time", *(duration(result.seconds) for result in results.values())),
    ]
    stats = dict.fromkeys(key for result in results.values() for key in result.stats if key != "workloads")
    rows += [
        (key.replace("_", " ").capitalize(), *(f"{result.stats.get(key, 0):,}" for result in results.values()))
        for key in stats
    ]
    for key in keys:
        values = [_plain(one.get(key)) for one in given.values()]
        if any(values):
            rows.append((key, *(value or "—" for value in values)))
    rows.append(("Hash of all tables (SHA-256)", *(result.fingerprint for result in results.values())))
    rows.append(
        ("Versions", *[f"{describe()}; Python {platform.python_version()}, NumPy {np.__version__}"] * len(given))
    )
    notes = [
        (name, what, Cell(f"{count:,}", count)) for name, result in results.items() for what, count in result.notes
    ]
    noted = table(("Policy", "Note about the jobs", "Rows"), notes) if notes else ""
    install = f"pip install kueuepy=={installed()}\n" if " " not in installed() else ""
    again = paragraph("This repeats the simulation. The same inputs and versions give the same hash.")
    text = f"{again}<pre>{escape(install + (command or _call(results)))}</pre>\n"
    head = ("Setting", *results) if len(results) > 1 else ("Setting", "Value")
    return table(head, rows) + noted + text


def _call(results: Mapping[str, Result]) -> str:
    """Return the Python call that repeats the simulations; a table above the call contains the settings."""
    if len(results) == 1:
        (result,) = results.values()
        call = "result = kueuepy.simulate(cluster, jobs)  # with the settings above"
        return f'{call}\nassert result.fingerprint == "{result.fingerprint}"'
    names = ", ".join(f'"{name}": ...' for name in results)
    return f"found = kueuepy.compare({{{names}}}, jobs)  # with the settings above"


def _plain(value: Any) -> str:
    if value in (None, [], {}):
        return ""
    if isinstance(value, dict):
        pairs = [(name, _plain(part)) for name, part in value.items() if name != "kind"]
        return ", ".join(f"{name} {part}" for name, part in pairs if part)
    if isinstance(value, list):
        return "; ".join(map(_plain, value))
    return str(value)
