"""What a picture shows, already aggregated: as few points as an eye can tell apart, whatever draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

if TYPE_CHECKING:
    from numpy.typing import NDArray

PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#a6972b", "#7a68b3")
"""Eight colours that readers with any colour vision can tell apart, on white and on black (after Okabe and Ito)."""
MOST_NAMES = 12
"""Names of their own; the rest is `others`."""
OTHERS, ALL = -1, -2
"""Places instead of a colour: what is summed up, and what stands for everybody."""
_GREY = "#8a8f98"
_TINT = 0.45


def colour_of(place: int) -> str:
    """The colour of a name by its place; from the ninth on, a lighter one of the first."""
    if place < 0:
        return _GREY
    colour = PALETTE[place % len(PALETTE)]
    if place < len(PALETTE):
        return colour
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * _TINT):02x}" for part in parts)


Ends: TypeAlias = tuple[tuple[float, float], tuple[float, float]]
"""The range of the axis of x, and that of the axis of y."""


class Layer(msgspec.Struct, frozen=True):
    """A band of a stack: in each piece of time, what is its own and, above it, what is borrowed."""

    name: str
    colour: int
    own: Any
    borrowed: Any


class Stack(msgspec.Struct, frozen=True):
    """Bands on top of each other over time, and a line of what there is.

    Attributes:
        title: What is shown.
        x: What the time axis counts.
        y: What the other one counts.
        edges: Where pieces of time begin; one more than there are.
        layers: From the bottom up.
        limit: In each piece, what there is; empty for none.
        ends: Range of both axes, if several pictures share it.
    """

    title: str
    x: str
    y: str
    edges: Any
    layers: tuple[Layer, ...]
    limit: Any = ()
    ends: Ends | None = None

    @property
    def has_borrowed(self) -> bool:
        """Whether anybody borrows."""
        return any(bool(layer.borrowed.any()) for layer in self.layers)


class Line(msgspec.Struct, frozen=True):
    """A line, or the corners of steps."""

    name: str
    colour: int
    x: Any
    y: Any


class Mark(msgspec.Struct, frozen=True):
    """What happened in each piece of time: where, and how much of the most that there was, from 0 to 1."""

    name: str
    x: Any
    weight: Any


class Lines(msgspec.Struct, frozen=True):
    """Lines in one frame; `steps`: a value holds until the next; `ticks`: places of the x axis that have a name.

    `ends` is the range of both axes, if several pictures share it.
    """

    title: str
    x: str
    y: str
    lines: tuple[Line, ...]
    log_x: bool = False
    log_y: bool = False
    steps: bool = False
    points: bool = False
    marks: tuple[Mark, ...] = ()
    ticks: tuple[tuple[float, str], ...] = ()
    ends: Ends | None = None


class Bar(msgspec.Struct, frozen=True):
    """A run of a job in a lane; from `lost_from` on its progress was lost, and `cut` says that it was evicted."""

    lane: int
    begin: float
    end: float
    lost_from: float
    cut: bool
    name: str
    queue: str
    colour: int


class Bars(msgspec.Struct, frozen=True):
    """Runs of jobs over time, in lanes."""

    title: str
    x: str
    bars: tuple[Bar, ...]

    @property
    def queues(self) -> dict[str, int]:
        """The colours of those that are there."""
        found = {bar.queue: bar.colour for bar in self.bars}
        return dict(sorted(found.items(), key=lambda pair: (pair[1] < 0, pair[1])))

    @property
    def lanes(self) -> int:
        """How many lanes there are."""
        return max((bar.lane for bar in self.bars), default=-1) + 1


class Matrix(msgspec.Struct, frozen=True):
    """Counts by row and column, and what each of them cost."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: Any
    hours: Any

    def text(self, row: int, column: int) -> str:
        """A count as it is read; nothing for none."""
        count = int(self.counts[row, column])
        return f"{count:,}" if count else ""


Shown = Stack | Lines | Bars | Matrix


def corners(line: Line) -> tuple[NDArray[Any], NDArray[Any]]:
    """The corners of steps: each value holds until the next place, the last one for none."""
    import numpy as np  # noqa: PLC0415 - only on use

    return np.repeat(line.x, 2)[1:], np.repeat(line.y, 2)[:-1]
