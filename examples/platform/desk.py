"""The one thread that talks to the Scheduler: what waits is done together, made durable by one sync, then answered.

Time passes for the Scheduler as it passes for the machine since its start, whatever the wall clock is set to meanwhile:
a clock that jumps ahead, and back, changes nothing. Only at the start the wall clock counts, if it is later than where
the journal ends.
"""

from __future__ import annotations

import queue
import time
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kueuepy import Scheduler
    from kueuepy.journal import Journal

_PATIENCE = 1.0  # seconds after which time passes for the Scheduler though nobody asks
_ENOUGH = 10_000  # calls after which a snapshot takes their place


class _Visit(NamedTuple):
    act: Callable[[Scheduler], Any]
    answer: Future[Any]


_WAKE = _Visit(lambda _: None, Future())  # in the line only to end the waiting for somebody to come


class Desk:
    """Serves calls in batches, each followed by the cycles that it makes possible.

    Of long calls there is one in a batch at most, so that the others wait for one of them and not for all. A call that
    nobody waits for any more when its turn comes is not made. When the journal cannot be written any more, calls that
    change something are refused, and the others go on.
    """

    def __init__(self, journal: Journal, scheduler: Scheduler) -> None:
        """Is closed at first."""
        self._journal, self._scheduler = journal, scheduler
        self._line: queue.SimpleQueue[_Visit] = queue.SimpleQueue()
        self._long: queue.SimpleQueue[_Visit] = queue.SimpleQueue()
        self._closed = Event()
        self._thread = Thread(target=self._serve, name="desk")

    @contextmanager
    def open(self) -> Iterator[None]:
        """Serves as long as it is open, and then those who are still in line."""
        self._ahead = max(time.time(), self._scheduler.now) - time.monotonic()
        self._thread.start()
        try:
            yield
        finally:
            self._closed.set()
            self._thread.join()

    def ask(self, act: Callable[[Scheduler], Any], *, long: bool = False) -> Future[Any]:
        """The answer of a call, once it is durable; others need not wait behind it if it is long."""
        visit = _Visit(act, Future())
        if long:
            self._long.put(visit)
        self._line.put(_WAKE if long else visit)
        return visit.answer

    def _serve(self) -> None:
        while not self._closed.is_set() or not (self._line.empty() and self._long.empty()):
            # Who has gone away by now is not served; who has not can no longer go.
            batch = [visit for visit in self._batch() if visit.answer.set_running_or_notify_cancel()]
            try:
                answers = self._served(batch)
            except Exception as error:  # noqa: BLE001 - whatever it is, those in line must hear of it
                answers = [(None, error)] * len(batch)
            for visit, (result, refusal) in zip(batch, answers, strict=True):
                if refusal is None:
                    visit.answer.set_result(result)
                else:
                    visit.answer.set_exception(refusal)

    def _batch(self) -> list[_Visit]:
        """All who wait, with one long call at most; after a while, nobody."""
        batch: list[_Visit] = []
        with suppress(queue.Empty):
            if self._long.empty():
                batch.append(self._line.get(timeout=_PATIENCE))
            while not self._line.empty():
                batch.append(self._line.get())
            batch.append(self._long.get_nowait())
        return [visit for visit in batch if visit is not _WAKE]

    def _served(self, batch: list[_Visit]) -> list[tuple[Any, Exception | None]]:
        """The answers to a batch, when all that it changed is durable."""
        writable = not self._journal.failure
        with self._journal.group() if writable else nullcontext():
            if writable:
                self._scheduler.advance(max(0.0, time.monotonic() + self._ahead - self._scheduler.now))
            answers = [_answer(self._scheduler, visit) for visit in batch]
            if writable:
                self._scheduler.settle()
        if writable and self._journal.calls > _ENOUGH:
            self._journal.compact()
        return answers


def _answer(scheduler: Scheduler, visit: _Visit) -> tuple[Any, Exception | None]:
    try:
        return visit.act(scheduler), None
    except Exception as error:  # noqa: BLE001 - it is the caller's
        return None, error
