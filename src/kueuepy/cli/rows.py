"""CSV files with a job in each row."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from kueuepy.errors import InvalidSpecError, KueueError
from kueuepy.errors.problems import nearest
from kueuepy.jobs import Submission, from_row
from kueuepy.jobs.row import COLUMNS
from kueuepy.manifest.places import at_location, placed
from kueuepy.objects import SECOND
from kueuepy.simulation.columns import SPANS, name_of_row
from kueuepy.simulation.read import Source
from kueuepy.simulation.spans import parse_span, parse_timestamp
from kueuepy.simulation.values import is_missing

# At most 18 digits fit into the 64 bits of the core; spreadsheets add ".0".
_WHOLE = re.compile(r"-?[0-9]{1,18}(?:\.0{1,9})?")
_TIMES: dict[str, Callable[[str], int | None]] = {"submit": parse_timestamp, "duration": parse_span}
# Logs of jobs write -1 for an unknown or endless runtime.
_NEVER = "-1"
# A queue can be called 2024, which must stay a name.
_TEXTS = ("name", "namespace", "queue")
# The names of these columns in logs and in other tools.
_ALIASES = {"runtime": "duration", "local_queue": "queue", "mem": "memory"}
# Columns that only a simulation uses, for example to group jobs.
_OF_SIMULATION = ("elastic", "template", "flavor", "user", *SPANS)


class Rows(list[Submission]):
    """The jobs of a table.

    Attributes:
        notes: The columns that are ignored.
    """

    notes: tuple[str, ...] = ()


@contextmanager
def rows_of(name: str, *, namespace: str = "default") -> Iterator[Rows]:
    """Read the rows of a CSV file, one job each; errors raised inside the context name file and line.

    The columns are those of `kueuepy.jobs.from_row` and of `kueuepy.Jobs`. Empty cells are missing values, and integers
    are numbers. A job without a name gets the name that a simulation gives it. Other columns are ignored, with a note.

    Raises:
        KueueError: The file cannot be read or a row is not valid, or the error was raised inside the context.
    """
    source = Source(name)
    columns: dict[str, list[str | None]] = {}
    for column, cells in source.csv.items():
        if (meant := _ALIASES.get(column, column)) in columns:
            raise InvalidSpecError(f'{name}:1: "{meant}" names two columns; name each column once')
        columns[meant] = cells.tolist()
    ignored = [column for column in columns if not _counts(column)]
    found, numbers = Rows(), dict[str, int]()

    def located(error: KueueError) -> KueueError | None:
        number = numbers.get(error.about) if isinstance(error.about, str) else None
        return None if number is None else at_location(error, source.location(number))

    with placed(located):
        for number, cells in enumerate(zip(*columns.values(), strict=True)):
            values = _values(dict(zip(columns, cells, strict=True)), number)
            try:
                found.append(from_row(values, ignore=ignored, namespace=namespace))
            except InvalidSpecError as error:
                raise InvalidSpecError(f"{source.location(number)}: {error}") from None
            numbers[found[-1].workload.key] = number
        if ignored:
            verb = "is" if len(ignored) == 1 else "are"
            found.notes = (f"{name}: {', '.join(ignored)}: {verb} ignored here",)
        yield found


def _counts(column: str) -> bool:
    """Return whether to pass a column to `from_row`: one that it knows, or a likely misspelling, which it rejects."""
    return "/" in column or column in COLUMNS or (column not in _OF_SIMULATION and nearest(column, COLUMNS) is not None)


def _values(cells: Mapping[str, str | None], number: int) -> dict[str, Any]:
    """Return the values of a row as `from_row` accepts them."""
    given = {column: value.strip() for column, value in cells.items() if value is not None}
    found = {column: _value(column, value) for column, value in given.items() if not is_missing(value)}
    if found.get("duration") in (int(_NEVER), _NEVER):  # the job does not finish
        del found["duration"]
    return {"name": name_of_row(number), **found}


def _value(column: str, value: str) -> int | str | Fraction:
    """Return a text of a column as a number, as a time in seconds, or unchanged."""
    if _WHOLE.fullmatch(value) and column not in _TEXTS:
        return int(value.partition(".")[0])
    time = _TIMES[column](value) if column in _TIMES and not _is_number(value) else None
    return value if time is None else Fraction(time, SECOND)


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
