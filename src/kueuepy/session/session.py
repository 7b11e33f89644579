"""Session: a state, the calls that change it, and a log that records each call."""

from __future__ import annotations

from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Protocol

from kueuepy.engine.cached import cached_property
from kueuepy.engine.locks import survives_fork
from kueuepy.errors import KueueError
from kueuepy.session.calls import Submit

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
        """Return a context manager whose calls are written atomically."""

    def write(self, call: Call, state: SchedulerState, cycles: Sequence[Cycle]) -> None:
        """Record an executed call, with the resulting state and the cycles that it ran."""

    def give_up(self, why: str) -> None:
        """Reject all further calls."""


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

    _is_changing = False
    _has_begun = False
    _harmless: BaseException | None = None

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

    def change(self) -> AbstractContextManager[object]:
        """Return a context manager that executes the calls of one change atomically.

        While the change is executed, no other thread can execute calls; the log records all calls of the change or
        none.

        Arguments are validated before the first call is executed. If an exception other than a KueueError is raised
        after the first call, the change can be incomplete, and the log accepts no further calls.
        """
        return self.lock if self.log is None else self._recorded_change()

    @contextmanager
    def _recorded_change(self) -> Iterator[None]:
        with self.lock:
            if self.log is None or self._is_changing:
                yield
                return
            with self.log.group():
                self._is_changing, self._has_begun = True, False
                try:
                    yield
                except KueueError:
                    raise
                except BaseException as error:
                    if self._has_begun and error is not self._harmless:
                        self.log.give_up(f"a call was interrupted: {error!r}")
                    raise
                finally:
                    self._is_changing, self._harmless = False, None

    def do(self, call: Call, prepared: Question | None = None) -> Sequence[Cycle]:
        """Execute and record a validated call. Call `do` only inside `change`.

        Args:
            call: The call.
            prepared: The workload of a `Submit`, if the core has already read it. Default: none.

        Returns:
            The cycles that the call ran.
        """
        self._has_begun = True
        cycles = call.do(self.state, prepared) if isinstance(call, Submit) else call.do(self.state)
        if self.log is not None:
            self.log.write(call, self.state, cycles)
        return cycles

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Wrap the call of a user's function that runs between two calls of the session.

        If the function raises an exception, the state remains consistent.
        """
        try:
            yield
        except BaseException as error:
            self._harmless = error
            raise
