"""Attributes that are computed on first use, without a lock."""

import functools
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801, TID251 - as Python's
    """Python's `cached_property` without a lock, as in Python 3.12 and later.

    Two threads may both compute a value, and then both get the value that was stored first.

    Before Python 3.12, each property has one lock for all objects. While one thread computes a value, all other threads
    wait for this lock. A child process waits indefinitely if another thread held the lock when the process was forked.
    """

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """Return the value, and compute it if necessary."""
            if instance is None:
                return self
            known = vars(instance)
            if self.attrname in known:
                return known[self.attrname]
            return known.setdefault(self.attrname, self.func(instance))
