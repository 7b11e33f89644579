"""The report of one simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy.look.numbers import duration, hours, share
from kueuepy.simulation.catalogue import figure_text, grouped, label_of, part_text
from kueuepy.simulation.intervals import jobs_needed
from kueuepy.simulation.pages import words
from kueuepy.simulation.pages.parts import (
    about,
    chart,
    charts,
    evictions,
    explained,
    next_step,
    pending,
    queues,
    settings,
)
from kueuepy.simulation.pages.tables import Cell, cards, paragraph, section, table, warnings
from kueuepy.simulation.pictures.catalogue import pictures_in

if TYPE_CHECKING:
    from kueuepy.simulation.figures import Kpis
    from kueuepy.simulation.result import Result


_ONE = "kueuepy compare and the report of several results show whether another policy is better."
"""What a report of one policy does not answer."""


def body(result: Result, command: str) -> str:
    """Return the body of the report, which begins with the result in sentences and ends with details and settings."""
    drawn = charts(result, pictures_in("report"))
    return "".join(
        [
            paragraph(f"{about(result, result.policy)} {_ONE}", "kq-quiet"),
            paragraph(words.of_run(result), "kq-lead"),
            next_step(words.problem(result)),
            cards(_cards(result.kpis)),
            warnings(result.warnings),
            section("Usage and waiting", drawn, long=True) if drawn else "",
            section("ClusterQueues", queues(result), long=True),
            section("Evictions", evictions(result, chart(result, "preemptions")), long=True),
            section("Pending jobs", pending(result), long=True),
            section("All metrics", metrics(result), long=True),
            section("Settings and provenance", settings({"": result}, command)),
        ]
    )


def _cards(kpis: Kpis) -> list[tuple[str, str, str]]:
    """Return the five most important metrics: the name, the value, and the confidence interval or a remark."""

    def between(name: str) -> str:
        found = words.interval(kpis, name)
        least = jobs_needed(name)
        return f"{words.CONFIDENCE} {found}" if found else f"no interval: needs at least {least:,} jobs"

    cell = words.busiest(kpis)
    found = [
        ("Mean wait", duration(kpis.wait_mean), between("wait_mean")),
        ("95th percentile of the wait", duration(kpis.wait_p95), between("wait_p95")),
    ]
    if cell:
        resource, used = cell.partition("/")[2], kpis.used_hours.get(cell, 0.0)
        lost = kpis.lost_hours.get(cell, 0.0)
        in_use = kpis.submission_utilisation.get(cell)
        found += [
            ("Quota in use", share(in_use), f"{cell}, while jobs arrive"),
            ("Work lost by evictions", hours(resource, lost), f"{part_text(lost, used)} of the used hours"),
        ]
    rest = kpis.jobs - kpis.finished
    note = "all jobs finished" if not rest else f"{rest:,} of {kpis.jobs:,} jobs did not finish"
    return [*found, ("Evictions", f"{kpis.evictions:,}", note)]


def metrics(result: Result) -> str:
    """Return all metrics in groups, with confidence intervals."""
    values = dict(result.kpis.rows())
    parts = []
    for group, names in grouped(values).items():
        rows = []
        for name in names:
            between = words.interval(result.kpis, name)
            rows.append(
                (
                    Cell(label_of(name.partition(" ")[0]), note=name),
                    Cell(figure_text(name, values[name]), values[name]),
                    between,
                )
            )
        parts.append(f"<h3>{group}</h3>\n{table(('Metric', 'Value', '95% interval'), rows)}")
    caption = (
        "The intervals are 95% confidence intervals from 32 batches of the run. Maxima have none, nor have means of "
        "fewer than 640 jobs or 95th percentiles of fewer than 2,000 jobs. In a short run, an interval may be too "
        "narrow, because waiting times are correlated. The small "
        "letters are the names of the metrics in Python."
    )
    return paragraph(caption, "kq-quiet") + "".join(parts) + explained(values)
