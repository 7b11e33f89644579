"""Locks that survive a fork of the process, and the record of calls of functions of the user."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ref

from kueuepy.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import RLock

T = TypeVar("T")


class Asking:
    """Whether a function of the user is being called, which may read an object, but not change it."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        """Create the state in which no function is being called."""
        self._last: Callable[[], object] = lambda: None

    def begin(self) -> object:
        """Return a token; the call lasts until the caller drops it.

        A lock would stay locked if KeyboardInterrupt is raised on the line that unlocks it. The token goes with the
        frame that holds it.
        """
        token = _Token()
        self._last = ref(token)
        return token

    def call(self, function: Callable[..., T], *args: Any) -> T:
        """Call a function of the user."""
        token = self.begin()
        try:
            return function(*args)
        finally:
            # The traceback of an exception would keep the token as long as itself.
            del token

    def is_open(self) -> bool:
        """Return whether the call lasts."""
        return self._last() is not None


class _Token:
    __slots__ = ("__weakref__",)


# The name of each lock's attribute, by holder. A WeakKeyDictionary would work too, but is three times slower.
_holders: dict[ref[Any], str] = {}


class _Lost:
    """Replacement for a lock whose owner thread does not exist in this process; the protected data is incomplete."""

    def __enter__(self) -> None:
        raise StateError(
            "this Scheduler was in use by another thread when this process was forked, and is incomplete here; "
            "make it again in this process, or fork while no call is running"
        )

    def __exit__(self, *_: object) -> None:
        """Do nothing; this method is never called."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: ARG002, FBT001, FBT002 - as RLock's
        self.__enter__()
        return False

    def release(self) -> None:
        """Do nothing; this method is never called."""


def survives_fork(holder: Any, name: str = "lock") -> None:
    """Replace an object's lock in each child process that is forked while another thread holds it.

    Args:
        holder: An object that supports weak references.
        name: The attribute that contains its `RLock`.
    """
    _holders[ref(holder, lambda gone: _holders.pop(gone, None))] = name


def _in_child() -> None:
    for known, name in tuple(_holders.items()):
        holder = known()
        if holder is None:
            continue
        lock: RLock = getattr(holder, name)
        if isinstance(lock, _Lost):
            continue
        if lock.acquire(blocking=False):
            lock.release()
        else:
            setattr(holder, name, _Lost())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
