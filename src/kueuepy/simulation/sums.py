"""Sums by key."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

K = TypeVar("K", bound="Hashable")
N = TypeVar("N", int, float)


def sums(amounts: Iterable[tuple[K, N]]) -> dict[K, N]:
    """Return the sum of the amounts for each key, with keys in the order of their first occurrence.

    >>> sums([("a", 1), ("b", 2), ("a", 3)])
    {'a': 4, 'b': 2}
    """
    found: dict[K, N] = {}
    for key, amount in amounts:
        found[key] = found.get(key, 0) + amount
    return found
