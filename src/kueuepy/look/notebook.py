"""The hook for HTML output in notebooks: each class that supports it sets `_repr_html_ = repr_html`.

By default, the HTML shows the tables that the object's method `sheets` returns. `kueuepy.pages.html` formats some
classes differently.
"""

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from kueuepy.look import html_renderers
from kueuepy.look.escapes import visible


class Named(NamedTuple):
    """A cell or a column header in words, with the name that users type in Python.

    A notebook shows the name in small grey letters after the title. `print` shows the name in a second column, or under
    the title of a column.

    Attributes:
        title: The title, such as `Mean wait`.
        name: The name, such as `wait_mean`.
    """

    title: str
    name: str

    def __str__(self) -> str:
        """Return the title."""
        return self.title


class Sheet(NamedTuple):
    """A table for a notebook.

    Attributes:
        header: The titles of the columns.
        rows: The rows, each with one entry per column; the first `MOST_ROWS` of a long table suffice.
        caption: The title of the table; an empty string for none.
        total: The number of rows of the whole table; `None` if `rows` is complete.
        source: The attribute or method that returns the whole table, if it is not the value's method `to_pandas`.
    """

    header: Sequence[str | Named]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    total: int | None = None
    source: str = ""

    def hidden(self, most: int) -> int:
        """Return the number of rows that are not shown if at most `most` rows are."""
        return max(0, (len(self.rows) if self.total is None else self.total) - most)


class Sheets(tuple[Sheet, ...]):
    """Tables without a value: `repr_html` shows them."""

    __slots__ = ()

    def sheets(self) -> "Sheets":
        """Return the tables."""
        return self


def listed(title: str, texts: Iterable[str]) -> tuple[Sheet, ...]:
    """Return a table with one text per row; no table if there are no texts."""
    rows = [(text,) for text in texts]
    return (Sheet((title,), rows),) if rows else ()


WIDTH = 80
"""The number of characters in a line of `print`, unless a single column is wider."""
# The number of characters from which a cell may be broken into lines: at first, and if the table is still too wide.
_LONG_TEXT, _SHORT_TEXT = 24, 16
# A column of such texts is right-aligned.
_NUMBER = re.compile(r"-?[\d,]+(\.\d+)?|nan|-?inf")
# A container query: the width of the output decides, not that of the window.
_SWITCH = (
    ".kq-figure{container-type:inline-size}.kq-figure svg{max-width:100%;height:auto}"
    "@container (max-width:640px){.kq-large{display:none}.kq-small{display:block!important}}"
)
MOST_ROWS = 20
"""The number of rows of a table that a notebook and `print` show."""


def hidden_rows(number: int, value: object, source: str = "") -> str:
    """Return the note about the rows that are not shown.

    >>> hidden_rows(1204, None, ".changes")
    '... 1,204 more rows; .changes has all'
    """
    known = source or next((f".{name}()" for name in ("to_pandas", "to_table") if hasattr(value, name)), "")
    return f"... {number:,} more row{'s' * (number != 1)}" + (f"; {known} has all" if known else "")


def repr_html(value: object) -> str:
    """Return a value as HTML."""
    (render,) = html_renderers
    return render(value)


class Shown:
    """A value that notebooks and `print` show as the tables that `sheets` returns."""

    __slots__ = ()
    _repr_html_ = repr_html

    def sheets(self) -> Sequence[Sheet]:
        """Return the tables."""
        raise NotImplementedError

    def __str__(self) -> str:
        """Return the tables as text."""
        return repr_text(self.sheets(), self)


def figure_html(wide: str, narrow: str) -> str:
    """Return a figure with two drawings: a notebook shows the second one where there is too little space for text.

    Args:
        wide: The SVG for at least 640 pixels.
        narrow: The SVG for less.
    """
    return (
        f'<figure class="kq-figure"><style>{_SWITCH}</style><div class="kq-large">{wide}</div>'
        f'<div class="kq-small" style="display:none">{narrow}</div></figure>'
    )


def repr_text(sheets: Iterable[Sheet], value: object = None, *, width: int = WIDTH, most: int = MOST_ROWS) -> str:
    """Return tables as plain text, with the same cells as in a notebook.

    Args:
        sheets: The tables.
        value: The value to which the tables belong, for the note about rows that are not shown.
        width: The maximum number of characters in a line, unless a single column is wider.
        most: The maximum number of rows of each table.
    """
    return "\n\n".join(_table_text(sheet, value, width, most) for sheet in sheets)


class _Column(NamedTuple):
    """A column of a printed table: the lines of its header, its cells, and whether they are right-aligned."""

    head: tuple[str, str]
    cells: list[str]
    is_right: bool = False

    @property
    def width(self) -> int:
        """The number of characters of the longest entry; a title above a name, and the name, may have two lines."""
        title, name = self.head
        if not name:
            return max(len(title), *map(len, self.cells), 0)
        heads = (max(*map(len, text.split(" ")), -(-len(text) // 2)) for text in self.head)
        return max(*heads, *map(len, self.cells))

    @property
    def word(self) -> int:
        """The number of characters of the longest word, which is not broken."""
        return max(len(word) for text in (*self.head, *self.cells) for word in text.split(" "))


def _columns(sheet: Sheet, most: int) -> Iterable[_Column]:
    """Return the columns of a table; a column of names with titles becomes two columns."""
    rows = sheet.rows[:most]
    for index, head in enumerate(sheet.header):
        cells = [row[index] for row in rows]
        titles = (visible(head.title), visible(head.name)) if isinstance(head, Named) else (visible(str(head)), "")
        texts = [visible(str(entry)) for entry in cells]
        yield _Column(titles, texts, bool(texts) and all(map(_NUMBER.fullmatch, texts)))
        if any(isinstance(entry, Named) for entry in cells):
            yield _Column(("Name", ""), [visible(entry.name) if isinstance(entry, Named) else "" for entry in cells])


def _table_text(sheet: Sheet, value: object, width: int, most: int) -> str:
    columns = list(_columns(sheet, most))
    widths = _fitted(columns, width)
    heads = list(zip(*(column.head for column in columns), strict=True))
    lines = [*heads, *zip(*(column.cells for column in columns), strict=True)]
    right = [column.is_right for column in columns]
    parts = ["\n".join(_block(lines, widths, right, places)) for places in blocks(widths, _keys(columns), width)]
    hidden = sheet.hidden(most)
    note = [hidden_rows(hidden, value, sheet.source)] if hidden else []
    return "\n".join([*textwrap.wrap(visible(sheet.caption), width), "\n\n".join(parts), *note])


def _fitted(columns: Sequence[_Column], most: int) -> list[int]:
    """Return the widths of the columns; if a line is too long, columns with long strings become narrower."""
    for least in (_LONG_TEXT, _SHORT_TEXT):
        widths = _narrowed(columns, least, most)
        if sum(widths) + 2 * (len(widths) - 1) <= most:
            return widths
    return _narrowed(columns, _LONG_TEXT, most)


def _narrowed(columns: Sequence[_Column], least: int, most: int) -> list[int]:
    widths = [column.width for column in columns]
    # The widest columns shrink first.
    for index in sorted(range(len(widths)), key=lambda index: -widths[index]):
        excess = sum(widths) + 2 * (len(widths) - 1) - most
        if excess > 0 and widths[index] > least:
            widths[index] = max(columns[index].word, least, widths[index] - excess)
    return widths


def _block(
    rows: Sequence[Sequence[str]], widths: Sequence[int], right: Sequence[bool], places: Sequence[int]
) -> Iterable[str]:
    """Return the lines of some columns; numbers are right-aligned. The second row has the names of titles, if any."""
    for row in rows if any(rows[1][at] for at in places) else (rows[0], *rows[2:]):
        parts = [_wrapped(row[at], widths[at]) for at in places]
        for line in range(max(1, *map(len, parts))):
            texts = [part[line] if line < len(part) else "" for part in parts]
            sides = zip(texts, places, strict=True)
            cells = (text.rjust(widths[at]) if right[at] else text.ljust(widths[at]) for text, at in sides)
            yield "  ".join(cells).rstrip()


def _wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines; a command or a call of this package remains one line, which users can copy."""
    if text.startswith(("kueuepy ", "kueuepy.")):
        return [text]
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _keys(columns: Sequence[_Column]) -> int:
    """Return the number of columns that identify a row: 1, or 2 if the first column is not unique."""
    names = columns[0].cells
    return 1 if len(set(names)) == len(names) or len(columns) == 1 else 2


def blocks(widths: Sequence[int], keys: int, most: int) -> list[list[int]]:
    """Divide the columns of a table into blocks, each of which begins with the columns that name the rows.

    >>> blocks([10, 30, 30, 30], 1, 80)
    [[0, 1, 2], [0, 3]]

    Args:
        widths: The width of each column, without the two spaces between columns.
        keys: The number of columns that name a row.
        most: The maximum width of a block.
    """
    start = list(range(keys))
    begin = sum(widths[:keys]) + 2 * (keys - 1)
    found, used = [list(start)], begin
    for index, width in enumerate(widths[keys:], keys):
        if used + 2 + width > most and len(found[-1]) > keys:
            found.append(list(start))
            used = begin
        found[-1].append(index)
        used += 2 + width
    return found
