"""The one thread that talks to the Scheduler: what waits is done together, made durable by one sync, then answered."""

from __future__ import annotations

import queue
import time
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
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


class Desk:
    """Serves calls in batches, each followed by the cycles that it makes possible.

    When the journal cannot be written any more, calls that change something are refused, and the others go on.
    """

    def __init__(self, journal: Journal, scheduler: Scheduler) -> None:
        """Is closed at first."""
        self._journal, self._scheduler = journal, scheduler
        self._line: queue.SimpleQueue[_Visit] = queue.SimpleQueue()
        self._closed = Event()
        self._thread = Thread(target=self._serve, name="desk")

    @contextmanager
    def open(self) -> Iterator[None]:
        """Serves as long as it is open, and then those who are still in line."""
        self._thread.start()
        try:
            yield
        finally:
            self._closed.set()
            self._thread.join()

    def ask(self, act: Callable[[Scheduler], Any]) -> Future[Any]:
        """The answer of a call, once it is durable."""
        answer: Future[Any] = Future()
        self._line.put(_Visit(act, answer))
        return answer

    def _serve(self) -> None:
        while not self._closed.is_set() or not self._line.empty():
            batch = self._batch()
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
        """All who wait; after a while, nobody."""
        try:
            batch = [self._line.get(timeout=_PATIENCE)]
        except queue.Empty:
            return []
        while not self._line.empty():
            batch.append(self._line.get())
        return batch

    def _served(self, batch: list[_Visit]) -> list[tuple[Any, Exception | None]]:
        """The answers to a batch, when all that it changed is durable."""
        writable = not self._journal.failure
        with self._journal.group() if writable else nullcontext():
            if writable:
                self._scheduler.advance(max(0.0, time.time() - self._scheduler.now))
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
