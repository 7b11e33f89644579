"""Quantities and semantic versions in expressions, each represented as a map with one entry.

Source: `k8s.io/apiserver/pkg/cel/library/quantity.go`, `k8s.io/apiserver/pkg/cel/library/semverlib.go`.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from kueuepy._core import Quantity
from kueuepy.errors import KueueError

_QUANTITY, _VERSION = "\x01quantity", "\x01version"
"""The keys of the maps; no map that an expression writes has such a key by accident."""
Kept = dict[str, str]

_NO_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_CANONICAL = re.compile(r"([+-]?[0-9.]+)(?:e([+-]?[0-9]+)|([KMGTPE]i)|([numkMGTPE]?))")


def _number(text: str) -> Decimal:
    digits, exponent, binary, decimal = _CANONICAL.fullmatch(text).groups()  # type: ignore[union-attr]
    if binary:
        return Decimal(digits) * Decimal(1024) ** ("KMGTPE".index(binary[0]) + 1)
    return Decimal(digits).scaleb(int(exponent) if exponent else _SUFFIXES[decimal or ""])


def quantity(text: str) -> Kept:
    """Parse a quantity.

    Raises:
        ValueError: The string is not a quantity.
    """
    try:
        number = _number(str(Quantity(text)))
    except KueueError:
        raise ValueError(_NO_QUANTITY) from None
    return {_QUANTITY: format(number.normalize() + 0, "f")}


def is_quantity(text: str) -> bool:
    """Return whether a string is a quantity."""
    try:
        Quantity(text)
    except KueueError:
        return False
    return True


_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
    r"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)


def version(text: str) -> Kept:
    """Parse a semantic version.

    Raises:
        ValueError: The string is not a semantic version.
    """
    found = _SEMVER.fullmatch(text)
    if found is not None:
        for part in (*found.group(1, 2, 3), *(found[4] or "").split(".")):
            if part.isdigit() and int(part[:40]) >= 2**64:
                raise ValueError(f'strconv.ParseUint: parsing "{part}": value out of range')
    if found is None:
        raise ValueError("No Major.Minor.Patch elements found")
    number = ".".join(found.group(1, 2, 3))
    return {_VERSION: f"{number}-{found[4]}" if found[4] else number}


def is_version(text: str) -> bool:
    """Return whether a string is a semantic version."""
    try:
        version(text)
    except ValueError:
        return False
    return True


_COMPONENTS = 3


def _complete(text: str) -> str:
    """Complete a version: without the prefix v and leading zeros, with three components."""
    parts = text.removeprefix("v").split(".", 2)
    for i, part in enumerate(parts):
        if len(part) > 1:
            rest = part.lstrip("0")
            parts[i] = rest if rest[:1].isdigit() else "0" + rest
    if not any(mark in parts[-1] for mark in "+-"):
        parts += ["0"] * (_COMPONENTS - len(parts))
    return ".".join(parts)


def tolerant_version(text: str, complete: bool) -> Kept:  # noqa: FBT001 - called by expressions, by position
    """Parse a semantic version, which is completed first if `complete` is true.

    Raises:
        ValueError: The string is not a semantic version.
    """
    return version(_complete(text) if complete else text)


def is_tolerant_version(text: str, complete: bool) -> bool:  # noqa: FBT001 - called by expressions, by position
    """Return whether a string, completed first if `complete` is true, is a semantic version."""
    return is_version(_complete(text) if complete else text)


def _version_key(text: str) -> tuple[Any, ...]:
    number, _, before = text.partition("-")
    parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in before.split(".") if part)
    return (*(int(part) for part in number.split(".")), 0 if before else 1, parts)


def _keys(*values: Kept) -> list[Any]:
    """Return the sort keys of two values of the same type."""
    if all(_QUANTITY in value for value in values):
        return [Decimal(value[_QUANTITY]) for value in values]
    if all(_VERSION in value for value in values):
        return [_version_key(value[_VERSION]) for value in values]
    raise ValueError("no such overload")


def compare(left: Kept, right: Kept) -> int:
    """Return -1, 0 or 1 if a value is less than, equal to or greater than another value of the same type."""
    a, b = _keys(left, right)
    return int(a > b) - int(a < b)


def _amount(value: Kept) -> Decimal:
    if _QUANTITY not in value:
        raise ValueError("no such overload")
    return Decimal(value[_QUANTITY])


def integer(value: Kept) -> int:
    """Return the value of a quantity that fits in a 64-bit integer."""
    if not is_integer(value):
        raise ValueError("cannot convert value to integer")
    return int(_amount(value))


def is_integer(value: Kept) -> bool:
    """Return whether a quantity fits in a 64-bit integer."""
    number = _amount(value)
    return number == number.to_integral_value() and -(2**63) <= number < 2**63


def sign(value: Kept) -> int:
    """Return the sign of a quantity: -1, 0 or 1."""
    number = _amount(value)
    return int(number > 0) - int(number < 0)


def part_of_version(position: int) -> Callable[[Kept], int]:
    """Return a function that returns a component of a version: 0 for major, 1 for minor, 2 for patch."""

    def part(value: Kept) -> int:
        if _VERSION not in value:
            raise ValueError("no such overload")
        number = int(_version_key(value[_VERSION])[position])
        return (number + 2**63) % 2**64 - 2**63  # Kueue converts the unsigned number to a signed one.

    return part
