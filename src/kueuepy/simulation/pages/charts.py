"""Charts of a report: drawn for the whole width of the page, for half of it, and for narrow screens."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from kueuepy.errors import StateError
from kueuepy.look.escapes import escape
from kueuepy.look.svg import FULL, HALF, NARROW, for_page
from kueuepy.simulation.pages.tables import pair
from kueuepy.simulation.pictures.catalogue import PICTURES, data_alike

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kueuepy.look.chart import Chart
    from kueuepy.look.svg import Layout
    from kueuepy.simulation.result import Result

_LAYOUTS = {"half": HALF, "narrow": NARROW}
"""The layouts by the CSS class that shows a drawing only on screens of a suitable width."""


def charts(result: Result, names: Iterable[str]) -> str:
    """Return the charts of a result whose data were recorded, two in a row; the first of an odd number has its own."""
    found: list[tuple[str, Chart]] = []
    for name in names:
        with suppress(StateError):
            found += ((name, shown) for shown in data_alike([result], name))
    figures = [_figure(_drawn(shown), name) for name, shown in found]
    if len(found) % 2:
        name, shown = found[0]
        figures[0] = _figure(_drawn(shown, {"full": FULL, **_LAYOUTS}), name, "kq-first")
    return pair(*figures) if figures else ""


def chart(result: Result, name: str) -> str:
    """Return one chart of a result, for half of the width of the page; empty if its data were not recorded."""
    try:
        (found,) = data_alike([result], name)
    except StateError:
        return ""
    return _figure(_drawn(found), name)


def chart_of_each(results: Mapping[str, Result], name: str) -> str:
    """Return a chart for each result, with equal axes; empty if a result has not recorded the data."""
    try:
        found = data_alike(list(results.values()), name)
    except StateError:
        return ""
    both = zip(results, found, strict=True)
    return _figure(pair(*(f"<div><h3>{escape(policy)}</h3>{_drawn(shown)}</div>" for policy, shown in both)), name)


def _drawn(shown: Chart, layouts: Mapping[str, Layout] = _LAYOUTS) -> str:
    return "".join(f'<div class="kq-{name}">{for_page(shown, layout)}</div>' for name, layout in layouts.items())


def _figure(inside: str, name: str, kind: str = "") -> str:
    start = f'<figure class="{kind}">' if kind else "<figure>"
    return f"{start}{inside}<figcaption>{escape(PICTURES[name].caption)}</figcaption></figure>\n"
