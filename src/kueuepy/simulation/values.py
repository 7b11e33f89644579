"""Conversion of input columns to the arrays of a table of jobs: nanoseconds, integer amounts and encoded names."""

import contextlib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kueuepy.engine.cached import cached_property
from kueuepy.errors import InvalidSpecError, briefly
from kueuepy.simulation.grouped import Flags, Floats, Ints
from kueuepy.tables.columns import Categorical, concatenated, from_arrow
from kueuepy.tables.kinds import (
    Kind,
    as_number,
    exact_ns,
    float_of,
    is_beyond_floats,
    is_missing,
    is_naive,
    number_of,
    shown,
    text_of,
    timestamps,
)

# Types that can be iterated, but not row by row: a Set has no order, and a Mapping yields its keys.
_NO_COLUMN = (str, bytes, bytearray, memoryview, Mapping, AbstractSet)
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d+)?(?:[eE][-+]?\d{1,2})?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_EXACT = 2**53  # floats represent all smaller integers

Values: TypeAlias = NDArray[Any] | Categorical
"""Numbers, times, or the distinct Python values of a column with a code for each row."""


def values_of(name: str, values: Any) -> Values:
    """Return a column as numbers, as times, or as distinct values in the order of their first occurrence.

    Args:
        name: The name of the column, for error messages.
        values: A list, an iterator, an array, or a column of a DataFrame or of an Arrow table.

    Raises:
        InvalidSpecError: The values are not a column, have several dimensions, or are not UTF-8 text.
    """
    try:
        found = _converted(values)
    except UnicodeDecodeError as error:
        raise InvalidSpecError(f'column "{name}": is not text in UTF-8: {error.reason}') from None
    except (ValueError, OverflowError) as error:
        raise InvalidSpecError(f'column "{name}": {error}') from None
    if found is None:
        raise InvalidSpecError(
            f'column "{name}": is {briefly(values)}; it must be a list, an array or a DataFrame column'
        )
    return found


def _converted(values: Any) -> Values | None:
    """Convert a column; return `None` if the values are not a column."""
    if isinstance(values, Categorical):
        return values
    if not isinstance(values, np.ndarray | list | tuple):
        if isinstance(values, _NO_COLUMN) or not hasattr(values, "__iter__"):
            return None
        values = _from_library(values)
    if isinstance(values, Categorical):
        return values
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise ValueError(f"has {values.ndim} dimensions; it must have one")
        return _plain(_with_gaps(values) if isinstance(values, np.ma.MaskedArray) else values)
    listed = list(values)
    # Only plain numbers: NumPy would turn a list of numbers and texts into texts.
    return _plain(np.array(listed)) if set(map(type, listed)) <= {int, float} else encoded(listed)


def _from_library(values: Any) -> Any:
    """Convert a column of pandas, polars, pyarrow or another library to an array, a Categorical or a list."""
    # narwhals takes longer to import than a small table to read.
    import narwhals.stable.v2 as nw  # noqa: PLC0415

    # narwhals returns a text for each row; the dictionary of pyarrow holds each text once.
    if hasattr(values, "dictionary_encode"):
        values = _of_arrow(values)
    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return np.asarray(values) if hasattr(values, "__array__") else values
    kind = series.dtype
    if isinstance(kind, nw.Datetime) and kind.time_zone is not None:
        # NumPy has no time zones.
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    has_gaps = bool(series.is_null().any())
    is_time = isinstance(kind, nw.Datetime | nw.Duration | nw.Date)
    is_number = isinstance(kind, nw.Boolean) or (kind.is_integer() and not isinstance(kind, nw.Int128 | nw.UInt128))
    if is_time or kind.is_float() or (is_number and not has_gaps):
        return series.to_numpy()
    return series.to_list()  # NumPy has no integers that are missing


def row_columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Convert rows to columns; a value is `None` if the row does not contain it."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _of_arrow(column: Any) -> Any:
    """Return an array of pyarrow as a chunked array; texts become a Categorical, which takes no Python text per row.

    Raises:
        ValueError: A string is not UTF-8 text.
    """
    pyarrow = import_module("pyarrow")
    column = column if hasattr(column, "chunks") else pyarrow.chunked_array([column])
    kind = column.type.value_type if isinstance(column.type, pyarrow.DictionaryType) else column.type
    if str(kind) not in ("string", "large_string", "string_view"):
        return column
    for chunk in column.chunks:  # Parquet files may contain strings that are not UTF-8
        getattr(chunk, "dictionary", chunk).validate(full=True)
    coded = from_arrow(column.cast("string").dictionary_encode())
    return _without_missing(coded.codes, list(coded.names))


def _plain(values: NDArray[Any] | list[Any]) -> Values:
    """Convert an array to numbers of 64 or fewer bits, to times, or to distinct Python objects.

    Raises:
        ValueError: The array has times without a unit, or bytes that are not UTF-8 text.
    """
    if isinstance(values, list):
        return encoded(values)
    kind = values.dtype.kind
    if kind in "mM" and np.datetime_data(values.dtype)[0] == "generic":
        if not np.isnat(values).all():
            raise ValueError("has times without a unit; their type must have one, such as timedelta64[s]")
        return encoded([None] * len(values))
    # The core and the exporters have floats of 32 and 64 bits only.
    if kind == "f" and values.dtype.itemsize not in (4, 8):
        return values.astype(np.float32 if values.dtype.itemsize < 4 else np.float64)  # noqa: PLR2004 - bytes
    if kind in "iufbmM":
        # Files such as FITS hold numbers of the other byte order; the core reads native ones.
        return values.astype(values.dtype.newbyteorder("="), copy=False)
    return encoded(values.tolist())


def encoded(values: list[Any]) -> Categorical:
    """Return the distinct values, with strings instead of bytes; missing values have the code -1.

    Raises:
        UnicodeDecodeError: Bytes are not UTF-8 text.
    """
    # A dict numbers the values in the order of their first occurrence, which does not depend on a hash seed.
    known: dict[Any, int] = {}
    try:
        codes = np.fromiter((known.setdefault(value, len(known)) for value in values), np.int32, len(values))
    except TypeError:  # lists, which DataFrames may contain
        codes, names = np.arange(len(values), dtype=np.int32), values
    else:
        names = list(known)
    return _without_missing(codes, [value.decode() if isinstance(value, bytes) else value for value in names])


def _without_missing(codes: NDArray[np.int32], names: list[Any]) -> Categorical:
    """Return a column in which missing values have the code -1."""
    # The last entry maps the code -1 to itself.
    own = [-1 if is_missing(value) else code for code, value in enumerate(names)]
    return Categorical(np.array([*own, -1], np.int32)[codes] if -1 in own else codes, names)


def _with_gaps(values: np.ma.MaskedArray[Any, Any]) -> Any:
    """Replace masked values with NaT or `None`."""
    if values.dtype.kind not in "mM":
        return values.tolist()
    found = np.array(values.data)
    found[np.ma.getmaskarray(values)] = "NaT"
    return found


class Column:
    """An input column, whose methods check and convert its values.

    They raise InvalidSpecError if a value is not allowed; the message describes the first such row.

    Attributes:
        name: The name of the column.
        notes: Notes about values that have been interpreted, as pairs (reason, number of rows).
        values: The values: numbers, times, or distinct values with a code for each row.
    """

    def __init__(self, name: str, values: Any, where: Callable[[int], str]) -> None:
        """Store a column; `where` describes a row for error messages, such as `jobs row 17 (jobs.csv:19)`."""
        self.name, self._where = name, where
        self.notes: list[tuple[str, int]] = []
        self.values = values_of(name, values)
        self._type = self.values.dtype.kind if isinstance(self.values, np.ndarray) else "O"

    @cached_property
    def coded(self) -> Categorical:
        """The values that occur, and the code of each row; -1 is missing."""
        found = self.values
        if isinstance(found, np.ndarray):
            found = encoded(list(found) if self._type in "mM" else found.tolist())
        used = np.flatnonzero(np.bincount(found.codes + 1, minlength=1)[1:]).tolist()
        if len(used) == len(found.names):
            return found
        index = np.full(len(found.names) + 1, -1, np.int32)
        index[used] = np.arange(len(used))
        return Categorical(index[found.codes], [found.names[code] for code in used])

    @cached_property
    def numbers(self) -> NDArray[Any] | None:
        """The values as numbers, with NaN for missing values; `None` if a value is not a number, or exceeds a float."""
        if isinstance(self.values, np.ndarray):
            return self.values if self._type in "iufb" else None
        names, codes = self.coded.names, self.coded.codes
        with contextlib.suppress(ValueError, OverflowError):
            if set(map(type, names)) <= {str, int} and not (codes < 0).any():  # int() would truncate floats
                return np.array([int(as_number(name)) for name in names], np.int64)[codes]
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return np.array([*map(float_of, names), math.nan])[codes]
        return None

    def missing(self) -> Flags:
        """Return a mask of the rows without a value."""
        found = self.values
        return found.codes < 0 if isinstance(found, Categorical) else np.asarray(found != found)  # noqa: PLR0124

    def error(self, row: int, allowed: str) -> InvalidSpecError:
        """Return the error to raise for one row."""
        return InvalidSpecError(f'{self._where(row)}, column "{self.name}": {shown(self.values[row])}; {allowed}')

    def refuse(self, bad: Any, allowed: str) -> None:
        """Check that a mask is not true for any row."""
        if bad.any():
            raise self.error(int(bad.argmax()), allowed)

    def integers(self, kind: Kind) -> Ints:
        """Return the values as integers."""
        if (dated := self._dated(kind.dates)) is not None:
            # Dates stay integers: a float has too few digits for nanoseconds since 1970.
            found, held = exact_ns(dated)
            absent = np.isnat(dated) | (kind.never & (found == kind.missing))
            self.refuse(~absent & (dated.view(np.int64) < 0), kind.allowed)
            self.refuse(~held, kind.high)
            return np.where(absent, kind.missing, found)
        if self._type in "mM":  # Python's numbers and quantities accept NumPy's times
            what = "a date" if self._type == "M" else "a duration"
            length = " in months or years" if self._type in kind.dates else ""  # these have no fixed length
            self.refuse(~self.missing(), f"is {what}{length}; {kind.allowed}")
        # A time of True is a mistake, but True and False are valid counts.
        types = set(map(type, self.coded.names)) if self._type == "O" else set()
        is_flag = self._type == "b" or bool(types & {bool, np.bool_})
        if self.numbers is not None and not (kind.dates and is_flag):
            return self._scaled(self.numbers, kind)
        self.refuse(self._rows(is_beyond_floats(name) and "-" not in name for name in self.coded.names), kind.high)
        exact = [kind.exact(value) for value in self.coded.names]
        self.refuse(self._rows(value is None for value in exact), kind.allowed)
        self.refuse(self._rows(value >= kind.limit * kind.scale for value in exact), kind.high)  # type: ignore[operator]
        naive = [is_naive(value) for value in self.coded.names] if "M" in kind.dates else []
        # Without any time zone, only differences matter; mixed dates would be hours apart.
        if True in naive and False in naive:
            rows = int(self._rows(value is True for value in naive).sum())
            self.notes.append((f"{self.name} has no time zone, unlike other rows; read as UTC", rows))
        return np.array([*exact, kind.missing], np.int64)[self.coded.codes]

    def _scaled(self, numbers: NDArray[Any], kind: Kind) -> Ints:
        absent = np.isnan(numbers) | kind.is_never(numbers)
        # A column of an unsigned type has no missing value, and cannot hold a negative `least`.
        given = np.where(absent, kind.least, numbers) if absent.any() else numbers
        self.refuse(given < kind.least, kind.allowed if kind.dates else f"it must be {kind.least} or more")
        self.refuse(given >= kind.limit, kind.high)  # before the multiplication, which would overflow
        if given.dtype.kind != "f":
            return np.where(absent, kind.missing, given.astype(np.int64) * kind.scale)
        # Splitting off the whole part keeps large numbers exact when they are scaled.
        floor = np.floor(given)
        if kind.rounded is None:
            self.refuse(given != floor, kind.allowed)
        part = (kind.rounded or np.round)((given - floor) * kind.scale)
        return np.where(absent, kind.missing, floor.astype(np.int64) * kind.scale + part.astype(np.int64))

    def _dated(self, dates: str) -> NDArray[Any] | None:
        """Return the values as dates or durations; `None` if they are not, or have no fixed length in nanoseconds."""
        if isinstance(self.values, np.ndarray):
            is_month = self._type == "m" and np.datetime_data(self.values.dtype)[0] in "YM"
            return self.values if self._type in dates and not is_month else None
        found = timestamps(self.coded.names) if "M" in dates else None
        return None if found is None else np.append(found, np.datetime64("NaT", "us"))[self.coded.codes]

    def _rows(self, flags: Iterable[bool]) -> Flags:
        """Return the flag of each row; the argument has a flag for each distinct value."""
        return np.array([*flags, False])[self.coded.codes]

    def plain_numbers(self) -> Floats:
        """Return the values as numbers, with NaN for missing values."""
        if self.numbers is None:
            self.refuse(self._rows(number_of(value) is None for value in self.coded.names), "it must be a number")
        return np.asarray(self.numbers, np.float64)

    def names(self, change: Callable[[str], str] = str) -> Categorical:
        """Return the values as strings without surrounding spaces, each converted by a function."""
        # Converting the distinct values is enough, however many rows have them.
        given = self.coded
        texts = [change(text_of(value).strip()) for value in given.names]
        if not is_unicode("".join(texts)):
            bad = self._rows(not is_unicode(value) for value in given.names)
            self.refuse(bad, "it must be text that UTF-8 can represent")
        found = Categorical(given.codes.copy(), texts)
        # Values such as 3 and 3.0 have one text, and must share one code.
        return found if len(set(texts)) == len(texts) else concatenated([found])

    def kept(self) -> NDArray[Any] | Categorical:
        """Return the values of a user-defined column: numbers, times in nanoseconds, or names."""
        if isinstance(self.values, np.ndarray) and self._type in "mM":
            exact, held = exact_ns(self.values)
            self.refuse(~held, "it must be a date from 1678 to 2262, or a time span of at most 292 years")
            return np.where(np.isnat(self.values), np.iinfo(np.int64).min, exact).view(f"{self._type}8[ns]")
        has_text = self._type == "O" and any(isinstance(value, str) for value in self.coded.names)
        return self.names() if has_text or self.numbers is None else self.numbers

    def typed(self) -> Any:
        """Return the values as numbers if all of them are strings with numbers as in JSON, and unchanged otherwise.

        Strings with integers that a float cannot represent also remain strings, because different numbers would become
        equal.
        """
        are_json = all(isinstance(name, str) and _JSON_NUMBER.fullmatch(name) for name in self.coded.names)
        numbers = self.numbers if are_json else None
        is_rounded = numbers is not None and numbers.dtype.kind == "f" and bool((np.abs(numbers) >= _EXACT).any())
        return self.values if numbers is None or is_rounded else numbers


def is_unicode(value: Any) -> bool:
    """Return whether a value is not a string with surrogate code points, which UTF-8 cannot represent."""
    return not isinstance(value, str) or not _SURROGATE.search(value)
