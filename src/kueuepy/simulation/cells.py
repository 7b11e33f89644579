"""Reader of CSV files, which returns columns of strings."""

from __future__ import annotations

import csv
import io
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_LARGE = 1 << 20
"""Arrow reads texts of at least this number of characters; it takes longer to import than to read a small file."""


def csv_columns(text: str, path: str) -> dict[str, Any]:
    """Return the columns of CSV text by the names in its first line; empty lines are skipped.

    Args:
        text: The content of the file.
        path: The name of the file, for error messages.

    Raises:
        InvalidSpecError: The text is empty, a column name occurs twice, or a line has more or fewer cells than the
            first line. The error message names the file and the line.
    """
    if len(text) >= _LARGE and (found := _by_arrow(text)) is not None:
        return found
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    names = [name.strip() for name in next(_pieces(path, rows, 1), [[]])[0]]
    if not names:
        raise InvalidSpecError(f"{path}: is empty; its first line must name the columns")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidSpecError(f'{path}:1: column "{twice}" is there twice')
    columns: list[list[str]] = [[] for _ in names]
    first = 2
    for piece in _pieces(path, rows, 10_000):
        if set(map(len, piece)) != {len(names)}:
            _check_widths(path, piece, first, len(names))
        for column, cells in zip(columns, zip(*filter(None, piece), strict=True), strict=False):
            column.extend(cells)
        first += len(piece)
    return dict(zip(names, map(_texts, columns), strict=True))


def _by_arrow(text: str) -> dict[str, Any] | None:
    """Return the columns of CSV text, read by pyarrow.

    Return `None` if pyarrow is not installed, or if pyarrow cannot parse the text correctly.

    The function does not parse quoted text with pyarrow, because pyarrow accepts a quote that is never closed and
    reports errors without a line number.
    """
    if '"' in text or "\0" in text or "\n" not in text:
        return None
    try:
        arrow, reader = import_module("pyarrow"), import_module("pyarrow.csv")
    except ImportError:
        return None
    header = text[: text.find("\n")].removesuffix("\r")
    names = [name.strip() for name in header.split(",")]
    if names == [""] or "\r" in header or len(set(names)) < len(names):
        return None
    try:
        table = reader.read_csv(
            arrow.BufferReader(text.encode()),
            reader.ReadOptions(use_threads=False, skip_rows=1, column_names=names),
            convert_options=reader.ConvertOptions(
                column_types=dict.fromkeys(names, arrow.string()), null_values=[""], strings_can_be_null=True
            ),
        )
        return {name: table.column(name).combine_chunks() for name in names}
    except arrow.ArrowInvalid:
        return None


def _pieces(path: str, rows: Iterator[list[str]], size: int) -> Iterator[list[list[str]]]:
    """Yield the rows of CSV text in batches, because it is slow to hold many small lists in memory at once."""
    try:
        while piece := list(islice(rows, size)):
            yield piece
    except csv.Error as error:
        raise InvalidSpecError(f"{path}: {error}") from None


def _check_widths(path: str, rows: list[list[str]], first: int, width: int) -> None:
    """Check that all lines have as many cells as the first line; empty lines are skipped."""
    for number, row in enumerate(rows, first):
        if row and len(row) != width:
            what = f"has {counted(len(row), 'cell')}; the first line names {width}"
            raise InvalidSpecError(f"{path}:{number}: {what}")


def _texts(values: list[str]) -> NDArray[Any]:
    found = np.empty(len(values), object)
    found[:] = values
    return found
