"""Metrics in words: their labels and groups, and intervals with units."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kueuepy.look.notebook import Named
from kueuepy.look.numbers import durations, share
from kueuepy.look.numbers import unit_of as unit_of_resource
from kueuepy.simulation.catalogue import GROUPS, figure_of, figure_text, metric_of, unit_of

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    text = figure_of(metric).text
    if own != metric:
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
    order = {name: place for place, name in enumerate(group_of)}
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


def hours_word(cell: str) -> str:
    """Return the unit of a resource multiplied by time, such as `GPU hours`.

    >>> hours_word("h100/nvidia.com/gpu")
    'GPU hours'
    """
    return f"{unit_of_resource(cell.partition('/')[2])} hours"


def part_text(value: float, whole: float) -> str:
    """Return a value as a percentage of a reference value; `0%` if the reference value is 0."""
    return share(value / whole) if whole else "0%"
