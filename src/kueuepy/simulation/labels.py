"""Labels of metrics: the label, the group and the direction of improvement of each metric, and values with units."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from kueuepy.look.notebook import Named
from kueuepy.look.numbers import durations, share
from kueuepy.look.numbers import unit_of as unit_of_resource
from kueuepy.simulation.catalogue import FIGURES, figure_text, metric_of, unit_of

if TYPE_CHECKING:
    from collections.abc import Iterable

Group = Literal["Jobs and waiting", "Time and throughput", "Quota", "Evictions", "Fairness", "Dispatching"]


class Label(NamedTuple):
    """The label of a metric, and its group.

    Attributes:
        text: The label of the metric, in sentence case.
        group: The group of the metric in a report.
        better: Which values are better: `less`, `more`, or an empty string if neither is better.
    """

    text: str
    group: Group
    better: Literal["less", "more", ""] = ""


LABELS: dict[str, Label] = {
    "jobs": Label("Jobs submitted", "Jobs and waiting"),
    "finished": Label("Jobs finished", "Jobs and waiting", "more"),
    "wait_mean": Label("Mean wait", "Jobs and waiting", "less"),
    "wait_p50": Label("Median wait", "Jobs and waiting", "less"),
    "wait_p95": Label("95th percentile of the wait", "Jobs and waiting", "less"),
    "wait_p99": Label("99th percentile of the wait", "Jobs and waiting", "less"),
    "longest_wait": Label("Longest wait", "Jobs and waiting", "less"),
    "first_wait_mean": Label("Mean wait for the first admission", "Jobs and waiting", "less"),
    "first_wait_p50": Label("Median wait for the first admission", "Jobs and waiting", "less"),
    "first_wait_p95": Label("95th percentile of the wait for the first admission", "Jobs and waiting", "less"),
    "first_wait_p99": Label("99th percentile of the wait for the first admission", "Jobs and waiting", "less"),
    "promise_p95": Label("95th percentile of the wait within nominal quota", "Jobs and waiting", "less"),
    "waiting_mean": Label("Mean number of waiting jobs", "Jobs and waiting", "less"),
    "waiting_max": Label("Largest number of waiting jobs", "Jobs and waiting", "less"),
    "starved": Label("Starved jobs", "Jobs and waiting", "less"),
    "seconds": Label("Length of the window", "Time and throughput"),
    "makespan": Label("First submission to last end", "Time and throughput", "less"),
    "throughput": Label("Finished jobs per hour", "Time and throughput", "more"),
    "slowdown": Label("Mean slowdown (lifetime / runtime)", "Time and throughput", "less"),
    "slowdown_p95": Label("95th percentile of the slowdown", "Time and throughput", "less"),
    "bounded_slowdown": Label("Mean bounded slowdown", "Time and throughput", "less"),
    "bounded_slowdown_p95": Label("95th percentile of the bounded slowdown", "Time and throughput", "less"),
    "goodput": Label("Mean fraction of the lifetime with quota", "Time and throughput", "more"),
    "useful": Label("Mean fraction of the lifetime with progress", "Time and throughput", "more"),
    "submission_utilisation": Label("Quota in use while jobs arrive", "Quota", "more"),
    "utilisation": Label("Quota in use over the whole run", "Quota", "more"),
    "effective_utilisation": Label("Quota in use without lost work", "Quota", "more"),
    "used_hours": Label("Used quota", "Quota"),
    "borrowed_hours": Label("Borrowed quota", "Quota"),
    "lent_hours": Label("Quota lent by other queues", "Quota"),
    "borrowing_time": Label("Fraction of time with borrowed quota", "Quota"),
    "idle_while_waiting": Label("Free quota while a job waited for it", "Quota", "less"),
    "cost": Label("Cost", "Quota", "less"),
    "evictions": Label("Evictions", "Evictions", "less"),
    "evictions_max": Label("Most evictions of one job", "Evictions", "less"),
    "preemptions": Label("Preemptions", "Evictions"),
    "lost_hours": Label("Work lost by evictions", "Evictions", "less"),
    "overhead_hours": Label("Checkpoints, restores and pod starts", "Evictions", "less"),
    "wasted": Label("Fraction of the used quota without progress", "Evictions", "less"),
    "loops": Label("Preemption loops", "Evictions", "less"),
    "jain": Label("Evenness of shares (Jain, 1 is even)", "Fairness", "more"),
    "blocked_share": Label("Used / entitled quota of queues with waiting jobs", "Fairness"),
    "copies": Label("Copies on workers", "Dispatching", "less"),
    "copies_per_start": Label("Copies per start", "Dispatching", "less"),
    "wasted_reservation_hours": Label("Quota reserved by copies that did not start", "Dispatching", "less"),
    "unneeded_preemptions": Label("Preemptions for copies that did not start", "Dispatching", "less"),
    "unneeded_lost_hours": Label("Work lost by preemptions for copies that did not start", "Dispatching", "less"),
    "dispatch_wait": Label("Mean wait for a worker", "Dispatching", "less"),
    "manager_idle": Label("Manager quota of workloads that do not run", "Dispatching", "less"),
    "retries": Label("Repeated dispatches", "Dispatching", "less"),
    "won": Label("Fraction of the starts", "Dispatching"),
}
"""The metrics of `Kpis` and `FleetKpis` in words, in the order of a report."""


_PARTS = re.compile(r"^\w+|[^()\[\]]+")


def label_of(name: str) -> str:
    """Return the label of a metric; a flavor and resource, groups or conditions follow after a comma.

    >>> label_of("wait_p90(team-a)"), label_of("utilisation h100/nvidia.com/gpu")
    ('90th percentile of the wait, team-a', 'Quota in use over the whole run, h100/nvidia.com/gpu')

    Args:
        name: The name of a metric. Other names are returned unchanged.
    """
    metric = metric_of(name)
    if not metric:
        return name
    own, *rest = map(str.strip, _PARTS.findall(name))
    text = LABELS[own if own in LABELS else metric].text
    if own not in LABELS:
        text = text.replace("95th", _ordinal(int(own.rpartition("p")[2])))
    return ", ".join([text, *rest])


def _ordinal(number: int) -> str:
    """Return a number as an ordinal, such as `90th`."""
    teens = 10 <= number % 100 <= 20  # noqa: PLR2004 - 11th to 13th
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def titled(name: str) -> Named | str:
    """Return the cell of a table that names a metric: its label with the name for Python; other names are unchanged.

    >>> titled("utilisation h100/nvidia.com/gpu")
    Named(title='Quota in use over the whole run', name='utilisation h100/nvidia.com/gpu')
    """
    own = name.partition(" ")[0]
    return Named(label_of(own if own.isidentifier() else name), name) if metric_of(name) else name


def better_of(name: str) -> str:
    """Return which values of a metric are better: `less`, `more`, or an empty string if neither is better."""
    label = LABELS.get(name.partition(" ")[0])
    return label.better if label is not None else ""


def grouped(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of metrics by group, in the order in which reports show them; unknown metrics come last."""
    order = {name: place for place, name in enumerate(LABELS)}
    found: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda name: order.get(name.partition(" ")[0], len(order))):
        label = LABELS.get(name.partition(" ")[0])
        found.setdefault(label.group if label is not None else "Other", []).append(name)
    return found


def interval_text(name: str, low: float, high: float) -> str:
    """Format a confidence interval of a metric, with the unit only once; an empty string if there is no interval.

    >>> interval_text("wait_mean", 1500, 3300), interval_text("utilisation", 0.5, 0.625)
    ('25 to 55 min', '50.0% to 62.5%')
    """
    if low != low or high != high:  # noqa: PLR0124 - NaN
        return ""
    if unit_of(name) == "span":
        return durations(low, high)
    return f"{figure_text(name, float(low))} to {figure_text(name, float(high))}"


def hours_word(cell: str) -> str:
    """Return the unit of a resource multiplied by time, such as `GPU hours`.

    >>> hours_word("h100/nvidia.com/gpu")
    'GPU hours'
    """
    return f"{unit_of_resource(cell.partition('/')[2])} hours"


def part_text(value: float, whole: float) -> str:
    """Return a value as a percentage of a reference value; `0%` if the reference value is 0."""
    return share(value / whole) if whole else "0%"


assert FIGURES.keys() <= LABELS.keys(), FIGURES.keys() - LABELS.keys()
