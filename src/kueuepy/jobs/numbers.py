"""Integers in labels and annotations, parsed like Go's `strconv`, and completion indexes such as `0-2,5`.

Source: `pkg/controller/jobs/job/job_controller.go:terminalIndexesCount,parseIndexRange`.
"""

import re
from collections.abc import Iterator

_SIGNED = re.compile(r"([+-]?)0*([0-9]{1,19})", re.ASCII)
_UNSIGNED = re.compile(r"0*([0-9]{1,20})", re.ASCII)


def signed(text: str, bits: int = 64) -> int | None:
    """Parse an integer like `strconv.ParseInt` in base 10; `None` if the string is not an integer of `bits` bits.

    >>> signed("+05"), signed("5.0"), signed("4294967298", bits=32)
    (5, None, None)
    """
    match = _SIGNED.fullmatch(text)
    value = int(match[1] + match[2]) if match else None
    return value if value is not None and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1) else None


def unsigned(text: str) -> int | None:
    """Parse an integer like `strconv.ParseUint` in base 10; `None` if the string is not an unsigned 64-bit integer.

    >>> unsigned("7"), unsigned("+7")
    (7, None)
    """
    match = _UNSIGNED.fullmatch(text)
    value = int(match[1]) if match else None
    return value if value is not None and value < 2**64 else None


def wrapped(value: int) -> int:
    """Return a number truncated to a signed 32-bit integer, like a conversion in Go.

    >>> wrapped(4294967298), wrapped(2147483648)
    (2, -2147483648)
    """
    return (value + 2**31) % 2**32 - 2**31


def terminal_indexes(completed: str, failed: str, completions: int) -> int:
    """Return the number of indexes below `completions` that have completed or failed and will not run again.

    Each index is counted once. Like Kueue, the function ignores intervals that cannot be parsed.

    >>> terminal_indexes("0-4,6", "5", 8)
    7
    """
    count, last_counted = 0, -1
    for first, last in sorted((*_intervals(completed, completions), *_intervals(failed, completions))):
        count += max(0, last - max(first, last_counted + 1) + 1)
        last_counted = max(last_counted, last)
    return count


def _intervals(text: str, completions: int) -> Iterator[tuple[int, int]]:
    for interval in filter(None, text.split(",")):
        start, dash, end = interval.partition("-")
        first, last = signed(start), signed(end if dash else start)
        if first is not None and last is not None and first <= min(last, completions - 1):
            yield first, min(last, completions - 1)
