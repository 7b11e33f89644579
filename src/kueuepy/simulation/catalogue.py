"""The unit and the source of each metric of a simulation, and where it is shown; `Kpis` documents its meaning."""

from __future__ import annotations

from typing import Literal, NamedTuple

from kueuepy.simulation.text import span_text

Unit = Literal["number", "span", "part", "hours"]
"""`number`: a plain number; `span`: seconds; `part`: a fraction; `hours`: resource-hours, such as GPU-hours."""


class Figure(NamedTuple):
    """Properties of a metric.

    Attributes:
        unit: Its unit.
        source: The data from which it is computed. `jobs`: single jobs, so that any subset of jobs has a value; `most`:
            like `jobs`, but a maximum, which has no confidence interval; `count`: like `jobs`, and 0 for an empty
            subset; `time`: an integral over the window, so that any part of the window has a value; `run`: from the
            whole simulation only.
        shown: The summaries that contain the metric: `run` is the summary of a simulation, `policies` a comparison.
    """

    unit: Unit = "number"
    source: Literal["jobs", "most", "count", "time", "run"] = "run"
    shown: tuple[Literal["run", "policies"], ...] = ()

    @property
    def of_jobs(self) -> bool:
        """Whether the metric can be computed for any subset of the jobs."""
        return self.source in ("jobs", "most", "count")


_BOTH: tuple[Literal["run", "policies"], ...] = ("run", "policies")
FIGURES: dict[str, Figure] = {
    "jobs": Figure(source="count", shown=_BOTH),
    "finished": Figure(source="count", shown=_BOTH),
    "seconds": Figure("span"),
    "wait_mean": Figure("span", "jobs", _BOTH),
    "wait_p50": Figure("span", "jobs", _BOTH),
    "wait_p95": Figure("span", "jobs", _BOTH),
    "wait_p99": Figure("span", "jobs"),
    "longest_wait": Figure("span", "most", _BOTH),
    "first_wait_mean": Figure("span", "jobs"),
    "first_wait_p50": Figure("span", "jobs"),
    "first_wait_p95": Figure("span", "jobs"),
    "first_wait_p99": Figure("span", "jobs"),
    "slowdown": Figure(source="jobs"),
    "slowdown_p95": Figure(source="jobs"),
    "bounded_slowdown": Figure(source="jobs", shown=_BOTH),
    "bounded_slowdown_p95": Figure(source="jobs"),
    "goodput": Figure("part", "jobs", ("policies",)),
    "useful": Figure("part", "jobs"),
    "submission_utilisation": Figure("part", "time", _BOTH),
    "utilisation": Figure("part", "time", ("run",)),
    "effective_utilisation": Figure("part"),
    "lost_hours": Figure("hours", shown=_BOTH),
    "overhead_hours": Figure("hours"),
    "wasted": Figure("part"),
    "makespan": Figure("span"),
    "throughput": Figure(source="time"),
    "waiting_mean": Figure(source="time"),
    "waiting_max": Figure(shown=("run",)),
    "used_hours": Figure("hours", shown=("run",)),
    "borrowed_hours": Figure("hours", shown=_BOTH),
    "lent_hours": Figure("hours"),
    "borrowing_time": Figure("part"),
    "idle_while_waiting": Figure("hours", shown=("run",)),
    "promise_p95": Figure("span"),
    "jain": Figure(shown=_BOTH),
    "blocked_share": Figure("part"),
    "evictions": Figure(source="count", shown=_BOTH),
    "evictions_max": Figure(source="count"),
    "preemptions": Figure(),
    "loops": Figure(shown=_BOTH),
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


def shown(where: Literal["run", "policies"]) -> tuple[str, ...]:
    """Return the names of the main metrics of a simulation or of a comparison."""
    return tuple(name for name, figure in FIGURES.items() if where in figure.shown)


def unit_of(name: str) -> Unit:
    """Return the unit of a metric, whose name may be followed by a flavor and resource; `number` for other names."""
    own = name.partition(" ")[0]
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
    """Return the abbreviated unit of a metric: `s`, `fraction`, `h` for resource-hours, `jobs`, or an empty text."""
    known = {"span": "s", "part": "fraction", "hours": "h"}
    return known.get(unit_of(name), _NUMBERS.get(name.partition(" ")[0], ""))


def figure_text(name: str, value: float | None) -> str:
    """Format a value by the unit of its metric: a time span, a percentage, hours or a number; `—` for no value."""
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return "—"
    unit = unit_of(name)
    if unit == "span":
        return span_text(value)
    if unit == "part":
        return f"{value:.1%}"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4g} h" if unit == "hours" else f"{value:.4g}"
