"""The hook for HTML output in notebooks: each class that supports it sets `_repr_html_ = repr_html`.

By default, the HTML shows the tables that the object's method `sheets` returns. `kueuepy.display` has special forms for
some classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Sheet(NamedTuple):
    """A table for a notebook.

    Attributes:
        header: The names of the columns.
        rows: The rows, each with one cell per column.
        caption: The title of the table; an empty string for none.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""


_renderers: list[Callable[[Any], str]] = []


def shown_by(render: Callable[[Any], str]) -> None:
    """Set the function that renders every object as HTML. The package sets it to that of `kueuepy.display`."""
    _renderers[:] = [render]


def repr_html(value: object) -> str:
    """Return a value as HTML."""
    (render,) = _renderers
    return render(value)


def repr_text(sheets: Iterable[Sheet]) -> str:
    """Return tables as plain text, with the same cells as in a notebook."""
    return "\n\n".join(map(_table_text, sheets))


def _table_text(sheet: Sheet) -> str:
    rows = [[str(cell) for cell in row] for row in (sheet.header, *sheet.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([sheet.caption, *lines] if sheet.caption else lines)
