"""Charts as plain SVG, drawn without a library, for HTML and files; text takes the colour of the page."""

from __future__ import annotations

import math
from functools import singledispatch
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.simulation.pictures.shown import (
    ALL,
    Bar,
    Bars,
    Ends,
    Line,
    Lines,
    Mark,
    Matrix,
    Shown,
    Stack,
    colour_of,
    corners,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

_WIDTH, _HEIGHT = 560, 250  # of the frame, in pixels
_LEFT, _TOP, _BELOW, _LEGEND = 72, 34, 44, 190
_FULL, _GAP = _LEFT + _WIDTH + _LEGEND, 24
_TICKS = 5
_ROOM = 20
_MOST_LABELS = 26
_DASHED = 8
_DARK = 0.5
_MARKS = {"admissions": (0.0, 0.03, "#009e73"), "evictions": (0.96, 1.0, "#d55e00")}


class Picture(msgspec.Struct, frozen=True):
    """A picture as SVG; notebooks display it.

    Attributes:
        title: The title.
        svg: The SVG document.
    """

    title: str
    svg: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to an SVG file.

        Args:
            path: The file.
        """
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_html_(self) -> str:
        """Return the picture as HTML, for notebooks."""
        return f"<figure>{self.svg}<figcaption>{escape(self.title)}</figcaption></figure>"


class _Frame:
    """The frame of a chart: converts values to pixels, and draws the axes."""

    def __init__(
        self, x: tuple[float, float], y: tuple[float, float], logs: tuple[bool, bool] = (False, False)
    ) -> None:
        self.logs = logs
        self.x = tuple(math.log10(v) for v in x) if logs[0] else x
        self.y = tuple(math.log10(v) for v in y) if logs[1] else y

    def right(self, values: Any) -> Any:
        low, high = self.x
        exact = np.log10(values) if self.logs[0] else np.asarray(values, float)
        return np.round(_LEFT + _WIDTH * (exact - low) / ((high - low) or 1), 1)

    def down(self, values: Any) -> Any:
        low, high = self.y
        exact = np.log10(values) if self.logs[1] else np.asarray(values, float)
        return np.round(_TOP + _HEIGHT * (1 - (exact - low) / ((high - low) or 1)), 1)

    def axes(self, x: str, y: str, ticks: Sequence[tuple[float, str]] = ()) -> str:
        bottom = _TOP + _HEIGHT
        body = [f'<path d="M{_LEFT} {_TOP}V{bottom}H{_LEFT + _WIDTH}" fill="none" stroke="currentColor"/>']
        for at, text in ticks or self._ticks(0):
            place = float(self.right(at))
            body.append(f'<path d="M{place:g} {bottom}v4" stroke="currentColor"/>')
            body.append(f'<text x="{place:g}" y="{bottom + 16}" text-anchor="middle">{escape(text)}</text>')
        for at, text in self._ticks(1):
            place = float(self.down(at))
            body.append(f'<path d="M{_LEFT - 4} {place:g}h4" stroke="currentColor"/>')
            body.append(f'<text x="{_LEFT - 7}" y="{place + 4:g}" text-anchor="end">{escape(text)}</text>')
        middle = _LEFT + _WIDTH / 2
        body.append(f'<text x="{middle:g}" y="{bottom + 34}" text-anchor="middle">{escape(x)}</text>')
        turned = f'transform="rotate(-90 14 {_TOP + _HEIGHT / 2:g})"'
        body.append(f'<text x="14" y="{_TOP + _HEIGHT / 2:g}" text-anchor="middle" {turned}>{escape(y)}</text>')
        return "".join(body)

    def _ticks(self, axis: int) -> list[tuple[float, str]]:
        low, high = (self.x, self.y)[axis]
        if self.logs[axis]:
            found = [10.0**power for power in range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)]
            return [(at, f"{at:g}") for at in found]
        step = _step((high - low) / _TICKS)
        count = math.floor((high - low) / step + 1e-9)
        return [(low + i * step, f"{low + i * step:,.6g}") for i in range(count + 1)]


def _step(wanted: float) -> float:
    """Return the smallest of 1, 2 or 5 times a power of ten that is at least as large."""
    if wanted <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(wanted))
    return next(size * power for size in (1, 2, 5, 10) if size * power >= wanted * (1 - 1e-9))


def svg(shown: Shown) -> Picture:
    """Draw data as SVG; text takes the colour of the surrounding page."""
    return _document(shown.title, *_panel(shown, shown.title))


def side_by_side(panels: Mapping[str, Shown]) -> Picture:
    """Draw several data of one kind beside each other, each with its name above it."""
    drawn = [_panel(shown, name) for name, shown in panels.items()]
    places = [f'<g transform="translate({i * (_FULL + _GAP)},0)">{inside}</g>' for i, (inside, *_) in enumerate(drawn)]
    title = next(iter(panels.values())).title
    return _document(title, "".join(places), len(drawn) * (_FULL + _GAP) - _GAP, max(height for *_, height in drawn))


def _document(title: str, inside: str, width: int, height: int) -> Picture:
    return Picture(
        title,
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(title)}" font-family="sans-serif" font-size="12" fill="currentColor">'
        f"<title>{escape(title)}</title>{inside}</svg>",
    )


def _panel(shown: Shown, heading: str) -> tuple[str, int, int]:
    """Draw data with its legend; return the SVG, its width and its height."""
    body, legend = _draw(shown)
    rows = "".join(_entry(place, *entry) for place, entry in enumerate(legend[:_MOST_LABELS]))
    height = max(_TOP + _HEIGHT + _BELOW, _TOP + 18 * len(legend[:_MOST_LABELS]) + 10)
    return f'<text x="{_LEFT}" y="18" font-weight="bold">{escape(heading)}</text>{body}{rows}', _FULL, height


def _entry(place: int, name: str, colour: str, look: str) -> str:
    """Draw an entry of the legend; `look` is `box`, `hatch`, `line` or `dash`."""
    x, y = _LEFT + _WIDTH + 18, _TOP + 18 * place
    if look in ("box", "hatch"):
        mark = f'<rect x="{x}" y="{y}" width="16" height="11" fill="{colour}"/>'
        if look == "hatch":
            mark += f'<path d="M{x} {y + 11}l11 -11M{x + 6} {y + 11}l10 -10" stroke="#fff" stroke-width="2"/>'
    else:
        dashed = ' stroke-dasharray="4 2"' if look == "dash" else ""
        mark = f'<path d="M{x} {y + 6}h16" stroke="{colour}" stroke-width="2.5"{dashed}/>'
    short = name if len(name) <= _ROOM else f"{name[: _ROOM - 1]}…"
    return f'{mark}<text x="{x + 22}" y="{y + 10}">{escape(short)}</text>'


_Legend = list[tuple[str, str, str]]


@singledispatch
def _draw(shown: Any) -> tuple[str, _Legend]:
    raise NotImplementedError


def _hatched(number: int, colour: str) -> str:
    return (
        f'<pattern id="h{number}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect width="6" height="6" fill="{colour}"/><path d="M0 0V6" stroke="#fff" stroke-width="2.4"/></pattern>'
    )


def ranges(shown: Stack | Lines) -> Ends:
    """Return the range of both axes that one picture needs."""
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
    return (low, high), (bottom, top)


@_draw.register
def _stack(shown: Stack) -> tuple[str, _Legend]:
    frame = _Frame(*(shown.ends or ranges(shown)))
    x = np.repeat(frame.right(shown.edges), 2)[1:-1]
    below = np.zeros(len(shown.edges) - 1)
    body, patterns, legend = [], [], []
    for layer in shown.layers:
        colour = colour_of(layer.colour)
        for values, hatch in ((layer.own, False), (layer.borrowed, True)):
            if not values.any():
                continue
            above = below + values
            fill = f"url(#h{layer.colour + 1})" if hatch else colour
            if hatch:
                patterns.append(_hatched(layer.colour + 1, colour))
            up, down = np.repeat(frame.down(above), 2), np.repeat(frame.down(below), 2)
            points = _points(np.append(x, x[::-1]), np.append(up, down[::-1]))
            title = escape(f"{layer.name}{', borrowed' * hatch}")
            body.append(f'<polygon fill="{fill}" points="{points}"><title>{title}</title></polygon>')
            below = above
        legend.append((layer.name, colour, "box"))
    if shown.has_borrowed:
        legend.append(("borrowed", "#8a8f98", "hatch"))
    if len(shown.limit):
        line = _points(x, np.repeat(frame.down(shown.limit), 2))
        body.append(f'<polyline fill="none" stroke="currentColor" stroke-width="1.6" points="{line}"/>')
        legend.append(("nominal quota", "currentColor", "line"))
    return f"<defs>{''.join(patterns)}</defs>{''.join(body)}{frame.axes(shown.x, shown.y)}", legend


def _points(x: Any, y: Any) -> str:
    """Format points for SVG, without those in the middle of a straight line."""
    kept = np.ones(len(x), bool)
    if len(x) > 2:  # noqa: PLR2004 - both ends stay
        flat = (y[1:-1] == y[:-2]) & (y[1:-1] == y[2:])
        kept[1:-1] = ~(flat | ((x[1:-1] == x[:-2]) & (x[1:-1] == x[2:])))
    return " ".join(f"{a:g},{b:g}" for a, b in zip(x[kept].tolist(), y[kept].tolist(), strict=True))


@_draw.register
def _lines(shown: Lines) -> tuple[str, _Legend]:
    lines = [line for line in shown.lines if len(line.x)]
    (low, high), rising = shown.ends or ranges(shown)
    frame = _Frame((low, high), rising, (shown.log_x, shown.log_y))
    body = [_line(line, frame, steps=shown.steps) for line in lines] + [_mark(mark, frame) for mark in shown.marks]
    legend = [(line.name, _ink(line), "dash" if line.colour >= _DASHED else "line") for line in lines]
    legend += [(mark.name, _MARKS[mark.name][2], "line") for mark in shown.marks]
    inside = [tick for tick in shown.ticks if low <= tick[0] <= high]
    if shown.points:
        inside = [(at, f"{at:g}") for at in sorted({at for line in lines for at in line.x.tolist()})]
    return "".join(body) + frame.axes(shown.x, shown.y, inside), legend


def _ink(line: Line) -> str:
    return "currentColor" if line.colour == ALL else colour_of(line.colour)


def _line(line: Line, frame: _Frame, *, steps: bool) -> str:
    x, y = corners(line) if steps else (line.x, line.y)
    dashed = ' stroke-dasharray="5 3"' if line.colour >= _DASHED else ""
    width = 2.6 if line.colour == ALL else 1.6
    return (
        f'<polyline fill="none" stroke="{_ink(line)}" stroke-width="{width}"{dashed} '
        f'points="{_points(frame.right(x), frame.down(y))}"><title>{escape(line.name)}</title></polyline>'
    )


def _mark(mark: Mark, frame: _Frame) -> str:
    first, last, colour = _MARKS[mark.name]
    ends = (_TOP + _HEIGHT * (1 - first), _TOP + _HEIGHT * (1 - last))
    path = "".join(f"M{at:g} {ends[0]:g}V{ends[1]:g}" for at in frame.right(mark.x).tolist())
    return f'<path d="{path}" stroke="{colour}" stroke-width="1.2"/>'


@_draw.register
def _bars(shown: Bars) -> tuple[str, _Legend]:
    low = min((bar.begin for bar in shown.bars), default=0.0)
    high = max((bar.end for bar in shown.bars), default=1.0)
    lanes = max(shown.lanes, 1)
    frame = _Frame((low, high), (float(lanes), 0.0))
    height = _HEIGHT / lanes
    body = [_bar(bar, frame, height) for bar in shown.bars]
    legend = [(queue, colour_of(place), "box") for queue, place in shown.queues.items()]
    pattern = (
        '<defs><pattern id="h0" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<path d="M0 0V5" stroke="#fff" stroke-width="2.2"/></pattern></defs>'
    )
    if any(bar.cut for bar in shown.bars):
        legend += [("evicted", "currentColor", "line"), ("lost", "#8a8f98", "hatch")]
    return pattern + "".join(body) + frame.axes(shown.x, "Concurrent runs"), legend


def _bar(bar: Bar, frame: _Frame, height: float) -> str:
    """Draw a run in its lane; if it was evicted, hatch the lost part and mark the end."""
    x, end, lost = (float(frame.right(at)) for at in (bar.begin, bar.end, bar.lost_from))
    y, colour = _TOP + bar.lane * height, colour_of(bar.colour)
    size = f'y="{y:.1f}" height="{max(height * 0.9, 0.8):.1f}"'
    wide = f'x="{x:g}" width="{max(end - x, 0.6):.1f}"'
    whole = f'<rect {wide} {size} fill="{colour}"><title>{escape(bar.name)}</title></rect>'
    if not bar.cut:
        return whole
    hatched = f'<rect x="{lost:g}" width="{max(end - lost, 0.6):.1f}" {size} fill="url(#h0)"/>'
    return f'{whole}{hatched}<path d="M{end:g} {y:.1f}v{height:.1f}" stroke="currentColor" stroke-width="1.6"/>'


@_draw.register
def _matrix(shown: Matrix) -> tuple[str, _Legend]:
    if not shown.rows:
        return f'<text x="{_LEFT}" y="{_TOP + 20}">No evictions</text>', []
    left, top = _LEFT + 60, _TOP + 24
    wide = (_WIDTH + _LEGEND - 80) / max(len(shown.columns), 4)
    high = (_HEIGHT - 10) / max(len(shown.rows), 4)
    body = [f'<text x="{left}" y="{_TOP}">Preemptor →</text>']
    for column, name in enumerate(shown.columns):
        x = left + (column + 0.5) * wide
        body.append(f'<text x="{x:g}" y="{top - 6}" text-anchor="middle">{escape(_short(name, wide))}</text>')
    for row, name in enumerate(shown.rows):
        y = top + (row + 0.5) * high
        body.append(f'<text x="{left - 6}" y="{y + 4:g}" text-anchor="end">{escape(_short(name, 120))}</text>')
        body += [
            _cell(shown, (row, column), (left + column * wide, y), (wide, high)) for column in range(len(shown.columns))
        ]
    return "".join(body), []


def _cell(shown: Matrix, place: tuple[int, int], at: tuple[float, float], size: tuple[float, float]) -> str:
    """Draw the number of evictions of one pair; a darker field means more evictions."""
    (row, column), (x, y), (wide, high) = place, at, size
    part = float(shown.counts[place]) / (float(shown.counts.max()) or 1.0)
    ink = ' fill="#fff"' if part > _DARK else ""
    text, lost = shown.text(row, column), float(shown.hours[place])
    title = f"{shown.rows[row]} by {shown.columns[column]}: {text or '0'}, {lost:.4g} h lost"
    return (
        f'<rect x="{x:g}" y="{y - high / 2:g}" width="{wide - 1:g}" height="{high - 1:g}" fill="#0072b2" '
        f'fill-opacity="{0.06 + 0.84 * part:.2f}"><title>{escape(title)}</title></rect>'
        f'<text x="{x + wide / 2:g}" y="{y + 4:g}" text-anchor="middle"{ink}>{text}</text>'
    )


def _short(name: str, width: float) -> str:
    room = max(3, int(width / 7))
    return name if len(name) <= room else f"{name[: room - 1]}…"
