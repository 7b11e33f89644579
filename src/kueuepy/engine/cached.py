"""Values that are computed on first use, without a lock."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801 - as Python's
    """Python's `cached_property` as it is from Python 3.12 on: two threads may both compute a value.

    Before, each property had one lock for all objects, for which threads waited, and a child process without end where
    another thread held it when the process was forked.
    """

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """The value, computed if it is not known yet."""
            if instance is None:
                return self
            known = vars(instance)
            if self.attrname not in known:
                known[self.attrname] = self.func(instance)
            return known[self.attrname]
