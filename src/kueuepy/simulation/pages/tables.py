"""HTML for the tables, sections and cards of a report."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from kueuepy.look.escapes import escape

_SHORT = 20
"""The number of characters up to which a cell stays in one line."""
MOST_ROWS = 50
"""The number of rows of a table that a report shows."""


class Cell(NamedTuple):
    """A cell of a table.

    Attributes:
        text: The text.
        value: The exact number, by which the table is sorted; `None` for a string.
        note: A second line in a smaller font.
        certain: Whether the value is a difference whose confidence interval excludes 0, which is shown in bold.
        group: The CSS class for the colour of a queue; empty if the cell has no colour.
    """

    text: str
    value: float | None = None
    note: str = ""
    certain: bool = False
    group: str = ""


def table(
    header: Sequence[str | Cell], rows: Iterable[Sequence[Any]], caption: str = "", *, total: int | None = None
) -> str:
    """Return a table that the page's script can sort; columns of numbers are right-aligned.

    On a narrow screen, each row becomes a block in which each value follows the title of its column.

    Args:
        header: The titles of the columns, with a note if they are `Cell` objects; the first column identifies the row.
        rows: The rows, whose items are `Cell` objects or strings; the table shows the first 50 rows.
        caption: The caption, which describes what the table shows.
        total: The total number of rows, if `rows` contains only the rows to show.
    """
    kept = [[one if isinstance(one, Cell) else Cell(str(one)) for one in row] for row in rows]
    hidden = (len(kept) if total is None else total) - min(len(kept), MOST_ROWS)
    kept = kept[:MOST_ROWS]
    # A column of numbers only is aligned by its last digit.
    right = [bool(kept) and all(row[index].value is not None for row in kept) for index in range(len(header))]
    heads = "".join(_head(name, side=side) for name, side in zip(header, right, strict=True))
    # On a narrow screen, each value shows the title of its column.
    labels = [" ".join(filter(None, (name.text, name.note))) if isinstance(name, Cell) else name for name in header]
    body = "".join(f"<tr>{''.join(_cells(row, right, labels))}</tr>\n" for row in kept)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    more = f'<p class="kq-quiet">and {hidden:,} more {"row" if hidden == 1 else "rows"}</p>' if hidden > 0 else ""
    inside = f"<table data-sortable>{title}<thead><tr>{heads}</tr></thead>\n<tbody>{body}</tbody></table>"
    return f'<div class="kq-scroll">{inside}</div>{more}\n'


def _head(title: str | Cell, *, side: bool) -> str:
    text, note = (title.text, title.note) if isinstance(title, Cell) else (title, "")
    small = f"<small>{escape(note)}</small>" if note else ""
    return f'<th scope="col"{" class=kq-n" * side}>{escape(text).replace("/", "/<wbr>")}{small}</th>'


def _cells(row: Sequence[Cell], right: Sequence[bool], labels: Sequence[str]) -> Iterable[str]:
    for index, (one, side, label) in enumerate(zip(row, right, labels, strict=True)):
        key = f'<span class="kq-key {one.group}"></span>' if one.group else ""
        text = f"<strong>{escape(one.text)}</strong>" if one.certain else escape(one.text)
        note = f"<small>{escape(one.note)}</small>" if one.note else ""
        value = f' data-v="{one.value}"' if one.value is not None else ""
        start = f'<td data-label="{escape(label)}"' if index else '<th scope="row"'
        kind = " class=kq-n" if side else " class=kq-short" if len(one.text) <= _SHORT else ""
        yield f"{start}{kind}{value}><span>{key}{text}{note}</span></{'td' if index else 'th'}>"


def section(title: str, inside: str, *, long: bool = False) -> str:
    """Return a section with a heading; a section that is longer than a printed page may be split."""
    kind = ' class="kq-long"' if long else ""
    return f"<section{kind}><h2>{escape(title)}</h2>\n{inside}</section>\n"


def beside(*parts: str, alone: bool = False) -> str:
    """Return parts of a page beside each other, two in a row if the page is wide enough.

    Args:
        parts: The parts, as HTML.
        alone: Whether each part has a row of its own on paper.
    """
    return f'<div class="kq-pair{" kq-alone" if alone else ""}">{"".join(parts)}</div>\n'


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of plain text, with a CSS class if one is given."""
    return f"<p{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{escape(text)}</p>\n"


def cards(items: Iterable[tuple[str, str, str]]) -> str:
    """Return cards, each with the name of a metric, its value, and a remark."""
    inside = "".join(
        f'<div class="kq-card" role="group" aria-label="{escape(name)}"><span>{escape(name)}</span>'
        f'<b>{escape(value)}</b><span class="kq-quiet">{escape(note)}</span></div>\n'
        for name, value, note in items
    )
    return f'<div class="kq-cards">{inside}</div>\n'


def warnings(texts: Iterable[str]) -> str:
    """Return the warnings, each in a box."""
    return "".join(f'<p class="kq-warning" role="note">Warning: {escape(text)}</p>\n' for text in texts)
