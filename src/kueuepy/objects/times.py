"""Times and durations in Kubernetes' notation, and their conversion to integer nanoseconds."""

import re
from datetime import datetime, timedelta, timezone
from numbers import Integral
from typing import Any

from kueuepy.errors import InvalidSpecError

SECOND = 10**9
LONGEST = 2**63 - 1
"""Largest number of nanoseconds in a signed 64-bit integer, as in Go. As a time since 1970 it is `LATEST`."""
LATEST = "2262-04-11T23:47:16Z"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(?:[Zz]|([-+])(\d\d):?(\d\d))", re.ASCII)
_USUAL_LENGTH = len("1970-01-01T00:00:00Z")
_FIRST_DAY = _EPOCH.toordinal()
_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_DURATION = re.compile(rf"[-+]?(?:0|(?:{_PART.pattern})+)", re.ASCII)
_LONGEST = 40
_MOST_YEARS = 293


def parse_time(text: str) -> int | None:
    """Parse an RFC 3339 time.

    >>> parse_time("1970-01-01T00:00:01.5Z")
    1500000000

    Returns:
        Nanoseconds since the Unix epoch, or `None` if the text is not an RFC 3339 time.
    """
    if len(text) == _USUAL_LENGTH and text[4::3] == "--T::Z":
        return _usual_time(text)
    found = _TIME.fullmatch(text)
    if not found:
        return None
    day, clock, fraction, sign, hours, minutes = found.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}+00:00")
    except ValueError:
        return None
    seconds = (moment - _EPOCH) // timedelta(seconds=1)
    if sign:
        seconds -= (1 if sign == "+" else -1) * (int(hours) * 3600 + int(minutes) * 60)
    return seconds * SECOND + int((fraction or "0").ljust(9, "0"))


def nanoseconds(value: Any, where: str) -> int:
    """Convert a time to nanoseconds since the Unix epoch.

    >>> nanoseconds("1970-01-01T00:00:01Z", "time"), nanoseconds(datetime(1970, 1, 2, tzinfo=timezone.utc), "time")
    (1000000000, 86400000000000)

    Args:
        value: An integer number of nanoseconds, an RFC 3339 string, a datetime with a time zone, or a NumPy datetime.
        where: The start of the error message: the name of the field.

    Returns:
        Nanoseconds since the Unix epoch.

    Raises:
        InvalidSpecError: The value is of another type, the string is not an RFC 3339 time, or the datetime has no time
            zone.
    """
    found: int | None = None
    if numpy_kind(value) in ("M", "m"):
        found = numpy_ns(value) if numpy_kind(value) == "M" else None
    elif isinstance(value, datetime):
        found = (value - _EPOCH) // timedelta(microseconds=1) * 1000 if value.tzinfo else None
    elif isinstance(value, str):
        found = parse_time(value)
    elif isinstance(value, Integral) and not isinstance(value, bool):
        found = int(value)
    if found is None:
        raise InvalidSpecError(
            f"{where}: is {value!r}; it must be nanoseconds since 1970, a text such as 2026-08-01T12:00:00Z, "
            "or a datetime with a time zone"
        )
    return found


def numpy_kind(value: Any) -> str:
    """Return the kind of a NumPy scalar's type, such as `M` for times and `m` for durations; empty for other values."""
    return str(value.dtype.kind) if type(value).__module__ == "numpy" and hasattr(value, "dtype") else ""


def numpy_ns(value: Any) -> int | None:
    """Convert a NumPy time or duration to nanoseconds; `None` if it is NaT or does not fit into 64 bits."""
    kind = numpy_kind(value)
    years, seconds = (int(value.astype(f"{kind}8[{unit}]").astype("i8")) for unit in ("Y", "s"))
    if abs(years) > _MOST_YEARS or abs(seconds) > LONGEST // SECOND:
        return None
    return int(value.astype(f"{kind}8[ns]").astype("i8"))


def datetime_ns(moment: datetime) -> int:
    """Convert a datetime to nanoseconds since the Unix epoch. A datetime without a time zone is taken as UTC."""
    exact = _pandas_ns(moment)
    if exact is not None:
        return exact
    since = moment - (_EPOCH if moment.tzinfo else _EPOCH.replace(tzinfo=None))
    return since // timedelta(microseconds=1) * 1000


def timedelta_ns(span: timedelta) -> int:
    """Convert a timedelta to nanoseconds."""
    exact = _pandas_ns(span)
    return span // timedelta(microseconds=1) * 1000 if exact is None else exact


def _pandas_ns(value: Any) -> int | None:
    """Return the nanoseconds stored in a pandas time or duration; `None` for other types or if they overflow."""
    try:
        exact = getattr(value, "value", None)
    except (ValueError, OverflowError):  # the value has a unit coarser than nanoseconds
        return None
    return exact if isinstance(exact, int) else None


def _usual_time(text: str) -> int | None:
    """Parse a time in the exact form `1970-01-01T00:00:00Z` without the slower regular expression."""
    try:
        moment = datetime.fromisoformat(text[:-1])
    except ValueError:
        return None
    seconds = ((moment.toordinal() - _FIRST_DAY) * 24 + moment.hour) * 3600 + moment.minute * 60 + moment.second
    return seconds * SECOND


def format_time(nanoseconds: int) -> str:
    """Format a time as RFC 3339 text, with a fraction only if the time has one.

    >>> format_time(1500000000)
    '1970-01-01T00:00:01.5Z'

    Args:
        nanoseconds: Nanoseconds since the Unix epoch.
    """
    seconds, rest = divmod(nanoseconds, SECOND)
    moment = _EPOCH + timedelta(seconds=seconds)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{moment.isoformat()[:19]}{fraction}Z"


def parse_duration(text: str) -> int | None:
    """Parse a duration in Go's notation.

    >>> parse_duration("1h2.5s")
    3602500000000

    Returns:
        Nanoseconds, or `None` if the text is not a duration.
    """
    if len(text) > _LONGEST or not _DURATION.fullmatch(text):
        return None
    total = sum(_nanoseconds(amount, _UNITS[unit]) for amount, unit in _PART.findall(text))
    return -total if text[0] == "-" else total


def _nanoseconds(amount: str, unit: int) -> int:
    whole, _, fraction = amount.partition(".")
    part: int = int(fraction or "0") * unit // 10 ** len(fraction)
    return int(whole or "0") * unit + part


def format_duration(nanoseconds: int) -> str:
    """Format a duration in Go's notation.

    >>> format_duration(5400 * 10**9)
    '1h30m'

    Args:
        nanoseconds: The duration in nanoseconds.
    """
    if nanoseconds == 0:
        return "0s"
    rest = abs(nanoseconds)
    text = "-" if nanoseconds < 0 else ""
    for unit in ("h", "m", "s", "ms", "us", "ns"):
        count, rest = divmod(rest, _UNITS[unit])
        text += f"{count}{unit}" if count else ""
    return text
