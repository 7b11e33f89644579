"""Line charts of values over time as SVG, for notebooks and files; no plotting library is needed."""

from __future__ import annotations

import math
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    Moments = Sequence[tuple[float, float]]

_COLOURS = ("#2563eb", "#c2410c", "#15803d", "#9333ea", "#0e7490", "#be123c", "#854d0e", "#475569")
_WIDTH, _HEIGHT = 360, 170  # of one panel, in pixels
_LEFT, _TOP, _BELOW = 56, 24, 22
_MOST_LINES = 24


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


def steps(title: str, panels: Mapping[str, Mapping[str, Moments]], end: float) -> Picture:
    """Draw step functions, one line each; all panels have the same scales.

    Args:
        title: The title of the picture.
        panels: The lines by panel and name; a line is a list of times in seconds and values from then on.
        end: The end of the time axis, in seconds.
    """
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))[:_MOST_LINES]
    values = [value for lines in panels.values() for moments in lines.values() for _, value in moments]
    top = max([value for value in values if math.isfinite(value)], default=0.0) or 1.0
    over = 1.15 * top if any(math.isinf(value) for value in values) else top
    body: list[str] = []
    for i, (panel, lines) in enumerate(panels.items()):
        body.append(f'<g transform="translate({i * (_WIDTH + _LEFT)},0)">{_axes(panel, top, over, end)}')
        for n, name in enumerate(names):
            if name in lines:
                points = _points(lines[name], over, end)
                body.append(
                    f'<polyline fill="none" stroke-width="1.6" stroke="{_COLOURS[n % len(_COLOURS)]}" '
                    f'points="{points}"><title>{escape(name)}</title></polyline>'
                )
        body.append("</g>")
    legend_top = _TOP + _HEIGHT + _BELOW
    for n, name in enumerate(names):
        x, y = _LEFT + n % 4 * 190, legend_top + 14 + n // 4 * 16
        body.append(
            f'<rect x="{x}" y="{y - 8}" width="12" height="4" fill="{_COLOURS[n % len(_COLOURS)]}"/>'
            f'<text x="{x + 18}" y="{y - 2}">{escape(name)}</text>'
        )
    width = max(1, len(panels)) * (_WIDTH + _LEFT) + 16
    height = legend_top + 16 * math.ceil(len(names) / 4) + 8
    return Picture(
        title,
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="11" fill="currentColor">{"".join(body)}</svg>',
    )


def _axes(panel: str, top: float, over: float, end: float) -> str:
    """Return the frame of a panel with its name, the largest value and the end of the time axis."""
    at = _y(top, over)
    infinite = f'<text x="{_LEFT - 6}" y="{_TOP + 4}" text-anchor="end">∞</text>' if over > top else ""
    return (
        f'<text x="{_LEFT}" y="14" font-weight="bold">{escape(panel)}</text>'
        f'<rect x="{_LEFT}" y="{_TOP}" width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="#8888"/>'
        f'<text x="{_LEFT - 6}" y="{at + 4:g}" text-anchor="end">{top:g}</text>{infinite}'
        f'<text x="{_LEFT - 6}" y="{_TOP + _HEIGHT}" text-anchor="end">0</text>'
        f'<text x="{_LEFT + _WIDTH}" y="{_TOP + _HEIGHT + 14}" text-anchor="end">{end:g} s</text>'
    )


def _y(value: float, over: float) -> float:
    return round(_TOP + _HEIGHT * (1 - min(value, over) / over), 1)


def _points(moments: Moments, over: float, end: float) -> str:
    corners: list[tuple[float, float]] = []
    height = 0.0
    for at, value in [(0.0, 0.0), *moments, (end, moments[-1][1] if moments else 0.0)]:
        x = round(_LEFT + _WIDTH * (at / end if end else 0.0), 1)
        corners += [(x, _y(height, over)), (x, _y(value, over))]
        height = value
    return " ".join(f"{x:g},{y:g}" for i, (x, y) in enumerate(corners) if i == 0 or corners[i - 1] != (x, y))
