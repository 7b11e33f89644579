"""The hook for HTML output in notebooks: each class that supports it sets `_repr_html_ = repr_html`.

By default, the HTML shows the tables that the object's method `sheets` returns. `kueuepy.pages.html` formats some
classes differently.
"""

from __future__ import annotations

import textwrap
from numbers import Real
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
        source: The attribute or method that returns the whole table, if it is not the value's method `to_pandas`.
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


WIDTH = 80
"""The number of characters in a line of `print`, unless a single column is wider."""
_LONG_TEXT = 24
"""The minimum number of characters of a cell that may be broken into lines."""
MOST_ROWS = 20
"""The number of rows of a table that a notebook and `print` show."""


def hidden_rows(number: int, value: object, source: str = "") -> str:
    """Return the note about the rows that are not shown.

    >>> hidden_rows(1204, None, ".changes")
    '... 1,204 more rows; .changes has all'
    """
    known = source or next((f".{name}()" for name in ("to_pandas", "to_table") if hasattr(value, name)), "")
    return f"... {number:,} more row{'s' * (number != 1)}" + (f"; {known} has all" if known else "")


_renderers: list[Callable[[Any], str]] = []


def shown_by(render: Callable[[Any], str]) -> None:
    """Set the function that renders objects as HTML. The package passes a function of `kueuepy.pages.html`."""
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
    widths = _fitted([list(column) for column in zip(*rows, strict=True)])
    right = [_is_numeric(sheet, place) for place in range(len(widths))]
    blocks = ["\n".join(_block(rows, widths, right, places)) for places in _blocks(widths, _keys(rows))]
    note = [hidden_rows(sheet.hidden, value, sheet.source)] if sheet.hidden else []
    return "\n".join([*([sheet.caption] if sheet.caption else []), "\n\n".join(blocks), *note])


def _fitted(columns: Sequence[Sequence[str]]) -> list[int]:
    """Return the widths of the columns; if a line is too long, columns with long strings become narrower."""
    widths = [max(map(len, column)) for column in columns]
    for place in sorted(range(len(widths)), key=lambda place: -widths[place]):
        excess = sum(widths) + 2 * (len(widths) - 1) - WIDTH
        word = max(len(word) for cell in columns[place] for word in cell.split(" "))
        if excess > 0 and widths[place] > _LONG_TEXT:
            widths[place] = max(word, _LONG_TEXT, widths[place] - excess)
    return widths


def _is_numeric(sheet: Sheet, place: int) -> bool:
    cells = [row[place] for row in sheet.rows[:MOST_ROWS]]
    return bool(cells) and all(isinstance(cell, Real) for cell in cells)


def _block(
    rows: Sequence[Sequence[str]], widths: Sequence[int], right: Sequence[bool], places: Sequence[int]
) -> Iterable[str]:
    """Return the lines of some columns; numbers are right-aligned."""
    for row in rows:
        parts = [textwrap.wrap(row[at], widths[at], break_long_words=False, break_on_hyphens=False) for at in places]
        for line in range(max(1, *map(len, parts))):
            texts = [part[line] if line < len(part) else "" for part in parts]
            sides = zip(texts, places, strict=True)
            cells = (text.rjust(widths[at]) if right[at] else text.ljust(widths[at]) for text, at in sides)
            yield "  ".join(cells).rstrip()


def _keys(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of columns that identify a row: 1, or 2 if the first column is not unique."""
    names = [row[0] for row in rows]
    return 1 if len(set(names)) == len(names) or len(rows[0]) == 1 else 2


def _blocks(widths: Sequence[int], keys: int) -> list[list[int]]:
    """Divide the columns into blocks that fit into 80 characters; each block begins with the names of the rows."""
    start = list(range(keys))
    begin = sum(widths[:keys]) + 2 * (keys - 1)
    found, used = [list(start)], begin
    for place, width in enumerate(widths[keys:], keys):
        if used + 2 + width > WIDTH and len(found[-1]) > keys:
            found.append(list(start))
            used = begin
        found[-1].append(place)
        used += 2 + width
    return found
