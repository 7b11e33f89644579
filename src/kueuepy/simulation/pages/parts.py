"""Sections that the report of one simulation and the report of a comparison share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from kueuepy.errors import StateError, first_of, plural
from kueuepy.look.chart import Chart
from kueuepy.look.colours import OTHERS, class_of
from kueuepy.look.escapes import escape
from kueuepy.look.numbers import amount, duration
from kueuepy.look.svg import FULL, HALF, NARROW, Layout, for_page
from kueuepy.profiles.version import describe, installed
from kueuepy.simulation.catalogue import columns_shown, figure_text, grouped, label_of
from kueuepy.simulation.figures import hours
from kueuepy.simulation.pages.words import Problem
from kueuepy.simulation.pictures.catalogue import PICTURES, colours, data_alike, in_order
from kueuepy.simulation.recorded import plain
from kueuepy.simulation.result import Result

# The number of characters up to which a cell stays in one line.
_SHORT = 20
MOST_ROWS = 50
"""The number of rows of a table that a report shows."""


class Cell(NamedTuple):
    """A cell of a table.

    Attributes:
        text: The text.
        value: The exact number, by which the table is sorted; `None` for a string.
        note: A second line in a smaller font.
        certain: Whether the value is a difference whose confidence interval excludes 0, which is shown in bold.
        group: The CSS class for the colour of a queue; empty if the cell has no colour.
    """

    text: str
    value: float | None = None
    note: str = ""
    certain: bool = False
    group: str = ""


def table(
    header: Sequence[str | Cell], rows: Iterable[Sequence[Any]], caption: str = "", *, total: int | None = None
) -> str:
    """Return a table that the page's script can sort; columns of numbers are right-aligned.

    On a narrow screen, each row becomes a block in which each value follows the title of its column.

    Args:
        header: The titles of the columns, with a note if they are `Cell` objects; the first column identifies the row.
        rows: The rows, whose items are `Cell` objects or strings; the table shows the first 50 rows.
        caption: The caption, which describes what the table shows.
        total: The total number of rows, if `rows` contains only the rows to show.
    """
    kept = [[one if isinstance(one, Cell) else Cell(str(one)) for one in row] for row in rows]
    hidden = (len(kept) if total is None else total) - min(len(kept), MOST_ROWS)
    kept = kept[:MOST_ROWS]
    # A column of numbers only is aligned by its last digit.
    right = [bool(kept) and all(row[index].value is not None for row in kept) for index in range(len(header))]
    heads = "".join(_head(name, side=side) for name, side in zip(header, right, strict=True))
    # On a narrow screen, each value shows the title of its column.
    labels = [" ".join(filter(None, (name.text, name.note))) if isinstance(name, Cell) else name for name in header]
    body = "".join(f"<tr>{''.join(_cells(row, right, labels))}</tr>\n" for row in kept)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    more = f'<p class="kq-quiet">and {hidden:,} more {"row" if hidden == 1 else "rows"}</p>' if hidden > 0 else ""
    inside = f"<table data-sortable>{title}<thead><tr>{heads}</tr></thead>\n<tbody>{body}</tbody></table>"
    return f'<div class="kq-scroll">{inside}</div>{more}\n'


def _head(title: str | Cell, *, side: bool) -> str:
    text, note = (title.text, title.note) if isinstance(title, Cell) else (title, "")
    small = f"<small>{escape(note)}</small>" if note else ""
    # The name of a resource may break after its slash.
    return f'<th scope="col"{" class=kq-n" * side}>{escape(text).replace("/", "/<wbr>")}{small}</th>'


def _cells(row: Sequence[Cell], right: Sequence[bool], labels: Sequence[str]) -> Iterable[str]:
    for index, (one, side, label) in enumerate(zip(row, right, labels, strict=True)):
        key = f'<span class="kq-key {one.group}"></span>' if one.group else ""
        text = f"<strong>{escape(one.text)}</strong>" if one.certain else escape(one.text)
        note = f"<small>{escape(one.note)}</small>" if one.note else ""
        value = f' data-v="{one.value}"' if one.value is not None else ""
        start = f'<td data-label="{escape(label)}"' if index else '<th scope="row"'
        kind = " class=kq-n" if side else " class=kq-short" if len(one.text) <= _SHORT else ""
        yield f"{start}{kind}{value}><span>{key}{text}{note}</span></{'td' if index else 'th'}>"


def section(title: str, inside: str, *, long: bool = False) -> str:
    """Return a section with a heading; a section that is longer than a printed page may be split."""
    kind = ' class="kq-long"' if long else ""
    return f"<section{kind}><h2>{escape(title)}</h2>\n{inside}</section>\n"


def beside(*parts: str, alone: bool = False) -> str:
    """Return parts of a page beside each other, two in a row if the page is wide enough.

    Args:
        parts: The parts, as HTML.
        alone: Whether each part has a row of its own on paper.
    """
    return f'<div class="kq-pair{" kq-alone" if alone else ""}">{"".join(parts)}</div>\n'


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of plain text, with a CSS class if one is given."""
    return f"<p{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{escape(text)}</p>\n"


def cards(items: Iterable[tuple[str, str, str]]) -> str:
    """Return cards, each with the name of a metric, its value, and a remark."""
    inside = "".join(
        f'<div class="kq-card" role="group" aria-label="{escape(name)}"><span>{escape(name)}</span>'
        f'<b>{escape(value)}</b><span class="kq-quiet">{escape(note)}</span></div>\n'
        for name, value, note in items
    )
    return f'<div class="kq-cards">{inside}</div>\n'


def warnings(texts: Iterable[str]) -> str:
    """Return the warnings, each in a box."""
    return "".join(f'<p class="kq-warning" role="note">Warning: {escape(text)}</p>\n' for text in texts)


# The layouts by the CSS class that shows a drawing only on screens of a suitable width.
_LAYOUTS = {"half": HALF, "narrow": NARROW}


def charts(result: Result, names: Iterable[str]) -> str:
    """Return the charts of a result whose data were recorded, two in a row; the first of an odd number has its own."""
    found: list[tuple[str, Chart]] = []
    for name in names:
        with suppress(StateError):
            found += ((name, shown) for shown in data_alike([result], name))
    figures = [_figure(_drawn(shown), name) for name, shown in found]
    # An odd number leaves one chart alone in a row, where it may be wider.
    if len(found) % 2:
        name, shown = found[0]
        figures[0] = _figure(_drawn(shown, {"full": FULL, **_LAYOUTS}), name, "kq-first")
    return beside(*figures) if figures else ""


def chart_of_each(results: Mapping[str, Result], name: str) -> str:
    """Return a chart of each result, with equal axes, as one figure; empty if a result has not recorded the data."""
    try:
        found = data_alike(list(results.values()), name)
    except StateError:
        return ""
    if len(found) == 1:
        return _figure(_drawn(found[0]), name)
    both = zip(results, found, strict=True)
    return _figure(beside(*(f"<div><h3>{escape(policy)}</h3>{_drawn(shown)}</div>" for policy, shown in both)), name)


def _drawn(shown: Chart, layouts: Mapping[str, Layout] = _LAYOUTS) -> str:
    return "".join(f'<div class="kq-{name}">{for_page(shown, layout)}</div>' for name, layout in layouts.items())


def _figure(inside: str, name: str, kind: str = "") -> str:
    start = f'<figure class="{kind}">' if kind else "<figure>"
    return f"{start}{inside}<figcaption>{escape(PICTURES[name].caption)}</figcaption></figure>\n"


_TOP = 10
# Explanations of metrics whose title is not enough.
_MEANINGS = {
    "bounded_slowdown": "The slowdown of a job is its lifetime divided by its runtime; the bounded slowdown counts "
    "runtimes below 10 s as 10 s, and is at least 1.",
    "loops": "A preemption loop is a group of jobs that preempt each other again and again.",
    "jain": "Jain's index is 1 if all ClusterQueues use the same amount of quota relative to their weight, "
    "regardless of their nominal quotas and waits; it is 1/n if one of n ClusterQueues uses all quota.",
    "submission_utilisation": "Quota in use includes work that an eviction loses later.",
}
# The number of flavors and resources that the description of a simulation lists.
_QUOTAS = 3


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
    means = [f"{amount(pair.partition('/')[2], own * 3600 / result.seconds)} of {pair}" for pair, own in quotas.items()]
    return f"{text} Nominal quota: {first_of(means, _QUOTAS)}."


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
    indices = colours(result)
    # The total wait, not its mean: a queue of few jobs is seldom the problem.
    chosen = {str(found["cluster_queue"][row]): row for row in np.argsort(-waits, kind="stable")[:MOST_ROWS].tolist()}
    rows = [
        [queue_cell(queue, indices), *(value_cell(name, found[name][chosen[queue]]) for name in names)]
        for queue in in_order(result, chosen)
    ]
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
                *(value_cell(name, column.get(name)) for column in values.values()),
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


def value_cell(name: str, value: Any) -> Cell:
    """Return a cell with the value of a metric; the table is not sorted by a missing value."""
    # A sort key must be written as a number, which the repr of a NumPy number is not.
    number = value.item() if hasattr(value, "item") else value
    return Cell(figure_text(name, number), None if number is None or number != number else number)  # noqa: PLR0124


def queue_cell(name: str, indices: Mapping[str, int]) -> Cell:
    """Return a cell with a ClusterQueue in the colour of the charts; `places` are the indices of the colours."""
    return Cell(name or "—", group=class_of(indices.get(name, OTHERS)) if name else "")


def evictions(result: Result, drawn: str = "") -> str:
    """Return the evictions by victim and preemptor, and the jobs with the most evictions.

    Args:
        result: The result.
        drawn: A chart, beside which the jobs are listed.
    """
    if not result.kpis.evictions:
        return paragraph("No jobs were evicted.")
    found, jobs, indices = result.preemptions, result.jobs, colours(result)
    most = np.argsort(-found["count"], kind="stable")[:MOST_ROWS].tolist()
    sides = ("victim", "preemptor")
    made = [
        {name: found[name][row] for name in found.names} | {side: found[side][row] or "" for side in sides}
        for row in most
    ]
    order = in_order(result, {row[side] for row in made for side in sides})
    made.sort(key=lambda row: [order.index(row[side]) for side in sides])
    rows = [
        [
            *(queue_cell(row[side], indices) for side in sides),
            row["rule"] or "—",
            Cell(f"{row['count']:,}", row["count"]),
            *(value_cell(name, row[name]) for name in found.names[4:]),
        ]
        for row in made
    ]
    head = ["ClusterQueue of the victim", "ClusterQueue of the preemptor", "Rule", "Evictions"]
    longest = np.argsort(-jobs["evictions"].astype(np.int64), kind="stable")[:_TOP].tolist()
    worst = [
        (
            result.name_of(row),
            queue_cell(jobs["cluster_queue"][row] or "", indices),
            Cell(f"{jobs['evictions'][row]:,}", jobs["evictions"][row]),
            *(value_cell("wait_mean", jobs[name][row]) for name in ("lost", "waited")),
        )
        for row in longest
        if jobs["evictions"][row]
    ]
    named = (", ".join(loop.workloads[:_TOP]) for loop in result.loops[:_TOP])
    loops = "".join(paragraph(f"Preemption loop: {names}", "kq-warning") for names in named)
    titles = ("Job", "ClusterQueue", "Evictions", "Lost progress", "Waited")
    jobs_table = table(titles, worst, "Jobs with most evictions.")
    last = beside(drawn, f"<div>{jobs_table}</div>", alone=True) if drawn else jobs_table
    return f"{loops}{table([*head, *map(metric_cell, found.names[4:])], rows, total=len(found))}{last}"


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
    notes = [(name, what, Cell(f"{rows:,}", rows)) for name, result in results.items() for what, rows in result.notes]
    noted = table(("Policy", "Note about the jobs", "Rows"), notes) if notes else ""
    again = paragraph(f"This repeats the simulation with kueuepy {installed()}. The same inputs give the same hash.")
    text = f"{again}<pre>{escape(command or _call(results))}</pre>\n"
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
