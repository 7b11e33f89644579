"""The unit and the source of each metric of a run; `Kpis` documents the meaning of each metric."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from kueuepy.look.numbers import count, duration, exact, hours, number, share

if TYPE_CHECKING:
    from collections.abc import Iterable

Unit = Literal["number", "span", "part", "hours"]
"""`number`: a plain number; `span`: seconds; `part`: a fraction; `hours`: resource-hours, such as GPU-hours."""


class Figure(NamedTuple):
    """Properties of a metric.

    Attributes:
        unit: The unit of the metric.
        source: The data from which the metric is computed. `jobs`: computed from individual jobs, and defined for any
            subset of the jobs; `most`: like `jobs`, but a maximum, which has no confidence interval; `count`: like
            `jobs`, but 0 for an empty subset; `time`: an integral over time, and defined for any time window; `run`:
            defined only for the whole run.
    """

    unit: Unit = "number"
    source: Literal["jobs", "most", "count", "time", "run"] = "run"

    @property
    def of_jobs(self) -> bool:
        """Whether the metric can be computed for any subset of the jobs."""
        return self.source in ("jobs", "most", "count")


FIGURES: dict[str, Figure] = {
    "jobs": Figure(source="count"),
    "finished": Figure(source="count"),
    "seconds": Figure("span"),
    "wait_mean": Figure("span", "jobs"),
    "wait_p50": Figure("span", "jobs"),
    "wait_p95": Figure("span", "jobs"),
    "wait_p99": Figure("span", "jobs"),
    "longest_wait": Figure("span", "most"),
    "first_wait_mean": Figure("span", "jobs"),
    "first_wait_p50": Figure("span", "jobs"),
    "first_wait_p95": Figure("span", "jobs"),
    "first_wait_p99": Figure("span", "jobs"),
    "slowdown": Figure(source="jobs"),
    "slowdown_p95": Figure(source="jobs"),
    "bounded_slowdown": Figure(source="jobs"),
    "bounded_slowdown_p95": Figure(source="jobs"),
    "goodput": Figure("part", "jobs"),
    "useful": Figure("part", "jobs"),
    "submission_utilisation": Figure("part", "time"),
    "utilisation": Figure("part", "time"),
    "effective_utilisation": Figure("part"),
    "lost_hours": Figure("hours"),
    "overhead_hours": Figure("hours"),
    "wasted": Figure("part"),
    "makespan": Figure("span"),
    "throughput": Figure(source="time"),
    "waiting_mean": Figure(source="time"),
    "waiting_max": Figure(),
    "used_hours": Figure("hours"),
    "borrowed_hours": Figure("hours"),
    "lent_hours": Figure("hours"),
    "borrowing_time": Figure("part"),
    "idle_while_waiting": Figure("hours"),
    "promise_p95": Figure("span"),
    "jain": Figure(),
    "blocked_share": Figure("part"),
    "evictions": Figure(source="count"),
    "evictions_max": Figure(source="count"),
    "preemptions": Figure(),
    "loops": Figure(),
    "starved": Figure(),
    "cost": Figure(),
}
"""The metrics of `Kpis`, in the order of its fields."""
FLEET_FIGURES: dict[str, Figure] = {
    "copies": Figure(),
    "copies_per_start": Figure(),
    "wasted_reservation_hours": Figure("hours"),
    "unneeded_preemptions": Figure(),
    "unneeded_lost_hours": Figure("hours"),
    "dispatch_wait": Figure("span"),
    "manager_idle": Figure("hours"),
    "retries": Figure(),
    "won": Figure("part"),
}
"""The metrics of dispatching, in the order of the fields of `FleetKpis`."""


Place = Literal["run", "policies", "sweep", "page", "run queues", "report queues", "page queues"]
SHOWN: dict[Place, tuple[str, ...]] = {
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
"""The main metrics, by the place that shows them.

Places are the summary of a `run` (`kueuepy simulate`), a comparison of `policies`, the table of `kueuepy sweep`, the
`page` with sliders, and the tables of ClusterQueues in the summary of a run, in the report and on the page.
"""


def is_shown(place: Place, name: str) -> bool:
    """Return whether a table shows a metric, whose name may be followed by a flavor and resource."""
    return name.partition(" ")[0] in SHOWN[place]


def columns_shown(place: Place, names: Iterable[str]) -> list[str]:
    """Return the columns of a table to show: plain metrics in the given order, then the metrics of each resource."""
    own = list(names)
    plain = [name for name in SHOWN[place] if name in own]
    return [*plain, *(name for name in own if " " in name and is_shown(place, name))]


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
    return own if own in FIGURES or own in FLEET_FIGURES else ""


def unit_of(name: str) -> Unit:
    """Return the unit of a metric, whose name may be followed by a flavor and resource; `number` for other names."""
    own = metric_of(name)
    figure = FIGURES.get(own) or FLEET_FIGURES.get(own)
    return figure.unit if figure is not None else "number"


_NUMBERS = {
    "throughput": "jobs/h",
    "waiting_mean": "jobs",
    "waiting_max": "jobs",
    "jobs": "jobs",
    "finished": "jobs",
    "starved": "jobs",
    "evictions": "evictions",
    "evictions_max": "evictions",
    "preemptions": "evictions",
    "blocked_share": "used / entitled",
    "jain": "1/n to 1",
}


def unit_text(name: str) -> str:
    """Return the abbreviated unit of a metric: `s`, `fraction`, `h` for resource-hours, `jobs`, or an empty string."""
    known = {"span": "s", "part": "fraction", "hours": "h"}
    return known.get(unit_of(name), _NUMBERS.get(name.partition(" ")[0], ""))


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
