"""Times and time spans in whole nanoseconds, from whatever a user writes for them."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.objects import SECOND
from kueuepy.objects.times import LONGEST, datetime_ns, parse_duration, parse_time, timedelta_ns

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DAY_UNITS = {"d": 86400, "w": 604800}

_UNITS = {
    "Y": 366 * 86400 * SECOND,
    "M": 31 * 86400 * SECOND,
    "W": 604800 * SECOND,
    "D": 86400 * SECOND,
    "h": 3600 * SECOND,
    "m": 60 * SECOND,
    "s": SECOND,
    "ms": 10**6,
    "us": 10**3,
}
"""Nanoseconds of NumPy's units of time, those of years and months rounded up."""


def has_nanoseconds(values: NDArray[Any]) -> NDArray[np.bool_]:
    """By value of an array of times or time spans, whether 64 bits hold its nanoseconds."""
    unit, count = np.datetime_data(values.dtype)
    most = LONGEST // (_UNITS.get(unit, 1) * count)
    numbers = values.view(np.int64)
    return np.asarray((numbers >= -most) & (numbers <= most))


def _numpy_ns(value: np.datetime64 | np.timedelta64) -> int | None:
    """Nanoseconds of one time or time span of NumPy's; `None` if there is none, or 64 bits do not hold them."""
    one = np.array([value])
    if np.isnat(one[0]) or not has_nanoseconds(one)[0]:
        return None
    return int(one.astype(f"{one.dtype.kind}8[ns]").view(np.int64)[0])


def parse_span(value: Any) -> int | None:
    """Nanoseconds of a time span: a number of seconds, `1h30m`, `7d`, a timedelta; `None` if it is none.

    >>> parse_span("1d12h")
    129600000000000
    """
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, timedelta):
        return timedelta_ns(value)
    if isinstance(value, np.timedelta64):
        return _numpy_ns(value)
    if isinstance(value, int | np.integer):
        return int(value) * SECOND
    if isinstance(value, float | np.floating):
        return _float_ns(float(value))
    return _span_of_text(value.replace(" ", "")) if isinstance(value, str) else None


def _span_of_text(text: str) -> int | None:
    total = 0
    for unit, seconds in sorted(_DAY_UNITS.items(), reverse=True):
        days, found, rest = text.partition(unit)
        if found:
            exact = _whole_ns(days, seconds)
            if exact is None:
                return None
            total += exact
            text = rest
    if not text:
        return total
    if is_number(text) and not total:
        return _whole_ns(text, 1)
    parsed = parse_duration(text)
    return None if parsed is None else total + parsed


def _whole_ns(text: str, seconds: int) -> int | None:
    """Nanoseconds of so many spans of these seconds; `None` if the text is not a finite number."""
    return _float_ns(float(text) * seconds) if is_number(text) else None


def _float_ns(seconds: float) -> int | None:
    """Nanoseconds of a number of seconds, be they more than 64 bits hold; `None` of NaN and infinity."""
    if not math.isfinite(seconds):
        return None
    return round(seconds * SECOND) if abs(seconds) <= LONGEST / SECOND else int(seconds) * SECOND


def parse_moment(value: Any) -> int | None:
    """Nanoseconds of a moment: RFC 3339, ISO 8601 without zone (taken as UTC), a datetime, a number of seconds."""
    if isinstance(value, datetime):
        return datetime_ns(value)
    if isinstance(value, date):
        return parse_moment(datetime(value.year, value.month, value.day, tzinfo=timezone.utc))
    if isinstance(value, np.datetime64):
        return _numpy_ns(value)
    if isinstance(value, str):
        value = value.strip()
        found = parse_time(value)
        if found is not None:
            return found
        try:
            return parse_moment(datetime.fromisoformat(value))
        except ValueError:
            pass
    return parse_span(value)


def span(where: str, value: Any, most: float = LONGEST) -> int:
    """The nanoseconds of an argument.

    Args:
        where: What the argument is called, for errors.
        value: The argument.
        most: The largest value, in nanoseconds; by default what 64 bits hold, about 292 years.

    Raises:
        InvalidSpecError: The value is not a time span, is negative, or exceeds `most`.
    """
    found = parse_span(value)
    if found is None or found < 0:
        raise InvalidSpecError(f"{where}: {value!r}; it must be a number of seconds of 0 or more, or such as 90s or 2d")
    if found > most:
        raise InvalidSpecError(f"{where}: {value!r}; it must be {int(most) // SECOND} seconds or less")
    return found


def is_number(value: Any) -> bool:
    """Whether a value, such as a text, is read as a number."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
