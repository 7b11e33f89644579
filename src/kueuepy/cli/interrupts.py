"""Commands that run until they are interrupted."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def until_interrupted(stop: Callable[[], None]) -> Iterator[None]:
    """Call a function when the process is interrupted or asked to terminate, as long as the context lasts."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {one: signal.signal(one, lambda *_: stop()) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in handlers.items():
            signal.signal(one, handler)
