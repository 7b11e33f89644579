"""The saved state of a Scheduler as bytes, to compare Schedulers byte for byte."""

from __future__ import annotations

from kueuepy import Scheduler
from kueuepy.scheduler import scheduler_with
from kueuepy.session import saved
from kueuepy.session.session import session_of


def to_bytes(scheduler: Scheduler) -> bytes:
    """The bytes that `Scheduler.save` writes."""
    return saved.to_bytes(session_of(scheduler))


def from_bytes(data: bytes) -> Scheduler:
    """The Scheduler whose state the bytes are."""
    return scheduler_with(Scheduler, saved.from_bytes(data))
