"""Charts on Axes of matplotlib; the functions return Axes and do not show or save them."""

import textwrap
from functools import singledispatch
from typing import Any

from kueuepy.errors.libraries import imported
from kueuepy.look.chart import Area, Axis, Box, Chart, Colour, Key, Label, Line, Mark, Rug, ticks_of
from kueuepy.look.colours import ALL, colour_of, luminance
from kueuepy.look.escapes import plain

# Borrowed quota is hatched, so that it is recognised without colours.
_HATCH = "////"
# The width of a figure, in inches, from which the legend is beside the Axes.
_NARROW = 6.0
# The number of characters in a line of a title, on narrow and on wide Axes.
_SHORT_LINE, _LINE = 32, 90
# The number of characters of a name on the x axis that needs no slanted text.
_SHORT_NAME = 6
# Luminance above which a background counts as light: as far from black as from white, by contrast.
_MIDDLE = 0.18
_PIXELS = 100
# Pixels per inch, and points per pixel, of a drawing without axes.
_POINTS = 72 / _PIXELS


def axes_of(ax: Any = None, rows: int = 0) -> Any:
    """Return the given Axes or the Axes of a new figure; with `rows`, a list of Axes below each other.

    Raises:
        UnsupportedError: matplotlib is not installed.
    """
    pyplot = imported("matplotlib.pyplot", "plot")
    if ax is None:
        size = (9, 4.2 * max(rows, 1))
        _, ax = pyplot.subplots(max(rows, 1), figsize=size, layout="constrained", squeeze=not rows)
    return list(ax.flat) if rows else ax


def draw(chart: Chart, ax: Any = None) -> Any:
    """Draw on the given Axes or on the Axes of a new figure, and return the Axes.

    Raises:
        UnsupportedError: matplotlib is not installed.
    """
    ax = axes_of(ax)
    narrow = _is_narrow(ax)
    lines = [line for line in (chart.title, f"Policy: {chart.policy}" if chart.policy else "") if line]
    wide = (_SHORT_LINE // 2 if chart.y.names else _SHORT_LINE) if narrow else _LINE
    ax.set_title(plain("\n".join(textwrap.fill(line, wide) for line in lines)), loc="left")
    for mark in chart.marks:
        _draw(mark, ax)
    for axis, scale, limit, target in ((chart.x, "xscale", "xlim", ax.xaxis), (chart.y, "yscale", "ylim", ax.yaxis)):
        ax.set(**{scale: "log"} if axis.log else {}, **{limit: axis.ends})
        _name(axis, target, narrow=narrow)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    _legend(chart.keys, ax, narrow=narrow)
    return ax


def figure(chart: Chart, *, dark: bool, title: str = "") -> Any:
    """Return a new figure with a drawing that has no axes.

    Args:
        chart: The drawing.
        dark: Whether to use colours for a dark background.
        title: The title; by default that of the drawing.

    Raises:
        UnsupportedError: matplotlib is not installed.
    """
    # Without pyplot, the figure is not kept in a global list and needs no display.
    new = imported("matplotlib.figure", "plot").Figure
    margin, head = 12, 26
    (left, right), (below, above) = chart.x.ends, sorted(chart.y.ends)
    size = (right - left + 2 * margin, above - below + head + 2 * margin)
    paper, ink = colour_of("paper", dark=dark), colour_of("ink", dark=dark)
    made = new(figsize=tuple(side / _PIXELS for side in size), dpi=_PIXELS, facecolor=paper)
    ax = made.add_axes((0, 0, 1, 1), facecolor=paper, xlim=(left - margin, right + margin))
    ax.set_ylim(above + margin, below - head - margin)
    ax.axis("off")
    for mark in chart.marks:
        _draw(mark, ax)
    ax.text(left, below - 13, plain(title or chart.title), color=ink, fontsize=13 * _POINTS, fontweight="bold")
    return made


def _is_narrow(ax: Any) -> bool:
    """Return whether Axes are alone in a figure that is so narrow that its legend must be below them."""
    return bool(ax.figure.get_figwidth() < _NARROW and len(ax.figure.axes) == 1 and ax.figure.get_constrained_layout())


def _name(axis: Axis, target: Any, *, narrow: bool) -> None:
    """Set the ticks and the label of an axis."""
    ticks = ticks_of(axis)
    longest = max((len(text) for _, text in ticks), default=0)
    style: dict[str, Any] = {"fontsize": "small"} if axis.names else {}
    if axis.names and target.axis_name == "x" and longest > _SHORT_NAME:
        style |= {"rotation": 20, "ha": "right"}
    target.set_ticks([at for at, _ in ticks], [plain(text) for _, text in ticks], **style)
    target.set_ticks([], minor=True)
    lines = (textwrap.fill(line, _SHORT_LINE if narrow else _LINE) for line in axis.label.split("\n"))
    target.set_label_text(plain("\n".join(lines)))


def _legend(keys: tuple[Key, ...], ax: Any, *, narrow: bool) -> None:
    """Add the legend from empty marks, so that `ax.legend()` of the caller shows the same entries."""
    for key in keys:
        face, label = _colour(key.colour, ax), plain(key.name)
        if key.look in ("box", "hatch"):
            style = {"hatch": _HATCH, "edgecolor": _colour("paper", ax)} if key.look == "hatch" else {}
            ax.fill_between([], [], [], facecolor=face, alpha=key.opacity, linewidth=0, label=label, **style)
        else:
            dot = {"dot": "o", "cross": "X"}.get(key.look, "")
            dash = "none" if dot else "--" if key.look == "dashes" else "-"
            ax.plot([], [], color=face, marker=dot, linestyle=dash, label=label)
    if narrow and keys:
        short = all(len(key.name) <= _SHORT_LINE // 2 for key in keys)
        ax.figure.legend(loc="outside lower left", ncols=1 + short, frameon=False, fontsize="small")
    elif keys:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize="small")


def _is_dark(ax: Any) -> bool:
    """Return whether the background of Axes is dark; on a dark background, groups need different colours."""
    from matplotlib.colors import to_hex  # noqa: PLC0415 - only on use

    face = ax.get_facecolor() if ax.get_facecolor()[3] else ax.figure.get_facecolor()
    return luminance(str(to_hex(face))) < _MIDDLE


def _colour(colour: Colour, ax: Any) -> Any:
    """Return a colour that suits the background of Axes; text and axes have the colours of the current style."""
    if colour == "paper":
        return ax.get_facecolor()
    if colour in (ALL, "ink") and ax.axison:
        return imported("matplotlib", "plot").rcParams["text.color"]
    return colour_of(colour, dark=_is_dark(ax))


@singledispatch
def _draw(mark: Mark, ax: Any) -> None:
    raise NotImplementedError


@_draw.register
def _area(area: Area, ax: Any) -> None:
    style = {"hatch": _HATCH, "edgecolor": _colour("paper", ax)} if area.hatched else {}
    ax.fill_between(area.x, area.low, area.high, facecolor=_colour(area.colour, ax), linewidth=0.0, **style)


@_draw.register
def _line(line: Line, ax: Any) -> None:
    dash = "none" if not line.joined else "--" if line.dashed else "-"
    marker = {"x": "X"}.get(line.dots, line.dots)
    colour = _colour(line.colour, ax)
    ax.plot(line.x, line.y, color=colour, linewidth=line.width * 0.9, linestyle=dash, marker=marker)


@_draw.register
def _rug(rug: Rug, ax: Any) -> None:
    low, high = (0.965, 1.0) if rug.top else (0.0, 0.035)
    ax.vlines(rug.x, low, high, transform=ax.get_xaxis_transform(), color=_colour(rug.colour, ax), linewidth=1.0)


@_draw.register
def _box(box: Box, ax: Any) -> None:
    rectangle = imported("matplotlib.patches", "plot").Rectangle
    face = _colour(box.colour, ax)
    shape = rectangle((box.x, box.y), box.width, box.height, facecolor=face, alpha=box.opacity, linewidth=0)
    if box.edge:
        shape.set(edgecolor=_colour("others", ax), linewidth=0.5, linestyle="--" if box.edge == "dashed" else "-")
    elif box.hatched:
        shape.set(hatch=_HATCH, edgecolor=_colour("paper", ax))
    ax.add_patch(shape)
    for part in box.parts:
        _box(part, ax)


@_draw.register
def _label(label: Label, ax: Any) -> None:
    side = {"start": "left", "middle": "center", "end": "right"}[label.anchor]
    ax.annotate(
        plain(label.text), (label.x, label.y), (label.shift[0] * _POINTS, -label.shift[1] * _POINTS),
        textcoords="offset points", color=_colour(label.colour, ax), fontsize=label.size * _POINTS, ha=side,
        fontweight="bold" if label.bold else "normal", annotation_clip=False,
    )  # fmt: skip
