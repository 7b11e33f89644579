"""CSV files: jobs as rows of a table."""

import csv
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kueuepy.errors import InvalidSpecError, KueueError, NotFoundError
from kueuepy.jobs import Submission, from_row
from kueuepy.manifest.places import at_place, placed

_WHOLE = re.compile(r"-?[0-9]{1,18}")
_SUFFIX = ".csv"


def tables_in(name: str) -> list[str]:
    """The CSV files that a name on the command line means: itself, or those in a directory and those below it."""
    if name.endswith(_SUFFIX) or name == "-" or not Path(name).is_dir():
        return [name] if name.endswith(_SUFFIX) else []
    return sorted(str(path) for path in Path(name).rglob(f"*{_SUFFIX}") if path.is_file())


@contextmanager
def rows_of(name: str, *, namespace: str = "default") -> Iterator[list[Submission]]:
    """Around what uses the rows of a CSV file, one job each: errors of their Workloads name file and line.

    Empty cells are absent, whole numbers are numbers.

    Raises:
        KueueError: The file cannot be read, or a row is not valid; or what was raised inside.
    """
    read = list(_read(name, namespace))
    places = {row.workload.key: place for place, row in read}

    def place(error: KueueError) -> KueueError | None:
        where = places.get(error.about) if isinstance(error.about, str) else None
        return None if where is None else at_place(error, where)

    with placed(place):
        yield [row for _, row in read]


def _read(name: str, namespace: str) -> Iterator[tuple[str, Submission]]:
    try:
        with Path(name).open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, strict=True)
            columns = reader.fieldnames or ()
            for column in columns:
                if columns.count(column) > 1:
                    raise InvalidSpecError(f'{name}:1: "{column}" names two columns; name each column once')
            for cells in reader:
                place = f"{name}:{reader.line_num}"
                _check(place, cells)
                values = {column: _value(cell) for column, cell in cells.items() if cell}
                try:
                    yield place, from_row(values, namespace=namespace)
                except InvalidSpecError as error:
                    raise InvalidSpecError(f"{place}: {error}") from None
    except OSError as error:
        raise NotFoundError(f"{name}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidSpecError(f"{name}: is no CSV file in UTF-8: {error}") from None


def _check(place: str, cells: Mapping[Any, Any]) -> None:
    if None in cells:
        raise InvalidSpecError(f"{place}: has more cells than there are columns")
    if None in cells.values():
        raise InvalidSpecError(f"{place}: has fewer cells than there are columns; leave cells empty")


def _value(cell: str) -> int | str:
    return int(cell) if _WHOLE.fullmatch(cell) else cell
