"""A rack map as SVG, drawn without a library, for light and dark pages; all figures of kueuepy share its colours."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from kueuepy.look.colours import LIGHT_THEME, OTHERS, class_of, colour_of, picture_style
from kueuepy.look.escapes import escape
from kueuepy.topology import drawing as kinds

if TYPE_CHECKING:
    from kueuepy.topology.drawing import Bar, Box, Drawing, Label

_BOLD_DIGIT = 7.4
"""Width of a character of the title, in pixels."""
_OUTSIDE = (
    '<defs><pattern id="ID" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    f'<rect width="5" height="5" class="{class_of(OTHERS)}" fill="{LIGHT_THEME.others}"/>'
    '<path class="kq-gap" stroke="#fff" d="M0 0V5" stroke-width="2.2"/></pattern></defs>'
)
_FILLS = {
    kinds.OTHER: f'class="{class_of(OTHERS)}" fill="{LIGHT_THEME.others}"',
    kinds.FREE: f'class="kq-free" fill="{LIGHT_THEME.soft}" stroke="{LIGHT_THEME.others}"',
    kinds.NONE: f'fill="none" stroke="{LIGHT_THEME.others}" stroke-dasharray="2"',
}
"""The SVG attributes of a rectangle, by kind; programs that do not support CSS variables use the attribute `fill`."""


def svg(drawing: Drawing, *, tooltips: bool = True) -> str:
    """Draw the map; its colours follow the theme of a notebook or browser.

    Args:
        drawing: The map.
        tooltips: Whether each bar has a tooltip.
    """
    margin = 4
    title = textwrap.wrap(drawing.title, int(drawing.width / _BOLD_DIGIT)) or [""]
    head = 6 + 16 * len(title)
    lines = (
        f'<text x="0" y="{13 + 16 * row}" font-size="13" font-weight="bold">{escape(line)}</text>'
        for row, line in enumerate(title)
    )
    outside = f"kq-outside-{drawing.width:g}"  # each drawing of a page has its own pattern
    width, height = drawing.width + 2 * margin, drawing.height + head + 2 * margin
    body = [
        _OUTSIDE.replace("ID", outside, 1),
        f'<g transform="translate({margin},{margin})">',
        *lines,
        f'<g transform="translate(0,{head})" stroke-width=".6">',
        *(_bar(bar, outside, tooltips=tooltips) for bar in drawing.bars),
        *map(_label, drawing.labels),
        "</g></g>",
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" class="kq-picture" role="img" aria-label="{escape(drawing.title)}" '
        f'style="max-width:100%;height:auto" font-family="sans-serif" fill="currentColor">'
        f"<title>{escape(drawing.title)}</title><style>{picture_style()}</style>{''.join(body)}</svg>"
    )


def _bar(bar: Bar, outside: str, *, tooltips: bool) -> str:
    title = f"<title>{escape(bar.title)}</title>" if bar.title and tooltips else ""
    boxes = "".join(_box(box, outside) for box in (bar.frame, *bar.parts))
    return f"<g>{title}{boxes}</g>" if title else boxes


def _box(box: Box, outside: str) -> str:
    kind = box.kind
    if kind == kinds.OUTSIDE:
        fill = f'fill="url(#{outside})"'
    else:
        fill = f'class="{class_of(kind)}" fill="{colour_of(kind)}"' if isinstance(kind, int) else _FILLS[kind]
    size = f'width="{box.width:.4g}" height="{box.height:.4g}"'
    return f'<rect x="{box.x:.5g}" y="{box.y:.5g}" {size} {fill}/>'


def _label(label: Label) -> str:
    style = f' font-size="{label.size:g}"' + (' text-anchor="middle"' if label.centred else "")
    style += ' font-weight="bold"' if label.bold else ""
    return f'<text x="{label.x:.5g}" y="{label.y:.5g}"{style}>{escape(label.text)}</text>' if label.text else ""
