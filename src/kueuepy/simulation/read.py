"""Files of jobs: their text, their columns and the places of their rows."""

import contextlib
import csv
import io
import os
from collections.abc import Callable, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from kueuepy.engine.cached import cached_property
from kueuepy.errors import InvalidSpecError, counted
from kueuepy.files import uncompressed
from kueuepy.simulation.base import JobColumns
from kueuepy.simulation.values import Column, row_columns, values_of
from kueuepy.tables.kinds import MISSING

# Arrow reads texts of at least this number of characters; it takes longer to import than to read a small file.
_LARGE = 1 << 20


class Source:
    """An input file, whose methods raise InvalidSpecError if it cannot be read or decoded.

    Attributes:
        path: The path of the file, which is not read yet.
        line: A function that returns the number of the line of a row, or its name in the file; `None` if rows have
            neither.
    """

    def __init__(self, path: str | os.PathLike[str], *, by_location: bool = False) -> None:
        """Store the path; with `by_location`, error messages name the path and line of a row, but not its number."""
        self.path, self._by_location = Path(path), by_location
        self.line: Callable[[int], int | str] | None = None

    @cached_property
    def csv(self) -> dict[str, Any]:
        """The columns of a CSV file as text."""
        text = self.text
        self.line = lambda row: line_of(text, row)
        return csv_columns(text, str(self.path))

    def jsonl(self) -> dict[str, Any]:
        """Return the columns of a file with a JSON object in each line."""
        lines = {number: line for number, line in enumerate(self.text.split("\n"), 1) if line.strip()}
        self.line = list(lines).__getitem__
        allowed = "a line must be a JSON object"
        return row_columns([self._decoded(line, dict[str, Any], allowed, f":{at}") for at, line in lines.items()])

    def json(self, kind: Any, what: str) -> Any:
        """Decode the file as JSON of a given type, which `what` describes for error messages."""
        return self._decoded(self.text, kind, f"it must be {what}")

    def _decoded(self, text: str, kind: Any, allowed: str, location: str = "") -> Any:
        try:
            return msgspec.json.decode(text, type=kind)
        except (msgspec.MsgspecError, RecursionError, ValueError) as error:
            raise InvalidSpecError(f"{self.path}{location}: {error}; {allowed}") from None

    @cached_property
    def text(self) -> str:
        """The content of the file as UTF-8 text, decompressed if it is gzipped."""
        try:
            return uncompressed(self.path.read_bytes()).decode("utf-8-sig")
        except OSError as error:
            raise InvalidSpecError(f"{self.path}: cannot be read: {error.strerror or error}") from None
        except UnicodeDecodeError as error:
            raise InvalidSpecError(f"{self.path}: is not UTF-8 text: {error.reason} at byte {error.start}") from None

    def where(self, row: int, there: int) -> str:
        """Return the description of a row for error messages, given its number in the table and in the file."""
        location = self.location(there)
        return location if self._by_location else f"jobs row {row} ({Path(location).name})"

    def location(self, row: int) -> str:
        """Return the path of the file, with the line of a row unless rows are not lines."""
        return f"{self.path}:{self.line(row)}" if self.line else str(self.path)


class Table:
    """The columns of a file, or some of its rows; a column is converted when it is first read.

    Attributes:
        source: The file.
        columns: The columns of all rows of the file, by name.
        rows: The numbers of the rows in the file.
        notes: Notes about rows that were left out or changed, as pairs (reason, number of rows).
    """

    def __init__(self, source: Source, columns: dict[str, Any], rows: NDArray[np.int64] | None = None) -> None:
        """Create a table from columns of equal length; `rows` are their row numbers in the file, by default all."""
        self.source, self.columns = source, columns
        self.rows = np.arange(len(next(iter(columns.values()), ()))) if rows is None else rows
        self.notes: list[tuple[str, int]] = []

    def where(self, row: int) -> str:
        """Return the description of a row for error messages."""
        return self.source.where(row, int(self.rows[row]))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __getitem__(self, name: str) -> Any:
        """Return the values of one column: numbers, times, or distinct values with a code for each row.

        Raises:
            InvalidSpecError: The file does not have the column.
        """
        if name not in self.columns:
            there = ", ".join(self.columns)
            raise InvalidSpecError(f'{self.source.path.name}: column "{name}" is missing; there are {there}')
        try:
            found = self.columns[name] = values_of(name, self.columns[name])
        except InvalidSpecError as error:
            raise InvalidSpecError(f"{self.source.path}: {error}") from None
        return found if len(found) == len(self) else found[self.rows]

    def column(self, name: str) -> Column:
        """Return one column, to check and convert its values."""
        return Column(name, self[name], self.where)

    def keep(self, mask: Any, why: str) -> "Table":
        """Return the rows for which the mask is true, with a note about the rows left out, which gives the reason."""
        chosen = np.asarray(mask, bool)
        if chosen.all():
            return self
        self.note(~chosen, f"{why}; left out")
        found = Table(self.source, self.columns, self.rows[chosen])
        found.notes = self.notes
        return found

    def note(self, mask: Any, what: str) -> None:
        """Add a note with the number of rows for which the mask is true, and the line of the first one."""
        if len(rows := self.rows[np.asarray(mask, bool)]):
            line = f"{self.source.path.name}:{self.source.line(rows[0])}" if self.source.line else f"row {rows[0]}"
            self.notes.append((f"{what} (first: {line})", len(rows)))

    def given(self, *names: str) -> Any:
        """Return a mask of the rows that have a value in all of the given columns."""
        return ~np.any([self.column(name).missing() for name in names], axis=0)

    def jobs(self, columns: Mapping[str, Any], **other: Any) -> JobColumns:
        """Return a table of jobs with the given columns, sorted by submission time."""
        return JobColumns(columns, where=self.where, notes=self.notes).sort()._with(**other)  # noqa: SLF001 - same package


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
        if mark := next((mark for mark in ";|\t" if len(names) == 1 and mark in names[0]), ""):
            raise InvalidSpecError(f'{path}:1: has "{mark}" between the names of columns; it must be a comma')
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
        # A line break in quotes needs the slower parser of pyarrow.
        if (quoted := b'"' in body) and not _is_strict(body):
            return None
        table = reader.read_csv(
            arrow.BufferReader(body),
            reader.ReadOptions(use_threads=False, column_names=names),
            reader.ParseOptions(newlines_in_values=quoted),
            reader.ConvertOptions(
                column_types=dict.fromkeys(names, arrow.string()), null_values=list(MISSING), strings_can_be_null=True
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
