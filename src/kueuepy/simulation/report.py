"""Reports of one or more simulations as self-contained HTML files, which are readable without JavaScript."""

import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import islice
from typing import Any

from kueuepy.errors import InvalidSpecError, checked, counted
from kueuepy.files import write_file
from kueuepy.look.colours import OTHERS, class_of
from kueuepy.look.escapes import escape
from kueuepy.look.numbers import busiest, duration, hours, share
from kueuepy.look.page import document
from kueuepy.simulation.catalogue import SHOWN, figure_text, label_of, part_text
from kueuepy.simulation.changes import decisions_of
from kueuepy.simulation.comparison import Comparison
from kueuepy.simulation.confidence import Effect, Effects, different_decisions, intervals
from kueuepy.simulation.figures import Kpis
from kueuepy.simulation.intervals import jobs_needed
from kueuepy.simulation.pages import parts, words
from kueuepy.simulation.pictures.catalogue import colours, in_order, pictures_in
from kueuepy.simulation.result import Result

# The style sheet of a report, and the script that sorts its tables.
_BESIDE = ("report.css", "report.js")
# What a report of one policy does not answer.
_ONE = "kueuepy compare and the report of several results show whether another policy is better."


def _of_run(result: Result, command: str) -> str:
    """Return the body of the report, which begins with the result in sentences and ends with details and settings."""
    drawn = parts.charts(result, pictures_in("report"))
    return "".join(
        [
            parts.paragraph(f"{parts.about(result, result.policy)} {_ONE}", "kq-quiet"),
            parts.paragraph(words.of_run(result), "kq-lead"),
            parts.next_step(words.problem(result)),
            parts.cards(_run_cards(result.kpis)),
            parts.warnings(result.warnings),
            parts.section("Usage and waiting", drawn, long=True) if drawn else "",
            parts.section("ClusterQueues", parts.queues(result), long=True),
            parts.section(
                "Evictions", parts.evictions(result, parts.chart_of_each({"": result}, "preemptions")), long=True
            ),
            parts.section("Pending jobs", parts.pending(result), long=True),
            parts.section("All metrics", _run_metrics(result.kpis), long=True),
            parts.section("Settings and provenance", parts.settings({"": result}, command)),
        ]
    )


def _run_cards(kpis: Kpis) -> list[tuple[str, str, str]]:
    """Return the five most important metrics: the name, the value, and the confidence interval or a remark."""

    def between(name: str) -> str:
        found = words.interval(kpis, name)
        least = jobs_needed(name)
        return f"{words.CONFIDENCE} {found}" if found else f"no interval: needs at least {least:,} jobs"

    pair = busiest(kpis.utilisation)
    found = [
        ("Mean wait", duration(kpis.wait_mean), between("wait_mean")),
        ("95th percentile of the wait", duration(kpis.wait_p95), between("wait_p95")),
    ]
    if pair:
        resource, used = pair.partition("/")[2], kpis.used_hours.get(pair, 0.0)
        lost = kpis.lost_hours.get(pair, 0.0)
        in_use = kpis.submission_utilisation.get(pair)
        found += [
            ("Quota in use", share(in_use), f"{pair}, while jobs arrive"),
            ("Work lost by evictions", hours(resource, lost), f"{part_text(lost, used)} of the used hours"),
        ]
    rest = kpis.jobs - kpis.finished
    note = "all jobs finished" if not rest else f"{rest:,} of {kpis.jobs:,} jobs did not finish"
    return [*found, ("Evictions", f"{kpis.evictions:,}", note)]


_INTERVALS = (
    "The intervals are 95% confidence intervals from 32 batches of the run. Maxima have none, nor have means of "
    "fewer than 640 jobs or 95th percentiles of fewer than 2,000 jobs. In a short run, an interval may be too "
    "narrow, because waiting times are correlated. The small "
    "letters are the names of the metrics in Python."
)


def _run_metrics(kpis: Kpis) -> str:
    """Return all metrics in groups, with confidence intervals."""
    values = dict(kpis.rows())
    shown = parts.metrics({"Value": values}, lambda name: words.interval(kpis, name))
    return parts.paragraph(_INTERVALS, "kq-quiet") + shown + parts.explained(values)


_TWO = 2
_FIRST = 20
# The number of other policies in a card.
_IN_CARD = 3


def _of_policies(found: Comparison, command: str) -> str:
    """Return the body of the report, which begins with the result in sentences and ends with details and settings."""
    results = found.results
    drawn = "".join(parts.chart_of_each(results, name) for name in pictures_in("comparison"))
    return "".join(
        [
            *_head(found),
            parts.warnings(words.warnings_of_all(results, tail=True)),
            parts.section("Policies side by side", _side_by_side(found), long=True),
            *_gains(found),
            parts.section("Usage and waiting", drawn, long=True) if drawn else "",
            parts.section("Evictions", _of_each(results, parts.evictions), long=True),
            parts.section("Pending jobs", _of_each(results, parts.pending), long=True),
            _decisions(found),
            parts.section("All metrics", parts.metrics(_values(found)), long=True),
            parts.section("Settings and provenance", parts.settings(results, command)),
        ]
    )


def _head(found: Comparison) -> list[str]:
    """Return the headline, the largest problem, and the cards with the main metrics."""
    best, advice = words.recommended(found.results)
    lead = words.of_results(found.results)
    texts = [
        parts.paragraph(parts.about(found.before), "kq-quiet"),
        parts.paragraph(f"{lead[0]} {advice}" if lead else advice, "kq-lead"),
    ]
    texts += map(parts.paragraph, lead[1:])
    texts.append(parts.next_step(words.problem(found[best]), best))
    return [*texts, parts.paragraph(f"The cards show “{best}”:", "kq-quiet"), parts.cards(_policy_cards(found, best))]


def _policy_cards(found: Comparison, best: str) -> list[tuple[str, str, str]]:
    """Return the five most important metrics of the recommended policy, each with the values of the others."""
    pair = busiest(found[best].kpis.utilisation)
    names = ["wait_mean", "wait_p95", *([f"submission_utilisation {pair}", f"lost_hours {pair}"] if pair else [])]
    values = _values(found)
    others = [policy for policy in found.names if policy != best][:_IN_CARD]
    items = []
    for name in [*names, "evictions"]:
        texts = {policy: figure_text(name, values[policy].get(name, 0)) for policy in (best, *others)}
        note = "; ".join(f"{texts[policy]} under “{policy}”" for policy in others)
        items.append((label_of(name.partition(" ")[0]), texts[best], note))
    return items


def _side_by_side(found: Comparison) -> str:
    """Return the main metrics of all policies, with the paired differences from the first policy."""
    values = _values(found)
    names = dict.fromkeys(name for one in values.values() for name in one)
    rows = []
    paired, is_cut = intervals(found.results), any(map(words.blocked, found.results.values()))
    chosen = [name for own in SHOWN["policies"] for name in names if name.partition(" ")[0] == own]
    first, *others = found.names
    for name in chosen:
        base = values[first].get(name, 0)
        row = [parts.metric_cell(name), parts.value_cell(name, base)]
        for other in others:
            value = values[other].get(name, 0)
            row.append(parts.value_cell(name, value))
            row.append(_change(name, base, value, paired.get((other, name)), is_cut=is_cut))
        rows.append(row)
    head = ["Metric", first]
    for other in others:
        head += [other, f"{other}: difference from {first}"]
    caption = (
        "Differences of means are paired: all policies run the same jobs. The second line is the 95% confidence "
        "interval of a difference. A difference is bold and certain if its interval excludes 0, and unclear if it "
        "contains 0. Only means of at least 640 jobs have an interval; percentiles, maxima and totals have none, so "
        "their differences may be due to chance."
    )
    return parts.paragraph(caption, "kq-quiet") + parts.table(head, rows) + parts.explained(names)


def _values(found: Comparison) -> dict[str, dict[str, float]]:
    """Return the value of each metric, by policy and metric."""
    return {policy: dict(kpis.rows()) for policy, kpis in found.kpis.items()}


def _change(
    name: str, base: float, value: float, between: tuple[float, float] | None, *, is_cut: bool = False
) -> parts.Cell:
    """Return a cell that shows a difference, its confidence interval, and whether the difference is an improvement."""
    found = words.verdict(name, base, value, between, is_cut=is_cut)
    return parts.Cell(str(found), value - base, found.interval, found.is_clear)


def _gains(found: Comparison) -> list[str]:
    """Return the ClusterQueues whose waits each policy shortens or lengthens, and the jobs whose waits change most."""
    first, *others = found.names
    sections: list[str] = []
    for other in others:
        try:
            effects = Effects(found[first], found[other])
        except InvalidSpecError:
            continue
        less, longer = effects.numbers()
        of_queues, number = effects.of_queues(parts.MOST_ROWS)
        total = effects.of_all().jobs
        text = f"{less:,} of {total:,} jobs wait less under “{other}” than under “{first}”, and {longer:,} wait longer."
        text += f" The waits of {total - less - longer:,} jobs do not change."
        inside = parts.paragraph(text) + _queues((found[first], found[other]), (first, other), of_queues, number)
        lists = []
        for more in (False, True):
            # Of several policies, only the last has the full list; the report stays short.
            rows = effects.rows(_FIRST if other == others[-1] else _FIRST // 2, longer=more)
            jobs = _jobs((found[first], found[other]), (first, other), rows)
            title = f"{counted(len(rows), 'job')} with the largest {'increase' if more else 'decrease'} under {other}"
            lists.append(f"<div><h3>{escape(title)}</h3>{jobs}</div>")
        inside += parts.beside(*lists)
        sections.append(parts.section(f"ClusterQueues and jobs that gain or lose under {other}", inside, long=True))
    return sections


def _queues(runs: tuple[Result, Result], names: tuple[str, str], queues: Sequence[Effect], total: int) -> str:
    indices = colours(runs[0])
    rows, is_cut = [], any(map(words.blocked, runs))
    known = {one.name: one for one in queues}
    for one in map(known.__getitem__, in_order(runs[0], known)):
        evicted, between = one.evictions[1] - one.evictions[0], (one.low, one.high) if one.has_interval else None
        rows.append(
            (
                parts.queue_cell(one.name, indices),
                parts.Cell(f"{one.jobs:,}", one.jobs),
                *(parts.value_cell("wait_mean", wait) for wait in (one.first, one.second)),
                _change("wait_mean", one.first, one.second, between, is_cut=is_cut),
                parts.Cell(f"{evicted:+,}" if evicted else "0", evicted),
            )
        )
    head = ("ClusterQueue", "Jobs", *(f"Mean wait, {name}" for name in names), "Difference", "More evictions")
    largest = f"The {len(queues)} ClusterQueues with the largest change of total waits, " if total > len(queues) else ""
    caption = f"{largest}{'in' if largest else 'In'} the order of the charts: the most requested work first. "
    caption += "An interval needs at least 640 jobs of the ClusterQueue."
    return parts.table(head, rows, caption, total=total)


def _jobs(results: tuple[Result, Result], names: tuple[str, str], rows: Iterable[int]) -> str:
    indices, queues = colours(results[0]), results[0].jobs["cluster_queue"]
    waits = [result.jobs["waited"] for result in results]
    cells = [
        (
            parts.Cell(results[0].name_of(row), group=class_of(indices.get(queues[row] or "", OTHERS))),
            *(parts.value_cell("wait_mean", waited[row]) for waited in waits),
        )
        for row in rows
    ]
    return parts.table(("Job", *names), cells) if cells else parts.paragraph("No jobs.")


def _decisions(found: Comparison) -> str:
    """Return the first decisions that differ between the first and the last policy."""
    first, last = found.names[0], found.names[-1]
    # Counted on arrays: the decisions of a large run do not fit into Python objects.
    number, until = different_decisions(found.before, found.after, 2 * _FIRST)
    title = f"First decisions that differ{f' from {first} to {last}' if len(found.names) > _TWO else ''}"
    if not number:
        return parts.section(title, parts.paragraph("All decisions are the same."))
    before, after = (decisions_of(result, until) for result in (found.before, found.after))
    rows = [
        (parts.Cell(duration(key[0]), key[0]), key[1], _moves(before.get(key)), _moves(after.get(key)))
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
    ][:_FIRST]
    counts = parts.paragraph(f"{number:,} admissions and evictions happen under one of the two policies only.")
    return parts.section(title, counts + parts.table(("Time", "Job", first, last), rows), long=True)


def _moves(moves: Iterable[Any] | None) -> str:
    return ", ".join(map(str, moves or ())) or "—"


def _of_each(results: dict[str, Result], part: Any) -> str:
    return "".join(f"<h3>{escape(name)}</h3>\n{part(result)}" for name, result in results.items())


@checked
def report(
    results: Result | Comparison | Mapping[str, Result],
    path: str | os.PathLike[str],
    title: str = "",
    command: str = "",
) -> None:
    """Write a report of one simulation, or a comparison of several, as one HTML file without external resources.

    The report begins with the result in words and five cards. Charts, tables of ClusterQueues, evictions and pending
    jobs follow, then all metrics with 95 % confidence intervals, the settings, and how to repeat the simulation. The
    report of a comparison shows the policies side by side, and lists the ClusterQueues and jobs whose waits change. All
    charts and tables use the same colour for the same ClusterQueue.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, simulate
    >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 1}}))
    >>> result = simulate(cluster, [{"queue": "team", "submit": 0, "runtime": "1h", "cpu": 1}])
    >>> report(result, "/dev/null")

    Args:
        results: A result of `simulate`, `compare` or `load_result`, or a mapping from names to several results, which
            are compared.
        path: The file to write.
        title: Title of the report; by default "Simulation report" or "Policy comparison".
        command: The command that repeats the simulation, to be shown in the report. By default, the report shows the
            Python call that repeats the simulation.

    Raises:
        StateError: The file cannot be written.
    """
    results = Comparison(results) if isinstance(results, Mapping) else results
    # A comparison of one policy has nothing to compare.
    if isinstance(results, Comparison) and len(results.names) == 1:
        results = next(islice(results.results.values(), 1))
    is_comparison = isinstance(results, Comparison)
    body = _of_policies(results, command) if isinstance(results, Comparison) else _of_run(results, command)
    head = title or ("Policy comparison" if is_comparison else "Simulation report")
    inside = f"<main>\n<h1>{escape(head)}</h1>\n{body}</main>"
    style, script = (f"\n{files('kueuepy.simulation.pages').joinpath(name).read_text('utf-8')}" for name in _BESIDE)
    write_file(path, document(head, inside, extra_style=style, script=script))
