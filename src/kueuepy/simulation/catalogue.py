"""Every figure of a run: its unit, what it comes from, and where it is shown; what it means is told by `Kpis`."""

from __future__ import annotations

from typing import Literal, NamedTuple

from kueuepy.simulation.text import span_text

Unit = Literal["number", "span", "part", "hours"]
"""A number as it is, seconds, a part of a whole, or hours of what is held."""


class Figure(NamedTuple):
    """What is known of a figure beside its name.

    Attributes:
        unit: In what it is.
        source: "jobs": it comes from single jobs, so there is one of any part of them; "most": the same, and as a
            maximum it has no interval; "count": the same, and of no job it is 0; "time": an integral over the window,
            of which pieces have one each; "run": of the whole alone.
        shown: Whether it is among those that one looks at first: of a run, and where policies stand side by side.
    """

    unit: Unit = "number"
    source: Literal["jobs", "most", "count", "time", "run"] = "run"
    shown: tuple[Literal["run", "policies"], ...] = ()

    @property
    def of_jobs(self) -> bool:
        """Whether any part of the jobs has one."""
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
"""By the names of `Kpis`, in its order."""
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
"""Figures of dispatching, by the names of `FleetKpis`."""


def shown(where: Literal["run", "policies"]) -> tuple[str, ...]:
    """The figures that one looks at first."""
    return tuple(name for name, figure in FIGURES.items() if where in figure.shown)


def unit_of(name: str) -> Unit:
    """The unit of a figure, whose name may be followed by a cell; of a column of another name, a number."""
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
    """Return the unit of a figure in short: `s`, `fraction`, `h` of what is held, `jobs`, or nothing."""
    known = {"span": "s", "part": "fraction", "hours": "h"}
    return known.get(unit_of(name), _NUMBERS.get(name.partition(" ")[0], ""))


def figure_text(name: str, value: float | None) -> str:
    """A figure as people read it, by its name, which may be followed by a cell: spans, percents, hours, numbers."""
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
