"""Records made ready for decoding, by one thread at a time.

On its first use of a class, msgspec works out how to decode it, and puts the unfinished plan where other threads take
it for finished: they crash. Nobody may decode into a class that has not been made ready.
"""

from threading import Lock
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
_lock = Lock()
_ready: set[Any] = set()


def ready(cls: T) -> T:
    """The class, or type of several, which any thread may decode into from now on."""
    if cls not in _ready:
        with _lock:
            msgspec.json.Decoder(cls)
            _ready.add(cls)
    return cls
