"""The only thread that uses the Scheduler: it processes waiting calls in batches and makes each batch durable.

The time of the Scheduler is that of the system: `clock="system"`.
"""

from __future__ import annotations

import queue
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kueuepy import Scheduler
    from kueuepy.platform.journal import Journal

_PATIENCE = 1.0  # seconds after which the Scheduler's time advances without a call
_ENOUGH = 10_000  # calls after which the journal is compacted


class _Visit(NamedTuple):
    act: Callable[[Scheduler], Any]
    answer: Future[Any]


_WAKE = _Visit(lambda _: None, Future())  # wakes the thread for a call in the other queue


class Desk:
    """Processes calls in batches, and runs the cycles that each batch makes possible.

    A batch contains at most one long call, so that short calls wait for only one of them. Calls that were cancelled
    before their batch are skipped. If the journal cannot be written, calls that change the state are rejected, and
    other calls still work.
    """

    def __init__(self, journal: Journal, scheduler: Scheduler) -> None:
        """Create a desk, which is closed until `open`."""
        self._journal, self._scheduler = journal, scheduler
        self._line: queue.SimpleQueue[_Visit] = queue.SimpleQueue()
        self._long: queue.SimpleQueue[_Visit] = queue.SimpleQueue()
        self._closed = Event()
        self._thread = Thread(target=self._serve, name="desk")

    @contextmanager
    def open(self) -> Iterator[None]:
        """Process calls during the `with` block; on exit, process the remaining calls and stop."""
        self._thread.start()
        try:
            yield
        finally:
            self._closed.set()
            self._thread.join()

    def ask(self, act: Callable[[Scheduler], Any], *, long: bool = False) -> Future[Any]:
        """Return the future result of a call, which is set once the call is durable; `long` marks a long call."""
        visit = _Visit(act, Future())
        if long:
            self._long.put(visit)
        self._line.put(_WAKE if long else visit)
        return visit.answer

    def _serve(self) -> None:
        while not self._closed.is_set() or not (self._line.empty() and self._long.empty()):
            # Skip cancelled calls; calls of this batch can no longer be cancelled.
            batch = [visit for visit in self._batch() if visit.answer.set_running_or_notify_cancel()]
            try:
                answers = self._served(batch)
            except Exception as error:  # noqa: BLE001 - every caller must get an answer
                answers = [(None, error)] * len(batch)
            for visit, (result, refusal) in zip(batch, answers, strict=True):
                if refusal is None:
                    visit.answer.set_result(result)
                else:
                    visit.answer.set_exception(refusal)

    def _batch(self) -> list[_Visit]:
        """Return all waiting short calls and at most one long call; return no call after the timeout."""
        batch: list[_Visit] = []
        with suppress(queue.Empty):
            if self._long.empty():
                batch.append(self._line.get(timeout=_PATIENCE))
            while not self._line.empty():
                batch.append(self._line.get())
            batch.append(self._long.get_nowait())
        return [visit for visit in batch if visit is not _WAKE]

    def _served(self, batch: list[_Visit]) -> list[tuple[Any, Exception | None]]:
        """Return the results of a batch once its changes are durable."""
        writable = not self._journal.failure
        with self._journal.group() if writable else nullcontext():
            answers = [_answer(self._scheduler, visit) for visit in batch]
            if writable:
                self._scheduler.settle()
        if writable and self._journal.calls > _ENOUGH:
            self._journal.compact()
        return answers


def _answer(scheduler: Scheduler, visit: _Visit) -> tuple[Any, Exception | None]:
    try:
        return visit.act(scheduler), None
    except Exception as error:  # noqa: BLE001 - passed on to the caller
        return None, error
