"""A run, or two of them, as one HTML file that a team can pass round: no script is needed to read it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kueuepy.errors import KueueError, StateError
from kueuepy.errors.arguments import checked
from kueuepy.errors.words import counted, verb
from kueuepy.simulation.catalogue import figure_text, unit_of
from kueuepy.simulation.comparison import Comparison
from kueuepy.simulation.pictures.svg import drawn_alike
from kueuepy.simulation.text import span_text
from kueuepy.version import describe

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from kueuepy.simulation.picture import Picture
    from kueuepy.simulation.pictures.svg import PictureName
    from kueuepy.simulation.result import Result
    from kueuepy.tables import Columns

_TOP = 10
_TWO = 2
_MOST_ROWS = 200
_FIRST = 20
_LEGEND = {
    "usage": "Stacked by ClusterQueue; hatched is what it borrows; the line is the nominal quota.",
    "queue": "How many jobs wait, stacked by ClusterQueue.",
    "waits": "The part of jobs that waited for so long or less.",
    "preemptions": "Rows are victims, columns those for whom they had to leave.",
}
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
    """Writes a run, or two policies side by side, as one HTML file without any address of elsewhere.

    It has the question and its settings, figures with 95 % intervals, pictures of usage, waiting and waits, who evicted
    whom and what was lost, who waits and why, warnings; of two policies also what differs, and whom it hurts.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, simulate
    >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 1}}))
    >>> result = simulate(cluster, [{"queue": "team", "submit": 0, "runtime": "1h", "cpu": 1}])
    >>> report(result, "/dev/null")

    Args:
        results: What `simulate` or `compare` has given, or `load_result` has read; or several results by name, which
            are set side by side as those of `compare` are.
        path: The file.
        title: What stands above; a plain one without.

    Raises:
        OSError: The file cannot be written.
    """
    results = Comparison(results) if isinstance(results, Mapping) else results
    body = compared(results) if isinstance(results, Comparison) else single(results)
    head = escape(title or ("Policies side by side" if isinstance(results, Comparison) else "What became of the jobs"))
    Path(path).write_text(
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{head}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n'
        f"<body><h1>{head}</h1>\n{body}<p><small>{escape(describe())}</small></p><script>{_SCRIPT}</script></body></html>\n",
        encoding="utf-8",
    )


def single(result: Result) -> str:
    """All that there is to say of one run."""
    return "".join(
        [
            _warnings(result.warnings),
            _section("Question and settings", _settings(result)),
            _section("Figures", _figures(result)),
            _section("Usage, waiting, waits", _pictures(result, "usage", "queue", "waits") + _queues(result)),
            _section("Preemption", _preemption(result)),
            _section("Who waits, and why", _waiting(result)),
        ]
    )


def compared(found: Comparison) -> str:
    """What two policies, the first and the last, do otherwise; then each of them."""
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
        _section("Figures side by side", _table(("figure", *names), found.figures()) + _differences(found)),
        _section(
            f"What changes first{_against(names)} ({moved} {verb(len(found.decisions), 'differ')})",
            _table(("when", "job", first, last), moves) if moves else "<p>All decisions are the same.</p>",
        ),
        _section(
            f"Who waits longer under {last}{f' than under {first}' if len(names) > _TWO else ''}",
            _table(("job", f"waited, {first}", f"waited, {last}"), hurt) if hurt else "<p>Nobody.</p>",
        ),
    ]
    pictures = _alike(list(found.results.values()), "usage", "queue", "waits")
    for (name, result), shown in zip(found.results.items(), pictures, strict=True):
        parts.append(_section(f"{name}", shown + _pictures(result, "preemptions") + _queues(result)))
    return "".join(parts)


def _alike(results: list[Result], *names: PictureName) -> list[str]:
    """Return pictures of each result; one of the same name has the same axes in all of them."""
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
    """Say which two of several policies are compared."""
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
            figure_text(row["figure"], row[n]) for n in ("first", "second", "difference", "low", "high")
        )
        between = "" if row["low"] != row["low"] else f"{low} to {high}"
        rows.append((row["policy"], row["figure"], row["jobs"], first, second, apart, between))
    head = ("policy", "figure", "jobs", f"under {found.names[0]}", "under the policy", "difference", "95 % interval")
    caption = "<p>Differences, job by job: the mean over the jobs. Fewer than 640 jobs have no interval.</p>"
    return caption + _table(head, rows)


def _words(moves: Iterable[Any]) -> str:
    return ", ".join(map(str, moves)) or "—"


def _section(title: str, inside: str) -> str:
    return f"<section><h2>{escape(title)}</h2>\n{inside}</section>\n"


def _warnings(texts: Iterable[str]) -> str:
    return "".join(f'<p class="warning">{escape(text)}</p>\n' for text in texts)


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table that its script sorts; numbers stand right, and keep their value beside what is shown."""
    numeric = [all(isinstance(row[i], int | float | tuple) for row in rows) and bool(rows) for i in range(len(header))]
    heads = "".join(
        f"<th{' class=n' * right}>{escape(str(name))}</th>" for name, right in zip(header, numeric, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row, numeric))}</tr>" for row in rows[:_MOST_ROWS])
    more = f"<p>and {len(rows) - _MOST_ROWS} more</p>" if len(rows) > _MOST_ROWS else ""
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
    rows = [("jobs", f"{len(result.jobs):,}"), ("time that passes", span_text(result.seconds))]
    rows += [(name, f"{count:,}") for name, count in result.stats.items() if name != "workloads"]
    rows += [(name, _plain(value)) for name, value in given.items() if name != "kind" and value not in (None, [], {})]
    notes = [(what, count) for what, count in result.notes]
    return _table(("what", "value"), rows) + (_table(("of the jobs", "rows"), notes) if notes else "")


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
        "<p>The intervals are 95 % intervals from 32 batches of the run. Maxima and figures of too few jobs have none. "
        "An interval may be too narrow where the run is short beside the time for which waits depend on each other.</p>"
    )
    return caption + _table(("figure", "value", "interval"), rows)


def _pictures(result: Result, *names: Any) -> str:
    found = []
    for name in names:
        try:
            picture = result.picture(name)
        except StateError:
            continue
        found.append(_figure(name, picture))
    return "".join(found)


def _figure(name: str, picture: Picture) -> str:
    return f"<figure>{picture.svg}<figcaption>{escape(_LEGEND[name])}</figcaption></figure>\n"


def _queues(result: Result) -> str:
    shown = ("cluster_queue", "jobs", "finished", "wait_mean", "wait_p95", "longest_wait", "waiting_max", "evictions")
    table = result.queues
    names = [*shown, *(name for name in table.names if name.startswith(("utilisation ", "borrowed_hours ")))]
    return _table(names, [[_valued(table, name, row) for name in names] for row in range(len(table))])


def _valued(table: Columns, name: str, row: int) -> Any:
    value = table[name][row]
    if isinstance(value, str) or value is None:
        return value or ""
    number = value.item()
    return (number, figure_text(name, number)) if unit_of(name) in ("span", "part") else number


def _preemption(result: Result) -> str:
    if not result.kpis.evictions:
        return "<p>Nobody was evicted.</p>"
    table = result.preemptions
    rows = [[_valued(table, name, row) for name in table.names] for row in range(len(table))]
    jobs = result.jobs
    most = sorted(range(len(jobs)), key=lambda row: (-int(jobs["evictions"][row]), row))[:_TOP]
    worst = [
        (result.name_of(row), jobs["cluster_queue"][row] or "", int(jobs["evictions"][row]), *_lost(result, row))
        for row in most
        if jobs["evictions"][row]
    ]
    return (
        _pictures(result, "preemptions")
        + _table(table.names, rows)
        + "<p>The jobs that were evicted most often:</p>"
        + _table(("job", "ClusterQueue", "evictions", "lost", "waited"), worst)
    )


def _lost(result: Result, row: int) -> list[tuple[float, str]]:
    values = [float(result.jobs[name][row]) for name in ("lost", "waited")]
    return [(value, span_text(value)) for value in values]


def _waiting(result: Result) -> str:
    waiting = result.waiting
    if not waiting:
        return "<p>Nobody waits at the end.</p>"
    rows = [(job.job, job.cluster_queue, (job.waited, span_text(job.waited)), job.reason) for job in waiting]
    details = "".join(
        f"<details><summary>{escape(job.job)}</summary><pre>{escape(job.explanation)}</pre></details>"
        for job in waiting
        if job.explanation
    )
    return _table(("job", "ClusterQueue", "waited", "reason"), rows) + details
