"""A rack map as SVG, drawn without a library, for light and dark pages."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from kueuepy.topology import drawing as kinds

if TYPE_CHECKING:
    from kueuepy.topology.drawing import Bar, Box, Drawing, Label

_COLOURS = ("#3b82f6", "#ea580c", "#16a34a", "#a855f7", "#0891b2", "#e11d48", "#a16207")
"""Colours distinguishable with any colour vision, on white and on black."""
_FILLS = {kinds.OTHER: "#64748b", kinds.OUTSIDE: "url(#outside)", kinds.FREE: "#8882", kinds.NONE: "none"}

_OUTSIDE = (
    '<defs><pattern id="outside" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="5" height="5" fill="#8886"/><rect width="2" height="5" fill="#888"/></pattern></defs>'
)


def svg(drawing: Drawing) -> str:
    """Draw the map; text has the colour of the surrounding page."""
    margin = 4
    head = 22
    width, height = drawing.width + 2 * margin, drawing.height + head + 2 * margin
    body = [
        _OUTSIDE,
        f'<g transform="translate({margin},{margin})">',
        f'<text x="0" y="13" font-size="13" font-weight="bold">{escape(drawing.title)}</text>',
        f'<g transform="translate(0,{head})">',
        *map(_bar, drawing.bars),
        *map(_label, drawing.labels),
        "</g></g>",
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" style="max-width:100%;height:auto" font-family="sans-serif" fill="currentColor">'
        f"{''.join(body)}</svg>"
    )


def _bar(bar: Bar) -> str:
    frame = 'stroke="#8888" stroke-width=".6" ' if isinstance(bar.frame.kind, str) else ""
    title = f"<title>{escape(bar.title)}</title>" if bar.title else ""
    return f"<g>{title}{_box(bar.frame, frame)}{''.join(map(_box, bar.parts))}</g>"


def _box(box: Box, more: str = "") -> str:
    fill = _COLOURS[box.kind] if isinstance(box.kind, int) else _FILLS[box.kind]
    size = f'width="{box.width:.4g}" height="{box.height:.4g}"'
    return f'<rect {more}x="{box.x:.5g}" y="{box.y:.5g}" {size} fill="{fill}"/>'


def _label(label: Label) -> str:
    style = f' font-size="{label.size:g}"' + (' text-anchor="middle"' if label.centred else "")
    style += ' font-weight="bold"' if label.bold else ""
    return f'<text x="{label.x:.5g}" y="{label.y:.5g}"{style}>{escape(label.text)}</text>' if label.text else ""
