"""Conversion of input columns to the arrays of a table of jobs: nanoseconds, integer amounts and encoded names."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kueuepy._core import Quantity
from kueuepy.engine.cached import cached_property
from kueuepy.errors import InvalidSpecError, KueueError
from kueuepy.objects import SECOND
from kueuepy.objects.times import LONGEST
from kueuepy.simulation.arrays import array_of, is_arrow
from kueuepy.simulation.spans import MOST, exact_ns, is_naive, parse_moment, parse_span, shown
from kueuepy.tables import Categorical

Ints = NDArray[np.int64]
Where = Callable[[int], str]
"""A function that returns the description of a row for error messages, such as `jobs row 17 (jobs.csv:19)`."""
Parse = Callable[[Any], "int | None"]

_DATE = len("2017-10-09 07:01:55")
_HAS_ZONE = re.compile(r"[Zz+]|-.*-.*-")  # a negative UTC offset adds a third dash
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNLIKE_PYTHON = r"^\+|[xX(]"
"""Arrow also reads `0x1f` and `nan(a)` as numbers, which Python rejects, and `+5` as a float, unlike `int`."""


class Column:
    """An input column, with a description of its rows for error messages."""

    def __init__(self, name: str, values: Any, where: Where) -> None:
        """Store the values: a one-dimensional sequence, array or DataFrame column.

        Args:
            name: The name of the column.
            values: The values.
            where: A function that describes a row for error messages.

        Raises:
            InvalidSpecError: The values are not a column, have several dimensions, or are not UTF-8 text.
        """
        self.name, self._where = name, where
        self.notes: list[tuple[str, int]] = []
        self.values = array_of(name, values)

    @cached_property
    def coded(self) -> Categorical:
        """The distinct values in the order of their first occurrence, and the code of each row; -1 is missing."""
        values = self.values
        if isinstance(values, Categorical):
            return values
        if is_arrow(values):
            found = values.dictionary_encode()
            return Categorical(found.indices.fill_null(-1).to_numpy(), found.dictionary.to_pylist())
        cells = list(values) if values.dtype.kind in "mM" else values.tolist()
        try:
            distinct = dict.fromkeys(cells)
        except TypeError:  # lists, which DataFrames may contain
            cells = [value if _is_hashable(value) else text_of(value) for value in cells]
            distinct = dict.fromkeys(cells)
        present = [value for value in distinct if not is_missing(value)]
        codes = {**dict.fromkeys(distinct, -1), **{value: code for code, value in enumerate(present)}}
        return Categorical(np.fromiter(map(codes.__getitem__, cells), np.int32, len(cells)), present)

    @cached_property
    def numbers(self) -> NDArray[Any] | None:
        """The values as numbers, with NaN for missing values; `None` if a value is not a number."""
        values = self.values
        if isinstance(values, np.ndarray) and values.dtype.kind in "iufbmM":
            return None if values.dtype.kind in "mM" else values
        found = _arrow_numbers(values) if is_arrow(values) else None
        if found is not None:
            return found
        names, codes = self.coded.names, self.coded.codes
        is_whole = set(map(type, names)) <= {str, int} and not (codes < 0).any()  # int() would truncate floats
        with contextlib.suppress(ValueError, OverflowError):
            if is_whole:
                return np.array([int(name) for name in names], np.int64)[codes]
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return np.array([*map(float, names), math.nan])[codes]
        return None

    def missing(self) -> NDArray[np.bool_]:
        """Return a mask of the rows without a value."""
        values = self.values
        if is_arrow(values):
            return np.asarray(values.is_null())
        if isinstance(values, np.ndarray) and values.dtype.kind in "iufbmM":
            return np.asarray(values != values)  # noqa: PLR0124 - NaN and NaT are not equal to themselves
        return np.asarray(self.coded.codes < 0)

    def error(self, row: int, allowed: str) -> InvalidSpecError:
        """Return the error to raise for one row."""
        value = self.values[row]
        if hasattr(value, "as_py"):
            value = value.as_py()
        elif not isinstance(value, np.generic) and is_missing(value):
            value = None
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
            raise self.error(int(bad.argmax()), allowed)

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
        return self._times(parse_moment, allowed, never=unknown)

    def _times(self, parse: Parse, allowed: str, *, never: bool) -> Ints:
        values: Any = self.values if _kind(self.values) in "mM" else self.numbers
        self._expect_time(values, parse, allowed)
        if values is None and (values := self._dates()) is None:
            if parse is parse_moment:
                self._note_zones()
            return self._parsed(parse, allowed, missing=-1, never=never)
        if values.dtype.kind in "mM":
            absent = np.isnat(values)
            exact, held = exact_ns(values)
            self.refuse(~held & (values.view(np.int64) < 0), allowed)
            self.refuse(~held, f"it must be at most {MOST}")
        else:
            absent = _is_nan(values) | (never & ((values == -1) | (values == np.inf)))
            exact = self._nanoseconds(np.where(absent, 0, values), allowed)
        self.refuse(~absent & (exact < (-1 if never else 0)), allowed)
        return np.asarray(np.where(absent, -1, exact), np.int64)

    def _expect_time(self, values: NDArray[Any] | None, parse: Parse, allowed: str) -> None:
        """Check that the column contains no booleans, no date where a time span is expected, and no months or years."""
        kind = "" if values is None else values.dtype.kind
        if kind in "mM" and values is not None:
            is_span = kind == "m" and np.datetime_data(values.dtype)[0] not in ("Y", "M")
            if not is_span and (parse is parse_span or kind == "m"):
                self.refuse(~np.isnat(values), allowed)
        elif kind == "b":
            self.refuse(np.ones(len(self.values), bool), allowed)
        elif any(isinstance(value, bool) for value in self._objects()):
            self.refuse(self._rows(isinstance(value, bool) for value in self.coded.names), allowed)

    def _objects(self) -> list[Any]:
        """Return the distinct values of a column of Python objects; an empty list for arrays of another type."""
        return [] if is_arrow(self.values) or _kind(self.values) != "O" else list(self.coded.names)

    def _dates(self) -> NDArray[Any] | None:
        """Convert strings such as `2017-10-09 07:01:55`; return `None` if any value has a different form."""
        names = self.coded.names
        if not names or not all(isinstance(value, str) and len(value) == _DATE for value in names):
            return None
        with contextlib.suppress(ValueError):
            return np.array([*names, "NaT"], "M8[s]")[self.coded.codes]
        return None

    def _note_zones(self) -> None:
        """Add a note if some timestamps have a time zone and others have none."""
        names = self.coded.names
        if all(isinstance(value, str) and not _HAS_ZONE.search(value) for value in names):
            return
        naive = [is_naive(value) for value in names]
        if True in naive and False in naive:
            rows = int(self._rows(value is True for value in naive).sum())
            self.notes.append((f"{self.name} has no time zone, unlike other rows; read as UTC", rows))

    def _nanoseconds(self, seconds: NDArray[Any], allowed: str) -> Ints:
        self.refuse(~(seconds >= 0), allowed)
        self.refuse(~(seconds <= LONGEST // SECOND), f"it must be at most {MOST}")
        if seconds.dtype.kind in "iub":
            return np.asarray(seconds.astype(np.int64) * SECOND)
        whole = np.floor(seconds)
        return np.asarray(whole.astype(np.int64) * SECOND + np.round((seconds - whole) * SECOND).astype(np.int64))

    def _parsed(self, parse: Parse, allowed: str, *, missing: int, never: bool = False) -> Ints:
        """Parse each distinct value once. If `never` is true, -1 s and infinity become -1."""
        given: Sequence[Any] = self.coded.names
        exact = [-1 if never and value == math.inf else parse(value) for value in given]
        exact = [-1 if never and value == -SECOND else value for value in exact]
        least, most = -1 if never else 0, MOST if parse in (parse_span, parse_moment) else LONGEST
        self.refuse(self._rows(value is None or value < least for value in exact), allowed)
        self.refuse(self._rows(value is not None and value > LONGEST for value in exact), f"it must be at most {most}")
        # Categories that no row has may still be invalid.
        known = [value if value is not None and least <= value <= LONGEST else missing for value in exact]
        return np.array([*known, missing], np.int64)[self.coded.codes]

    def _rows(self, flags: Iterable[bool]) -> NDArray[np.bool_]:
        """Return the flag of each row; the argument has a flag for each distinct value."""
        return np.array([*flags, False])[self.coded.codes]

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
        numbers = self._numbers(allowed)
        self.refuse(numbers < least, f"it must be {least} or more")
        self.refuse((numbers != np.floor(numbers)) & ~_is_nan(numbers) | (numbers > most), allowed)
        absent = _is_nan(numbers)
        return np.where(absent, missing, np.where(absent, 0, numbers).astype(np.int64))

    def number(self) -> NDArray[np.float64]:
        """Return numbers of at least 0; a missing value becomes 0.

        Raises:
            InvalidSpecError: A value is not a number, is negative, or is infinite.
        """
        numbers = self._numbers("it must be a number")
        found = np.where(_is_nan(numbers), 0.0, numbers).astype(np.float64)
        self.refuse(~((found >= 0) & np.isfinite(found)), "it must be 0 or more")
        return found

    def _numbers(self, allowed: str) -> NDArray[Any]:
        if self.numbers is None:
            self.refuse(self._rows(not _is_number(value) for value in self.coded.names), allowed)
            raise self.error(0, allowed)
        return self.numbers

    def amounts(self, resource: str) -> Ints:
        """Return the request of each pod (CPU in millicores); a row without a value requests nothing.

        Raises:
            InvalidSpecError: A value is not a quantity, is negative, or is a fraction of an indivisible resource.
        """
        if self.numbers is None:
            example = {"cpu": "500m", "memory": "4Gi"}.get(resource, "8")
            allowed = f"it must be a quantity of {resource} of 0 or more, such as {example}"
            return self._parsed(lambda value: _request(value, resource), allowed, missing=0)
        given = np.where(_is_nan(self.numbers), 0, self.numbers)
        # Check the bound before the multiplication, which would overflow: 2**61 cores would become 0 thousandths.
        most = LONGEST // 1000 if resource == "cpu" else LONGEST
        self.refuse(given < 0, "it must be 0 or more")
        self.refuse(~(given < most), f"it must be less than {most}")
        exact = np.ceil(np.round(given * 1000, 6)) if resource == "cpu" and given.dtype.kind == "f" else given
        self.refuse((exact != np.floor(exact)) & (resource != "memory"), "it must be a whole number")
        found = np.ceil(exact).astype(np.int64) if exact.dtype.kind == "f" else exact.astype(np.int64)
        return found * 1000 if resource == "cpu" and given.dtype.kind != "f" else found

    def names(self) -> Categorical:
        """Return the values as strings; surrounding spaces are not part of a name.

        Raises:
            InvalidSpecError: A value contains a surrogate code point, which UTF-8 cannot represent.
        """
        valid = [is_unicode(value) for value in self.coded.names]
        if not all(valid):
            self.refuse(self._rows(not value for value in valid), "it must be text that UTF-8 can represent")
        known: dict[str, int] = {}
        codes = [known.setdefault(text_of(value).strip(), len(known)) for value in self.coded.names]
        return Categorical(np.array([*codes, -1], np.int32)[self.coded.codes], list(known))

    def texts(self) -> list[str]:
        """Return the values as strings; a missing value becomes an empty string."""
        return [name or "" for name in self.names()]

    def kept(self) -> NDArray[Any] | Categorical:
        """Return the values of a user-defined column: numbers and times unchanged, all other values as names.

        Times are converted to nanoseconds if polars or Arrow cannot represent their unit.

        Raises:
            InvalidSpecError: A time cannot be represented in nanoseconds, or a name is not valid Unicode.
        """
        kind = _kind(self.values)
        if kind in "mM":
            exact, held = exact_ns(self.values)
            self.refuse(~held, "it must be a date from 1678 to 2262, or a time span of at most 292 years")
            if np.datetime_data(self.values.dtype) in (("ms", 1), ("us", 1), ("ns", 1), *[("D", 1)] * (kind == "M")):
                return np.asarray(self.values)
            return np.where(np.isnat(self.values), np.iinfo(np.int64).min, exact).view(f"{kind}8[ns]")
        return self.names() if isinstance(self.values, Categorical) or self.numbers is None else self.numbers


def _kind(values: Any) -> str:
    """Return the kind of an array's type as a character; `O` for all other columns."""
    return values.dtype.kind if isinstance(values, np.ndarray) else "O"


def _arrow_numbers(texts: Any) -> NDArray[Any] | None:
    """Return the strings of an Arrow array as numbers; `None` if Arrow or Python cannot convert all of them.

    Arrow accepts only the usual notations of numbers, whereas Python also accepts `1_000` and surrounding spaces.
    """
    compute = import_module("pyarrow.compute")
    for kind in ("float64",) if texts.null_count else ("int64", "float64"):
        with contextlib.suppress(ValueError):  # pyarrow.ArrowInvalid
            texts[:100].cast(kind)  # Arrow is slow if it rejects most rows
            found: NDArray[Any] = texts.cast(kind).to_numpy(zero_copy_only=False)
            return None if compute.any(compute.match_substring_regex(texts, _UNLIKE_PYTHON)).as_py() else found
    return None


def is_missing(value: Any) -> bool:
    """Return whether a cell is empty: `None`, an empty string, NaN, NaT or NA."""
    if value is None or (isinstance(value, str) and not value):
        return True
    try:
        return bool(value != value)  # noqa: PLR0124
    except (TypeError, ArithmeticError):  # pandas' NA has no truth value; a signaling NaN cannot be compared
        return True
    except ValueError:  # an array, which is compared by elements
        return False


def is_unicode(value: Any) -> bool:
    """Return whether a value is not a string with surrogate code points, which UTF-8 cannot represent."""
    return not isinstance(value, str) or not _SURROGATE.search(value)


def text_of(value: Any) -> str:
    """Convert a value to a name; 3.0 becomes `3`."""
    if isinstance(value, str):
        return value
    try:
        return str(int(value) if isinstance(value, float) and value.is_integer() else value)
    except ValueError:  # Python limits the number of digits that str() prints
        return shown(value)


def _request(value: Any, resource: str) -> int | None:
    """Return the amount of a quantity, or `None` if the value is not a quantity."""
    try:
        return Quantity(value if isinstance(value, int) else str(value)).request(resource)
    except (KueueError, TypeError, ValueError, OverflowError):
        return None


def _is_nan(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:  # a list, or a signaling NaN
        return False
    return True


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
