"""Charts as areas, lines, boxes and labels over two axes, independent of the library that draws them."""

import math
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from kueuepy.look.numbers import duration

Colour: TypeAlias = int | str
"""The colour index of a group, a field of `Theme`, or a fixed colour `#rrggbb`."""
Ends: TypeAlias = tuple[float, float]
"""The first and the last value of an axis; the first value is larger on an axis that points down."""
Ticks: TypeAlias = tuple[tuple[float, str], ...]
# As many labels as fit on the narrowest axis without overlap.
_TICKS = 5
# Below it, powers of ten alone would leave an axis with one label.
_FEW_DECADES = 1.5
# The shade of a tile above which its text has the colour of the background.
_DARK = 0.5
# Steps in which people count time: 1, 2, 5, 10, 15 and 30 of a unit, not powers of ten.
_TIME_STEPS = (
    *(0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 30),
    *(60 * count for count in (1, 2, 5, 10, 15, 30)),
    *(3600 * count for count in (1, 2, 3, 6, 12)),
    *(86400 * count for count in (1, 2, 5, 10)),
)


class Axis(msgspec.Struct, frozen=True):
    """An axis of a chart.

    Attributes:
        label: The label, with the unit unless each tick has it.
        ends: The range.
        log: Whether the scale is logarithmic.
        ticks: Positions and labels of the ticks; a label can have two lines. `None` for round numbers.
        kind: How round numbers are formatted: as numbers, whole numbers, percentages or time spans in seconds.
        unit: The unit to show after each round number.
        names: Whether the labels are names, which are shortened rather than left out where they do not fit.
    """

    label: str
    ends: Ends
    log: bool = False
    ticks: Ticks | None = None
    kind: Literal["number", "whole", "share", "duration"] = "number"
    unit: str = ""
    names: bool = False


class Area(msgspec.Struct, frozen=True):
    """The area between two lines with the same x values."""

    x: Any
    low: Any
    high: Any
    colour: Colour
    title: str = ""
    hatched: bool = False


class Line(msgspec.Struct, frozen=True):
    """A line through points; `dots` marks the points with circles or crosses."""

    x: Any
    y: Any
    colour: Colour
    title: str = ""
    width: float = 1.8
    dots: Literal["", "o", "x"] = ""
    joined: bool = True
    dashed: bool = False


class Rug(msgspec.Struct, frozen=True):
    """Short lines at the lower edge of a chart, or at its upper edge, which mark values of the x axis."""

    x: Any
    colour: Colour
    top: bool = False


class Box(msgspec.Struct, frozen=True):
    """A rectangle with a tooltip; its parts are drawn on it.

    `edge` is the style of its border, and empty for no border.
    """

    x: float
    y: float
    width: float
    height: float
    colour: Colour
    title: str = ""
    parts: "tuple[Box, ...]" = ()
    hatched: bool = False
    opacity: float = 1.0
    edge: Literal["", "solid", "dashed"] = ""


class Label(msgspec.Struct, frozen=True):
    """A text label at a point, moved by `shift`; `shift` and `size` are in pixels."""

    x: float
    y: float
    text: str
    size: float = 11
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False
    colour: Colour = "ink"
    shift: tuple[float, float] = (0.0, 0.0)


Mark: TypeAlias = Area | Line | Rug | Box | Label


class Key(msgspec.Struct, frozen=True):
    """An entry of the legend."""

    name: str
    colour: Colour
    look: Literal["box", "hatch", "line", "dot", "cross", "dashes"] = "box"
    opacity: float = 1.0


class Chart(msgspec.Struct, frozen=True):
    """A chart, or a drawing without axes.

    Attributes:
        title: The title.
        x: The horizontal axis.
        y: The vertical axis.
        marks: Everything inside the axes, from the bottom to the top.
        keys: The legend.
        policy: The name of the policy, below the title; empty for none.
        height: The height of the frame as SVG, in pixels; 0 for that of the layout.
        is_drawing: Whether there are no axes, and one unit of each axis is a pixel.
    """

    title: str
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    keys: tuple[Key, ...] = ()
    policy: str = ""
    height: float = 0.0
    is_drawing: bool = False


def ends_of(values: Any, *, zero: bool = False, log: bool = False) -> Ends:
    """Return the range of an axis for an array of values, with some space at its open ends.

    Args:
        values: The values; NaN is ignored.
        zero: Whether the range begins at 0.
        log: Whether the scale is logarithmic.
    """
    known = values[values == values]  # noqa: PLR0124 - not NaN
    low, high = (float(known.min()), float(known.max())) if len(known) else (1.0, 1.0)
    if log:
        return low / 1.3, high * 1.3
    if zero:
        return 0.0, high * 1.05 or 1.0
    space = 0.05 * (high - low) or abs(low) * 0.05 or 1.0
    return low - space, high + space


def names_axis(label: str, names: Sequence[str]) -> Axis:
    """Return an axis with a name in the middle of each unit."""
    ticks = tuple((position + 0.5, name) for position, name in enumerate(names))
    return Axis(label, (0.0, float(len(names) or 1)), ticks=ticks, names=True)


def depth_of(part: float) -> float:
    """Return the opacity of a tile for a value between 0 (the smallest) and 1; text on it has a contrast of 4.5."""
    return 0.64 + 0.36 * part if part > _DARK else 0.06 + 0.8 * part


def tiles(shades: Any, texts: Sequence[str], tips: Sequence[str]) -> tuple[Mark, ...]:
    """Return a matrix of tiles; a tile is one unit wide and high.

    Args:
        shades: A number from 0 (light) to 1 (dark) for each tile, of shape (y, x); NaN for an empty tile.
        texts: The text on each tile.
        tips: The tooltip of each tile.
    """
    marks: list[Mark] = []
    for position, (part, text, tip) in enumerate(zip(shades.ravel().tolist(), texts, tips, strict=True)):
        y, x = divmod(position, shades.shape[1])
        depth = 0.0 if math.isnan(part) else depth_of(part)
        marks.append(Box(x + 0.01, y + 0.01, 0.98, 0.98, "heat", tip, opacity=depth, edge="solid"))
        ink = "paper" if part > _DARK else "ink"
        marks.append(Label(x + 0.5, y + 0.5, text, 12, "middle", colour=ink, shift=(0, 4)))
    return tuple(marks)


def alike(charts: Sequence[Chart]) -> list[Chart]:
    """Return charts with the same ranges of both axes, so that they can be compared."""
    common = []
    for axes in ([chart.x for chart in charts], [chart.y for chart in charts]):
        first, last = (side([axis.ends[end] for axis in axes]) for end, side in enumerate((min, max)))
        common.append([msgspec.structs.replace(axis, ends=(first, last)) for axis in axes])
    return [msgspec.structs.replace(chart, x=x, y=y) for chart, x, y in zip(charts, *common, strict=True)]


def ticks_of(axis: Axis) -> Ticks:
    """Return the positions and labels of the ticks of an axis."""
    low, high = sorted(axis.ends)
    if axis.ticks is not None:
        return tuple(tick for tick in axis.ticks if low <= tick[0] <= high)
    if axis.log:
        return tuple((at, f"{at:g}") for at in _round_powers(low, high))
    step = _step(axis, (high - low) / _TICKS)
    # The margin keeps a tick at the end of an axis in spite of rounding.
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple((position * step, _text(axis, position * step)) for position in range(first, last + 1))


def _round_powers(low: float, high: float) -> list[float]:
    """Return the powers of ten in a range and, if there are too few, also 2 and 5 times these powers."""
    ends = math.log10(low), math.log10(high)
    factors = (1,) if ends[1] - ends[0] > _FEW_DECADES else (1, 2, 5)
    powers = range(math.floor(ends[0]), math.floor(ends[1]) + 1)
    return [at for power in powers for factor in factors if low <= (at := factor * 10.0**power) <= high]


def _step(axis: Axis, wanted: float) -> float:
    """Return the smallest round step between ticks that is at least `wanted`."""
    if wanted <= 0:
        return 1.0
    if axis.kind == "duration":
        return next((step for step in _TIME_STEPS if step >= wanted), math.ceil(wanted / 864000) * 864000.0)
    wanted = max(wanted, 1.0) if axis.kind == "whole" else wanted
    power = 10.0 ** math.floor(math.log10(wanted))
    return next(size * power for size in (1, 2, 5, 10) if size * power >= wanted * (1 - 1e-9))


def _text(axis: Axis, value: float) -> str:
    if axis.kind == "duration":
        return duration(value)
    if axis.kind == "share":
        return f"{100 * value:.4g}%"
    return f"{value + 0.0:,.6g} {axis.unit}".rstrip()
