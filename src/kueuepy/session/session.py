"""Session: a state, the calls that change it, and a log that records each call."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from threading import Lock as Mutex
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol

from kueuepy.engine.cached import cached_property
from kueuepy.engine.locks import survives_fork
from kueuepy.errors import StateError
from kueuepy.session.calls import Submit
from kueuepy.session.store import commit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from kueuepy._core import Engine, Question
    from kueuepy.engine.cycle import Cycle
    from kueuepy.session.calls import Call
    from kueuepy.session.state import SchedulerState


class Log(Protocol):
    """A log that records calls, such as a `Journal`."""

    lock: RLock

    def group(self) -> AbstractContextManager[None]:
        """Return a context manager whose calls are written together."""

    def mark(self) -> Any:
        """Return a mark of what is written."""

    def go_back(self, mark: Any) -> None:
        """Discard what was written after a mark; `None` is the mark of a change that has written nothing."""

    def write(self, call: Call, state: SchedulerState, cycles: Sequence[Cycle]) -> None:
        """Record an executed call, with the resulting state and the cycles that it ran."""


class _HasSession(Protocol):
    _session: Session


def session_of(scheduler: _HasSession) -> Session:
    """Return the session of a Scheduler, which is not part of its public interface."""
    return scheduler._session  # noqa: SLF001 - the one door between a Scheduler and the rooms that build on it


class Session:
    """A state and the calls that change it, serialised by a lock.

    Attributes:
        state: The state.
        log: The log that records each call; `None` if there is no log.
    """

    __slots__ = ("__dict__", "__weakref__", "state")  # A slot is faster to read; every question reads `state`.

    def __init__(self, state: SchedulerState, log: Log | None = None) -> None:
        """Create a session that continues from a state."""
        self.state = state
        self.log = log

    @cached_property
    def lock(self) -> RLock:
        """The lock that every call acquires.

        While you hold the lock, no other thread can change the state between two calls. A lock is created on first use,
        because many forks are never used. With a log, both use one lock, so that they cannot deadlock.
        """
        survives_fork(self)
        return RLock() if self.log is None else self.log.lock

    @property
    def engine(self) -> Engine:
        """The engine of the state."""
        return self.state.engine

    @cached_property
    def asking(self) -> Mutex:
        """The lock to hold during the call of a user's function, which may read the state, but not change it."""
        return Mutex()

    def change(self, *, several: bool = False) -> AbstractContextManager[object]:
        """Return a context manager that executes the calls of one change atomically.

        While the change is executed, no other thread can execute calls. A call is atomic by itself, unless it runs
        several cycles. For a change of several calls, and for every recorded change, a fork from before the change
        replaces the state after any exception. The first change after a fork is expensive, so a single call, which is
        the most frequent change, does without.

        Args:
            several: Whether the change can consist of several calls, or a call that runs several cycles.
        """
        return self._whole() if several or self.log is not None else self.lock

    @contextmanager
    def _whole(self) -> Iterator[None]:
        log = self.log
        with self.lock, nullcontext() if log is None else log.group():
            before, mark = self.state.fork(), None
            try:
                mark = None if log is None else log.mark()
                yield
            except BaseException:
                self.state = before
                if log is not None:
                    log.go_back(mark)
                raise

    def do(self, call: Call, prepared: Question | None = None) -> Sequence[Cycle]:
        """Execute and record a validated call. Call `do` only inside `change`.

        Args:
            call: The call.
            prepared: The workload of a `Submit`, if the core has already read it. Default: none.

        Returns:
            The cycles that the call ran.

        Raises:
            StateError: A function that this Scheduler called tries to change it.
        """
        self.expect_idle()
        state = self.state
        cycles: Sequence[Cycle] = ()
        if prepared is None:
            cycles = call.do(state)
        else:
            assert isinstance(call, Submit)
            commit(call.steps(state, prepared))
        if self.log is not None:
            self.log.write(call, state, cycles)
        return cycles

    def expect_idle(self) -> None:
        """Check that no function of the user that must not change the state is being called.

        Raises:
            StateError: Such a function is being called.
        """
        if "asking" in self.__dict__ and self.asking.locked():
            raise StateError("this Scheduler is in use by a function that it called; the function may only read it")
