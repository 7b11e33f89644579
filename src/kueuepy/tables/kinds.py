"""Kinds of values: the conversion of single numbers, amounts, times and durations to integers, on every surface."""

import contextlib
import math
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kueuepy._core import Quantity
from kueuepy.errors import InvalidSpecError, KueueError
from kueuepy.objects import LATEST, LONGEST, NUMBER, SECOND, datetime_ns, numpy_ns, parse_span, parse_time

MOST = f"{LONGEST / SECOND:.0f} s ({LATEST})"
"""The largest time in 64-bit nanoseconds, for error messages."""
_LONGEST_TEXT = 64
_CLOCK = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{3}(?:\d{3})?)?"
# A date in ISO 8601. datetime.fromisoformat reads other texts in each version of Python.
_DATE = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d(?:[.,]\d+)?))?)?(?: ?(Z|[-+]\d\d(?::?\d\d)?))?)?", re.ASCII
)


def parse_timestamp(value: Any) -> int | None:
    """Convert a timestamp to nanoseconds since the epoch; return `None` if the value is not a timestamp.

    The function accepts RFC 3339 times, ISO 8601 times without a time zone (read as UTC), datetimes, and any value that
    `parse_span` accepts.
    """
    try:
        if isinstance(value, date):
            return datetime_ns(value if isinstance(value, datetime) else datetime.combine(value, time()))
        if isinstance(value, np.datetime64):
            return numpy_ns(value)
        if isinstance(value, str) and (found := _DATE.fullmatch(value.strip())):
            day, hour, minute, second, _ = found.groups("00")
            zone = found[5] or "Z"
            full = f"{zone}:00" if len(zone) == len("+01") else zone
            return parse_time(f"{day}T{hour}:{minute}:{second}{full}".replace(",", "."))
    except (OverflowError, ValueError):  # not a date, or beyond pandas' range
        pass
    return parse_span(value)


def timestamps(values: Sequence[Any]) -> NDArray[np.datetime64] | None:
    """Convert strings with dates and times as `parse_timestamp` does, all with the same time zone, or all without one.

    Returns:
        The times in UTC, with a resolution of microseconds; `None` for any other values.
    """
    with contextlib.suppress(IndexError, TypeError, ValueError):  # no values, values of other types, or no such date
        zone = _DATE.fullmatch(values[0])[5] or ""  # type: ignore[index]
        form = re.compile(_CLOCK + re.escape(zone), re.ASCII)
        # All texts have one zone, so one offset converts the whole column.
        origin = parse_timestamp(f"1970-01-01T00:00:00{zone}")
        if origin is not None and all(map(form.fullmatch, values)):
            local = np.array([text[: -len(zone)] for text in values] if zone else values, "M8[us]")
            return local + np.timedelta64(origin // 1000, "us")
    return None


def is_naive(value: Any) -> bool | None:
    """Return whether a time has no time zone; `None` for a value without a date, such as a number of seconds."""
    if isinstance(value, datetime):
        return value.tzinfo is None
    found = _DATE.fullmatch(value.strip()) if isinstance(value, str) else None
    return None if found is None else not found[5]


def exact_ns(values: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Convert datetimes or timedeltas of any unit to nanoseconds.

    Returns:
        Nanoseconds as int64, and a mask of the rows that fit into int64. A NaT value becomes 0 nanoseconds, and its
        mask is true. Timedeltas in months or years, or without a unit, have no fixed length in nanoseconds, so the mask
        is false for these rows.
    """
    kind, unit, absent = values.dtype.kind, np.datetime_data(values.dtype)[0], np.isnat(values)
    if unit == "generic" or (kind == "m" and unit in ("Y", "M")):
        return np.zeros(len(values), np.int64), absent
    is_finer = unit in ("ps", "fs", "as")
    # Since NumPy 2.5, the conversion of a value that does not fit is an error.
    most = LONGEST if is_finer else np.array([LONGEST], f"{kind}8[ns]").astype(values.dtype).astype(np.int64)[0]
    held = absent | is_finer | (np.abs(values.astype(np.int64)) <= most)
    found = np.where(held & ~absent, values.astype(np.int64), 0).astype(values.dtype)
    return found.astype(f"{kind}8[ns]").astype(np.int64), held


_IN_A_DATE = re.compile(r"\d{4}-\d\d|date|Timestamp")


def span(where: str, value: Any, most: float = LONGEST) -> int:
    """Convert an argument that is a time span to nanoseconds.

    Args:
        where: The name of the argument, for error messages.
        value: The argument.
        most: The largest value allowed, in nanoseconds; by default the largest 64-bit number, about 292 years.

    Raises:
        InvalidSpecError: The value is not a time span, is negative, or exceeds `most`.
    """
    found = parse_span(value)
    if found is None or found < 0:
        text = shown(value)
        hint = ", not a date: times count from the first submission" if _IN_A_DATE.search(text) else ""
        raise InvalidSpecError(
            f"{where}: {text}; it must be a number of seconds of 0 or more, or such as 90s or 2d{hint}"
        )
    if found > most:
        limit = MOST if most >= LONGEST else f"{int(most) // SECOND} seconds"
        raise InvalidSpecError(f"{where}: {shown(value)}; it must be at most {limit}")
    return found


def shown(value: object) -> str:
    """Return a shortened form of a value for an error message; a number with too many digits is only described."""
    try:
        is_date = isinstance(value, np.datetime64)  # whose item is a number of nanoseconds
        text = str(value) if is_date else repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:  # Python limits the number of digits that repr() prints
        text = f"a number of {int(value).bit_length()} bits" if isinstance(value, int) else type(value).__name__
    return text if len(text) <= 2 * _LONGEST_TEXT else f"{text[: 2 * _LONGEST_TEXT]}…"


# pandas, SQL and spreadsheets write these; a queue or user can hardly have such a name.
MISSING = ("", "NaN", "nan", "NaT", "None", "NA", "N/A", "<NA>", "NULL", "null")
"""The texts that mean a missing value, as pandas and SQL write it."""
_INFINITE = ("inf", "infinity")
_BEYOND = 2**64  # any integer beyond all limits


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: `None`, NaN, NaT, NA, or a text that means one of these or is blank."""
    if value is None or isinstance(value, str | bytes):
        return value is None or (value.decode() if isinstance(value, bytes) else value).strip() in MISSING
    try:
        return bool(value != value)  # noqa: PLR0124
    except (TypeError, ArithmeticError):  # pandas' NA has no truth value; a signaling NaN cannot be compared
        return True
    except ValueError:  # an array, which is compared by elements
        return False


def plain(value: Any) -> Any:
    """Return bytes as text, and numbers and booleans of NumPy as those of Python."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return value.item() if isinstance(value, np.number | np.bool_) and not isinstance(value, np.timedelta64) else value


class Kind(NamedTuple):
    """Values that are converted to integers.

    Attributes:
        allowed: The error message for values that are not allowed.
        parse: The conversion of one value if the column does not only contain numbers; `None` if the value is not
            allowed.
        limit: The bound that numbers must be less than, before the multiplication by `scale`.
        high: The error message for values that are not less.
        least: The smallest number that is allowed.
        scale: The integer that represents the number 1.
        rounded: A function that rounds fractions; `None` if fractions are not allowed.
        missing: The integer that represents a missing value.
        never: Whether -1 and, of times, infinity are treated as missing.
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

    def is_never(self, number: Any) -> Any:
        """Return whether a number, or each number of an array, is treated as missing."""
        return self.never & ((number == -1) | ((number == math.inf) & bool(self.dates)))

    def exact(self, value: Any) -> int | None:
        """Return one value as an integer, or `None` if it is not allowed."""
        found = self.parse(value)
        if self.never and ((isinstance(value, float) and value == math.inf) or found in (self.missing, -self.scale)):
            return self.missing
        return None if found is None or found < self.least else found

    def read(self, value: Any, where: str) -> int:
        """Convert one value as a column of a table does.

        Raises:
            InvalidSpecError: The value is not allowed; the message begins with `where`.
        """
        value = plain(value)
        if is_missing(value):
            return self.missing
        found = None
        if is_beyond_floats(value):
            found = None if "-" in value else _BEYOND
        elif isinstance(value, np.datetime64 | np.timedelta64):  # Python's numbers and quantities accept them
            found = self.exact(value) if self.dates else None
        elif (self.dates and isinstance(value, bool)) or (number := exact_number(value)) is None:
            found = self.exact(value)
        elif self.is_never(number):
            found = self.missing
        elif number >= self.limit:
            found = _BEYOND
        elif number >= self.least:
            floor = math.floor(number)
            rounded = self.rounded if number > floor else int
            found = None if rounded is None else floor * self.scale + int(rounded((number - floor) * self.scale))
        if found is None or found >= self.limit * self.scale:
            raise InvalidSpecError(f"{where}: is {shown(value)}; {self.allowed if found is None else self.high}")
        return found


_SECONDS = "it must be a number of seconds of 0 or more, or such as"
_SPAN = f"{_SECONDS} 1h30m or 01:30:00"
SPAN = Kind(
    _SPAN, parse_span, LONGEST / SECOND, f"it must be at most {MOST}", 0, SECOND, np.round, missing=-1, dates="m"
)
"""Time spans in nanoseconds; numbers are seconds, and a missing value becomes -1."""
SPAN_OR_NEVER = SPAN._replace(allowed=f"{_SPAN}; -1 never ends", never=True)
"""Time spans, or -1 for a job that never ends."""
TIME = SPAN._replace(allowed=f"{_SECONDS} 2024-05-01T12:00:00Z", parse=parse_timestamp, dates="mM")
"""Times in nanoseconds since an origin, such as the Unix epoch. If some timestamps have no time zone, they are read as
UTC, with a note."""
TIME_OR_UNKNOWN = TIME._replace(never=True)
"""Times, or -1 for an unknown time, as in logs in the Standard Workload Format."""


def whole(least: int, *, missing: int, most: int = 2**31 - 1) -> Kind:
    """Return the kind of integers from `least` to `most`; a missing value becomes `missing`."""
    allowed = f"it must be a whole number from {least} to {most}"

    def parse(value: Any) -> int | None:
        found = number_of(value)
        return int(found) if found is not None and found.is_integer() else None

    return Kind(allowed, parse, most + 1, allowed, least, missing=missing)


PODS = whole(1, missing=1)
MIN_PODS = whole(1, missing=-1)._replace(never=True)
"""The smallest number of pods of partial admission, or -1 without partial admission."""
PRIORITY = whole(-(2**31), missing=0)


@cache
def amount(resource: str) -> Kind:
    """Return the kind of requests of a resource, with CPU in millicores; a missing value becomes 0."""
    scale, example = (1000, "500m") if resource == "cpu" else (1, "4Gi")
    is_device = "/" in resource and "kubernetes.io/" not in resource  # Kubernetes: "Extended resources"
    form = "whole number of 0 or more" if is_device else f"quantity of {resource} of 0 or more, such as {example}"
    limit = LONGEST // scale
    # Kubernetes rounds requests up; rounding to 6 digits first removes errors of binary fractions.
    rounded = None if is_device else lambda part: np.ceil(np.round(part, 6) if scale > 1 else part)
    high = f"it must be less than {limit}"

    def parse(value: Any) -> int | None:
        with contextlib.suppress(KueueError, TypeError, ValueError, OverflowError):
            asked = Quantity(value if isinstance(value, int) else str(value))
            return None if is_device and asked != Quantity(asked.as_units) else asked.request(resource)
        return None

    return Kind(f"it must be a {form}", parse, limit, high, 0, scale, rounded)


def number_of(value: Any) -> float | None:
    """Return a number, or the number that a text is; `None` for any other value."""
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        return float_of(value)
    return None


def exact_number(value: Any) -> float | None:
    """Return a number, or the number that a text is, without rounding integers; `None` for any other value."""
    if isinstance(value, str | int):
        with contextlib.suppress(ValueError):
            return int(as_number(value))
    return number_of(value)


def float_of(value: Any) -> float:
    """Convert a value to a number.

    Raises:
        OverflowError: The value is a text with a number for which `float` returns infinity.
        ValueError: The value is not a number.
    """
    if is_beyond_floats(value):
        raise OverflowError(value)
    return float(as_number(value))


def as_number(value: Any) -> Any:
    """Return a value; of texts that Python reads as numbers, `1_000` and digits of other scripts are not accepted.

    Raises:
        ValueError: The value is such a text.
    """
    if isinstance(value, str) and not (NUMBER.fullmatch(value.strip()) or value.strip(" +-").lower() in _INFINITE):
        raise ValueError(value)
    return value


def is_beyond_floats(value: Any) -> bool:
    """Return whether a value is a text with a number that is too large for a float."""
    if not isinstance(value, str) or not any(map(str.isdigit, value)):
        return False
    with contextlib.suppress(ValueError):
        return math.isinf(float(value))
    return False


def text_of(value: Any) -> str:
    """Convert a value to a name; 3.0 becomes `3`."""
    if isinstance(value, str):
        return value
    try:
        return str(int(value) if isinstance(value, float) and value.is_integer() else value)
    except ValueError:  # Python limits the number of digits that str() prints
        return shown(value)
