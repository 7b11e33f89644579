"""Sections that the report of one simulation and the report of a comparison share."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import StateError
from kueuepy.errors.words import plural
from kueuepy.look.colours import OTHERS, class_of
from kueuepy.look.escapes import escape
from kueuepy.look.numbers import amount, duration
from kueuepy.look.svg import FULL, HALF, NARROW, for_page
from kueuepy.profiles.version import describe, installed
from kueuepy.simulation.catalogue import columns_shown, figure_text, grouped, label_of
from kueuepy.simulation.figures import hours
from kueuepy.simulation.pages.tables import MOST_ROWS, Cell, pair, paragraph, table
from kueuepy.simulation.pictures.catalogue import PICTURES, colours, data_alike, in_order
from kueuepy.simulation.saved import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kueuepy.look.chart import Chart
    from kueuepy.look.svg import Layout
    from kueuepy.simulation.pages.words import Problem
    from kueuepy.simulation.result import Result


_LAYOUTS = {"half": HALF, "narrow": NARROW}
"""The layouts by the CSS class that shows a drawing only on screens of a suitable width."""


def charts(result: Result, names: Iterable[str]) -> str:
    """Return the charts of a result whose data were recorded, two in a row; the first of an odd number has its own."""
    found: list[tuple[str, Chart]] = []
    for name in names:
        with suppress(StateError):
            found += ((name, shown) for shown in data_alike([result], name))
    figures = [_figure(_drawn(shown), name) for name, shown in found]
    if len(found) % 2:
        name, shown = found[0]
        figures[0] = _figure(_drawn(shown, {"full": FULL, **_LAYOUTS}), name, "kq-first")
    return pair(*figures) if figures else ""


def chart(result: Result, name: str) -> str:
    """Return one chart of a result, for half of the width of the page; empty if its data were not recorded."""
    try:
        (found,) = data_alike([result], name)
    except StateError:
        return ""
    return _figure(_drawn(found), name)


def chart_of_each(results: Mapping[str, Result], name: str) -> str:
    """Return a chart for each result, with equal axes; empty if a result has not recorded the data."""
    try:
        found = data_alike(list(results.values()), name)
    except StateError:
        return ""
    both = zip(results, found, strict=True)
    return _figure(pair(*(f"<div><h3>{escape(policy)}</h3>{_drawn(shown)}</div>" for policy, shown in both)), name)


def _drawn(shown: Chart, layouts: Mapping[str, Layout] = _LAYOUTS) -> str:
    return "".join(f'<div class="kq-{name}">{for_page(shown, layout)}</div>' for name, layout in layouts.items())


def _figure(inside: str, name: str, kind: str = "") -> str:
    start = f'<figure class="{kind}">' if kind else "<figure>"
    return f"{start}{inside}<figcaption>{escape(PICTURES[name].caption)}</figcaption></figure>\n"


_TOP = 10
_MEANINGS = {
    "bounded_slowdown": "The slowdown of a job is its lifetime divided by its runtime; the bounded slowdown counts "
    "runtimes below 10 s as 10 s, and is at least 1.",
    "loops": "A preemption loop is a group of jobs that preempt each other again and again.",
    "jain": "Jain's index is 1 if all ClusterQueues use the same amount of quota relative to their weight, "
    "regardless of their nominal quotas and waits; it is 1/n if one of n ClusterQueues uses all quota.",
    "submission_utilisation": "Quota in use includes work that an eviction loses later.",
}
"""Explanations of metrics whose title is not enough."""
_QUOTAS = 3
"""The number of flavors and resources that the description of a simulation lists."""


def about(result: Result, policy: str = "") -> str:
    """Return what a report shows: the number of simulated jobs and ClusterQueues, the period and the nominal quota.

    Args:
        result: The result.
        policy: The name of the policy, if the report shows only one; empty for none.
    """
    queues = f"{len(result.queues):,} {plural(len(result.queues), 'ClusterQueue')}"
    text = f"Simulation of {len(result.jobs):,} {plural(len(result.jobs), 'job')} in {queues} over "
    text += f"{duration(result.seconds)} of virtual time{f' under the policy “{policy}”' if policy else ''}."
    quotas = hours(result.totals["nominal"])
    if not result.seconds or not quotas:
        return text
    means = [
        f"{amount(cell.partition('/')[2], total * 3600 / result.seconds)} of {cell}" for cell, total in quotas.items()
    ]
    more = f" and {len(means) - _QUOTAS} more" if len(means) > _QUOTAS else ""
    return f"{text} Nominal quota: {', '.join(means[:_QUOTAS])}{more}."


def next_step(problem: Problem, policy: str = "") -> str:
    """Return the largest problem and the next step, with the command of the step as code.

    Args:
        problem: The problem.
        policy: The policy that has the problem, if there are several; empty for none.
    """
    text, step = problem._replace(command="").lines(policy)
    code = f" <code>{escape(problem.command)}</code>" if problem.command else ""
    return f"<p>{escape(text)} {escape(step)}{code}</p>\n"


def queues(result: Result) -> str:
    """Return the table of ClusterQueues, in the order of the charts; of many, those with the longest total waits."""
    found = result.queues
    names = columns_shown("report queues", found.names)
    waits = np.nan_to_num(found["wait_mean"]) * found["jobs"]
    places = colours(result)
    chosen = {str(found["cluster_queue"][row]): row for row in np.argsort(-waits, kind="stable")[:MOST_ROWS].tolist()}
    rows = []
    for queue in in_order(result, chosen):
        row = chosen[queue]
        cells = [Cell(queue, group=class_of(places.get(queue, OTHERS)))]
        cells += [_value(name, found[name][row]) for name in names]
        rows.append(cells)
    head: list[str | Cell] = ["ClusterQueue", *map(metric_cell, names)]
    longest = f"The {MOST_ROWS} ClusterQueues with the longest total waits, " if len(found) > MOST_ROWS else ""
    caption = f"{longest}{'in' if longest else 'In'} the order of the charts: the most requested work first."
    return table(head, rows, caption, total=len(found))


def explained(names: Iterable[str]) -> str:
    """Return explanations of the metrics with these names."""
    shown = {name.partition(" ")[0] for name in names}
    return paragraph(" ".join(text for name, text in _MEANINGS.items() if name in shown), "kq-quiet")


def metrics(values: Mapping[str, Mapping[str, float]], interval: Callable[[str], str] | None = None) -> str:
    """Return tables of all metrics in groups.

    Args:
        values: The values by title of the column, such as a policy, and by metric.
        interval: A function that returns the confidence interval of a metric, for a further column; optional.
    """
    names = dict.fromkeys(name for column in values.values() for name in column)
    head = ("Metric", *values, *(("95% interval",) if interval else ()))
    found = ""
    for group, own in grouped(names).items():
        rows = [
            (
                Cell(label_of(name.partition(" ")[0]), note=name),
                *(Cell(figure_text(name, column.get(name)), column.get(name)) for column in values.values()),
                *((interval(name),) if interval else ()),
            )
            for name in own
        ]
        found += f"<h3>{group}</h3>\n{table(head, rows)}"
    return found


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
    places = colours(result)
    most = np.argsort(-found["count"], kind="stable")[:MOST_ROWS].tolist()
    pairs = [{name: found[name][place] for name in found.names} for place in most]
    order = in_order(result, {row[side] or "" for row in pairs for side in ("victim", "preemptor")})
    pairs.sort(key=lambda row: [order.index(row[side] or "") for side in ("victim", "preemptor")])
    for row in pairs:
        texts = [
            Cell(row[side] or "—", group=class_of(places.get(row[side] or "", OTHERS)) if row[side] else "")
            for side in ("victim", "preemptor")
        ]
        texts.append(Cell(str(row["rule"] or "—")))
        rest = [name for name in found.names if name not in ("victim", "preemptor", "rule")]
        counts = [
            Cell(f"{int(row[name]):,}" if name == "count" else figure_text(name, row[name]), row[name]) for name in rest
        ]
        rows.append([*texts, *counts])
    head: list[str | Cell] = ["ClusterQueue of the victim", "ClusterQueue of the preemptor", "Rule"]
    head += ["Evictions" if name == "count" else metric_cell(name) for name in found.names[3:]]
    longest = np.argsort(-jobs["evictions"].astype(np.int64), kind="stable")[:_TOP].tolist()
    worst = [
        (
            result.name_of(row),
            Cell(queue := jobs["cluster_queue"][row] or "—", group=class_of(places.get(queue, OTHERS))),
            Cell(f"{int(jobs['evictions'][row]):,}", int(jobs["evictions"][row])),
            *(Cell(duration(float(jobs[name][row])), float(jobs[name][row])) for name in ("lost", "waited")),
        )
        for row in longest
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
    rows.append(("Versions", *[f"{describe()}; NumPy {np.__version__}"] * len(given)))
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
