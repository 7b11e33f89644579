"""CSV files with a job in each row."""

import csv
import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

from kueuepy.errors import InvalidSpecError, KueueError, NotFoundError
from kueuepy.errors.problems import nearest
from kueuepy.jobs import Submission, from_row
from kueuepy.jobs.row import COLUMNS
from kueuepy.manifest.places import at_place, placed
from kueuepy.objects import SECOND
from kueuepy.simulation.columns import SPANS, name_of_row
from kueuepy.simulation.spans import parse_moment, parse_span

_WHOLE = re.compile(r"-?[0-9]{1,18}(?:\.0{1,9})?")
_SUFFIXES = (".csv", ".csv.gz")
_TIMES: dict[str, Callable[[str], int | None]] = {"submit": parse_moment, "duration": parse_span}
_NEVER = "-1"
_TEXTS = ("name", "namespace", "queue")
_ALIASES = {"runtime": "duration", "local_queue": "queue", "mem": "memory"}
_OF_SIMULATION = ("elastic", "template", "flavor", "user", *SPANS)
"""Columns that only a simulation uses, for example to group jobs."""


class Rows(list[Submission]):
    """The jobs of a table.

    Attributes:
        notes: The columns that are ignored.
    """

    notes: tuple[str, ...] = ()


def tables_in(name: str) -> list[str]:
    """Return the CSV files that a name on the command line refers to: the file, or all files below a directory."""
    if name.endswith(_SUFFIXES) or name == "-" or not Path(name).is_dir():
        return [name] if name.endswith(_SUFFIXES) else []
    found = {path for suffix in _SUFFIXES for path in Path(name).rglob(f"*{suffix}") if path.is_file()}
    return sorted(map(str, found))


@contextmanager
def rows_of(name: str, *, namespace: str = "default") -> Iterator[Rows]:
    """Read the rows of a CSV file, one job each; errors raised inside the context name file and line.

    The columns are those of `kueuepy.jobs.from_row` and of `kueuepy.Jobs`. Empty cells are missing values, and integers
    are numbers. A job without a name gets the name that a simulation gives it. Other columns are ignored, with a note.

    Raises:
        KueueError: The file cannot be read or a row is not valid, or the error was raised inside the context.
    """
    columns: dict[str, None] = {}
    read = list(_read(name, namespace, columns))
    places = {row.workload.key: place for place, row in read}

    def place(error: KueueError) -> KueueError | None:
        where = places.get(error.about) if isinstance(error.about, str) else None
        return None if where is None else at_place(error, where)

    with placed(place):
        found = Rows(row for _, row in read)
        if columns:
            verb = "is" if len(columns) == 1 else "are"
            found.notes = (f"{name}: {', '.join(columns)}: {verb} ignored here",)
        yield found


def _read(name: str, namespace: str, left_out: dict[str, None]) -> Iterator[tuple[str, Submission]]:
    try:
        with _opened(name) as file:
            reader = csv.DictReader(file, strict=True)
            names = _names(name, reader.fieldnames or ())
            left_out.update(dict.fromkeys(column for column in names.values() if not _counts(column)))
            for number, cells in enumerate(reader):
                place = f"{name}:{reader.line_num}"
                _check(place, cells)
                values = {names[column]: cell.strip() for column, cell in cells.items() if column in names}
                try:
                    yield place, from_row(_values(values, number), ignore=left_out, namespace=namespace)
                except InvalidSpecError as error:
                    raise InvalidSpecError(f"{place}: {error}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise NotFoundError(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidSpecError(f"{name}: is not a CSV file in UTF-8: {error}") from None


def _opened(name: str) -> IO[str]:
    if name.endswith(".gz"):
        return gzip.open(name, "rt", newline="", encoding="utf-8-sig")
    return Path(name).open(newline="", encoding="utf-8-sig")


def _names(name: str, columns: Sequence[str]) -> dict[str, str]:
    """Return the name that `from_row` uses for each column.

    Raises:
        InvalidSpecError: Two columns have the same meaning.
    """
    found = {column: _ALIASES.get(column.strip(), column.strip()) for column in columns}
    for column, meant in found.items():
        if columns.count(column) > 1 or list(found.values()).count(meant) > 1:
            raise InvalidSpecError(f'{name}:1: "{meant}" names two columns; name each column once')
    return found


def _counts(column: str) -> bool:
    """Return whether to pass a column to `from_row`: one that it knows, or a likely misspelling, which it rejects."""
    return "/" in column or column in COLUMNS or (column not in _OF_SIMULATION and nearest(column, COLUMNS) is not None)


def _values(cells: Mapping[str, str], number: int) -> dict[str, Any]:
    """Return the values of a row as `from_row` accepts them."""
    found = {column: _value(column, cell) for column, cell in cells.items() if cell and cell.lower() != "nan"}
    if found.get("duration") in (int(_NEVER), _NEVER):  # the job does not finish
        del found["duration"]
    return {"name": name_of_row(number), **found}


def _check(place: str, cells: Mapping[Any, Any]) -> None:
    if None in cells:
        raise InvalidSpecError(f"{place}: has more cells than the header has columns")
    if None in cells.values():
        raise InvalidSpecError(f"{place}: has fewer cells than the header has columns; leave cells empty instead")


def _value(column: str, cell: str) -> int | str | Fraction:
    """Return the number of a cell, its time in seconds, or its text."""
    if _WHOLE.fullmatch(cell) and column not in _TEXTS:
        return int(cell.partition(".")[0])
    time = _TIMES[column](cell) if column in _TIMES and not _is_number(cell) else None
    return cell if time is None else Fraction(time, SECOND)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
