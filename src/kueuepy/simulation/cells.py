"""Reader of CSV files, which returns columns of strings."""

from __future__ import annotations

import contextlib
import csv
import io
from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.words import counted

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
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    try:
        names = [name.strip() for name in next(reader, [])]
        if not names:
            raise InvalidSpecError(f"{path}: is empty; its first line must name the columns")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidSpecError(f'{path}:1: column "{twice}" is there twice; name each column once')
        for row in filter(None, reader):
            if len(row) != len(names):
                what = f"has {counted(len(row), 'cell')}; the first line names {len(names)}"
                raise InvalidSpecError(f"{path}:{reader.line_num}: {what}")
            rows.append(row)
    except csv.Error as error:
        raise InvalidSpecError(f"{path}: {error}") from None
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return {name: np.array(cells, object) for name, cells in zip(names, columns, strict=True)}


def line_of(text: str, row: int) -> int:
    """Return the number of the line in which a row of CSV text ends."""
    reader = csv.reader(io.StringIO(text, newline=""))
    with contextlib.suppress(csv.Error):  # cells that are longer than Python's limit
        return next(islice((reader.line_num for cells in reader if cells), row + 1, None), row + 2)
    return row + 2


def _by_arrow(text: str) -> dict[str, Any] | None:
    """Return the columns of CSV text, read by pyarrow.

    Return `None` if pyarrow is not installed, or if pyarrow cannot parse the text correctly: pyarrow reports errors
    without a line number.
    """
    try:
        arrow, reader = import_module("pyarrow"), import_module("pyarrow.csv")
        header, _, rest = text.partition("\n")
        names = [name.strip() for name in next(csv.reader([header.removesuffix("\r")], strict=True), [])]
        body = rest.encode()
        if not names or len(set(names)) < len(names) or "\r" in header[:-1] or "\0" in text:
            return None
        if (quoted := b'"' in body) and not _is_strict(body):
            return None
        table = reader.read_csv(
            arrow.BufferReader(body),
            reader.ReadOptions(use_threads=False, column_names=names),
            reader.ParseOptions(newlines_in_values=quoted),
            reader.ConvertOptions(
                column_types=dict.fromkeys(names, arrow.string()), null_values=[""], strings_can_be_null=True
            ),
        )
    except (ImportError, csv.Error, ValueError):  # ValueError is the base class of pyarrow.ArrowInvalid
        return None
    return {name: table.column(name).combine_chunks() for name in names}


def _is_strict(body: bytes) -> bool:
    """Return whether each quote begins or ends a cell, or is one of two quotes in a quoted cell.

    In any other text, pyarrow accepts quotes that `csv` rejects.
    """
    cells = np.frombuffer(b"\n" + body + b"\n", np.uint8)
    quotes = np.flatnonzero(cells == ord('"'))
    around = np.concatenate([cells[quotes[::2] - 1], cells[quotes[1::2] + 1]])
    return len(quotes) % 2 == 0 and bool(np.isin(around, list(b',\r\n"')).all())
