"""A Scheduler that writes down what it is told before it answers."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import msgspec

from kueuepy.decisions import Admitted, Preempting
from kueuepy.errors import KueueError, NotFoundError
from kueuepy.errors.arguments import checked_methods
from kueuepy.objects import Object, Workload
from kueuepy.scheduler import Scheduler
from kueuepy.session import calls

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from threading import RLock

    from kueuepy.engine.cycle import Cycle, Settled
    from kueuepy.journal.file import DecisionRow
    from kueuepy.session.checks import CheckAnswer
    from kueuepy.session.submission import Submitted

_json = msgspec.json.Encoder(order="deterministic")


class Log(Protocol):
    """Where calls are written; a `Journal`."""

    lock: RLock

    def group(self) -> AbstractContextManager[None]:
        """Calls that are made durable together."""

    def write(self, call: calls.Call, at: int, decisions: list[DecisionRow]) -> None:
        """Writes a call that was done, and what it came to."""

    def give_up(self, why: str) -> None:
        """Takes no more calls."""

    def compact(self) -> None:
        """Puts a snapshot in the place of all calls so far."""


@checked_methods
class JournaledScheduler(Scheduler):
    """A Scheduler whose every call is durable before it returns; made by `Journal.scheduler`.

    Calls of several threads are done and written one after the other. A fork is an ordinary Scheduler, which is not
    journalled. What is told to `engine` directly is not written down. What functions answer of admission
    checks is; the functions themselves are given anew at each start, by `answer_checks`.
    """

    _journal: Log | None = None
    _redone: list[DecisionRow]
    _one_by_one = False
    _busy = False
    _touched = False
    _unanswered: BaseException | None = None

    def begin(self, journal: Log | None) -> None:
        """Writes to this journal from now on; to none while calls are done again."""
        self._journal = journal
        if journal is not None:
            self.lock = journal.lock  # one for both: there is no order to take two in
        self._redone = []

    @property
    def journal(self) -> Log:
        """Where it writes."""
        assert self._journal is not None
        return self._journal

    def fork(self) -> Scheduler:  # type: ignore[override]
        """An ordinary Scheduler with the same state, at once."""
        with self.lock:
            return Scheduler.of_parts(self.parts).fork()

    def redone(self) -> list[DecisionRow]:
        """What the calls that were done again since the last time came to."""
        rows, self._redone = self._redone, []
        return rows

    def resubmit(self, one: Submitted, count: int) -> None:
        """Submits a workload with the number that it had."""
        self._count = count
        self.take(one)

    def reapply(self, obj: Object) -> None:
        """Applies an object that has passed all checks."""
        if isinstance(obj, Workload):
            self._apply_workload(obj)
        else:
            self._apply(obj)

    def declared(self, cls: type[Object], key: str) -> Object:
        """The object of this kind and name.

        Raises:
            NotFoundError: There is none.
        """
        found = self._store.objects.get((cls, key))
        if found is None:
            raise NotFoundError(f'{cls.__name__} "{key}": there is no such object')
        return found

    # What is told, and written.

    def settle(self, *, max_cycles: int | None = None) -> Settled:
        """As `Scheduler.settle`; the decisions are durable when it returns."""
        with self.lock, self._telling():
            # What checks answer comes between cycles, and must be done again there.
            self._one_by_one = bool(self._checks)
            try:
                settled = super().settle(max_cycles=max_cycles)
                if not self._one_by_one:
                    self._tell(calls.Settle(max_cycles), settled)
            finally:
                self._one_by_one = False
            return settled

    def __repr__(self) -> str:
        """Its time, how many workloads there are, and where it writes."""
        return f"{super().__repr__()[:-1]}, {self._journal!r}>"

    # Inside.

    def _noted(self, cycle: Cycle) -> Cycle:
        noted = super()._noted(cycle)
        if self._one_by_one:
            self._tell(calls.Cycle(), [noted])
        return noted

    def _controlled(self) -> None:
        self._tell(calls.Controllers())

    def _answers(self) -> list[tuple[int, str, CheckAnswer]]:
        try:
            return super()._answers()
        except BaseException as error:
            self._controlled()  # they ran before the question
            self._unanswered = error
            raise

    def _apply(self, obj: Object) -> None:
        super()._apply(obj)
        self._tell(calls.Apply.of(obj))

    def _apply_workload(self, obj: Workload) -> None:
        is_new = self._store.workloads.get(obj.key) is None
        super()._apply_workload(obj)
        if not is_new:
            self._tell(calls.Apply.of(obj))

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Around all that changes something: written when it ends, even if it ends half-way by an error."""
        if self._journal is None:
            yield
            return
        with self._journal.group():
            if self._busy:  # with a call that this one is a part of
                yield
                return
            self._busy, self._touched = True, False
            try:
                yield
            except KueueError:
                raise
            except BaseException as error:
                # That of a check's function leaves nothing half done.
                if self._touched and error is not self._unanswered:
                    self._journal.give_up(f"a call was interrupted: {error!r}")
                raise
            finally:
                self._busy, self._unanswered = False, None

    def _touch(self) -> None:
        self._touched = True

    def _tell(self, call: calls.Call, cycles: Sequence[Cycle] = ()) -> None:
        rows = _rows(cycles, sum(self._engine.cycle_counts()))
        if self._journal is None:
            self._redone += rows
        else:
            self._journal.write(call, self._engine.now, rows)


def _rows(cycles: Sequence[Cycle], number: int) -> list[DecisionRow]:
    """The decisions of these cycles, the last of which has this number."""
    rows: list[DecisionRow] = []
    busy = [cycle for cycle in cycles if not cycle.idle]
    for at, cycle in enumerate(busy, number - len(busy) + 1):
        for decision in cycle:
            flavors = targets = reason = ""
            if isinstance(decision, Admitted):
                flavors = _json.encode(decision.flavors).decode()
            else:
                reason = decision.reason
                if isinstance(decision, Preempting):
                    targets = _json.encode([target.workload for target in decision.targets]).decode()
            verdict = type(decision).__name__
            rows.append((at, verdict, decision.workload, decision.cluster_queue, reason, flavors, targets))
    return rows
