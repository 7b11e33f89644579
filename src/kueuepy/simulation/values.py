"""Conversion of input columns to the arrays of a table of jobs: nanoseconds, integer amounts and encoded names."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from kueuepy._core import Quantity
from kueuepy.errors import InvalidSpecError, KueueError
from kueuepy.objects import SECOND
from kueuepy.objects.times import LONGEST
from kueuepy.simulation.spans import MOST, exact_ns, is_naive, parse_moment, parse_span, shown
from kueuepy.simulation.texts import Texts
from kueuepy.tables import Categorical

Ints = NDArray[np.int64]
Where = Callable[[int], str]
"""A function that returns the description of a row for error messages, such as `jobs row 17 (jobs.csv:19)`."""

_DATE = len("2017-10-09 07:01:55")
_HAS_ZONE = re.compile(r"[Zz+]|-.*-.*-")  # a negative UTC offset adds a third dash
_MOST_SECONDS = LONGEST // SECOND


class Column:
    """An input column, with a description of its rows for error messages."""

    def __init__(self, name: str, values: Any, where: Where) -> None:
        """Store the values: a one-dimensional sequence, array or DataFrame column.

        Args:
            name: The name of the column.
            values: The values.
            where: A function that describes a row for error messages.

        Raises:
            InvalidSpecError: The values have several dimensions, or are not UTF-8 text.
        """
        self.name, self._where = name, where
        self.notes: list[tuple[str, int]] = []
        self.given: Any
        """The values as an array, as names with codes, or as texts of Arrow."""
        try:
            self.given = raw(values)
        except UnicodeDecodeError as error:
            raise InvalidSpecError(f'column "{name}": is not text in UTF-8: {error.reason}') from None
        if not isinstance(self.given, Categorical) and self.given.ndim != 1:
            raise InvalidSpecError(f'column "{name}": has {self.given.ndim} dimensions; it must have one')

    @property
    def values(self) -> Any:
        """The values as an array, or as encoded names."""
        return self.given.objects if isinstance(self.given, Texts) else self.given

    def missing(self) -> NDArray[np.bool_]:
        """Return a mask of the rows without a value."""
        values = self.given
        found: NDArray[np.bool_] = np.zeros(len(values), bool)
        if isinstance(values, Categorical):
            found = values.codes < 0
        elif isinstance(values, Texts):
            found = values.missing
        elif values.dtype.kind == "O":
            found = missing_of(values.tolist())
        elif values.dtype.kind in "fmM":
            found = values != values  # noqa: PLR0124 - NaN and NaT are not equal to themselves
        return found

    def error(self, row: int, value: object, allowed: str) -> InvalidSpecError:
        """Return the error to raise for one row."""
        return InvalidSpecError(f'{self._where(row)}, column "{self.name}": {shown(value)}; {allowed}')

    def refuse(self, bad: NDArray[np.bool_], allowed: str) -> None:
        """Raise an error if any row has a value that is not allowed.

        Args:
            bad: A mask of the rows whose values are not allowed.
            allowed: A description of the allowed values, for the error message.

        Raises:
            InvalidSpecError: The value in a row is not allowed; the message names the first such row.
        """
        if bad.any():
            row = int(bad.argmax())
            raise self.error(row, self.values[row], allowed)

    def spans(self, *, never: bool = False) -> Ints:
        """Return time spans in nanoseconds; numbers are read as seconds, and a missing or infinite value becomes -1.

        Args:
            never: Whether -1 is allowed and means that the job never ends.

        Raises:
            InvalidSpecError: A value is not a time span, is negative, or is too large.
        """
        allowed = "it must be a number of seconds of 0 or more, or such as 1h30m or 01:30:00"
        return self._times(parse_span, allowed + "; -1 never ends" * never, never=never)

    def times(self, *, unknown: bool = False) -> Ints:
        """Return times in nanoseconds since an origin, such as the Unix epoch.

        Numbers are seconds, and missing values become -1.

        If some timestamps have a time zone and others have none, timestamps without a time zone are read as UTC, with a
        note.

        Args:
            unknown: Whether -1 and infinity are treated as missing; logs in the Standard Workload Format contain -1.

        Raises:
            InvalidSpecError: A value is not a time, is negative, or is too large.
        """
        allowed = "it must be a number of seconds of 0 or more, or such as 2024-05-01T12:00:00Z"
        found = self._times(parse_moment, allowed, never=unknown)
        if _is_text(self.given):
            self._note_zones()
        return found

    def _note_zones(self) -> None:
        """Add a note if some timestamps have a time zone and others have none."""
        if isinstance(self.given, Texts) and self.given.numbers is not None:
            return
        listed = self.values.names if isinstance(self.values, Categorical) else self.values.tolist()
        if all(isinstance(value, str) and not _HAS_ZONE.search(value) for value in listed):
            return
        naive = [is_naive(value) for value in listed]
        if True in naive and False in naive:
            rows = (
                naive if not isinstance(self.values, Categorical) else [naive[c] for c in self.values.codes if c >= 0]
            )
            self.notes.append((f"{self.name} has no time zone, unlike other rows; read as UTC", rows.count(True)))

    def _times(self, parse: Callable[[Any], int | None], allowed: str, *, never: bool = False) -> Ints:
        values: Any = self.given
        if _is_text(values):
            found = _by_text(values) if (dates := _dates(values)) is None else dates
            if found is None:
                return self._each(parse, allowed, -1, never=never)
            values = found
        if values.dtype.kind not in "iufmM" and len(values):
            raise self.error(0, values[0], allowed)
        if values.dtype.kind in "mM":
            absent = np.isnat(values)
            exact, held = exact_ns(values)
            self.refuse(~held, f"it must be at most {MOST}")
        else:
            absent = _is_nan(values) | (never & ((values == -1) | (values == np.inf)))
            exact = self._nanoseconds(np.where(absent, 0, values), allowed)
        self.refuse(~absent & (exact < (-1 if never else 0)), allowed)
        return np.asarray(np.where(absent, -1, exact), np.int64)

    def _nanoseconds(self, seconds: NDArray[Any], allowed: str) -> Ints:
        self.refuse(~(seconds >= 0), allowed)
        self.refuse(~(seconds <= _MOST_SECONDS), f"it must be at most {MOST}")
        if seconds.dtype.kind in "iub":
            return np.asarray(seconds.astype(np.int64) * SECOND)
        whole = np.floor(seconds)
        return np.asarray(whole.astype(np.int64) * SECOND + np.round((seconds - whole) * SECOND).astype(np.int64))

    def _each(self, parse: Callable[[Any], int | None], allowed: str, missing: int, *, never: bool = False) -> Ints:
        known: dict[Any, int] = {}
        values = self.values
        found = np.empty(len(values), np.int64)
        for row in range(len(found)):
            value = values[row]
            if not _is_hashable(value):
                raise self.error(row, value, allowed)
            if value not in known:
                exact = missing if is_missing(value) else _parsed(value, parse, never=never)
                if exact is None or (exact < 0 and not (never and exact == -1) and not is_missing(value)):
                    raise self.error(row, value, allowed)
                if exact > LONGEST:
                    most = MOST if parse in (parse_span, parse_moment) else str(LONGEST)
                    raise self.error(row, value, f"it must be at most {most}")
                known[value] = exact
            found[row] = known[value]
        return found

    def whole(self, least: int, *, missing: int, most: int = 2**31 - 1) -> Ints:
        """Return integers.

        Args:
            least: The smallest value allowed.
            missing: The result for a missing value.
            most: The largest value allowed.

        Raises:
            InvalidSpecError: A value is not an integer, or is out of range.
        """
        allowed = f"it must be a whole number from {least} to {most}"
        numbers, absent = self._numbers(allowed)
        bad = ~absent & ((numbers != np.floor(numbers)) | (numbers < least) | (numbers > most))
        if bad.any():
            row = int(bad.argmax())
            raise self.error(row, self.values[row], f"it must be {least} or more" if numbers[row] < least else allowed)
        return np.where(absent, missing, np.where(absent, 0, numbers)).astype(np.int64)

    def number(self, allowed: str = "it must be a number") -> NDArray[np.float64]:
        """Return numbers of at least 0; a missing value becomes 0.

        Args:
            allowed: A description of the allowed values, for the error message.

        Raises:
            InvalidSpecError: A value is not a number, is negative, or is infinite.
        """
        numbers, absent = self._numbers(allowed)
        found = np.where(absent, 0.0, numbers).astype(np.float64)
        self.refuse(~((found >= 0) & np.isfinite(found)), "it must be 0 or more")
        return found

    def _numbers(self, allowed: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        values = self.given
        if _is_text(values):
            found = _by_text(values)
            if found is None:
                values = self.values
                rows = (i for i in range(len(values)) if not is_missing(values[i]) and not _is_number(values[i]))
                row = next(rows, 0)
                raise self.error(row, values[row], allowed)
            values = found
        if values.dtype.kind not in "iufb":
            raise self.error(0, values[0], allowed)
        return values, _is_nan(values)

    def amounts(self, resource: str) -> tuple[Ints, int]:
        """Return the request of each pod (CPU in millicores), and the number of rows without a value.

        A row without a value requests nothing.

        Raises:
            InvalidSpecError: A value is not a quantity, is negative, or is a fraction of an indivisible resource.
        """
        numbers = _by_text(self.given) if _is_text(self.given) else self.given
        if numbers is None or numbers.dtype.kind not in "iufb":
            return self._quantities(resource)
        absent = _is_nan(numbers)
        given = np.where(absent, 0, numbers)
        # Check the bound before the multiplication, which would overflow: 2**61 cores would become 0 thousandths.
        most = LONGEST // 1000 if resource == "cpu" else LONGEST
        self.refuse(given < 0, "it must be 0 or more")
        self.refuse(~(given < most), f"it must be less than {most}")
        exact = np.ceil(np.round(given * 1000, 6)) if resource == "cpu" and given.dtype.kind == "f" else given
        self.refuse((exact != np.floor(exact)) & (resource != "memory"), "it must be a whole number")
        found = np.ceil(exact).astype(np.int64) if exact.dtype.kind == "f" else exact.astype(np.int64)
        return found * 1000 if resource == "cpu" and given.dtype.kind != "f" else found, int(absent.sum())

    def _quantities(self, resource: str) -> tuple[Ints, int]:
        """Return the result of `amounts` for strings such as `4Gi`."""
        parse = Quantities(resource)
        found = self._each(parse, f"it must be a quantity of {resource} of 0 or more, such as {parse.example}", 0)
        return found, int(self.missing().sum())

    def names(self) -> Categorical:
        """Encode strings as codes, numbered in the order of first occurrence; a missing value has the code -1."""
        if isinstance(self.given, Categorical):
            return self.given
        if isinstance(self.given, Texts):
            places, texts = self.given.codes()
            own = Column(self.name, texts, self._where).names()
            return Categorical(own.codes[places], own.names)
        values = self.values.tolist()
        try:
            distinct = dict.fromkeys(values)
        except TypeError:  # lists, which DataFrames may contain
            values = [None if is_missing(value) else text_of(value) for value in values]
            distinct = dict.fromkeys(values)
        known: dict[str, int] = {}
        # Surrounding spaces are not part of a name.
        code_of = {
            value: -1 if is_missing(value) else known.setdefault(text_of(value).strip(), len(known))
            for value in distinct
        }
        codes = np.fromiter(map(code_of.__getitem__, values), np.int32, len(values))
        return Categorical(codes, list(known))

    def kept(self) -> NDArray[Any] | Categorical:
        """Return the values of a user-defined column: numbers unchanged, all other values as encoded names."""
        values: Any = self.given
        if isinstance(values, Categorical) or values.dtype.kind in "iufbmM":
            return cast("NDArray[Any] | Categorical", values)
        numbers = _by_text(values)
        found: NDArray[Any] | Categorical = self.names() if numbers is None else numbers
        return found


class Quantities:
    """A parser of quantities of one resource."""

    def __init__(self, resource: str) -> None:
        """Store the name of the resource."""
        self._resource = resource
        self.example = {"cpu": "500m", "memory": "4Gi"}.get(resource, "8")

    def __call__(self, value: Any) -> int | None:
        """Return the amount, or `None` if the value is not a quantity."""
        try:
            return Quantity(value if isinstance(value, int) else str(value)).request(self._resource)
        except (KueueError, TypeError, ValueError, OverflowError):
            return None


def raw(values: Any) -> NDArray[Any] | Categorical | Texts:
    """Convert a list, an array or a DataFrame column to an array, encoded names, or strings in Arrow's memory."""
    if isinstance(values, Categorical | Texts):
        return values
    codes = getattr(getattr(values, "cat", None), "codes", None)
    if codes is not None:
        names = [text_of(name) for name in values.cat.categories]
        return Categorical(codes.to_numpy().astype(np.int32), names)
    if hasattr(values, "dt") and getattr(values.dt, "tz", None) is not None:
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
    absent = values.isna() if hasattr(values, "isna") else False
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    found = values if isinstance(values, np.ndarray) else _array(values)
    if found.dtype.kind == "U":
        return found.astype(object)
    if found.dtype.kind == "S":
        return np.char.decode(found, "utf-8").astype(object)
    return _without(found, np.asarray(absent, bool)) if found.dtype.kind == "O" and np.any(absent) else found


def _without(values: NDArray[Any], absent: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the values with `None` for missing values, because comparisons with pandas' NA return NA."""
    found = np.array(values, object)
    found[absent] = None
    return found


def _array(values: Sequence[Any]) -> NDArray[Any]:
    listed = list(values)
    kinds = set(map(type, listed))
    if kinds <= {int, float}:
        return np.array(listed) if kinds else np.zeros(0)
    found = np.empty(len(listed), object)
    found[:] = listed
    return found


def is_missing(value: Any) -> bool:
    """Return whether a cell is empty: `None`, an empty string, NaN, NaT or NA."""
    if isinstance(value, Decimal):
        return value.is_nan()
    if value is None or (isinstance(value, str) and not value):
        return True
    try:
        return bool(value != value)  # noqa: PLR0124
    except TypeError:  # pandas' NA has no truth value
        return True


def missing_of(values: list[Any]) -> NDArray[np.bool_]:
    """Return a mask of the empty cells."""
    if set(map(type, values)) == {str}:
        return ~np.fromiter(map(bool, values), bool, len(values))
    return np.fromiter(map(is_missing, values), bool, len(values))


def _is_text(values: Any) -> bool:
    return isinstance(values, Categorical) or values.dtype.kind in "OUS"


def _parsed(value: Any, parse: Callable[[Any], int | None], *, never: bool) -> int | None:
    """Parse a value. If `never` is true, -1 s and infinity become -1."""
    if never and value == math.inf:
        return -1
    found = parse(value)
    return -1 if never and found == -SECOND else found


def _is_nan(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:  # a list, or a signaling NaN
        return False
    return True


def text_of(value: Any) -> str:
    """Convert a value to a name; 3.0 becomes `3`."""
    if isinstance(value, str):
        return value
    try:
        return str(int(value) if _is_whole(value) else value)
    except ValueError:  # Python limits the number of digits that str() prints
        return shown(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _by_text(values: Any) -> NDArray[Any] | None:
    """Convert strings to numbers; return `None` if any string is neither a number nor empty."""
    if isinstance(values, Categorical):
        return None
    if isinstance(values, Texts):
        if values.numbers is not None or values.first_number is None:
            return values.numbers
        values = values.objects
    listed = values.tolist()
    readers: list[tuple[Callable[[Any], float], Any]] = [(float, float), (_or_nan, float)]
    if set(map(type, listed)) <= {str, int}:  # int() would truncate floats
        readers.insert(0, (int, np.int64))
    for read, kind in readers:
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return np.array(list(map(read, listed)), kind)
    return None


def _or_nan(value: Any) -> float:
    return float("nan") if value is None or value == "" else float(value)


def _dates(values: Any) -> NDArray[Any] | None:
    """Convert strings such as `2017-10-09 07:01:55` to datetimes; return `None` if any string has a different form."""
    if isinstance(values, Categorical) or not len(values) or values.dtype.kind != "O":
        return None
    if isinstance(values, Texts):
        if not values.are_of_length(_DATE):
            return None
        values = values.objects
    listed = values.tolist()
    if not all(isinstance(value, str) and len(value) == _DATE for value in listed):
        return None
    try:
        return np.array(listed, "M8[s]")
    except ValueError:
        return None
