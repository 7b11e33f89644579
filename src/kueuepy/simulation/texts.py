"""Columns of strings in Arrow's memory, which are converted without creating a Python object for each row."""

from __future__ import annotations

import contextlib
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.engine.cached import cached_property

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BEYOND_PYTHON = ("x", "X", "(")
"""Arrow also reads `0x1f` and `nan(a)` as numbers, which `int` and `float` reject."""


class Texts:
    """A column of strings in Arrow's memory."""

    dtype = np.dtype(object)
    ndim = 1

    def __init__(self, column: Any) -> None:
        """Store the column.

        Args:
            column: A pyarrow Array of strings without nulls.
        """
        self._column = column
        self._compute: Any = import_module("pyarrow.compute")

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._column)

    def __getitem__(self, rows: NDArray[Any]) -> Texts:
        """Return the rows that a mask or an array of row numbers selects."""
        chosen = np.asarray(rows)
        return Texts(self._column.take(np.flatnonzero(chosen) if chosen.dtype == bool else chosen))

    @cached_property
    def objects(self) -> NDArray[Any]:
        """The column as Python strings."""
        found: NDArray[Any] = self._column.to_numpy(zero_copy_only=False)
        return found

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """A mask of the rows that contain an empty string."""
        found: NDArray[np.bool_] = self._compute.equal(self._column, "").to_numpy(zero_copy_only=False)
        return found

    @cached_property
    def numbers(self) -> NDArray[Any] | None:
        """The strings as numbers, with NaN for an empty string; `None` if Arrow cannot convert all of them.

        Arrow accepts only the usual notations of numbers, whereas Python also accepts `+5`, `1_000` and surrounding
        spaces.
        """
        compute, texts = self._compute, self._column
        first = self.first_number
        if first is None or any(compute.any(compute.match_substring(texts, mark)).as_py() for mark in _BEYOND_PYTHON):
            return None
        has_empty = bool(self.missing.any())
        given = compute.if_else(compute.equal(texts, ""), None, texts) if has_empty else texts
        # Arrow is slow where it rejects most rows, as it does for integers if the first row is a fraction.
        for kind in ("int64", "float64") if isinstance(first, int) and not has_empty else ("float64",):
            try:
                found: NDArray[Any] = given.cast(kind).to_numpy(zero_copy_only=False)
            except ValueError:  # pyarrow.ArrowInvalid
                continue
            return found
        return None

    @cached_property
    def first_number(self) -> float | int | None:
        """The first nonempty string as a number; 0 if all strings are empty, `None` if this string is not a number."""
        there = np.flatnonzero(~self.missing)
        text = self._column[int(there[0])].as_py() if len(there) else "0"
        for read in (int, float):
            with contextlib.suppress(ValueError):
                found: float | int = read(text)
                return found
        return None

    def are_of_length(self, length: int) -> bool:
        """Return whether all strings have the given number of characters."""
        return bool(self._compute.all(self._compute.equal(self._compute.utf8_length(self._column), length)).as_py())

    def codes(self) -> tuple[NDArray[np.int32], list[str]]:
        """Return the code of each row, and the distinct strings in the order of their first occurrence."""
        found = self._column.dictionary_encode()
        return found.indices.to_numpy(zero_copy_only=False), found.dictionary.to_pylist()
