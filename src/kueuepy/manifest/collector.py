"""Suspension of Python's garbage collector, which would otherwise repeatedly traverse all objects."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at_rest() -> Iterator[None]:
    """Disable the garbage collector in a `with` block, and enable it again if it was enabled."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
