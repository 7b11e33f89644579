"""The label, the unit and the source of each metric of a run; `Kpis` documents the meaning of each metric."""

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from kueuepy.look.notebook import Named
from kueuepy.look.numbers import count, duration, durations, exact, hours, number, share
from kueuepy.look.numbers import unit_of as unit_of_resource

Unit = Literal["number", "span", "part", "hours"]
"""`number`: a plain number; `span`: seconds; `part`: a fraction; `hours`: resource-hours, such as GPU-hours."""


class Figure(NamedTuple):
    """Properties of a metric.

    Attributes:
        text: The label of the metric, in sentence case.
        better: Which values are better: `less`, `more`, or an empty string if neither is better.
        unit: The unit of the metric.
        source: The data from which the metric is computed. `jobs`: computed from individual jobs, and defined for any
            subset of the jobs; `most`: like `jobs`, but a maximum, which has no confidence interval; `count`: like
            `jobs`, but 0 for an empty subset; `time`: an integral over time, and defined for any time window; `run`:
            defined only for the whole run.
        word: What a plain number counts, such as `jobs`; otherwise an empty string.
    """

    text: str
    better: Literal["less", "more", ""] = ""
    unit: Unit = "number"
    source: Literal["jobs", "most", "count", "time", "run"] = "run"
    word: str = ""

    @property
    def of_jobs(self) -> bool:
        """Whether the metric can be computed for any subset of the jobs."""
        return self.source in ("jobs", "most", "count")


_DISPATCHING = "Dispatching"
GROUPS: dict[str, dict[str, Figure]] = {
    "Jobs and waiting": {
        "jobs": Figure("Jobs submitted", source="count", word="jobs"),
        "finished": Figure("Jobs finished", "more", source="count", word="jobs"),
        "wait_mean": Figure("Mean wait", "less", "span", "jobs"),
        "wait_p50": Figure("Median wait", "less", "span", "jobs"),
        "wait_p95": Figure("95th percentile of the wait", "less", "span", "jobs"),
        "wait_p99": Figure("99th percentile of the wait", "less", "span", "jobs"),
        "longest_wait": Figure("Longest wait", "less", "span", "most"),
        "first_wait_mean": Figure("Mean wait for the first admission", "less", "span", "jobs"),
        "first_wait_p50": Figure("Median wait for the first admission", "less", "span", "jobs"),
        "first_wait_p95": Figure("95th percentile of the wait for the first admission", "less", "span", "jobs"),
        "first_wait_p99": Figure("99th percentile of the wait for the first admission", "less", "span", "jobs"),
        "promise_p95": Figure("95th percentile of the wait within nominal quota", "less", "span"),
        "waiting_mean": Figure("Mean number of waiting jobs", "less", source="time", word="jobs"),
        "waiting_max": Figure("Largest number of waiting jobs", "less", word="jobs"),
        "starved": Figure("Starved jobs", "less", word="jobs"),
    },
    "Time and throughput": {
        "seconds": Figure("Length of the window", unit="span"),
        "makespan": Figure("First submission to last end", "less", "span"),
        "throughput": Figure("Finished jobs per hour", "more", source="time", word="jobs/h"),
        "slowdown": Figure("Mean slowdown (lifetime / runtime)", "less", source="jobs"),
        "slowdown_p95": Figure("95th percentile of the slowdown", "less", source="jobs"),
        "bounded_slowdown": Figure("Mean bounded slowdown", "less", source="jobs"),
        "bounded_slowdown_p95": Figure("95th percentile of the bounded slowdown", "less", source="jobs"),
        "goodput": Figure("Mean fraction of the lifetime with quota", unit="part", source="jobs"),
        "useful": Figure("Mean fraction of the lifetime with progress", "more", "part", "jobs"),
    },
    "Quota": {
        "submission_utilisation": Figure("Quota in use while jobs arrive", unit="part", source="time"),
        "utilisation": Figure("Quota in use over the whole run", unit="part", source="time"),
        "effective_utilisation": Figure("Quota in use without lost work", "more", "part"),
        "used_hours": Figure("Used quota", unit="hours"),
        "borrowed_hours": Figure("Borrowed quota", unit="hours"),
        "lent_hours": Figure("Quota lent by other queues", unit="hours"),
        "borrowing_time": Figure("Fraction of time with borrowed quota", unit="part"),
        "idle_while_waiting": Figure("Free quota while a job waited for it", "less", "hours"),
        "cost": Figure("Cost", "less"),
    },
    "Evictions": {
        "evictions": Figure("Evictions", "less", source="count", word="evictions"),
        "evictions_max": Figure("Most evictions of one job", "less", source="count", word="evictions"),
        "preemptions": Figure("Preemptions", word="evictions"),
        "lost_hours": Figure("Work lost by evictions", "less", "hours"),
        "overhead_hours": Figure("Checkpoints, restores and pod starts", "less", "hours"),
        "wasted": Figure("Fraction of the used quota without progress", "less", "part"),
        "loops": Figure("Preemption loops", "less"),
    },
    "Fairness": {
        "jain": Figure("Evenness of usage by queue (Jain, 1 is even)", "more", word="1/n to 1"),
        "blocked_share": Figure(
            "Used / entitled quota of queues with waiting jobs", unit="part", word="used / entitled"
        ),
    },
    _DISPATCHING: {
        "copies": Figure("Copies on workers", "less"),
        "copies_per_start": Figure("Copies per start", "less"),
        "wasted_reservation_hours": Figure("Quota reserved by copies that did not start", "less", "hours"),
        "unneeded_preemptions": Figure("Preemptions for copies that did not start", "less"),
        "unneeded_lost_hours": Figure("Work lost by preemptions for copies that did not start", "less", "hours"),
        "dispatch_wait": Figure("Mean wait for a worker", "less", "span"),
        "manager_idle": Figure("Manager quota of workloads that do not run", "less", "hours"),
        "retries": Figure("Repeated dispatches", "less"),
        "won": Figure("Fraction of the starts", unit="part"),
    },
}
"""The metrics of `Kpis` and of `FleetKpis`, which has those of dispatching, by group, in the order of a report."""
ALL_FIGURES = {name: figure for figures in GROUPS.values() for name, figure in figures.items()}
FLEET_FIGURES = GROUPS[_DISPATCHING]
"""The metrics of dispatching."""
FIGURES = {name: figure for name, figure in ALL_FIGURES.items() if name not in FLEET_FIGURES}
"""The metrics of `Kpis`."""


View = Literal["run", "policies", "sweep", "page", "run queues", "report queues", "page queues"]
SHOWN: dict[View, tuple[str, ...]] = {
    "run": (
        "jobs", "finished", "wait_mean", "wait_p50", "wait_p95", "longest_wait", "bounded_slowdown",
        "submission_utilisation", "utilisation", "lost_hours", "waiting_max", "used_hours", "borrowed_hours",
        "idle_while_waiting", "jain", "evictions", "loops",
    ),
    "policies": (
        "jobs", "finished", "wait_mean", "wait_p50", "wait_p95", "longest_wait", "bounded_slowdown", "goodput",
        "submission_utilisation", "lost_hours", "borrowed_hours", "jain", "evictions", "loops",
    ),
    "sweep": ("wait_mean", "wait_p95", "utilisation", "lost_hours", "jain", "evictions"),
    "page": (
        "wait_mean", "wait_p95", "longest_wait", "utilisation", "lost_hours", "borrowed_hours", "jain", "evictions",
    ),
    "run queues": ("jobs", "finished", "wait_mean", "wait_p95", "longest_wait", "evictions", "utilisation"),
    "report queues": (
        "jobs", "finished", "wait_mean", "wait_p95", "longest_wait", "waiting_max", "evictions", "utilisation",
        "borrowed_hours",
    ),
    "page queues": ("jobs", "finished", "wait_mean", "wait_p95"),
}  # fmt: skip
"""The main metrics, by the view that shows them.

Views are the summary of a `run` (`kueuepy simulate`), a comparison of `policies`, the table of `kueuepy sweep`, the
`page` with sliders, and the tables of ClusterQueues in the summary of a run, in the report and on the page.
"""


def is_shown(view: View, name: str) -> bool:
    """Return whether a table shows a metric, whose name may be followed by a flavor and resource."""
    return name.partition(" ")[0] in SHOWN[view]


def columns_shown(view: View, names: Iterable[str]) -> list[str]:
    """Return the columns of a table to show: plain metrics in the given order, then the metrics of each resource."""
    own = list(names)
    plain = [name for name in SHOWN[view] if name in own]
    return [*plain, *(name for name in own if " " in name and is_shown(view, name))]


_NAME = re.compile(r"(?:(?P<wait>(?:first_)?wait_p)\d+|\w+)(?=[ (\[]|$)")


def metric_of(name: str) -> str:
    """Return the metric that determines the unit of a name; an empty string if the name is not that of a metric.

    >>> metric_of("lost_hours h100/cpu"), metric_of("wait_p90(team-a)[priority >= 100]"), metric_of("jobs.load")
    ('lost_hours', 'wait_p95', '')

    Args:
        name: A metric, which may be followed by a flavor and resource, or by groups and conditions as in a target. Any
            percentile of waiting times counts as the 95th.
    """
    found = _NAME.match(name)
    if found is None:
        return ""
    own = f"{found['wait']}95" if found["wait"] else found[0]
    return own if own in ALL_FIGURES else ""


def figure_of(name: str) -> Figure:
    """Return the properties of a metric, whose name may be followed by a flavor and resource, or of a plain number."""
    return ALL_FIGURES.get(metric_of(name), Figure(""))


def unit_of(name: str) -> Unit:
    """Return the unit of a metric, whose name may be followed by a flavor and resource; `number` for other names."""
    return figure_of(name).unit


def unit_text(name: str) -> str:
    """Return the abbreviated unit of a metric: `s`, `fraction`, `h` for resource-hours, `jobs`, or an empty string."""
    known = {"span": "s", "part": "fraction", "hours": "h"}
    return known.get(unit_of(name), figure_of(name.partition(" ")[0]).word)


COUNTS = ("evictions", "evictions_max", "loops", "starved", "jobs", "finished", "waiting_max")
"""Metrics that count things; their mean over seeds has a fraction."""


def figure_text(name: str, value: float | None) -> str:
    """Format a value in the unit of its metric (time span, percentage, hours or number); `—` for a missing value.

    Other names, such as the path of a quota, have no unit.

    >>> figure_text("lost_hours h100/nvidia.com/gpu", 26.74), figure_text("jobs", 12377), figure_text("jain", 0.99789)
    ('26.7 GPU h', '12,377', '0.998')
    """
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return "—"
    unit = unit_of(name)
    if unit == "span":
        return duration(value)
    if unit == "part":
        return share(value)
    if unit == "hours":
        resource = name.partition(" ")[2].partition("/")[2]
        return hours(resource, value) if resource else f"{number(value)} h"
    if isinstance(value, int):
        return count(value)
    return number(value) if metric_of(name) else exact(value)


_PARTS = re.compile(r"^\w+|[^()\[\]]+")


def label_of(name: str) -> str:
    """Return the label of a metric; a flavor and resource, groups or conditions follow after a comma.

    >>> label_of("wait_p90(team-a)"), label_of("wait_p50"), label_of("utilisation h100/cpu")
    ('90th percentile of the wait, team-a', 'Median wait', 'Quota in use over the whole run, h100/cpu')

    Args:
        name: The name of a metric. Other names are returned unchanged.
    """
    metric = metric_of(name)
    if not metric:
        return name
    own, *rest = map(str.strip, _PARTS.findall(name))
    text = ALL_FIGURES[own if own in ALL_FIGURES else metric].text
    if own not in ALL_FIGURES:
        # Any percentile is described by the label of the 95th.
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
    return figure_of(name.partition(" ")[0]).better


def grouped(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of metrics by group, in the order in which reports show them; unknown metrics come last."""
    group_of = {name: group for group, figures in GROUPS.items() for name in figures}
    order = {name: index for index, name in enumerate(group_of)}
    found: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda name: order.get(name.partition(" ")[0], len(order))):
        found.setdefault(group_of.get(name.partition(" ")[0], "Other"), []).append(name)
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


def hours_word(pair: str) -> str:
    """Return the unit of a resource multiplied by time, such as `GPU hours`.

    >>> hours_word("h100/nvidia.com/gpu")
    'GPU hours'
    """
    return f"{unit_of_resource(pair.partition('/')[2])} hours"


def part_text(value: float, whole: float) -> str:
    """Return a value as a percentage of a reference value; `0%` if the reference value is 0."""
    return share(value / whole) if whole else "0%"
