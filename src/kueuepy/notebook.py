"""The one hook by which a notebook shows what the rooms hold: each class says `_repr_html_ = repr_html`.

That shows the tables that its method `sheets` gives, unless `kueuepy.display` has a form of its own for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Sheet(NamedTuple):
    """A table for a notebook.

    Attributes:
        header: The names of the columns.
        rows: As many cells a row.
        caption: What stands above it, if anything.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""


_renderers: list[Callable[[Any], str]] = []


def shown_by(render: Callable[[Any], str]) -> None:
    """From now on this function makes the HTML of everything; `kueuepy` gives the one of `kueuepy.display`."""
    _renderers[:] = [render]


def repr_html(value: object) -> str:
    """The value as HTML, for notebooks."""
    (render,) = _renderers
    return render(value)


def repr_text(sheets: Iterable[Sheet]) -> str:
    """Return the tables that a notebook shows as plain text, with the same cells."""
    return "\n\n".join(map(_table_text, sheets))


def _table_text(sheet: Sheet) -> str:
    rows = [[str(cell) for cell in row] for row in (sheet.header, *sheet.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([sheet.caption, *lines] if sheet.caption else lines)
