"""Kinds of values: the conversion of single numbers, amounts, times and durations to integers, on every surface."""

import contextlib
import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from kueuepy._core import Quantity
from kueuepy.errors import InvalidSpecError, KueueError
from kueuepy.objects import LONGEST, NUMBER, SECOND, parse_span
from kueuepy.tables.spans import MOST, parse_timestamp, shown

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
