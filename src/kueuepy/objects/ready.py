"""Thread-safe preparation of classes for decoding.

When msgspec decodes a class for the first time, it builds a decoding plan. msgspec publishes the plan before it is
complete, and another thread that uses the incomplete plan can crash. Call `ready` with a class before you decode its
objects.
"""

import os
from threading import Lock
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
_lock = Lock()
_ready: set[Any] = set()


def _renew_lock() -> None:
    """Replace the lock in a forked child process, because another thread may have held the lock during the fork."""
    global _lock  # noqa: PLW0603
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def ready(cls: T) -> T:
    """Prepare a class for decoding by any thread.

    Args:
        cls: A class, or a type composed of classes.

    Returns:
        The class `cls`, unchanged.
    """
    if cls not in _ready:
        with _lock:
            msgspec.json.Decoder(cls)
            _ready.add(cls)
    return cls
