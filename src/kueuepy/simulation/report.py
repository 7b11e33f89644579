"""Reports of one or several simulations as self-contained HTML files that are readable without JavaScript."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import KueueError, StateError
from kueuepy.errors.arguments import checked
from kueuepy.errors.words import counted, verb
from kueuepy.simulation.catalogue import columns_shown, figure_text, unit_of
from kueuepy.simulation.comparison import Comparison
from kueuepy.simulation.pictures.catalogue import PICTURES, drawn_alike, drawn_if_recorded, pictures_in
from kueuepy.simulation.text import span_text
from kueuepy.version import describe

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from kueuepy.simulation.pictures.catalogue import PictureName
    from kueuepy.simulation.pictures.svg import Picture
    from kueuepy.simulation.result import Result
    from kueuepy.tables import Columns

_TOP = 10
_TWO = 2
_MOST_ROWS = 200
_FIRST = 20
_STYLE = """
:root { color-scheme: light dark; --line: #8885; --soft: #8881; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2.2rem; border-bottom: 1px solid var(--line) }
table { border-collapse: collapse; margin: .6rem 0; font-variant-numeric: tabular-nums }
th, td { padding: .15rem .7rem .15rem 0; text-align: left; vertical-align: top }
td.n, th.n { text-align: right } tbody tr:hover { background: var(--soft) } th[data-sorts] { cursor: pointer }
figure { margin: 1rem 0; overflow-x: auto } figcaption { opacity: .75; font-size: .9rem }
figure svg { max-width: 100%; height: auto }
.warning { border-left: 4px solid #d55e00; background: var(--soft); padding: .3rem .8rem; margin: .4rem 0 }
details pre { overflow-x: auto; white-space: pre-wrap } .scroll { overflow-x: auto }
@media (prefers-color-scheme: dark) { body { background: #14161a; color: #d8dade } }
"""
_SCRIPT = """
for (const head of document.querySelectorAll("table[data-sortable] th")) {
  head.setAttribute("data-sorts", "");
  head.title = "sort";
  head.addEventListener("click", () => {
    const body = head.closest("table").tBodies[0], place = head.cellIndex;
    const down = head.dataset.sorts === "up" ? -1 : 1;
    head.dataset.sorts = down === 1 ? "up" : "down";
    const value = (row) => {
      const cell = row.cells[place];
      return cell.dataset.v === undefined ? cell.textContent : +cell.dataset.v;
    };
    const order = (a, b) => { const x = value(a), y = value(b); return down * (x < y ? -1 : x > y ? 1 : 0); };
    body.append(...[...body.rows].sort(order));
  });
}
"""


@checked
def report(results: Result | Comparison | Mapping[str, Result], path: str | os.PathLike[str], title: str = "") -> None:
    """Write a report of one simulation, or a comparison of several, as one HTML file without external resources.

    The report of a simulation has its settings and warnings, metrics with 95 % confidence intervals, charts of usage
    and waiting, evictions by queue with the lost work, and the jobs still pending with the reason. A comparison also
    lists the decisions that differ between the first and the last simulation, and the jobs that wait longer in the
    last.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, simulate
    >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 1}}))
    >>> result = simulate(cluster, [{"queue": "team", "submit": 0, "runtime": "1h", "cpu": 1}])
    >>> report(result, "/dev/null")

    Args:
        results: A result of `simulate`, `compare` or `load_result`; or several results by name, which are compared.
        path: The file to write.
        title: Title of the report; by default "Simulation report" or "Policy comparison".

    Raises:
        OSError: The file cannot be written.
    """
    results = Comparison(results) if isinstance(results, Mapping) else results
    body = compared(results) if isinstance(results, Comparison) else single(results)
    head = escape(title or ("Policy comparison" if isinstance(results, Comparison) else "Simulation report"))
    Path(path).write_text(
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{head}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n'
        f"<body><h1>{head}</h1>\n{body}<p><small>{escape(describe())}</small></p><script>{_SCRIPT}</script></body></html>\n",
        encoding="utf-8",
    )


def single(result: Result) -> str:
    """Return the body of the report of one simulation."""
    return "".join(
        [
            _warnings(result.warnings),
            _section("Settings", _settings(result)),
            _section("Metrics", _figures(result)),
            _section("Usage and waiting times", _pictures(result, *pictures_in("report")) + _queues(result)),
            _section("Preemption", _preemption(result)),
            _section("Pending jobs", _waiting(result)),
        ]
    )


def compared(found: Comparison) -> str:
    """Return the body of a comparison: the differences of the first and the last policy, then each policy."""
    names = found.names
    hurt = [
        (change.workload, span_text(change.before.waited), span_text(change.after.waited))
        for change in found.most_delayed(_FIRST)
    ]
    moves = [(span_text(c.seconds), c.workload, _words(c.before), _words(c.after)) for c in found.decisions[:_FIRST]]
    first, last = names[0], names[-1]
    moved = counted(len(found.decisions), "decision")
    parts = [
        _warnings(f"{name}: {text}" for name, result in found.results.items() for text in result.warnings),
        _section("Metrics by policy", _table(("metric", *names), found.figures()) + _differences(found)),
        _section(
            f"First decisions that differ{_against(names)} ({moved} {verb(len(found.decisions), 'differ')})",
            _table(("time", "job", first, last), moves) if moves else "<p>All decisions are the same.</p>",
        ),
        _section(
            f"Jobs that wait longer under {last}{f' than under {first}' if len(names) > _TWO else ''}",
            _table(("job", f"waited, {first}", f"waited, {last}"), hurt) if hurt else "<p>No jobs.</p>",
        ),
    ]
    pictures = _alike(list(found.results.values()), *pictures_in("comparison"))
    for (name, result), shown in zip(found.results.items(), pictures, strict=True):
        parts.append(_section(f"{name}", shown + _pictures(result, "preemptions") + _queues(result)))
    return "".join(parts)


def _alike(results: list[Result], *names: PictureName) -> list[str]:
    """Return the charts of each result; charts of the same name have the same axes."""
    found = [""] * len(results)
    for name in names:
        try:
            pictures = drawn_alike(results, name)
        except StateError:  # one of them has not recorded it
            found = [text + _pictures(result, name) for text, result in zip(found, results, strict=True)]
            continue
        found = [text + _figure(name, picture) for text, picture in zip(found, pictures, strict=True)]
    return found


def _against(names: Sequence[str]) -> str:
    """Return a note that names the two policies compared; an empty text if there are only two."""
    return f" from {names[0]} to {names[-1]}" if len(names) > _TWO else ""


def _differences(found: Comparison) -> str:
    rows = []
    if len(found.names) < _TWO:
        return ""
    try:
        table = found.differences()
    except KueueError as error:
        return f"<p>{escape(str(error))}</p>"
    for row in table.rows():
        first, second, apart, low, high = (
            figure_text(row["metric"], row[n]) for n in ("first", "second", "difference", "low", "high")
        )
        between = "" if row["low"] != row["low"] else f"{low} to {high}"
        rows.append((row["policy"], row["metric"], row["jobs"], first, second, apart, between))
    head = ("policy", "metric", "jobs", f"mean, {found.names[0]}", "mean, policy", "difference", "95 % interval")
    caption = "<p>Paired differences: means over the jobs. Intervals need at least 640 jobs.</p>"
    return caption + _table(head, rows)


def _words(moves: Iterable[Any]) -> str:
    return ", ".join(map(str, moves)) or "—"


def _section(title: str, inside: str) -> str:
    return f"<section><h2>{escape(title)}</h2>\n{inside}</section>\n"


def _warnings(texts: Iterable[str]) -> str:
    return "".join(f'<p class="warning">{escape(text)}</p>\n' for text in texts)


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]], total: int | None = None) -> str:
    """Return an HTML table that the script can sort; numbers are right-aligned and keep their exact value.

    Args:
        header: The names of the columns.
        rows: The rows; the table shows the first 200.
        total: The number of rows, if `rows` contains only those that the table shows.
    """
    hidden = (len(rows) if total is None else total) - _MOST_ROWS
    numeric = [all(isinstance(row[i], int | float | tuple) for row in rows) and bool(rows) for i in range(len(header))]
    heads = "".join(
        f"<th{' class=n' * right}>{escape(str(name))}</th>" for name, right in zip(header, numeric, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row, numeric))}</tr>" for row in rows[:_MOST_ROWS])
    more = f"<p>and {hidden} more rows</p>" if hidden > 0 else ""
    table = f"<table data-sortable><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll">{table}</div>{more}'


def _cell(value: Any, right: bool) -> str:  # noqa: FBT001 - one of a row
    exact, text = value if isinstance(value, tuple) else (value, value)
    if isinstance(exact, int | float) and right:
        shown = text if isinstance(text, str) else f"{exact:,.4g}" if isinstance(exact, float) else f"{exact:,}"
        return f'<td class="n" data-v="{exact!r}">{escape(shown)}</td>'
    return f"<td>{escape(str(text))}</td>"


def _settings(result: Result) -> str:
    from kueuepy.simulation.result import plain  # noqa: PLC0415 - one function of the room

    given = plain(result.settings)
    rows = [("jobs", f"{len(result.jobs):,}"), ("virtual time", span_text(result.seconds))]
    rows += [(name, f"{count:,}") for name, count in result.stats.items() if name != "workloads"]
    rows += [(name, _plain(value)) for name, value in given.items() if name != "kind" and value not in (None, [], {})]
    notes = [(what, count) for what, count in result.notes]
    return _table(("setting", "value"), rows) + (_table(("note about the jobs", "rows"), notes) if notes else "")


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(
            f"{name} {_plain(part)}" for name, part in value.items() if name != "kind" and part is not None
        )
    if isinstance(value, list):
        return "; ".join(map(_plain, value))
    return str(value)


def _figures(result: Result) -> str:
    rows = []
    for name, value in result.kpis.rows():
        try:
            low, high, doubt = result.kpis._interval(name)  # noqa: SLF001 - of one room
            between = f"{figure_text(name, low)} to {figure_text(name, high)}" + " (may be too narrow)" * bool(doubt)
        except KueueError:
            between = ""
        rows.append((name, (value, figure_text(name, value)), between))
    caption = (
        "<p>The intervals are 95 % confidence intervals from 32 batches of the run. Maxima, and metrics of too few "
        "jobs, have none. In a short run, an interval may be too narrow, because waiting times are correlated.</p>"
    )
    return caption + _table(("metric", "value", "95 % interval"), rows)


def _pictures(result: Result, *names: PictureName) -> str:
    return "".join(_figure(name, picture) for name, picture in drawn_if_recorded(result, names).items())


def _figure(name: PictureName, picture: Picture) -> str:
    return f"<figure>{picture.svg}<figcaption>{escape(PICTURES[name].caption)}</figcaption></figure>\n"


def _queues(result: Result) -> str:
    table = result.queues
    names = ["cluster_queue", *columns_shown("report queues", table.names)]
    return _table(names, _rows(table, names), len(table))


def _rows(table: Columns, names: Sequence[str]) -> list[list[Any]]:
    """Return the rows of a table that a report shows."""
    columns = [(table[name], unit_of(name) in ("span", "part"), name) for name in names]
    shown = range(min(len(table), _MOST_ROWS))
    return [[_valued(column[row], name, as_text) for column, as_text, name in columns] for row in shown]


def _valued(value: Any, name: str, as_text: bool) -> Any:  # noqa: FBT001 - one of a column
    if isinstance(value, str) or value is None:
        return value or ""
    number = value.item()
    return (number, figure_text(name, number)) if as_text else number


def _preemption(result: Result) -> str:
    if not result.kpis.evictions:
        return "<p>No jobs were evicted.</p>"
    table = result.preemptions
    jobs = result.jobs
    evictions = jobs["evictions"]
    most = np.argsort(-evictions.astype(np.int64), kind="stable")[:_TOP].tolist()
    worst = [
        (result.name_of(row), jobs["cluster_queue"][row] or "", int(evictions[row]), *_lost(result, row))
        for row in most
        if evictions[row]
    ]
    return (
        _pictures(result, "preemptions")
        + _table(table.names, _rows(table, table.names), len(table))
        + "<p>Jobs with most evictions:</p>"
        + _table(("job", "ClusterQueue", "evictions", "lost", "waited"), worst)
    )


def _lost(result: Result, row: int) -> list[tuple[float, str]]:
    values = [float(result.jobs[name][row]) for name in ("lost", "waited")]
    return [(value, span_text(value)) for value in values]


def _waiting(result: Result) -> str:
    waiting = result.waiting
    if not waiting:
        return "<p>No jobs are pending at the end.</p>"
    rows = [(job.job, job.cluster_queue, (job.waited, span_text(job.waited)), job.reason) for job in waiting]
    details = "".join(
        f"<details><summary>{escape(job.job)}</summary><pre>{escape(job.explanation)}</pre></details>"
        for job in waiting
        if job.explanation
    )
    return _table(("job", "ClusterQueue", "waited", "reason"), rows) + details
