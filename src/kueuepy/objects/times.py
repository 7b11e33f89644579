"""Conversions of times and durations between the forms that users pass, strings, and integer nanoseconds.

Users pass strings, datetimes, timedeltas or seconds, and receive Timestamps and Seconds. The engine and private columns
store times and durations as integer numbers of nanoseconds.
"""

from __future__ import annotations

import operator
import re
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from functools import cache, lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TypeAlias, TypeVar, get_args

import msgspec

from kueuepy.errors import InvalidSpecError, briefly

Duration: TypeAlias = float | str | timedelta
"""Seconds, a string such as `"1m30s"` or `"2d"`, or a timedelta."""

TimeLike: TypeAlias = float | str | datetime
"""Seconds since the Unix epoch, a string such as `"2026-08-01T12:00:00Z"`, or a datetime with a time zone."""

SECOND = 10**9
LONGEST = 2**63 - 1
"""Largest number of nanoseconds in a signed 64-bit integer, as in Go. The corresponding time since 1970 is `LATEST`."""
LATEST = "2262-04-11T23:47:16Z"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
# datetime.fromisoformat would accept the hour 24 since Python 3.14.
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ]((?!24)\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(?:Z|([-+])([01]\d|2[0-3]):?([0-5]\d))", re.ASCII
)
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
_LONGEST_SPAN = 64
_DAY_UNITS = {"w": 604800, "d": 86400}
NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_SLURM = re.compile(
    r"(?:(\d{1,9})-(\d{1,2})(?::(\d{1,2})(?::(\d{1,2}))?)?|(\d{1,9}):(\d\d):(\d\d))(\.\d{1,9})?", re.ASCII
)
_PANDAS = re.compile(r"(\d{1,9}) days?(?: \+?(\d{1,2}):(\d\d):(\d\d)(\.\d{1,9})?)?", re.ASCII)
_WORD = re.compile(
    r"(?<=[\d.])\s*(weeks?|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?)(?![a-z]),?", re.ASCII | re.IGNORECASE
)
# A space between a number and its unit, or after the unit, but not within a number.
_SPACE = re.compile(r"(?<=[\d.]) +(?=[a-z])|(?<=[a-z]) +(?=[\d.])", re.ASCII)
# A duration in ISO 8601, without years and months, which have no fixed length.
_ISO = re.compile(r"P((?:[\d.]+W)?(?:[\d.]+D)?)(?:T((?:[\d.]+H)?(?:[\d.]+M)?(?:[\d.]+S)?))?", re.ASCII)
_SIXTY = 60
_MOST_YEARS = 293


def parse_time(text: str) -> int | None:
    """Parse an RFC 3339 time.

    >>> parse_time("1970-01-01T00:00:01.5Z")
    1500000000

    Returns:
        Nanoseconds since the Unix epoch, or `None` if the text is not an RFC 3339 time.
    """
    if len(text) == _USUAL_LENGTH and text[4::3] == "--T::Z" and text[11:13] != "24":
        return _usual_time(text)
    found = _TIME.fullmatch(text)
    if not found:
        return None
    day, clock, fraction, sign, hours, minutes = found.groups()
    try:
        value = datetime.fromisoformat(f"{day}T{clock}+00:00")
    except ValueError:
        return None
    seconds = (value - _EPOCH) // timedelta(seconds=1)
    if sign:
        seconds -= (1 if sign == "+" else -1) * (int(hours) * 3600 + int(minutes) * 60)
    return seconds * SECOND + int((fraction or "0").ljust(9, "0"))


def nanoseconds_of(value: Any, where: str = "time", *, earliest: int = -LONGEST) -> int:
    """Convert a time to nanoseconds since the Unix epoch.

    >>> nanoseconds_of("1970-01-01T00:00:01Z"), nanoseconds_of(datetime(1970, 1, 2, tzinfo=timezone.utc))
    (1000000000, 86400000000000)

    Args:
        value: A number of seconds since the epoch, RFC 3339 text, or a datetime with a time zone (from Python, pandas
            or NumPy; NumPy times are in UTC).
        where: The prefix of the error message.
        earliest: The earliest time that is accepted, in nanoseconds.

    Returns:
        Nanoseconds since the Unix epoch.

    Raises:
        InvalidSpecError: The value is not a time, or does not fit into a signed 64-bit number of nanoseconds.
    """
    if type(value) is Timestamp:
        found: int | None = value.value
    elif type(value) is int:
        found = value * SECOND
    elif numpy_kind(value) in ("M", "m"):
        found = numpy_ns(value) if numpy_kind(value) == "M" else None
    elif isinstance(value, datetime):
        found = datetime_ns(value) if value.tzinfo else None
    else:
        found = parse_time(value) if isinstance(value, str) else _seconds_ns(value)
    if found is None or found < earliest:
        since = "since 1970, 0 or more" if earliest == 0 else "since 1970"
        raise InvalidSpecError(
            f"{where}: is {briefly(value)}; it must be seconds {since}, a string such as 2026-08-01T12:00:00Z, "
            "or a datetime with a time zone"
        )
    if abs(found) > LONGEST:
        raise InvalidSpecError(
            f"{where}: is {briefly(value)}; it must be {LATEST} at most, second {LONGEST // SECOND} since 1970"
        )
    return found


def duration_ns(value: Any, where: str = "duration", *, signed: bool = False) -> int:
    """Convert a duration to nanoseconds.

    >>> duration_ns("2h"), duration_ns(0.5), duration_ns(timedelta(minutes=1))
    (7200000000000, 500000000, 60000000000)

    Args:
        value: A number of seconds, a string such as `"1h30m"`, or a timedelta (from Python, pandas or NumPy).
        where: The prefix of the error message.
        signed: Whether a negative duration is accepted.

    Raises:
        InvalidSpecError: The value is not a duration, is negative, or does not fit into a signed 64-bit number of
            nanoseconds.
    """
    found = parse_span(value)
    if found is None or (found < 0 and not signed):
        raise InvalidSpecError(
            f"{where}: is {briefly(value)}; it must be seconds, 0 or more, or such as '1h30m' or '2d'"
        )
    if abs(found) > LONGEST:
        raise InvalidSpecError(
            f"{where}: is {briefly(value)}; it must be {LONGEST // SECOND} seconds at most, some 292 years"
        )
    return found


def later(now: int, duration: Duration) -> int:
    """Add a duration to a time, and return the sum in nanoseconds.

    Raises:
        InvalidSpecError: The value is not a duration, or the resulting time does not fit into a signed 64-bit number of
            nanoseconds.
    """
    then = now + duration_ns(duration)
    if then > LONGEST:
        raise InvalidSpecError(
            f"duration: is {duration!r:.99}; it must end at {LATEST} at most, now is second {now / SECOND:g}"
        )
    return then


def _seconds_ns(value: Any) -> int | None:
    """Convert seconds to nanoseconds without rounding their decimal digits."""
    if numpy_kind(value) in ("i", "u", "f"):
        value = value.item()
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return round(value * SECOND)
    if not isinstance(value, float) or not isfinite(value):
        return None
    return round(Fraction(float.__repr__(value)) * SECOND)


class Timestamp(datetime):
    """A datetime in UTC that also keeps the nanoseconds of an RFC 3339 string.

    The text of a Timestamp has the same form as in Kubernetes. The hooks `encode_time` and `decode_time` encode the
    object as the integer `value`. Arithmetic works as for a datetime, with a resolution of microseconds.

    >>> Timestamp.of(1_500_000_000)
    Timestamp('1970-01-01T00:00:01.5Z')

    Attributes:
        value: Nanoseconds since the Unix epoch, as in a Timestamp of pandas.
    """

    __slots__ = ("value",)
    value: int

    @classmethod
    def of(cls, nanoseconds: int) -> Timestamp:
        """Create a time from a number of nanoseconds since the Unix epoch.

        Raises:
            InvalidSpecError: The argument is not a number, or exceeds the range of a datetime.
        """
        try:
            at = _EPOCH + timedelta(0, 0, nanoseconds // 1000)  # arithmetic of a subclass is ten times slower
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidSpecError(f"Timestamp: is {briefly(nanoseconds)}; it must be an integer of 64 bits") from error
        made = cls(at.year, at.month, at.day, at.hour, at.minute, at.second, at.microsecond, timezone.utc)
        made.value = nanoseconds
        return made

    def __getattr__(self, name: str) -> int:
        """Compute `value` for the result of arithmetic."""
        if name != "value":
            raise AttributeError(f"Timestamp has no attribute {name!r}")
        return (datetime.__sub__(self, _EPOCH)) // timedelta(microseconds=1) * 1000

    def __str__(self) -> str:
        """Return the RFC 3339 text."""
        return format_time(self.value)

    def __repr__(self) -> str:
        """Return the class and the RFC 3339 text."""
        return f"Timestamp('{self}')"

    def __reduce_ex__(self, protocol: SupportsIndex, /) -> tuple[Any, ...]:
        """Preserve all nanoseconds in pickles and copies."""
        return Timestamp.of, (self.value,)


def _compared(name: str) -> Any:
    """Return a method that compares with another Timestamp in nanoseconds, and with a datetime in microseconds."""
    exact, rough = getattr(operator, name), getattr(datetime, name)

    def compare(self: Timestamp, other: object) -> Any:
        return exact(self.value, other.value) if isinstance(other, Timestamp) else rough(self, other)

    return compare


# Set after the class is made, so that the hash of a datetime stays: equal nanoseconds have equal microseconds.
for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(Timestamp, _name, _compared(_name))


class Seconds(float):
    """A number of seconds that also keeps the exact nanoseconds of a duration, which a float cannot always represent.

    The hooks `encode_time` and `decode_time` encode the object as the integer `value`.

    >>> Seconds.of(300 * SECOND)
    300.0

    Attributes:
        value: Nanoseconds, as in a Timedelta of pandas.
    """

    __slots__ = ("value",)
    value: int

    @classmethod
    def of(cls, nanoseconds: int) -> Seconds:
        """Create a duration from a number of nanoseconds.

        Raises:
            InvalidSpecError: The argument is not a number.
        """
        try:
            made = cls(nanoseconds / SECOND)
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidSpecError(f"Seconds: is {briefly(nanoseconds)}; it must be an integer of 64 bits") from error
        made.value = nanoseconds
        return made

    def __getattr__(self, name: str) -> int:
        """Compute `value` for a number that was not created by `of`."""
        if name != "value":
            raise AttributeError(f"Seconds has no attribute {name!r}")
        return duration_ns(float(self), signed=True)


EPOCH = Timestamp.of(0)

if TYPE_CHECKING:
    _In = TypeVar("_In")
    _Out = TypeVar("_Out")

    class _Converted(Generic[_In, _Out]):
        """A field whose constructor argument and attribute have different types."""

        def __get__(self, record: object, cls: type | None = None, /) -> _Out:
            raise NotImplementedError

        def __set__(self, record: Any, value: _In, /) -> None:
            raise NotImplementedError

    TimeField: TypeAlias = _Converted[TimeLike, Timestamp]
    # Any: mypy takes the type of the argument for that of the attribute in frozen subclasses.
    OptionalTimeField: TypeAlias = _Converted[Any, Timestamp | None]
    DurationField: TypeAlias = _Converted[Duration, Seconds]
    OptionalDurationField: TypeAlias = _Converted[Duration | None, Seconds | None]
else:
    TimeField = Timestamp
    OptionalTimeField = Timestamp | None
    DurationField = Seconds
    OptionalDurationField = Seconds | None


def default(value: Timestamp | Seconds | None) -> Any:
    """Return the default of a field whose values are converted; type checkers need this function."""
    return value


@cache
def _time_fields(cls: type[msgspec.Struct]) -> tuple[tuple[str, type[Timestamp | Seconds]], ...]:
    """Return the fields of a class that hold times and durations, each with its type."""
    types = ((known.name, (known.type, *get_args(known.type))) for known in msgspec.structs.fields(cls))
    return tuple((name, kind) for name, kinds in types for kind in (Timestamp, Seconds) if kind in kinds)


def convert_times(record: msgspec.Struct) -> None:
    """Convert the times and durations of a new record to Timestamps and Seconds.

    Raises:
        InvalidSpecError: The value of a field is neither a time or duration, as its type requires, nor `None`.
    """
    for name, kind in _time_fields(type(record)):
        value = getattr(record, name)
        if value is None or type(value) is kind:
            continue
        where = f"{type(record).__name__}: {name}"
        exact = nanoseconds_of(value, where) if kind is Timestamp else duration_ns(value, where, signed=True)
        msgspec.structs.force_setattr(record, name, kind.of(exact))


def encode_time(value: Any) -> int:
    """Encode a Timestamp or Seconds as a number of nanoseconds; the `enc_hook` of msgspec for all objects."""
    if isinstance(value, Timestamp | Seconds):
        return value.value
    raise TypeError(f"Encoding objects of type {type(value).__name__} is unsupported")


def decode_time(cls: type[Any], value: Any) -> Any:
    """Decode a number of nanoseconds to a Timestamp or Seconds; the `dec_hook` of msgspec for all objects."""
    if cls not in (Timestamp, Seconds):
        raise NotImplementedError(cls.__name__)
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"Expected `int`, got `{'null' if value is None else type(value).__name__}`")
    if abs(value) > LONGEST:
        raise ValueError(f"Expected `int` <= {LONGEST}")
    return cls.of(value)


def numpy_kind(value: Any) -> str:
    """Return the kind of a NumPy scalar's type, such as `M` for times and `m` for durations; empty for other values."""
    is_scalar = type(value).__module__ == "numpy" and hasattr(value, "dtype") and value.shape == ()
    return str(value.dtype.kind) if is_scalar else ""


def numpy_ns(value: Any) -> int | None:
    """Convert a NumPy time or duration to nanoseconds; any number beyond 64 bits if it does not fit into them.

    NaT, and durations without a unit or in months or years, which have no fixed length, are `None`.
    """
    kind = numpy_kind(value)
    if value != value or value.dtype.name in ("timedelta64", "timedelta64[M]", "timedelta64[Y]"):  # noqa: PLR0124 - NaT
        return None
    # In this order: since NumPy 2.5, a conversion that exceeds 64 bits is an error.
    for unit, most in (("Y", _MOST_YEARS), ("s", LONGEST // SECOND)):
        found = int(value.astype(f"{kind}8[{unit}]").astype("i8"))
        if abs(found) > most:
            return 2 * LONGEST if found > 0 else -2 * LONGEST
    return int(value.astype(f"{kind}8[ns]").astype("i8"))


def datetime_ns(value: datetime) -> int:
    """Convert a datetime to nanoseconds since the Unix epoch. A datetime without a time zone is interpreted as UTC."""
    exact = _pandas_ns(value)
    if exact is not None:
        return exact
    # The method of Python's class also works for a time of pandas that does not fit into 64 bits.
    since = datetime.__sub__(value, _EPOCH if value.tzinfo else _EPOCH.replace(tzinfo=None))
    return since // timedelta(microseconds=1) * 1000


def timedelta_ns(span: timedelta) -> int:
    """Convert a timedelta to nanoseconds."""
    exact = _pandas_ns(span)
    return span // timedelta(microseconds=1) * 1000 if exact is None else exact


def _pandas_ns(value: Any) -> int | None:
    """Return the nanoseconds stored in a pandas time or duration; `None` for other types or on overflow."""
    try:
        exact = getattr(value, "value", None)
    except (ValueError, OverflowError):  # the value has a unit coarser than nanoseconds
        return None
    return exact if isinstance(exact, int) else None


@lru_cache(1024)
def _usual_time(text: str) -> int | None:
    """Parse a time in the exact form `1970-01-01T00:00:00Z` without the slower regular expression."""
    try:
        value = datetime.fromisoformat(text[:-1])
    except ValueError:
        return None
    seconds = ((value.toordinal() - _FIRST_DAY) * 24 + value.hour) * 3600 + value.minute * 60 + value.second
    return seconds * SECOND


def format_time(nanoseconds: int) -> str:
    """Format a time as RFC 3339 text, with a fraction only if the time has one.

    >>> format_time(1500000000)
    '1970-01-01T00:00:01.5Z'

    Args:
        nanoseconds: Nanoseconds since the Unix epoch.
    """
    seconds, rest = divmod(nanoseconds, SECOND)
    value = _EPOCH + timedelta(seconds=seconds)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{value.isoformat()[:19]}{fraction}Z"


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


def parse_span(value: Any) -> int | None:
    """Convert a duration of kueuepy's own to nanoseconds; Kueue's manifests have Go's notation (`parse_duration`).

    The function accepts numbers of seconds, `1h30m`, `7d`, `2 hours`, `150 min`, `PT2H30M`, Slurm's `01:00:00` and
    `1-00:00:00`, and timedeltas.

    >>> parse_span("1d12h"), parse_span("1-12:00:00")
    (129600000000000, 129600000000000)

    Returns:
        Nanoseconds, which may be negative or exceed 64 bits; `None` if the value is not a duration.
    """
    if isinstance(value, str):
        return _span_of_text(value)
    if type(value) is Seconds:
        return value.value
    if numpy_kind(value) == "m":
        return numpy_ns(value)
    if not isinstance(value, timedelta):
        return _seconds_ns(value)
    try:
        return timedelta_ns(value)
    except (OverflowError, ValueError):  # a pandas Timedelta beyond its range
        return None


def _span_of_text(given: str) -> int | None:
    text = given.strip()
    # No time needs more, and Python takes quadratic time for numbers of many digits.
    if len(text) > _LONGEST_SPAN:
        return None
    clock = _clock_span(text)
    if clock is not None:
        return clock
    text, total = _in_go_units(text), 0
    for unit, seconds in _DAY_UNITS.items():
        amount, found, rest = text.partition(unit)
        if found:
            days = _seconds(amount)
            if days is None or (part := _seconds_ns(days * seconds)) is None:
                return None
            total, text = total + part, rest
    if not text:
        return total if given.strip() else None
    # After days or weeks, a number without a unit would be ambiguous.
    exact = None if total else _seconds(text)
    if exact is not None:
        return _seconds_ns(exact)
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
    return _SPACE.sub("", _WORD.sub(lambda found: found[1][0].lower(), text))


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
