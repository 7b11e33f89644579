"""Charts as plain SVG, drawn without a library, for HTML pages and files; text has the colour of the page."""

from __future__ import annotations

import math
import re
from functools import singledispatch
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import msgspec
import numpy as np

from kueuepy.files import write_file
from kueuepy.look.colours import ALL, LIGHT_THEME, class_of, colour_of, picture_style
from kueuepy.look.escapes import escape
from kueuepy.look.notebook import figure_html
from kueuepy.simulation.pictures.shown import (
    LANES,
    Bar,
    Bars,
    Ends,
    Line,
    Lines,
    Mark,
    Matrix,
    Shown,
    Stack,
    corners,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

_ROW = 18
_TICKS = 5
_ROOM = 24
_MOST_LABELS = 26
_DARK = 0.5
_WIDE_DIGIT = 6.6
"""Width of a character of a label, in pixels."""
_FEW_DECADES = 1.5
_MARKS = {"admissions": (0.0, 0.03, "kq-gained"), "evictions": (0.96, 1.0, "kq-ended")}
_STYLE_ELEMENT = re.compile("<style>.*?</style>")


class Layout(NamedTuple):
    """The sizes of a chart, in pixels.

    Attributes:
        width: Width of the frame.
        height: Height of the frame.
        legend: Width of the legend to the right of the frame; 0 for a legend below the frame.
        left: Space for the labels of the y axis.
        top: Space for the title.
        below: Space for the labels of the x axis.
    """

    width: int
    height: int
    legend: int
    left: int = 72
    top: int = 34
    below: int = 58

    @property
    def full(self) -> int:
        """Width of the whole chart."""
        return self.left + self.width + (self.legend or 14)


WIDE = Layout(560, 250, 190)
"""For a file, and for a notebook."""
FULL = Layout(890, 270, 190)
"""For the whole width of a page, 1,152 pixels."""
HALF = Layout(480, 250, 0, left=70)
"""For half of the width of a page."""
NARROW = Layout(276, 220, 0, left=66)
"""For screens narrower than 640 pixels, on which the text of the other layouts would be too small to read."""
_SECOND = 16
"""The space for a second line of a title."""
_GAP = 24
_BESIDE = 2
"""The number of charts in a row of several charts."""
_KEY = 188
"""The width of an entry in a legend below a chart, in pixels; there are at least two entries in a row."""
_GAPS = 'class="kq-gap" stroke="#fff"'
"""The attributes of hatching."""


class Picture(msgspec.Struct, frozen=True):
    """A picture as SVG; notebooks display it.

    Attributes:
        title: The title.
        svg: The SVG document.
        narrow: The picture for narrow screens as SVG, with text of the same size.
    """

    title: str
    svg: str
    narrow: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to an SVG file.

        Args:
            path: The file.

        Raises:
            StateError: The file cannot be written.
        """
        write_file(path, self.svg)

    def _repr_html_(self) -> str:
        """Return the picture as HTML, for notebooks; a narrow cell shows the picture for narrow screens."""
        return figure_html(self.svg, self.narrow)


class _Frame:
    """The frame of a chart: converts values to pixels, and draws the axes."""

    def __init__(
        self, layout: Layout, x: tuple[float, float], y: tuple[float, float], logs: tuple[bool, bool] = (False, False)
    ) -> None:
        self.layout = layout
        self.logs = logs
        self.x = tuple(math.log10(v) for v in x) if logs[0] else x
        self.y = tuple(math.log10(v) for v in y) if logs[1] else y

    def right(self, values: Any) -> Any:
        low, high = self.x
        exact = np.log10(values) if self.logs[0] else np.asarray(values, float)
        return np.round(self.layout.left + self.layout.width * (exact - low) / ((high - low) or 1), 1)

    def down(self, values: Any) -> Any:
        low, high = self.y
        exact = np.log10(values) if self.logs[1] else np.asarray(values, float)
        return np.round(self.layout.top + self.layout.height * (1 - (exact - low) / ((high - low) or 1)), 1)

    def axes(
        self,
        x: str,
        y: str,
        ticks: Sequence[tuple[float, str]] = (),
        *,
        unit: str = "",
        shares: bool = False,
        scaled: bool = True,
    ) -> str:
        left, top, width, height = self.layout.left, self.layout.top, self.layout.width, self.layout.height
        bottom = top + height
        body = [f'<path d="M{left} {top}V{bottom}H{left + width}" fill="none" stroke="currentColor"/>']
        given = ticks or [(at, f"{text} {unit}".rstrip()) for at, text in self._ticks(0)]
        for place, text in self._apart([(float(self.right(at)), text) for at, text in given]):
            body.append(f'<path d="M{place:g} {bottom}v4" stroke="currentColor"/>')
            for row, line in enumerate(text.split("\n")):
                inside = min(place, self.layout.full - len(line) * _WIDE_DIGIT / 2 - 2)
                label = f'<text x="{inside:g}" y="{bottom + 16 + 13 * row}" text-anchor="middle">{escape(line)}</text>'
                body.append(label)
        for at, text in self._ticks(1, shares=shares) if scaled else ():
            place = float(self.down(at))
            body.append(f'<path d="M{left - 4} {place:g}h4" stroke="currentColor"/>')
            body.append(f'<text x="{left - 7}" y="{place + 4:g}" text-anchor="end">{escape(text)}</text>')
        label = _fitted(x, self.layout.full - 16)
        middle = min(max(left + width / 2, len(label) * _WIDE_DIGIT / 2 + 4), self.layout.full / 2 + left / 2)
        low = bottom + (46 if any("\n" in text for _, text in ticks) else 36)
        body.append(f'<text x="{middle:g}" y="{low}" text-anchor="middle">{escape(label)}</text>')
        turned = f'transform="rotate(-90 14 {top + height / 2:g})"'
        side = escape(_fitted(y, height + top))
        body.append(f'<text x="14" y="{top + height / 2:g}" text-anchor="middle" {turned}>{side}</text>')
        return "".join(body)

    def _apart(self, ticks: list[tuple[float, str]]) -> list[tuple[float, str]]:
        """Remove labels that would overlap the previous label."""
        kept: list[tuple[float, str]] = []
        end = -math.inf
        for place, text in ticks:
            half = max(map(len, text.split("\n"))) * _WIDE_DIGIT / 2
            if place - half > end:
                kept.append((place, text))
                end = place + half + 6
        return kept

    def _ticks(self, axis: int, *, shares: bool = False) -> list[tuple[float, str]]:
        low, high = (self.x, self.y)[axis]
        if self.logs[axis]:
            return _log_ticks(low, high)
        if shares:
            return [(at / 4, f"{at / 4:.0%}") for at in range(5) if low <= at / 4 <= high]
        step = _step((high - low) / _TICKS)
        count = math.floor((high - low) / step + 1e-9)
        return [(low + i * step, f"{low + i * step:,.6g}") for i in range(count + 1)]


def _log_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return the powers of ten in a range and, if there are too few, also 2 and 5 times these powers."""
    factors = (1,) if high - low > _FEW_DECADES else (1, 2, 5)
    powers = range(math.floor(low), math.floor(high + 1e-9) + 1)
    found = [factor * 10.0**power for power in powers for factor in factors]
    return [(at, f"{at:g}") for at in found if low - 1e-9 <= math.log10(at) <= high + 1e-9]


def _fitted(text: str, width: float) -> str:
    """Shorten a string in the middle so that it fits into a width in pixels."""
    return _short(text, int(width / _WIDE_DIGIT))


def _short(text: str, most: int) -> str:
    """Shorten a string in the middle, because the names of queues often have the same beginning."""
    most = max(most, 3)
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def _step(wanted: float) -> float:
    """Return the smallest number of the form 1, 2 or 5 times a power of ten that is at least `wanted`."""
    if wanted <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(wanted))
    return next(size * power for size in (1, 2, 5, 10) if size * power >= wanted * (1 - 1e-9))


def picture(shown: Shown) -> Picture:
    """Draw data as SVG, for wide and for narrow screens; text has the colour of the surrounding page."""
    return Picture(shown.title, *(svg(shown, layout) for layout in (WIDE, NARROW)))


def svg(shown: Shown, layout: Layout) -> str:
    """Draw data as an SVG document."""
    return _document(shown.title, *_panel(shown, layout))


def for_page(shown: Shown, layout: Layout) -> str:
    """Draw data as an SVG element without a style sheet, for a page that defines the colours itself."""
    return _STYLE_ELEMENT.sub("", svg(shown, layout))


def side_by_side(panels: Mapping[str, Shown]) -> Picture:
    """Draw several charts of one kind by the name of the policy, two in a row; one in a row if narrow."""
    title = next(iter(panels.values())).title
    return Picture(title, _rows(title, panels, HALF, _BESIDE), _rows(title, panels, NARROW, 1))


def _rows(title: str, panels: Mapping[str, Shown], layout: Layout, beside: int) -> str:
    drawn = [_panel(msgspec.structs.replace(shown, policy=name), layout) for name, shown in panels.items()]
    across, down = layout.full + _GAP, max(height for *_, height in drawn) + _GAP
    places = [
        f'<g transform="translate({i % beside * across},{i // beside * down})">{inside}</g>'
        for i, (inside, *_) in enumerate(drawn)
    ]
    width, height = min(beside, len(drawn)) * across, -(-len(drawn) // beside) * down
    return _document(title, "".join(places), width - _GAP, height - _GAP)


def _document(title: str, inside: str, width: int, height: int) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'class="kq-picture" role="img" aria-label="{escape(title)}" font-family="sans-serif" font-size="12" '
        f'fill="currentColor">'
        f"<title>{escape(title)}</title><style>{picture_style()}</style>{inside}</svg>"
    )


def _panel(shown: Shown, layout: Layout) -> tuple[str, int, int]:
    """Draw a chart with its legend; return the SVG, its width and its height."""
    layout = layout._replace(top=layout.top + _SECOND) if shown.policy else layout
    body, legend = _draw(shown, layout)
    legend, beside = legend[:_MOST_LABELS], max(2, layout.full // _KEY)
    bottom = layout.top + layout.height + layout.below
    if layout.legend:
        corners_ = [(layout.left + layout.width + 18, layout.top + _ROW * place) for place in range(len(legend))]
        height = max(bottom, layout.top + _ROW * len(legend) + 10)
    else:
        corners_ = [
            (8 + layout.full // beside * (place % beside), bottom + _ROW * (place // beside))
            for place in range(len(legend))
        ]
        height = bottom + _ROW * -(-len(legend) // beside) + 4
    room = _ROOM if layout.legend else int((layout.full / beside - 34) / _WIDE_DIGIT)
    rows = "".join(_entry(corner, entry, room) for corner, entry in zip(corners_, legend, strict=True))
    title = escape(_fitted(shown.title, layout.full - 10))
    policy = escape(_fitted(f"Policy: {shown.policy}", layout.full - 10))
    second = f'<text x="4" y="{18 + _SECOND}">{policy}</text>' if shown.policy else ""
    return f'<text x="4" y="18" font-weight="bold">{title}</text>{second}{body}{rows}', layout.full, height


class Key(NamedTuple):
    """An entry of the legend.

    Attributes:
        name: The text.
        colour: The CSS class for the colour; empty for the colour of the text.
        look: How the entry is drawn: `box`, `hatch` or `line`.
    """

    name: str
    colour: str
    look: str


def _entry(corner: tuple[int, int], key: Key, room: int) -> str:
    """Draw an entry of the legend."""
    x, y = corner
    if key.look == "line":
        mark = f'<path d="M{x} {y + 6}h16" {_stroke(key.colour)} stroke-width="2.5"/>'
    else:
        mark = f'<rect x="{x}" y="{y}" width="16" height="11" {_fill(key.colour)}/>'
        if key.look == "hatch":
            mark += f'<path {_GAPS} d="M{x} {y + 11}l11 -11M{x + 6} {y + 11}l10 -10" stroke-width="2"/>'
    short = _short(key.name, room)
    full = f"<title>{escape(key.name)}</title>" if short != key.name else ""
    return f'{mark}<text x="{x + 22}" y="{y + 10}">{full}{escape(short)}</text>'


def _fill(colour: str) -> str:
    """Return the attributes of a filled shape; programs that ignore CSS variables use the attribute `fill`."""
    return f'class="{colour}" fill="{_PLAIN[colour]}"' if colour else 'fill="currentColor"'


def _stroke(colour: str) -> str:
    """Return the attributes of a line."""
    if not colour:
        return 'fill="none" stroke="currentColor"'
    return f'class="{colour} kq-line" fill="none" stroke="{_PLAIN[colour]}"'


_PLAIN = {
    **{class_of(place): colour_of(place) for place in range(-1, 8)},
    "kq-gained": LIGHT_THEME.quiet,
    "kq-ended": LIGHT_THEME.ink,
}
"""Colours on a light background, by class."""


_Legend = list[Key]


@singledispatch
def _draw(shown: Any, layout: Layout) -> tuple[str, _Legend]:
    raise NotImplementedError


def _hatched(name: str, colour: str) -> str:
    return (
        f'<pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect width="6" height="6" {_fill(colour)}/><path {_GAPS} d="M0 0V6" stroke-width="2.4"/></pattern>'
    )


def _unique(shown: Any, layout: Layout) -> str:
    """Return a prefix for identifiers that is unique for each picture on a page."""
    return f"kq{crc32(repr((shown.title, layout, shown.ends if hasattr(shown, 'ends') else None)).encode()):x}"


def ranges(shown: Stack | Lines) -> Ends:
    """Return the ranges of the x and y axes that a chart needs."""
    if isinstance(shown, Stack):
        empty = [np.zeros(len(shown.edges) - 1)]
        sums = np.sum([layer.own + layer.borrowed for layer in shown.layers] or empty, axis=0)
        top = max(float(sums.max(initial=0.0)), float(np.max(shown.limit, initial=0.0))) * 1.05 or 1.0
        return (float(shown.edges[0]), float(shown.edges[-1])), (0.0, top)
    lines = [line for line in shown.lines if len(line.x)]
    xs = np.concatenate([np.zeros(0), *(line.x for line in lines)])
    ys = np.concatenate([np.zeros(0), *(line.y for line in lines)])
    low = float(xs.min()) if len(xs) else 1.0
    high = float(xs.max()) if len(xs) else 1.0
    if low == high:
        low, high = (low / 2, high * 2) if shown.log_x else (low, low + 1)
    top = float(ys.max(initial=0.0)) * (1.3 if shown.log_y else 1.05) or 1.0
    bottom = float(ys.min()) / 1.3 if shown.log_y and len(ys) else 0.0
    if shown.shares and len(ys):
        bottom = math.floor(4 * float(ys.min())) / 4 if ys.min() < 1 else 0.0  # no empty quarter below the lines
    if shown.ticks and shown.log_x:
        high = next((at for at, _ in shown.ticks if at >= high), high)  # a label at the longest wait
    return (low, high), (bottom, top)


@_draw.register
def _stack(shown: Stack, layout: Layout) -> tuple[str, _Legend]:
    frame = _Frame(layout, *(shown.ends or ranges(shown)))
    prefix = _unique(shown, layout)
    x = np.repeat(frame.right(shown.edges), 2)[1:-1]
    below = np.zeros(len(shown.edges) - 1)
    body, patterns, legend = [], [], []
    for layer in shown.layers:
        colour = class_of(layer.colour)
        for values, hatch in ((layer.own, False), (layer.borrowed, True)):
            if not values.any():
                continue
            above = below + values
            fill = f'fill="url(#{prefix}{colour})"' if hatch else _fill(colour)
            if hatch:
                patterns.append(_hatched(f"{prefix}{colour}", colour))
            up, down = np.repeat(frame.down(above), 2), np.repeat(frame.down(below), 2)
            points = _points(np.append(x, x[::-1]), np.append(up, down[::-1]))
            title = escape(f"{layer.name}{', borrowed' * hatch}")
            body.append(f'<polygon {fill} points="{points}"><title>{title}</title></polygon>')
            below = above
        legend.append(Key(layer.name, colour, "box"))
    if shown.has_borrowed:
        legend.append(Key("borrowed quota", "kq-others", "hatch"))
    if len(shown.limit):
        line = _points(x, np.repeat(frame.down(shown.limit), 2))
        body.append(f'<polyline fill="none" stroke="currentColor" stroke-width="1.6" points="{line}"/>')
        legend.append(Key("nominal quota", "", "line"))
    return f"<defs>{''.join(patterns)}</defs>{''.join(body)}{frame.axes(shown.x, shown.y, unit=shown.unit)}", legend


def _points(x: Any, y: Any) -> str:
    """Format points for SVG, without the points in the middle of a horizontal or vertical line."""
    kept = np.ones(len(x), bool)
    if len(x) > 2:  # noqa: PLR2004 - both ends stay
        flat = (y[1:-1] == y[:-2]) & (y[1:-1] == y[2:])
        kept[1:-1] = ~(flat | ((x[1:-1] == x[:-2]) & (x[1:-1] == x[2:])))
    return " ".join(f"{a:g},{b:g}" for a, b in zip(x[kept].tolist(), y[kept].tolist(), strict=True))


@_draw.register
def _lines(shown: Lines, layout: Layout) -> tuple[str, _Legend]:
    lines = [line for line in shown.lines if len(line.x)]
    (low, high), rising = shown.ends or ranges(shown)
    frame = _Frame(layout, (low, high), rising, (shown.log_x, shown.log_y))
    body = [_line(line, frame, shown) for line in lines] + [_mark(mark, frame) for mark in shown.marks]
    legend = [Key(line.name, _ink(line), "line") for line in lines]
    legend += [Key(mark.name, _MARKS[mark.name][2], "line") for mark in shown.marks]
    inside = [tick for tick in shown.ticks if low <= tick[0] <= high]
    return "".join(body) + frame.axes(shown.x, shown.y, inside, unit=shown.unit, shares=shown.shares), legend


def _ink(line: Line) -> str:
    return "" if line.colour == ALL else class_of(line.colour)


def _line(line: Line, frame: _Frame, shown: Lines) -> str:
    x, y = corners(line) if shown.steps else (line.x, line.y)
    width = 2.6 if line.colour == ALL else 1.8
    right, down = frame.right(x), frame.down(y)
    dots = zip(right.tolist(), down.tolist(), strict=True) if shown.points else ()
    circles = "".join(f'<circle cx="{at:g}" cy="{up:g}" r="3.2" {_fill(_ink(line))}/>' for at, up in dots)
    return (
        f'<polyline {_stroke(_ink(line))} stroke-width="{width}" points="{_points(right, down)}">'
        f"<title>{escape(line.name)}</title></polyline>{circles}"
    )


def _mark(mark: Mark, frame: _Frame) -> str:
    first, last, colour = _MARKS[mark.name]
    top, height = frame.layout.top, frame.layout.height
    ends = (top + height * (1 - first), top + height * (1 - last))
    path = "".join(f"M{at:g} {ends[0]:g}V{ends[1]:g}" for at in frame.right(mark.x).tolist())
    return f'<path d="{path}" {_stroke(colour)} stroke-width="1.2"/>'


@_draw.register
def _bars(shown: Bars, layout: Layout) -> tuple[str, _Legend]:
    low = min((bar.begin for bar in shown.bars), default=0.0)
    high = max((bar.end for bar in shown.bars), default=1.0)
    lanes = max(shown.lanes, 1)
    frame = _Frame(layout, (low, high), (float(lanes), 0.0))
    height = layout.height / lanes
    prefix = _unique(shown, layout)
    body = [_bar(bar, frame, height, prefix) for bar in shown.bars]
    legend = [Key(queue, class_of(place), "box") for queue, place in shown.queues.items()]
    pattern = (
        f'<defs><pattern id="{prefix}" width="5" height="5" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><path {_GAPS} d="M0 0V5" stroke-width="2.2"/></pattern></defs>'
    )
    if any(bar.cut for bar in shown.bars):
        legend += [Key("evicted", "", "line"), Key("lost progress", "kq-others", "hatch")]
    return pattern + "".join(body) + frame.axes(shown.x, LANES, unit=shown.unit, scaled=False), legend


def _bar(bar: Bar, frame: _Frame, height: float, prefix: str) -> str:
    """Draw a run in its lane; if the job was evicted, hatch the lost progress and mark the end."""
    x, end, lost = (float(frame.right(at)) for at in (bar.begin, bar.end, bar.lost_from))
    y, colour = frame.layout.top + bar.lane * height, class_of(bar.colour)
    size = f'y="{y:.1f}" height="{max(height * 0.9, 0.8):.1f}"'
    wide = f'x="{x:g}" width="{max(end - x, 0.6):.1f}"'
    whole = f"<rect {wide} {size} {_fill(colour)}><title>{escape(bar.name)}</title></rect>"
    if not bar.cut:
        return whole
    hatched = f'<rect x="{lost:g}" width="{max(end - lost, 0.6):.1f}" {size} fill="url(#{prefix})"/>'
    return f'{whole}{hatched}<path d="M{end:g} {y:.1f}v{height:.1f}" stroke="currentColor" stroke-width="1.6"/>'


@_draw.register
def _matrix(shown: Matrix, layout: Layout) -> tuple[str, _Legend]:
    if not shown.rows:
        return f'<text x="{layout.left}" y="{layout.top + 20}">No evictions</text>', []
    left, top = layout.left + (20 if layout.width == NARROW.width else 60), layout.top + 42
    wide = (layout.full - left - 10) / max(len(shown.columns), 4)
    high = (layout.height - 10) / max(len(shown.rows), 3)
    body = [f'<text x="{left}" y="{top - 24}">Preemptor →</text><text x="4" y="{top - 6}">Victim ↓</text>']
    for column, name in enumerate(shown.columns):
        label = escape(_fitted(name, wide - 4))
        title = f"<title>{escape(name)}</title>"
        body.append(
            f'<text x="{left + (column + 0.5) * wide:g}" y="{top - 6}" text-anchor="middle">{title}{label}</text>'
        )
    for row, name in enumerate(shown.rows):
        y = top + (row + 0.5) * high
        label = f"<title>{escape(name)}</title>{escape(_fitted(name, left - 10))}"
        body.append(f'<text x="{left - 6}" y="{y + 4:g}" text-anchor="end">{label}</text>')
        body += [
            _cell(shown, (row, column), (left + column * wide, y), (wide, high)) for column in range(len(shown.columns))
        ]
    return "".join(body), []


def _cell(shown: Matrix, place: tuple[int, int], at: tuple[float, float], size: tuple[float, float]) -> str:
    """Draw the number of evictions of one pair of queues; a darker tile means more evictions."""
    (row, column), (x, y), (wide, high) = place, at, size
    part = float(shown.counts[place]) / (float(shown.counts.max()) or 1.0)
    ink = ' class="kq-on" fill="#fff"' if part > _DARK else ""
    text, lost = shown.text(row, column), float(shown.hours[place])
    title = f"{shown.rows[row]} by {shown.columns[column]}: {text or '0'}, {lost:.3g} h lost"
    depth = 0.64 + 0.36 * part if part > _DARK else 0.06 + 0.8 * part  # the contrast of the number is at least 4.5
    shade = f'fill="{LIGHT_THEME.heat}" fill-opacity="{depth if text else 0:.2f}"'
    return (
        f'<rect x="{x:g}" y="{y - high / 2:g}" width="{wide - 1:g}" height="{high - 1:g}" class="kq-heat" '
        f'{shade} stroke="currentColor" stroke-opacity=".2">'
        f"<title>{escape(title)}</title></rect>"
        f'<text x="{x + wide / 2:g}" y="{y + 4:g}" text-anchor="middle"{ink}>{text}</text>'
    )
