"""Charts as plain SVG, drawn without a library, for HTML pages and files; text has the colour of the page."""

import os
import re
import textwrap
from collections.abc import Mapping
from functools import singledispatch
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.files import write_file
from kueuepy.look.chart import Area, Axis, Box, Chart, Colour, Key, Label, Line, Mark, Rug, ticks_of
from kueuepy.look.colours import ALL, class_of, colour_of, picture_style
from kueuepy.look.escapes import escape
from kueuepy.look.notebook import figure_html

_ROW = 18
# The height of an entry of the legend, and of a line of the title.
_LINE = 16
# Width of a character of a label and of the title, in pixels.
_WIDE_DIGIT, _BOLD_DIGIT = 6.6, 7.4
# The number of characters of an entry in the legend, and of entries.
_ENTRY, _MOST_ENTRIES = 24, 26
# The width of an entry in a legend below a chart, in pixels; there are at least two entries in a row.
_KEY = 188
# Longer names are shortened, because a chart needs the space.
_MOST_LEFT = 150
_GAP = 24
# The number of charts in a row of several charts.
_BESIDE = 2
_CROSS = "m-3.2 -3.2l6.4 6.4m0 -6.4l-6.4 6.4"
# A page has the style sheet once, not in each picture.
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

    width: float
    height: float
    legend: int
    left: float = 72
    top: float = 34
    below: int = 58

    @property
    def full(self) -> float:
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
            path: The file; its name has the extension `.svg`, or none.

        Raises:
            InvalidSpecError: The name of the file has another extension.
            StateError: The file cannot be written.
        """
        expect_svg(path)
        write_file(path, self.svg)

    def _repr_html_(self) -> str:
        """Return the picture as HTML, for notebooks; a narrow notebook shows the picture for narrow screens."""
        return figure_html(self.svg, self.narrow)


def expect_svg(path: str | os.PathLike[str]) -> None:
    """Check that the name of a file has the extension `.svg`, or none, such as `/dev/stdout`.

    Raises:
        InvalidSpecError: The name of the file has another extension.
    """
    if Path(path).suffix.lower() not in ("", ".svg"):
        raise InvalidSpecError(
            f"{os.fspath(path)}: a picture is SVG, so the name must end with .svg; for other formats, draw the picture "
            "with plot(...) and save its figure with matplotlib"
        )


def picture(chart: Chart, narrow: Chart | None = None) -> Picture:
    """Draw a chart as SVG, for wide and for narrow screens; text has the colour of the surrounding page."""
    return Picture(chart.title, svg(chart, WIDE), svg(narrow or chart, NARROW))


def side_by_side(panels: Mapping[str, Chart]) -> Picture:
    """Draw several charts of one kind by the name of the policy, two in a row; one in a row if narrow."""
    # The part after a semicolon is about one policy.
    title = next(iter(panels.values())).title.partition(";")[0]
    return Picture(title, _rows(title, panels, HALF, _BESIDE), _rows(title, panels, NARROW, 1))


def svg(chart: Chart, layout: Layout) -> str:
    """Draw a chart as an SVG document."""
    return _document(chart.title, *_panel(chart, layout))


def for_page(chart: Chart, layout: Layout) -> str:
    """Draw a chart as an SVG element without a style sheet, for a page that defines the colours itself."""
    return _STYLE_ELEMENT.sub("", svg(chart, layout))


def _rows(title: str, panels: Mapping[str, Chart], layout: Layout, beside: int) -> str:
    drawn = [_panel(msgspec.structs.replace(chart, policy=name), layout) for name, chart in panels.items()]
    # All panels have the size of the largest, so that their axes are aligned.
    across, down = (max(sizes) + _GAP for sizes in zip(*(size for _, *size in drawn), strict=True))
    places = [
        f'<g transform="translate({i % beside * across:g},{i // beside * down:g})">{inside}</g>'
        for i, (inside, *_) in enumerate(drawn)
    ]
    width, height = min(beside, len(drawn)) * across, -(-len(drawn) // beside) * down
    return _document(title, "".join(places), width - _GAP, height - _GAP)


def _document(title: str, inside: str, width: float, height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" class="kq-picture" role="img" aria-label="{escape(title)}" '
        f'font-family="sans-serif" font-size="12" fill="currentColor" stroke-width=".6">'
        f"<title>{escape(title)}</title><style>{picture_style()}</style>{inside}</svg>"
    )


def _panel(chart: Chart, layout: Layout) -> tuple[str, float, float]:
    """Draw a chart with its title and its legend; return the SVG, its width and its height."""
    layout, title = _fitted(chart, layout)
    lines = [*title, *([_short(f"Policy: {chart.policy}", int(layout.full / _WIDE_DIGIT))] if chart.policy else [])]
    bold = ' font-weight="bold"'
    head = "".join(
        f'<text x="4" y="{18 + _LINE * row}"{bold if row < len(title) else ""}>{escape(line)}</text>'
        for row, line in enumerate(lines)
    )
    frame = _Frame(layout, chart)
    marks = "".join(_svg(mark, frame) for mark in chart.marks)
    axes = "" if chart.is_drawing else frame.across() + frame.upwards()
    hatching = (
        f'<defs><pattern id="{frame.hatching}" width="6" height="6" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><path {_stroke("paper")} d="M0 0V6" stroke-width="2.4"/></pattern></defs>'
    )
    legend, height = _legend(chart.keys[:_MOST_ENTRIES], layout, frame.hatching)
    return f"{head}{hatching}{marks}{axes}{legend}", layout.full, height


def _fitted(chart: Chart, layout: Layout) -> tuple[Layout, list[str]]:
    """Return the layout with enough space for the names on the y axis and for the title, and the lines of the title."""
    if chart.is_drawing:
        (left, right), (low, high) = chart.x.ends, sorted(chart.y.ends)
        layout = Layout(right - left, high - low, 0, left=4, below=8)
    elif chart.y.names:
        longest = max((len(line) for _, text in ticks_of(chart.y) for line in text.split("\n")), default=0)
        left = min(max(layout.left, 34 + _WIDE_DIGIT * longest), max(_MOST_LEFT, layout.left))
        layout = layout._replace(left=left, width=layout.width + layout.left - left)
    layout = layout._replace(height=chart.height or layout.height)
    title = textwrap.wrap(chart.title, int((layout.full - 10) / _BOLD_DIGIT)) or [""]
    return layout._replace(top=layout.top + _LINE * (len(title) - 1 + bool(chart.policy))), title


def _legend(keys: tuple[Key, ...], layout: Layout, hatching: str) -> tuple[str, float]:
    """Draw the legend beside or below a chart; return the SVG and the height of the chart."""
    bottom, beside = layout.top + layout.height + layout.below, max(2, int(layout.full // _KEY))
    if layout.legend:
        corners = [(layout.left + layout.width + 18, layout.top + _ROW * index) for index in range(len(keys))]
        height = max(bottom, layout.top + _ROW * len(keys) + 10)
    else:
        wide = layout.full // beside
        corners = [(8 + wide * (index % beside), bottom + _ROW * (index // beside)) for index in range(len(keys))]
        height = bottom + (_ROW * -(-len(keys) // beside) + 4 if keys else 0)
    most = _ENTRY if layout.legend else int((layout.full / beside - 34) / _WIDE_DIGIT)
    return "".join(_entry(at, key, most, hatching) for at, key in zip(corners, keys, strict=True)), height


def _entry(corner: tuple[float, float], key: Key, most: int, hatching: str) -> str:
    """Draw an entry of the legend."""
    x, y = corner
    if key.look in ("box", "hatch"):
        mark = _rectangle(f'x="{x:g}" y="{y:g}" width="16" height="11"', key, hatching, hatched=key.look == "hatch")
    elif key.look in ("line", "dashes"):
        dashes = ' stroke-dasharray="4"' if key.look == "dashes" else ""
        mark = f'<path d="M{x:g} {y + 6:g}h16" {_stroke(key.colour)} stroke-width="2.5"{dashes}/>'
    else:
        mark = _dot(x + 8, y + 6, key.colour, key.look)
    return f'{mark}<text x="{x + 22:g}" y="{y + 10:g}">{_shown(key.name, most)}</text>'


def _rectangle(index: str, look: Box | Key, hatching: str, *, hatched: bool, title: str = "") -> str:
    """Draw a filled rectangle, and the hatching on it."""
    pale = f' fill-opacity="{look.opacity:.2f}"' if look.opacity < 1 else ""
    edge = ""
    if isinstance(look, Box) and look.edge:
        dashes = ' stroke-dasharray="2"' if look.edge == "dashed" else ""
        edge = f' stroke="{colour_of("others")}"{dashes}'
    over = f'<rect {index} fill="url(#{hatching})"/>' if hatched else ""
    end = f">{title}</rect>" if title else "/>"
    return f"<rect {index} {_fill(look.colour)}{pale}{edge}{end}{over}"


def _dot(x: float, y: float, colour: Colour, look: str) -> str:
    if look in ("x", "cross"):
        return f'<path d="M{x:g} {y:g}{_CROSS}" {_stroke(colour)} stroke-width="2"/>'
    return f'<circle cx="{x:g}" cy="{y:g}" r="3.6" {_fill(colour)}/>'


def _shown(text: str, most: int) -> str:
    """Return a text shortened in the middle, because names often begin alike; the tooltip has the whole text."""
    short = _short(text, most)
    return escape(short) if short == text else f"<title>{escape(text)}</title>{escape(short)}"


def _short(text: str, most: int) -> str:
    most = max(most, 3)
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def _is_ink(colour: Colour) -> bool:
    return colour in (ALL, "ink")


def _named(colour: Colour) -> str:
    """Return the class of a colour, which suits light and dark pages; a fixed colour has none."""
    return "" if isinstance(colour, str) and colour.startswith("#") else class_of(colour)


def _fill(colour: Colour) -> str:
    """Return the attributes of a filled shape; programs that ignore CSS variables use the attribute `fill`."""
    if _is_ink(colour):
        return 'fill="currentColor"'
    name = _named(colour)
    return f'class="{name}" fill="{colour_of(colour)}"' if name else f'fill="{colour}"'


def _stroke(colour: Colour) -> str:
    """Return the attributes of a line."""
    if _is_ink(colour):
        return 'fill="none" stroke="currentColor"'
    name = _named(colour)
    kind = f'class="{name} kq-line" ' if name else ""
    return f'{kind}fill="none" stroke="{colour_of(colour)}"'


class _Frame:
    """The frame of a chart: converts values to pixels, and draws the axes."""

    def __init__(self, layout: Layout, chart: Chart) -> None:
        self.layout, self._x, self._y = layout, chart.x, chart.y
        # A page has several pictures, and a pattern of a hidden picture is not drawn: each needs its own identifier.
        about = repr((chart.title, chart.policy, layout, chart.x.ends, chart.y.ends))
        self.hatching = f"kq{crc32(about.encode()):x}"

    def right(self, values: Any) -> Any:
        return np.round(self.layout.left + self.layout.width * _share(self._x, values), 1)

    def down(self, values: Any) -> Any:
        return np.round(self.layout.top + self.layout.height * (1 - _share(self._y, values)), 1)

    def across(self) -> str:
        """Draw the x axis; a label that would overlap the previous label is left out, and a name is shortened."""
        left, full, bottom = self.layout.left, self.layout.full, self.layout.top + self.layout.height
        ticks = [(float(self.right(at)), text.split("\n")) for at, text in ticks_of(self._x)]
        frame = f"M{left:g} {self.layout.top:g}V{bottom:g}H{left + self.layout.width:g}"
        body = [f'<path d="{frame}" {_stroke("ink")} stroke-width="1"/>']
        space = self.layout.width / max(len(ticks), 1) - 4
        end = 0.0
        for index, lines in ticks:
            half = max(map(len, lines)) * _WIDE_DIGIT / 2
            if self._x.names:
                half = min(half, space / 2)
            if index - half < end:
                continue
            end = index + half + (0 if self._x.names else 6)
            body.append(f'<path d="M{index:g} {bottom:g}v4" {_stroke("ink")} stroke-width="1"/>')
            for row, line in enumerate(lines):
                text = _shown(line, int(space / _WIDE_DIGIT) if self._x.names else len(line))
                inside = min(index, full - half - 2)
                body.append(f'<text x="{inside:g}" y="{bottom + 16 + 13 * row:g}" text-anchor="middle">{text}</text>')
        below = 46 if any(lines[1:] for _, lines in ticks) else 36
        label = _short(self._x.label, int((full - 16) / _WIDE_DIGIT))
        middle = min(max(left + self.layout.width / 2, len(label) * _WIDE_DIGIT / 2 + 4), full / 2 + left / 2)
        body.append(f'<text x="{middle:g}" y="{bottom + below:g}" text-anchor="middle">{escape(label)}</text>')
        return "".join(body)

    def upwards(self) -> str:
        """Draw the labels of the y axis."""
        left, body = self.layout.left, []
        for at, text in ticks_of(self._y):
            index, lines = float(self.down(at)), text.split("\n")
            body.append(f'<path d="M{left - 4:g} {index:g}h4" {_stroke("ink")} stroke-width="1"/>')
            for row, line in enumerate(lines):
                y = index + 4 + 13 * (row - (len(lines) - 1) / 2)
                shown = _shown(line, int((left - 30) / _WIDE_DIGIT))
                body.append(f'<text x="{left - 7:g}" y="{y:g}" text-anchor="end">{shown}</text>')
        middle = self.layout.top + self.layout.height / 2
        label = escape(_short(self._y.label, int((self.layout.height + self.layout.top) / _WIDE_DIGIT)))
        turned = f'text-anchor="middle" transform="rotate(-90 14 {middle:g})"'
        body.append(f'<text x="14" y="{middle:g}" {turned}>{label}</text>')
        return "".join(body)


def _share(axis: Axis, values: Any) -> Any:
    """Return the positions of values on an axis, from 0 to 1."""
    (low, high), exact = axis.ends, np.asarray(values, float)
    if axis.log:
        low, high, exact = np.log10(low), np.log10(high), np.log10(exact)
    return (exact - low) / ((high - low) or 1)


@singledispatch
def _svg(mark: Mark, frame: _Frame) -> str:
    raise NotImplementedError


@_svg.register
def _area(area: Area, frame: _Frame) -> str:
    x, up, down = frame.right(area.x), frame.down(area.high), frame.down(area.low)
    points = _points(np.append(x, x[::-1]), np.append(up, down[::-1]))
    title = f"<title>{escape(area.title)}</title>" if area.title else ""
    whole = f'<polygon {_fill(area.colour)} points="{points}">{title}</polygon>'
    over = f'<path fill="url(#{frame.hatching})" pointer-events="none" d="M{points}z"/>' if area.hatched else ""
    return whole + over


@_svg.register
def _line(line: Line, frame: _Frame) -> str:
    right, down = frame.right(line.x), frame.down(line.y)
    at = zip(right.tolist(), down.tolist(), strict=True) if line.dots else ()
    dots = "".join(_dot(x, y, line.colour, line.dots) for x, y in at)
    if not line.joined:
        return dots
    title = f"<title>{escape(line.title)}</title>" if line.title else ""
    look = f'{_stroke(line.colour)} stroke-width="{line.width:g}"' + ' stroke-dasharray="5"' * line.dashed
    return f'<polyline {look} points="{_points(right, down)}">{title}</polyline>{dots}'


def _points(x: Any, y: Any) -> str:
    """Format points for SVG, without the points in the middle of a horizontal or vertical line."""
    # Step functions have many such points, which make most of the size of a picture.
    kept = np.ones(len(x), bool)
    if len(x) > 2:  # noqa: PLR2004 - both ends stay
        flat = (y[1:-1] == y[:-2]) & (y[1:-1] == y[2:])
        kept[1:-1] = ~(flat | ((x[1:-1] == x[:-2]) & (x[1:-1] == x[2:])))
    return " ".join(f"{a:g},{b:g}" for a, b in zip(x[kept].tolist(), y[kept].tolist(), strict=True))


@_svg.register
def _rug(rug: Rug, frame: _Frame) -> str:
    size = 0.035 * frame.layout.height
    start = frame.layout.top if rug.top else frame.layout.top + frame.layout.height - size
    path = "".join(f"M{at:g} {start:g}v{size:g}" for at in frame.right(rug.x).tolist())
    return f'<path d="{path}" {_stroke(rug.colour)} stroke-width="1.2"/>'


@_svg.register
def _box(box: Box, frame: _Frame) -> str:
    (left, right), (one, other) = (
        sorted((float(scale(at)), float(scale(at + size))))
        for scale, at, size in ((frame.right, box.x, box.width), (frame.down, box.y, box.height))
    )
    # A run of seconds in a chart of days stays visible.
    index = f'x="{left:g}" y="{one:g}" width="{max(right - left, 0.6):.4g}" height="{max(other - one, 0.8):.4g}"'
    title = f"<title>{escape(box.title)}</title>" if box.title else ""
    whole = _rectangle(index, box, frame.hatching, hatched=box.hatched, title="" if box.parts else title)
    return f"<g>{title}{whole}{''.join(_box(part, frame) for part in box.parts)}</g>" if box.parts else whole


@_svg.register
def _label(label: Label, frame: _Frame) -> str:
    x, y = float(frame.right(label.x)) + label.shift[0], float(frame.down(label.y)) + label.shift[1]
    style = f' font-size="{label.size:g}"' + (f' text-anchor="{label.anchor}"' if label.anchor != "start" else "")
    style += ' font-weight="bold"' if label.bold else ""
    style += "" if _is_ink(label.colour) else f" {_fill(label.colour)}"
    return f'<text x="{x:g}" y="{y:g}"{style}>{escape(label.text)}</text>' if label.text else ""
