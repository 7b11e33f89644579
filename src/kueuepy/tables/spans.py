"""Parsers of timestamps, and of arguments that are time spans."""

import contextlib
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import LATEST, LONGEST, SECOND, datetime_ns, numpy_ns, parse_span, parse_time

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
        raise InvalidSpecError(
            f"{where}: {shown(value)}; it must be a number of seconds of 0 or more, or such as 90s or 2d"
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
