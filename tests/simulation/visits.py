"""The work of a call: calls of functions, and rows of the columns of a result that the call visits."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

import kueuepy as kq
from kueuepy.simulation.recorded import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable


class Visited(np.ndarray):
    """An array that counts the elements that each operation reads or makes; arrays made from it count as well."""

    count = 0

    @classmethod
    def add(cls, *values: object) -> None:
        """Count the elements of arrays, also in lists."""
        for value in values:
            if isinstance(value, np.ndarray):
                cls.count += value.size
            elif isinstance(value, list | tuple):
                cls.add(*value)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [_plain(value) for value in inputs]
        found = getattr(ufunc, method)(*plain, **{name: _plain(value) for name, value in kwargs.items()})
        self.add(*plain, found)
        return _counting(found)

    def __array_function__(self, func, types, args, kwargs):
        self.add(*args, *kwargs.values())
        found = func(*map(_plain, args), **{name: _plain(value) for name, value in kwargs.items()})
        self.add(found)
        return _counting(found)

    def __getitem__(self, place):
        found = super().__getitem__(_plain(place))
        self.add(place if isinstance(place, np.ndarray) else None, found)
        return found

    def __iter__(self):
        self.add(self)
        return iter(_plain(self))

    def astype(self, *args, **kwargs):
        self.add(self)
        return super().astype(*args, **kwargs)

    def tolist(self):
        self.add(self)
        return super().tolist()


def _plain(value: object) -> object:
    if isinstance(value, Visited):
        return value.view(np.ndarray)
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _counting(value: object) -> object:
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.view(Visited)
    return tuple(map(_counting, value)) if type(value) is tuple else value


def watched(result: kq.Result) -> kq.Result:
    """Make the columns of a result count."""
    for name in TABLES:
        columns = getattr(result, name)._columns
        for own, column in columns.items():
            if isinstance(column, kq.tables.Categorical):
                columns[own] = kq.tables.Categorical(_counting(column.codes), column.names)
            else:
                columns[own] = _counting(column)
    return result


def work(call: Callable[[], object]) -> int:
    """Return the number of calls of functions plus the number of elements that a call visits."""
    calls = 0

    def hear(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before, Visited.count = sys.getprofile(), 0
    sys.setprofile(hear)
    try:
        call()
    finally:
        sys.setprofile(before)
    return calls + Visited.count
