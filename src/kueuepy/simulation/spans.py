"""Parsers of time spans and timestamps: seconds, Go durations, days and weeks, Slurm's notation, and datetimes."""

import contextlib
import math
import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import SECOND
from kueuepy.objects.times import LATEST, LONGEST, datetime_ns, parse_duration, parse_time, timedelta_ns

MOST = f"{LONGEST / SECOND:.0f} s ({LATEST})"
"""The largest time in 64-bit nanoseconds, for error messages."""
_DAY_UNITS = {"w": 604800, "d": 86400}
NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_LONGEST_TEXT = 64
_SLURM = re.compile(
    r"(?:(\d{1,9})-(\d{1,2})(?::(\d{1,2})(?::(\d{1,2}))?)?|(\d{1,9}):(\d\d):(\d\d))(\.\d{1,9})?", re.ASCII
)
_PANDAS = re.compile(r"(\d{1,9}) days?(?: \+?(\d{1,2}):(\d\d):(\d\d)(\.\d{1,9})?)?", re.ASCII)
_WORD = re.compile(
    r"(?<=[\d.])\s*(weeks?|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?)(?![a-z]),?", re.ASCII | re.IGNORECASE
)
# A duration in ISO 8601, without years and months, which have no fixed length.
_ISO = re.compile(r"P((?:[\d.]+W)?(?:[\d.]+D)?)(?:T((?:[\d.]+H)?(?:[\d.]+M)?(?:[\d.]+S)?))?", re.ASCII)
_SIXTY = 60
_CLOCK = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{3}(?:\d{3})?)?"
# The beginning of a date, with its time zone.
_DATE = re.compile(r"\s*\d{4}-\d\d-\d\d(?:[T ][\d:.,]*)?\s*(\S*)", re.ASCII)


def parse_span(value: Any) -> int | None:
    """Convert a time span to nanoseconds; return `None` if the value is not a time span.

    The function accepts numbers of seconds, `1h30m`, `7d`, `2 hours`, `150 min`, `PT2H30M`, Slurm's `01:00:00` and
    `1-00:00:00`, and timedeltas. The result may be negative, or exceed 64 bits.

    >>> parse_span("1d12h"), parse_span("1-12:00:00")
    (129600000000000, 129600000000000)
    """
    if isinstance(value, bool | np.bool_):
        return None
    try:
        if isinstance(value, timedelta):
            return timedelta_ns(value)
        if isinstance(value, np.timedelta64):
            return _numpy_ns(value)
        if isinstance(value, int | np.integer):
            return int(value) * SECOND
        if isinstance(value, float | np.floating):
            return _rounded(float(value) * SECOND)
    except (OverflowError, ValueError):  # a pandas Timedelta beyond its range
        return None
    return _span_of_text(value) if isinstance(value, str) else None


def _rounded(nanoseconds: float) -> int | None:
    return round(nanoseconds) if math.isfinite(nanoseconds) else None


def _span_of_text(given: str) -> int | None:
    text = given.strip()
    # No time needs more, and Python takes quadratic time for numbers of many digits.
    if len(text) > _LONGEST_TEXT:
        return None
    clock = _clock_span(text)
    if clock is not None:
        return clock
    text, total = _in_go_units(text), 0
    for unit, seconds in _DAY_UNITS.items():
        amount, found, rest = text.partition(unit)
        if found:
            days = _seconds(amount)
            if days is None or (part := _rounded(days * seconds * SECOND)) is None:
                return None
            total, text = total + part, rest
    if not text:
        return total if given.strip() else None
    # After days or weeks, a number without a unit would be ambiguous.
    exact = None if total else _seconds(text)
    if exact is not None:
        return _rounded(exact * SECOND)
    parsed = parse_duration(text)
    return None if parsed is None else total + parsed


def _in_go_units(text: str) -> str:
    """Return a time span with the units of `parse_duration`: `2 hours`, `150 min` and `PT2H30M` as well.

    >>> _in_go_units("2 hours, 30 min"), _in_go_units("P1DT2H")
    ('2h30m', '1d2h')
    """
    if iso := _ISO.fullmatch(text):
        date, clock = iso.groups()
        return (date + (clock or "")).lower() or text
    return _WORD.sub(lambda found: found[1][0].lower(), text).replace(" ", "")


def _seconds(text: str) -> float | None:
    """Convert a string to a number; `nan`, `inf` and non-ASCII digits are not accepted."""
    return float(text) if NUMBER.fullmatch(text) else None


def _clock_span(text: str) -> int | None:
    """Convert Slurm's `[days-]hours[:minutes[:seconds]]` or pandas' `1 days 02:00:00` to nanoseconds."""
    found = _SLURM.fullmatch(text)
    if found is not None:
        days, *own = found.group(1), *(found.group(2, 3, 4) if found.group(1) else found.group(5, 6, 7))
        fraction = found.group(8)
    else:
        found = _PANDAS.fullmatch(text)
        if found is None:
            return None
        days, *own, fraction = found.groups()
    hours, minutes, seconds = (int(part or 0) for part in own)
    if minutes >= _SIXTY or seconds >= _SIXTY:
        return None
    whole = ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds
    # As text: a float of the fraction would not be exact.
    return whole * SECOND + int((fraction or ".0")[1:].ljust(9, "0"))


def parse_timestamp(value: Any) -> int | None:
    """Convert a timestamp to nanoseconds since the epoch; return `None` if the value is not a timestamp.

    The function accepts RFC 3339 times, ISO 8601 times without a time zone (read as UTC), datetimes, and any value that
    `parse_span` accepts.
    """
    try:
        if isinstance(value, date):
            return datetime_ns(value if isinstance(value, datetime) else datetime.combine(value, time()))
        if isinstance(value, np.datetime64):
            return _numpy_ns(value)
        if isinstance(value, str):
            text = value.strip()
            found = parse_time(text)
            if found is not None:
                return found
            # Since Python 3.11, fromisoformat reads a number such as 20240501 as a date.
            if len(text) <= _LONGEST_TEXT and "-" in text[1:] and text == text.upper():
                return datetime_ns(datetime.fromisoformat(text))
    except (OverflowError, ValueError):  # not a date, or beyond pandas' range
        pass
    return parse_span(value)


def timestamps(values: Sequence[Any]) -> NDArray[np.datetime64] | None:
    """Convert strings with dates and times as `parse_moment` does, all with the same time zone, or all without one.

    Returns:
        The times in UTC, with a resolution of microseconds; `None` for any other values.
    """
    with contextlib.suppress(IndexError, TypeError, ValueError):  # no values, values of other types, or no such date
        zone = str(_DATE.match(values[0])[1])  # type: ignore[index]
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
    found = _DATE.match(value) if isinstance(value, str) else None
    return None if found is None else not found[1]


def _numpy_ns(value: np.datetime64 | np.timedelta64) -> int | None:
    """Convert a value to nanoseconds; for a value beyond 64 bits of nanoseconds, return any integer beyond 64 bits."""
    found, allowed = exact_ns(np.array([value]))
    if allowed[0]:
        return int(found[0])
    unit, _ = np.datetime_data(value.dtype)
    if unit == "generic" or (value.dtype.kind == "m" and unit in ("Y", "M")):
        return None
    # Any integer beyond 64 bits: the caller only compares it with its limit.
    return 2**63 if value.astype(np.int64) > 0 else -(2**63) - 1


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
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:  # Python limits the number of digits that repr() prints
        text = f"a number of {int(value).bit_length()} bits" if isinstance(value, int) else type(value).__name__
    return text if len(text) <= 2 * _LONGEST_TEXT else f"{text[: 2 * _LONGEST_TEXT]}…"
