"""Sums, means, maxima and percentiles of values by group, computed for all groups at once."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from numpy.typing import NDArray

K = TypeVar("K", bound="Hashable")
N = TypeVar("N", int, float)
_RADIX = 1 << 16
"""NumPy sorts integers below this number in linear time."""


def sums(amounts: Iterable[tuple[K, N]]) -> dict[K, N]:
    """Return the sum of the amounts for each key, with keys in the order of their first occurrence.

    >>> sums([("a", 1), ("b", 2), ("a", 3)])
    {'a': 4, 'b': 2}
    """
    found: dict[K, N] = {}
    for key, amount in amounts:
        found[key] = found.get(key, 0) + amount
    return found


def order_of(codes: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Return the positions that sort the codes in stable order.

    Args:
        codes: The codes, starting at 0.
        count: The number of distinct codes.
    """
    small: NDArray[Any] = codes.astype(np.uint16) if count <= _RADIX else codes
    found: NDArray[np.int64] = np.argsort(small, kind="stable")
    return found


class Groups:
    """Rows of a table, sorted by group. Rows of one group keep their order.

    Attributes:
        rows: The row numbers.
        of: The index of the group that each row belongs to.
        count: The number of groups; a group can be empty.
        bounds: The position of the first row of each group, followed by the number of rows.
    """

    __slots__ = ("bounds", "count", "of", "rows")

    def __init__(self, rows: NDArray[np.int64], of: NDArray[Any], count: int) -> None:
        """Store the rows, which are already sorted by group."""
        self.rows, self.of, self.count = rows, of, count
        self.bounds = np.searchsorted(of, np.arange(count + 1))

    @classmethod
    def by(cls, codes: NDArray[Any], count: int) -> Groups:
        """Group the rows of a column of codes.

        Args:
            codes: The group index of each row; a row with -1 does not belong to any group.
            count: The number of groups.
        """
        rows = np.flatnonzero(codes >= 0)
        own = codes[rows]
        order = order_of(own, count)
        return cls(rows[order], own[order], count)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows of each group."""
        found: NDArray[np.int64] = np.diff(self.bounds)
        return found

    @property
    def firsts(self) -> NDArray[np.bool_]:
        """A mask of the positions at which a group begins."""
        found = np.ones(len(self.of), bool)
        found[1:] = self.of[1:] != self.of[:-1]
        return found

    def parts(self) -> list[NDArray[np.int64]]:
        """Return the rows of each group."""
        return np.split(self.rows, self.bounds[1:-1]) if self.count else []

    def where(self, mask: NDArray[np.bool_]) -> Groups:
        """Return the same groups, restricted to the selected rows.

        Args:
            mask: A mask of the rows to keep, by position in `rows`.
        """
        return Groups(self.rows[mask], self.of[mask], self.count)

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of the values of each group; 0 for an empty group.

        Each sum is identical to the result of `numpy.sum` for the group.

        Args:
            values: The values, by position in `rows`.
        """
        wide = values.astype(np.int64) if values.dtype.kind in "bi" else values
        found: NDArray[Any] = np.add.reduceat(*self._padded(wide)) if self.count else wide[:0]
        return found

    def largest(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the largest value of each group; 0 for a group that is empty or has no positive value.

        Args:
            values: The values, by position in `rows`.
        """
        found: NDArray[Any] = np.maximum.reduceat(*self._padded(values)) if self.count else values[:0]
        return found

    def _padded(self, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the values with a 0 inserted before each group, and the positions of the zeros.

        `reduceat` adds the first value of a group to the sum of the remaining values. With a leading 0, `reduceat`
        returns the same result as `numpy.sum`, and an empty group has the sum 0.
        """
        found = np.zeros(len(values) + self.count, values.dtype)
        found[np.arange(len(values)) + self.of + 1] = values
        return found, self.bounds[:-1] + np.arange(self.count)

    def means(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the mean of the values of each group; 0 for an empty group.

        Args:
            values: The values, by position in `rows`.
        """
        return self.sums(values) / np.maximum(self.sizes, 1)

    def accumulated(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the running sum within each group; rounding errors do not spread to other groups.

        Args:
            values: The values, by position in `rows`.
        """
        found = np.zeros(len(values))
        for begin, end in pairwise(self.bounds.tolist()):
            if end > begin:
                np.cumsum(values[begin:end], out=found[begin:end])
        return found

    def ordered(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values of each group in ascending order.

        Args:
            values: The values, by position in `rows`.
        """
        if self.count <= 1:
            return np.sort(values)
        order = np.argsort(values)
        return values[order[order_of(self.of[order], self.count)]]

    def percentiles(self, ordered: NDArray[np.float64], percent: float) -> NDArray[np.float64]:
        """Return the nearest-rank percentile of each group; 0 for an empty group.

        Args:
            ordered: The values, sorted within each group.
            percent: The percentile, between 0 and 100.
        """
        sizes, found = self.sizes, np.zeros(self.count)
        there = sizes > 0
        ranks = np.ceil(sizes * percent / 100).astype(np.int64)
        found[there] = ordered[(self.bounds[:-1] + ranks - 1)[there]]
        return found
