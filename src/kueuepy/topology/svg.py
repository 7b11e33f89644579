"""A rack map as SVG, drawn without a library, for light and dark pages; all figures of kueuepy share its colours."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from kueuepy.look.colours import LIGHT_THEME, OTHERS, class_of, colour_of, picture_style
from kueuepy.topology import drawing as kinds

if TYPE_CHECKING:
    from kueuepy.topology.drawing import Bar, Box, Drawing, Label

_OUTSIDE = (
    '<defs><pattern id="kq-outside" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    f'<rect width="5" height="5" class="{class_of(OTHERS)}" fill="{LIGHT_THEME.others}"/>'
    '<path class="kq-gap" stroke="#fff" d="M0 0V5" stroke-width="2.2"/></pattern></defs>'
)
_FILLS = {
    kinds.OTHER: f'class="{class_of(OTHERS)}" fill="{LIGHT_THEME.others}"',
    kinds.OUTSIDE: 'fill="url(#kq-outside)"',
    kinds.FREE: f'fill="{LIGHT_THEME.soft}" style="fill:var(--kq-soft)"',
    kinds.NONE: 'fill="none" stroke-dasharray="2"',
}
"""The SVG attributes of a rectangle, by kind; programs that do not support CSS variables use the attribute `fill`."""


def svg(drawing: Drawing) -> str:
    """Draw the map; its colours follow the theme of a notebook or browser."""
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
        f'height="{height:g}" class="kq-picture" role="img" aria-label="{escape(drawing.title)}" '
        f'style="max-width:100%;height:auto" font-family="sans-serif" fill="currentColor">'
        f"<title>{escape(drawing.title)}</title><style>{picture_style()}</style>{''.join(body)}</svg>"
    )


def _bar(bar: Bar) -> str:
    frame = f'stroke="{LIGHT_THEME.others}" stroke-width=".6" ' if isinstance(bar.frame.kind, str) else ""
    title = f"<title>{escape(bar.title)}</title>" if bar.title else ""
    return f"<g>{title}{_box(bar.frame, frame)}{''.join(map(_box, bar.parts))}</g>"


def _box(box: Box, more: str = "") -> str:
    kind = box.kind
    fill = f'class="{class_of(kind)}" fill="{colour_of(kind)}"' if isinstance(kind, int) else _FILLS[kind]
    size = f'width="{box.width:.4g}" height="{box.height:.4g}"'
    return f'<rect {more}x="{box.x:.5g}" y="{box.y:.5g}" {size} {fill}/>'


def _label(label: Label) -> str:
    style = f' font-size="{label.size:g}"' + (' text-anchor="middle"' if label.centred else "")
    style += ' font-weight="bold"' if label.bold else ""
    return f'<text x="{label.x:.5g}" y="{label.y:.5g}"{style}>{escape(label.text)}</text>' if label.text else ""
