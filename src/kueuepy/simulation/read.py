"""Readers of job files: tables with named columns, and traces of real clusters."""

from __future__ import annotations

import gzip
import re
import zlib
from functools import partial
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec
import numpy as np

from kueuepy.engine.cached import cached_property
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.former import FORMER
from kueuepy.simulation.arrays import array_of
from kueuepy.simulation.arrow import parquet_columns
from kueuepy.simulation.base import JobColumns, renamed
from kueuepy.simulation.cells import csv_columns, line_of
from kueuepy.simulation.columns import ALIASES, is_known
from kueuepy.simulation.values import Column

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

_SUFFIXES = {**{name: name for name in ("csv", "parquet", "jsonl", "swf")}, "pq": "parquet", "ndjson": "jsonl"}
_LOGS = {
    "swf": "",
    "philly": "timestamp duration num_gpus cluster",
    "philly-json": "",
}
"""The formats of logs, and the columns by which a CSV file is recognized, in the order of the attempts."""
FORMATS = tuple(dict.fromkeys((*_SUFFIXES.values(), *_LOGS)))
"""The names of the formats that `read` accepts."""


class Source:
    """An input file, whose methods raise InvalidSpecError if it cannot be read or decoded.

    Attributes:
        path: The path of the file, which is not read yet.
        line: A function that returns the number of the line of a row; `None` if rows are not lines.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Store the path."""
        self.path = Path(path)
        self.line: Callable[[int], int] | None = None

    @cached_property
    def csv(self) -> dict[str, Any]:
        """The columns of a CSV file as text."""
        text = self.text()
        self.line = lambda row: line_of(text, row)
        return csv_columns(text, str(self.path))

    def jsonl(self) -> dict[str, Any]:
        """Return the columns of a file with a JSON object in each line."""
        lines = {number: line for number, line in enumerate(self.text().split("\n"), 1) if line.strip()}
        self.line = list(lines).__getitem__
        allowed = "a line must be a JSON object"
        return row_columns([self._decoded(line, dict[str, Any], allowed, f":{at}") for at, line in lines.items()])

    def json(self, kind: Any, what: str) -> Any:
        """Decode the file as JSON of a given type, which `what` describes for error messages."""
        return self._decoded(self.text(), kind, f"it must be {what}")

    def _decoded(self, text: str, kind: Any, allowed: str, place: str = "") -> Any:
        try:
            return msgspec.json.decode(text, type=kind)
        except (msgspec.MsgspecError, RecursionError, ValueError) as error:
            raise InvalidSpecError(f"{self.path}{place}: {error}; {allowed}") from None

    def text(self) -> str:
        """Return the content of the file as UTF-8 text, decompressed if it is gzipped."""
        try:
            data = self.path.read_bytes()
            return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8-sig")
        except (OSError, EOFError, zlib.error) as error:
            why = getattr(error, "strerror", None) or error
            raise InvalidSpecError(f"{self.path}: cannot be read: {why}") from None
        except UnicodeDecodeError as error:
            raise InvalidSpecError(f"{self.path}: is not UTF-8 text: {error.reason} at byte {error.start}") from None

    def where(self, row: int, there: int) -> str:
        """Return the description of a row for error messages, given its number in the table and in the file."""
        return f"jobs row {row} ({Path(self.place(there)).name})"

    def place(self, row: int) -> str:
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
        found = self.columns[name] = array_of(name, self.columns[name])
        return found if len(found) == len(self) else found[self.rows]

    def column(self, name: str) -> Column:
        """Return one column, to check and convert its values."""
        return Column(name, self[name], self.where)

    def keep(self, mask: Any, why: str) -> Table:
        """Return the rows for which the mask is true, with a note about the rows left out, which gives the reason."""
        chosen = np.asarray(mask, bool)
        if chosen.all():
            return self
        found = Table(self.source, self.columns, self.rows[chosen])
        found.notes = [*self.notes, (why, len(self) - len(found))]
        return found

    def given(self, *names: str) -> Any:
        """Return a mask of the rows that have a value in all of the given columns."""
        return ~np.any([self.column(name).missing() for name in names], axis=0)

    def jobs(self, columns: Mapping[str, Any], **other: Any) -> JobColumns:
        """Return a table of jobs with the given columns, sorted by submission time."""
        return JobColumns(columns, where=self.where, notes=self.notes).sort()._with(**other)  # noqa: SLF001 - same package


class LogOptions(TypedDict, total=False):
    """Options of log formats; the modules in `kueuepy.simulation.logs` document them in detail.

    Attributes:
        per_pod: The largest number of GPUs of a pod, for `philly`.
    """

    per_pod: int


def read(
    path: str | os.PathLike[str], name: str, columns: Mapping[str, str] | None, options: Mapping[str, Any]
) -> JobColumns:
    """Read jobs from a file, as described at `Jobs.read`; `name` is the format, and `columns` is the argument `map`."""
    source, format_ = Source(path), name
    if name == "auto":
        suffix = Path(source.path.name.removesuffix(".gz")).suffix[1:]
        if suffix not in _SUFFIXES:
            known = ", ".join(FORMATS)
            raise InvalidSpecError(f"{source.path}: its name has no known suffix; format= must be one of {known}")
        format_ = _SUFFIXES[suffix]
        if format_ == "csv" and not columns:
            format_ = _log_of(source) or format_
    if name in FORMER["format"]:
        raise InvalidSpecError(f"format: {name!r} no longer exists: {FORMER['format'][name]}")
    if format_ not in FORMATS:
        raise InvalidSpecError(f"format: {name!r}; it must be auto or one of {', '.join(FORMATS)}")
    more, reader = {**options, **({} if columns is None else {"map": columns})}, partial(_read_table, format_)
    if format_ in _LOGS:
        (module,) = re.findall("^[a-z]+", format_)
        reader = getattr(import_module(f"kueuepy.simulation.logs.{module}"), "read_" + format_.replace("-", "_"))
    if unknown := sorted(set(more) - set(signature(reader).parameters)):
        raise InvalidSpecError(f"format {format_}: takes no option {unknown[0]!r}")
    return reader(source, **more)


def _log_of(source: Source) -> str:
    """Return the log whose columns a CSV file has; an empty string if there is none."""
    return next((log for log, names in _LOGS.items() if names and {*names.split()} <= {*source.csv}), "")


def _read_table(format_: str, source: Source, map: Mapping[str, str] | None = None) -> JobColumns:  # noqa: A002
    is_csv = format_ == "csv"
    columns = source.csv if is_csv else source.jsonl() if format_ == "jsonl" else parquet_columns(source.path)
    table = Table(source, {ALIASES.get(name, name): values for name, values in renamed(columns, map).items()})
    needed = [name for name in ("queue", "submit", "runtime") if name in table.columns]
    table = table.keep(table.given(*needed), "without queue, submit or runtime")
    # Only CSV has no types of its own.
    own = [name for name in table.columns if is_csv and not is_known(name)]
    return table.jobs({name: table.column(name).typed() if name in own else table[name] for name in table.columns})


def row_columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Convert rows to columns; a value is `None` if the row does not contain it."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}
