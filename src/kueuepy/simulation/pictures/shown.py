"""Aggregated data of charts, independent of the library that draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

if TYPE_CHECKING:
    from numpy.typing import NDArray

SINCE = "Time after the first submission"
"""The label of the time axis of a chart; the labels of its ticks have the unit."""
Ends: TypeAlias = tuple[tuple[float, float], tuple[float, float]]
"""The ranges of the x axis and the y axis."""


class Layer(msgspec.Struct, frozen=True):
    """A layer of a stacked chart: a queue's own quota and, above it, its borrowed quota, in each time interval."""

    name: str
    colour: int
    own: Any
    borrowed: Any


class Stack(msgspec.Struct, frozen=True):
    """Data for a stacked chart over time with an optional limit line.

    Attributes:
        title: Title of the chart.
        x: Label of the time axis.
        y: Label of the y axis.
        edges: Limits of the time intervals; n intervals have n + 1 limits.
        layers: The layers, from bottom to top.
        limit: The limit in each interval; empty if the chart has no limit line.
        ends: The ranges of the axes; `None` for the ranges of the data.
        unit: Unit of the x axis, at each of its ticks.
        policy: The name of the policy; empty if it has none.
    """

    title: str
    x: str
    y: str
    edges: Any
    layers: tuple[Layer, ...]
    limit: Any = ()
    ends: Ends | None = None
    unit: str = ""
    policy: str = ""

    @property
    def has_borrowed(self) -> bool:
        """Whether any layer has borrowed quota."""
        return any(bool(layer.borrowed.any()) for layer in self.layers)


class Line(msgspec.Struct, frozen=True):
    """A line, or the points of a step function."""

    name: str
    colour: int
    x: Any
    y: Any


class Mark(msgspec.Struct, frozen=True):
    """Marks of events: the times, and the number of events relative to the maximum, from 0 to 1."""

    name: str
    x: Any
    weight: Any


class Lines(msgspec.Struct, frozen=True):
    """Data for a line chart.

    If `steps` is set, each value applies until the next value. If `shares` is set, the y axis shows percentages.
    `ticks` are labelled values of the x axis; a label can have two lines. Without `ticks`, `unit` follows each label.
    """

    title: str
    x: str
    y: str
    lines: tuple[Line, ...]
    log_x: bool = False
    log_y: bool = False
    shares: bool = False
    steps: bool = False
    points: bool = False
    marks: tuple[Mark, ...] = ()
    ticks: tuple[tuple[float, str], ...] = ()
    ends: Ends | None = None
    unit: str = ""
    policy: str = ""


class Bar(msgspec.Struct, frozen=True):
    """A run of a job, drawn in a lane.

    `cut` means that an eviction ended the run and lost its progress after `lost_from`.
    """

    lane: int
    begin: float
    end: float
    lost_from: float
    cut: bool
    name: str
    queue: str
    colour: int


LANES = "Runs of jobs, in free rows"
"""The label of the vertical axis of a Gantt chart, which has no ticks: the order of the rows means nothing."""


class Bars(msgspec.Struct, frozen=True):
    """Data for a Gantt chart: runs of jobs in lanes."""

    title: str
    x: str
    bars: tuple[Bar, ...]
    unit: str = ""
    policy: str = ""

    @property
    def queues(self) -> dict[str, int]:
        """The colour index of each queue in the chart."""
        found = {bar.queue: bar.colour for bar in self.bars}
        return dict(sorted(found.items(), key=lambda pair: (pair[1] < 0, pair[1])))

    @property
    def lanes(self) -> int:
        """Number of lanes."""
        return max((bar.lane for bar in self.bars), default=-1) + 1


class Matrix(msgspec.Struct, frozen=True):
    """Data for a matrix: the counts and the lost resource-hours by row and column."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: Any
    hours: Any
    policy: str = ""

    def text(self, row: int, column: int) -> str:
        """Format a count for display; an empty string for 0."""
        count = int(self.counts[row, column])
        return f"{count:,}" if count else ""


Shown = Stack | Lines | Bars | Matrix


def corners(line: Line) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the corner points of a step function, in which each value applies until the next x."""
    import numpy as np  # noqa: PLC0415 - only on use

    return np.repeat(line.x, 2)[1:], np.repeat(line.y, 2)[:-1]
