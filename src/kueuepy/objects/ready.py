"""Records made ready for decoding, by one thread at a time.

On its first use of a class, msgspec works out how to decode it, and puts the unfinished plan where other threads take
it for finished: they crash. Nobody may decode into a class that has not been made ready.
"""

import os
from threading import Lock
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
_lock = Lock()
_ready: set[Any] = set()


def _renew_lock() -> None:
    """Another thread may have had it when this process was forked; what it protects is made again or was ready."""
    global _lock  # noqa: PLW0603
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def ready(cls: T) -> T:
    """The class, or type of several, which any thread may decode into from now on."""
    if cls not in _ready:
        with _lock:
            msgspec.json.Decoder(cls)
            _ready.add(cls)
    return cls
