"""The hook for HTML output in notebooks: each class that supports it sets `_repr_html_ = repr_html`.

By default, the HTML shows the tables that the object's method `sheets` returns. `kueuepy.display` formats some classes
differently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Sheet(NamedTuple):
    """A table for a notebook.

    Attributes:
        header: The names of the columns.
        rows: The rows, each with one cell per column; the first `MOST_ROWS` of a long table suffice.
        caption: The title of the table; an empty string for none.
        total: The number of rows of the whole table; `None` if `rows` is complete.
        source: The attribute or method with the whole table, if it is not `to_pandas` of the value.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    total: int | None = None
    source: str = ""

    @property
    def hidden(self) -> int:
        """The number of rows that are not shown."""
        return max(0, (len(self.rows) if self.total is None else self.total) - MOST_ROWS)


MOST_ROWS = 20
"""The number of rows of a table that a notebook and `print` show."""


def hidden_rows(number: int, value: object, source: str = "") -> str:
    """Return the note on the rows that are not shown.

    >>> hidden_rows(1204, None, ".changes")
    '... 1,204 more rows; .changes has all'
    """
    known = source or next((f".{name}()" for name in ("to_pandas", "to_table") if hasattr(value, name)), "")
    return f"... {number:,} more row{'s' * (number != 1)}" + (f"; {known} has all" if known else "")


_renderers: list[Callable[[Any], str]] = []


def shown_by(render: Callable[[Any], str]) -> None:
    """Set the function that renders objects as HTML. The package sets it to the function of `kueuepy.display`."""
    _renderers[:] = [render]


def repr_html(value: object) -> str:
    """Return a value as HTML."""
    (render,) = _renderers
    return render(value)


def repr_text(sheets: Iterable[Sheet], value: object = None) -> str:
    """Return tables as plain text, with the same cells as in a notebook."""
    return "\n\n".join(_table_text(sheet, value) for sheet in sheets)


def _table_text(sheet: Sheet, value: object) -> str:
    rows = [[str(cell) for cell in row] for row in (sheet.header, *sheet.rows[:MOST_ROWS])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    note = [hidden_rows(sheet.hidden, value, sheet.source)] if sheet.hidden else []
    return "\n".join([*([sheet.caption] if sheet.caption else []), *lines, *note])
