"""Conversion of input columns to the arrays of a table of jobs: nanoseconds, integer amounts and encoded names."""

from __future__ import annotations

import contextlib
import math
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kueuepy._core import Quantity
from kueuepy.engine.cached import cached_property
from kueuepy.errors import InvalidSpecError, KueueError
from kueuepy.objects import SECOND
from kueuepy.objects.times import LONGEST
from kueuepy.simulation.arrays import array_of, is_arrow
from kueuepy.simulation.spans import MOST, exact_ns, is_naive, parse_moment, parse_span, shown
from kueuepy.tables import Categorical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

_UNLIKE_PYTHON = r"^\+|[xX(]"
"""Arrow also reads `0x1f` and `nan(a)` as numbers, which Python rejects, and `+5` as a float, unlike `int`."""
_NUMBER = r"-?(?:0|[1-9]\d{0,17})(?:\.\d+)?(?:[eE][-+]?\d{1,2})?"
"""The numbers of JSON; `007` is a name."""
_DATE = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{3}(?:\d{3})?)?(?:Z|[-+](?:[01]\d|2[0-3]):[0-5]\d)?"
"""Dates that Arrow converts as `parse_moment` does."""
_EXACT = 2**53  # floats represent all smaller integers
_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMERIC, _TIMES = "iufb", "mM"  # kinds of NumPy's types


class Kind(NamedTuple):
    """Values that are converted to integers.

    Attributes:
        allowed: The error message for values that are not allowed.
        parse: The conversion of one value that is not a number; `None` if the value is not allowed.
        limit: The bound that numbers must be less than, before the multiplication by `scale`.
        high: The error message for values that are not less.
        least: The smallest number that is allowed.
        scale: The integer that represents the number 1.
        rounded: A function that rounds fractions; `None` if fractions are not allowed.
        missing: The integer that represents a missing value.
        never: Whether -1 and infinity are treated as missing.
        dates: The kinds of NumPy's types of dates (`M`) and durations (`m`) that are allowed.
    """

    allowed: str
    parse: Callable[[Any], int | None]
    limit: float
    high: str
    least: int = 0
    scale: int = 1
    rounded: Callable[[Any], Any] | None = None
    missing: int = 0
    never: bool = False
    dates: str = ""


_SECONDS = "it must be a number of seconds of 0 or more, or such as"
SPAN = Kind(
    f"{_SECONDS} 1h30m or 01:30:00",
    parse_span,
    LONGEST / SECOND,
    f"it must be at most {MOST}",
    scale=SECOND,
    rounded=np.round,
    missing=-1,
    dates="m",
)
"""Time spans in nanoseconds; numbers are seconds, and a missing value becomes -1."""
SPAN_OR_NEVER = SPAN._replace(allowed=f"{SPAN.allowed}; -1 never ends", never=True)
"""Time spans, or -1 for a job that never ends."""
TIME = SPAN._replace(allowed=f"{_SECONDS} 2024-05-01T12:00:00Z", parse=parse_moment, dates="mM")
"""Times in nanoseconds since an origin, such as the Unix epoch. If some timestamps have no time zone, they are read as
UTC, with a note."""
TIME_OR_UNKNOWN = TIME._replace(never=True)
"""Times, or -1 for an unknown time, as in logs in the Standard Workload Format."""


def whole(least: int, *, missing: int, most: int = 2**31 - 1) -> Kind:
    """Return the kind of integers from `least` to `most`; a missing value becomes `missing`."""
    allowed = f"it must be a whole number from {least} to {most}"
    return Kind(allowed, _integer, most + 1, allowed, least, missing=missing)


def amount(resource: str) -> Kind:
    """Return the kind of requests of a resource, with CPU in millicores; a missing value becomes 0."""
    scale = 1000 if resource == "cpu" else 1
    example = {"cpu": "500m", "memory": "4Gi"}.get(resource)
    return Kind(
        f"it must be a quantity of {resource} of 0 or more, such as {example}"
        if example
        else "it must be a whole number of 0 or more",
        lambda value: _request(value, resource),
        LONGEST // scale,
        f"it must be less than {LONGEST // scale}",
        scale=scale,
        rounded=(lambda found: np.ceil(np.round(found, 6) if scale > 1 else found)) if example else None,
    )


class Column:
    """An input column, with a description of its rows for error messages."""

    def __init__(self, name: str, values: Any, where: Callable[[int], str]) -> None:
        """Store a one-dimensional sequence, array or DataFrame column.

        Args:
            name: The name of the column.
            values: The values.
            where: A function that describes a row for error messages, such as `jobs row 17 (jobs.csv:19)`.

        Raises:
            InvalidSpecError: The values are not a column, have several dimensions, or are not UTF-8 text.
        """
        self.name, self._where = name, where
        self.notes: list[tuple[str, int]] = []
        self.values = array_of(name, values)
        self._kind = self.values.dtype.kind if isinstance(self.values, np.ndarray) else "O"

    @cached_property
    def coded(self) -> Categorical:
        """The distinct values in the order of their first occurrence, and the code of each row; -1 is missing."""
        values = self.values
        if isinstance(values, Categorical):
            return values
        if is_arrow(values):
            found = values.dictionary_encode()
            return Categorical(found.indices.fill_null(-1).to_numpy(), found.dictionary.to_pylist())
        cells = list(values) if self._kind in _TIMES else values.tolist()
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
        if self._kind != "O":
            return self.values if self._kind in _NUMERIC else None
        for kind in ("int64", "float64") if is_arrow(self.values) else ():
            with contextlib.suppress(ValueError):  # pyarrow.ArrowInvalid
                self.values[:100].cast(kind)  # Arrow is slow if it rejects most rows
                found: NDArray[Any] = self.values.cast(kind).to_numpy(zero_copy_only=False)
                if not _matches(self.values, _UNLIKE_PYTHON, "any"):
                    return found
        names, codes = self.coded.names, self.coded.codes
        with contextlib.suppress(ValueError, OverflowError):
            if set(map(type, names)) <= {str, int} and not (codes < 0).any():  # int() would truncate floats
                return np.array([int(name) for name in names], np.int64)[codes]
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return np.array([*map(float, names), math.nan])[codes]
        return None

    def _match(self, pattern: str) -> bool:
        """Return whether all strings match a pattern; of an Arrow array, the first strings are tested first."""
        if not is_arrow(self.values):
            return all(isinstance(name, str) and re.fullmatch(pattern, name) for name in self.coded.names)
        return all(_matches(part, f"^({pattern})$", "all") for part in (self.values[:100], self.values))

    def missing(self) -> NDArray[np.bool_]:
        """Return a mask of the rows without a value."""
        if is_arrow(self.values):
            return np.asarray(self.values.is_null())
        if self._kind != "O":
            return np.asarray(self.values != self.values)
        return np.asarray(self.coded.codes < 0)

    def error(self, row: int, allowed: str) -> InvalidSpecError:
        """Return the error to raise for one row."""
        value = self.values[row]
        if hasattr(value, "as_py"):
            value = value.as_py()
        elif not isinstance(value, np.generic) and is_missing(value):
            value = None
        return InvalidSpecError(f'{self._where(row)}, column "{self.name}": {shown(value)}; {allowed}')

    def refuse(self, bad: Any, allowed: str) -> None:
        """Check that a mask is not true for any row.

        Raises:
            InvalidSpecError: The value in a row is not allowed; the message names the first such row.
        """
        if bad.any():
            raise self.error(int(bad.argmax()), allowed)

    def integers(self, kind: Kind) -> NDArray[np.int64]:
        """Return the values as integers.

        Raises:
            InvalidSpecError: A value is not allowed.
        """
        if (dated := self._dated(kind.dates)) is not None:
            found, held = exact_ns(dated)
            absent = np.isnat(dated) | (kind.never & (found == kind.missing))
            self.refuse(~absent & (dated.view(np.int64) < 0), kind.allowed)
            self.refuse(~held, kind.high)
            return np.where(absent, kind.missing, found)
        if self._kind in _TIMES:  # `int` and `float` accept NumPy's times
            self.refuse(~self.missing(), kind.allowed)
        if self.numbers is not None and not (kind.dates and self._has_booleans()):
            return self._scaled(self.numbers, kind)
        if "M" in kind.dates:
            self._note_zones()
        exact = [_exact(value, kind) for value in self.coded.names]
        self.refuse(self._rows(value is None for value in exact), kind.allowed)
        is_large = [value is not None and value >= kind.limit * kind.scale for value in exact]
        self.refuse(self._rows(is_large), kind.high)
        # Categories that no row has may still be invalid.
        known = [
            kind.missing if value is None or large else value for value, large in zip(exact, is_large, strict=True)
        ]
        return np.array([*known, kind.missing], np.int64)[self.coded.codes]

    def _scaled(self, numbers: NDArray[Any], kind: Kind) -> NDArray[np.int64]:
        absent = _is_nan(numbers) | (kind.never & ((numbers == -1) | (numbers == math.inf)))
        given = np.where(absent, kind.least, numbers)
        self.refuse(given < kind.least, kind.allowed if kind.dates else f"it must be {kind.least} or more")
        self.refuse(given >= kind.limit, kind.high)  # before the multiplication, which would overflow
        floor = np.floor(given) if given.dtype.kind == "f" else given
        found = floor.astype(np.int64) * kind.scale
        if given.dtype.kind == "f":
            if kind.rounded is None:
                self.refuse(given != floor, kind.allowed)
            found += (kind.rounded or np.round)((given - floor) * kind.scale).astype(np.int64)
        return np.where(absent, kind.missing, found)

    def _has_booleans(self) -> bool:
        has_objects = self._kind == "O" and not is_arrow(self.values)
        return any(isinstance(name, bool) for name in self.coded.names) if has_objects else self._kind == "b"

    def _dated(self, dates: str) -> NDArray[Any] | None:
        """Return the values as dates or durations; `None` if they are not, or have no fixed length in nanoseconds."""
        if self._kind in dates:
            is_month = self._kind == "m" and np.datetime_data(self.values.dtype)[0] in ("Y", "M")
            return None if is_month else self.values
        if "M" in dates and is_arrow(self.values) and self._match(_DATE):
            for zone in (None, "UTC"):
                with contextlib.suppress(ValueError):  # pyarrow.ArrowInvalid
                    found = self.values.cast(import_module("pyarrow").timestamp("ns", zone))
                    return np.asarray(found.to_numpy(zero_copy_only=False))
        return None

    def _note_zones(self) -> None:
        """Add a note if some timestamps have a time zone and others have none."""
        naive = [is_naive(value) for value in self.coded.names]
        if True in naive and False in naive:
            rows = int(self._rows(value is True for value in naive).sum())
            self.notes.append((f"{self.name} has no time zone, unlike other rows; read as UTC", rows))

    def _rows(self, flags: Iterable[bool]) -> NDArray[np.bool_]:
        """Return the flag of each row; the argument has a flag for each distinct value."""
        return np.array([*flags, False])[self.coded.codes]

    def number(self) -> NDArray[np.float64]:
        """Return numbers of at least 0; a missing value becomes 0.

        Raises:
            InvalidSpecError: A value is not a number, is negative, or is infinite.
        """
        numbers = self.numbers
        if numbers is None:
            known = [self._kind not in _TIMES and _is_number(value) for value in self.coded.names]
            self.refuse(self._rows(not one for one in known), "it must be a number")
            # Categories that no row has may still be invalid.
            exact = [float(value) if one else 0.0 for value, one in zip(self.coded.names, known, strict=True)]
            numbers = np.array([*exact, 0.0])[self.coded.codes]
        found = np.where(_is_nan(numbers), 0.0, numbers).astype(np.float64)
        self.refuse(~((found >= 0) & np.isfinite(found)), "it must be 0 or more")
        return found

    def names(self) -> Categorical:
        """Return the values as strings; surrounding spaces are not part of a name.

        Raises:
            InvalidSpecError: A value contains a surrogate code point, which UTF-8 cannot represent.
        """
        given = self.coded
        if not all(map(is_unicode, given.names)):
            bad = self._rows(not is_unicode(value) for value in given.names)
            self.refuse(bad, "it must be text that UTF-8 can represent")
        known: dict[str, int] = {}
        codes = [known.setdefault(text_of(value).strip(), len(known)) for value in given.names]
        return Categorical(np.array([*codes, -1], np.int32)[given.codes], list(known))

    def texts(self) -> list[str]:
        """Return the values as strings; a missing value becomes an empty string."""
        return [name or "" for name in self.names()]

    def kept(self) -> NDArray[Any] | Categorical:
        """Return the values of a user-defined column: numbers, times in nanoseconds, or names.

        Raises:
            InvalidSpecError: A time cannot be represented in nanoseconds, or a name is not valid Unicode.
        """
        if self._kind in _TIMES:
            exact, held = exact_ns(self.values)
            self.refuse(~held, "it must be a date from 1678 to 2262, or a time span of at most 292 years")
            return np.where(np.isnat(self.values), np.iinfo(np.int64).min, exact).view(f"{self._kind}8[ns]")
        is_coded = not isinstance(self.values, np.ndarray)
        has_text = is_coded or (self._kind == "O" and any(isinstance(value, str) for value in self.coded.names))
        return self.names() if has_text or self.numbers is None else self.numbers

    def typed(self) -> Any:
        """Return the values as numbers if all of them are strings with numbers as in JSON, and unchanged otherwise.

        Strings with integers that a float cannot represent also remain strings, because different numbers would become
        equal.
        """
        numbers = self.numbers if self._match(_NUMBER) else None
        is_rounded = numbers is not None and numbers.dtype.kind == "f" and bool((np.abs(numbers) >= _EXACT).any())
        return self.values if numbers is None or is_rounded else numbers


def _matches(texts: Any, pattern: str, which: str) -> bool:
    compute = import_module("pyarrow.compute")
    found: bool = getattr(compute, which)(compute.match_substring_regex(texts, pattern), min_count=0).as_py()
    return found


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


def _exact(value: Any, kind: Kind) -> int | None:
    """Return one value as an integer, or `None` if it is not allowed."""
    found = kind.missing if kind.never and value == math.inf else kind.parse(value)
    if kind.never and found in (kind.missing, -kind.scale):
        return kind.missing
    return None if found is None or found < kind.least else found


def _request(value: Any, resource: str) -> int | None:
    with contextlib.suppress(KueueError, TypeError, ValueError, OverflowError):
        return Quantity(value if isinstance(value, int) else str(value)).request(resource)
    return None


def _integer(value: Any) -> int | None:
    return int(float(value)) if _is_number(value) and float(value).is_integer() else None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _is_nan(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:  # a list, or a signaling NaN
        return False
    return True
