"""Conversion of times and durations (seconds, or text such as `"2h"`) to nanoseconds."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from fractions import Fraction
from typing import TypeAlias

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import briefly
from kueuepy.objects import SECOND
from kueuepy.objects.base import is_finite
from kueuepy.objects.times import LATEST, LONGEST, numpy_kind, numpy_ns, parse_duration, parse_time

Duration: TypeAlias = float | str | timedelta
"""Seconds, text such as `"2h"` or `"1m30s"`, or a timedelta."""

Moment: TypeAlias = float | str | datetime
"""Seconds since the Unix epoch, text such as `"2026-08-01T12:00:00Z"`, or a datetime with a time zone."""

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def duration_ns(value: Duration) -> int:
    """Return a duration in nanoseconds.

    Raises:
        InvalidSpecError: The duration is malformed, negative, or too long for 64 bits.

    Example:
        >>> duration_ns("2h"), duration_ns(0.5)
        (7200000000000, 500000000)
    """
    read: int | None
    if numpy_kind(value) in ("M", "m"):
        read = numpy_ns(value) if numpy_kind(value) == "m" else None
    elif isinstance(value, timedelta):
        read = value // timedelta(microseconds=1) * 1000
    elif isinstance(value, str):
        read = parse_duration(value)
    else:
        read = _seconds(value)
    if read is None or read < 0:
        raise InvalidSpecError(f"duration: is {briefly(value)}; it must be seconds, 0 or more, or such as '1h30m'")
    if read > LONGEST:
        raise InvalidSpecError(
            f"duration: is {briefly(value)}; it must be {LONGEST // SECOND} seconds at most, some 292 years"
        )
    return read


def moment_ns(value: Moment) -> int:
    """Return a time in nanoseconds since the Unix epoch.

    Raises:
        InvalidSpecError: The time is malformed, before 1970, or too late for 64 bits.
    """
    if numpy_kind(value) in ("M", "m"):
        read = numpy_ns(value) if numpy_kind(value) == "M" else None
    elif isinstance(value, datetime):
        read = (value - _EPOCH) // timedelta(microseconds=1) * 1000 if value.tzinfo else None
    elif isinstance(value, str):
        read = parse_time(value)
    else:
        read = _seconds(value)
    if read is None or read < 0:
        raise InvalidSpecError(
            f"time: is {briefly(value)}; it must be seconds since 1970, 0 or more, such as '2026-08-01T12:00:00Z', "
            "or a datetime with a time zone"
        )
    if read > LONGEST:
        raise InvalidSpecError(
            f"time: is {briefly(value)}; it must be {LATEST} at most, second {LONGEST // SECOND} since 1970"
        )
    return read


def later(now: int, duration: Duration) -> int:
    """Return the time after a duration has passed, in nanoseconds since the Unix epoch.

    Raises:
        InvalidSpecError: The duration is not valid, or the time is too late for 64 bits.
    """
    then = now + duration_ns(duration)
    if then > LONGEST:
        raise InvalidSpecError(
            f"duration: is {duration!r}; it must end at {LATEST} at most, now is second {now / SECOND:g}"
        )
    return then


def _seconds(value: object) -> int | None:
    """Return seconds in nanoseconds, converted exactly from their decimal digits."""
    if numpy_kind(value) in ("i", "u", "f"):
        value = value.item()  # type: ignore[attr-defined]
    if isinstance(value, bool) or not isinstance(value, int | float) or not is_finite(value):
        return None
    return value * SECOND if isinstance(value, int) else round(Fraction(str(value)) * SECOND)
