"""Operations on values that are or contain versions and quantities, with the results of Kueue.

Each function has a list of operands as its only argument: the CEL library calls a function of Python with a value of
any type only as an element of a list.

Source: cel-go's `common/types`, `k8s.io/apiserver/pkg/cel/semver.go`, `k8s.io/apiserver/pkg/cel/quantity.go`.
"""

from __future__ import annotations

import re
import threading
from typing import Any

from kueuepy.selectors.values import NOT_SUPPORTED, compare, is_special, is_versioned

_UNHASHABLE = "internal error: runtime error: hash of unhashable type cel.Semver"
"""The error of Kueue if it looks up a version in a set of literals or in a map."""
_NO_OVERLOAD = "no such overload"
_UNUSUAL = re.compile(r"\s.*|.*\s|.*_.*|[+-]?0[xX].*", re.DOTALL)
"""Strings that the library and Kueue convert to numbers in different ways."""


class _State(threading.local):
    """Whether the evaluation in this thread has looked up a version in a set."""

    aborted = False


_state = _State()


def start() -> None:
    """Start an evaluation in this thread."""
    _state.aborted = False


def abort_error() -> str:
    """Return the error that ended the evaluation in this thread in Kueue; empty if there is none.

    The operators `&&` and `||` do not ignore this error, because it is a panic in Kueue.
    """
    return _UNHASHABLE if _state.aborted else ""


def _abort() -> ValueError:
    _state.aborted = True
    return ValueError(_UNHASHABLE)


def marked(operands: list[Any]) -> bool:
    """Return whether a value is or contains a version or a quantity."""
    return any(_contains_special(operand) for operand in operands)


def _contains_special(value: Any) -> bool:
    if isinstance(value, dict):
        return is_special(value) or marked([*value.values()])
    return isinstance(value, list) and marked(value)


def equal(pair: list[Any]) -> bool:
    """Return whether two values are equal.

    Raises:
        ValueError: The left value is a version or quantity, and the right one is not null and has another type.
    """
    left, right = pair
    if left is None or right is None:
        return left is right
    if is_special(left):
        if not is_special(right) or left.keys() != right.keys():
            raise ValueError(_NO_OVERLOAD)
        return compare(left, right) == 0
    if is_special(right):
        return False
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and not any(map(_differ, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return len(left) == len(right) and not any(
            key not in right or _differ(value, right[key]) for key, value in left.items()
        )
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _differ(left: Any, right: Any) -> bool:
    """Return whether the comparison of two elements is false. Kueue ignores an error of the comparison."""
    try:
        return not equal([left, right])
    except ValueError:
        return False


def _are_equal(left: Any, right: Any) -> bool:
    """Return whether the comparison of two values is true, and not an error."""
    try:
        return equal([left, right])
    except ValueError:
        return False


def unequal(pair: list[Any]) -> bool:
    """Return whether two values are not equal; values of different types never are."""
    return not _are_equal(*pair)


def member(pair: list[Any]) -> bool:
    """Return whether a value is in a list, or is the name of an attribute or a capacity in a domain.

    Raises:
        ValueError: The container is not a list or a map.
    """
    value, container = pair
    if isinstance(container, list):
        return any(_are_equal(value, element) for element in container)
    if not isinstance(container, dict) or is_special(container):
        raise ValueError(_NO_OVERLOAD)
    return isinstance(value, str) and value in container


def member_of_constants(pair: list[Any]) -> bool:
    """Return whether a value that is or contains a version or quantity is in a list of literals.

    Raises:
        ValueError: The value is a version.
    """
    if is_versioned(pair[0]):
        raise _abort()
    return False


def member_of_keys(pair: list[Any]) -> bool:
    """Return whether a value is a key of a map that the expression writes.

    Raises:
        ValueError: The value is a version, and the map is not empty.
    """
    value, container = pair
    if container and is_versioned(value):
        raise _abort()
    return any(_are_equal(value, key) for key in container)


def versioned(operands: list[Any]) -> bool:
    """Return whether a value is a version.

    Raises:
        ValueError: The value is a quantity.
    """
    (value,) = operands
    if is_special(value) and not is_versioned(value):
        raise ValueError(f"{NOT_SUPPORTED}type() of a quantity")
    return is_versioned(value)


def has_fields(operands: list[Any]) -> bool:
    """Return whether a value is a list or a map."""
    (value,) = operands
    return isinstance(value, (list, dict)) and not is_special(value)


def found(operands: list[Any]) -> bool:
    """Return true.

    Raises:
        ValueError: The first value has no fields or elements; the second one is the field or index.
    """
    value, key = operands
    if not has_fields([value]):
        raise ValueError(f"no such key: {str(key).lower() if isinstance(key, bool) else key}")
    return True


def hashable(operands: list[Any]) -> bool:
    """Return true.

    Raises:
        ValueError: The value is a version or quantity, which cannot be a key.
    """
    if is_special(operands[0]):
        raise _abort()
    return True


def sized(operands: list[Any]) -> bool:
    """Return true.

    Raises:
        ValueError: The value has no size.
    """
    (value,) = operands
    if is_special(value) or not isinstance(value, (str, bytes, bytearray, list, dict)):
        raise ValueError("no such overload: size")
    return True


def number(operands: list[Any]) -> bool:
    """Return true.

    Raises:
        ValueError: The value is a bool, which has no conversion to int, or a string that is not converted here.
    """
    if isinstance(operands[0], bool):
        raise ValueError("no such overload: int(bool)")  # noqa: TRY004 - the error of an expression
    return floating(operands)


def floating(operands: list[Any]) -> bool:
    """Return true.

    Raises:
        ValueError: The value is a string that is not converted here: with a space, an underscore or in hexadecimal.
    """
    if isinstance(operands[0], str) and _UNUSUAL.fullmatch(operands[0]):
        raise ValueError(f"{NOT_SUPPORTED}the conversion of such a string to a number")
    return True
