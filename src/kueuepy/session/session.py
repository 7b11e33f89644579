"""Session: a state, the calls that change it, and a log that records each call."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import chain, repeat
from threading import RLock
from typing import Any, Protocol, TypeAlias

from kueuepy._core import Engine
from kueuepy.engine.cached import cached_property
from kueuepy.engine.cycle import Cycle
from kueuepy.engine.locks import Asking, survives_fork
from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.session.calls import Advance, Call
from kueuepy.session.state import SchedulerState
from kueuepy.session.store import Step, commit, executed

Done: TypeAlias = tuple[Call, list[Any]]
"""An executed call, and the results of its steps: last the virtual time and the numbers of cycles after the call."""


# The resolution of the clock in nanoseconds: the parts of one call rarely have different times.
_TICK = 10**6


class Log(Protocol):
    """A log that records calls, such as a `Journal`.

    Attributes:
        lock: The lock of the log and of its session.
        done: The executed calls that are not written yet.
    """

    lock: RLock
    done: list[Done]

    def group(self) -> AbstractContextManager[None]:
        """Return a context manager that holds the lock, and at its end writes the executed calls together."""


class _HasSession(Protocol):
    _session: "Session"


def session_of(scheduler: _HasSession) -> "Session":
    """Return the session of a Scheduler, which is not part of its public interface."""
    return scheduler._session  # noqa: SLF001 - the one door between a Scheduler and the rooms that build on it


class Session:
    """A state and the calls that change it, serialised by a lock.

    Attributes:
        state: The state.
        log: The log that records each call; `None` if there is no log.
        listeners: Functions that are called after each change, or after the log has stored it.
    """

    __slots__ = ("__dict__", "__weakref__", "state")  # A slot is faster to read; every question reads `state`.

    def __init__(self, state: SchedulerState, log: Log | None = None) -> None:
        """Create a session that continues from a state."""
        self.state = state
        self.log = log
        self._clock: Callable[[], int] | None = None
        self.listeners: tuple[Callable[[], object], ...] = ()

    def follow(self, clock: str | None) -> None:
        """Let each call that changes the state begin with the current time; `None` leaves the time to `advance`.

        The monotonic clock measures the time, so that changes of the wall clock have no effect.

        Raises:
            InvalidSpecError: There is no such clock.
        """
        if clock not in ("system", None):
            raise InvalidSpecError(f'clock: is {clock!r:.99}; it must be "system", or None for virtual time')
        ahead = max(time.time_ns(), self.engine.now) - time.monotonic_ns()
        self._clock = (lambda: (time.monotonic_ns() + ahead) // _TICK * _TICK) if clock else None
        if self._clock and self.log is None:
            self.engine.set_now(max(self.engine.now, self._clock()))

    @cached_property
    def lock(self) -> RLock:
        """The lock that every call acquires.

        While you hold the lock, no other thread can change the state between two calls. A lock is created on first use,
        because many forks are never used. With a log, both use one lock, so that they cannot deadlock.
        """
        survives_fork(self)
        return RLock() if self.log is None else self.log.lock

    @property
    def is_timed(self) -> bool:
        """Whether calls begin with the time of a clock."""
        return self._clock is not None

    @property
    def engine(self) -> Engine:
        """The engine of the state."""
        return self.state.engine

    @cached_property
    def asking(self) -> Asking:
        """Whether a function of the user is being called, which may read the state, but not change it."""
        return Asking()

    def change(self, *, several: bool = False) -> AbstractContextManager[object]:
        """Return a context manager for one change, during which no other thread can execute calls.

        One execution of `do` is atomic by itself. For a change of several executions, or a call that runs several
        cycles, a fork from before the change replaces the state after any exception. The first change after a fork is
        expensive, and cycles nominate on one thread while forks share pages, so other changes do without.

        Args:
            several: Whether the change can consist of several executions of `do`, or a call that runs several cycles.
        """
        if several:
            return self._whole()
        context = self.lock if self.log is None else self.log.group()
        return self._around(context) if self._clock or self.listeners else context

    @contextmanager
    def _around(self, context: AbstractContextManager[object]) -> Iterator[None]:
        """Begin a change with the time of the clock, and call the listeners at the end of the outermost change."""
        with context:
            if self._clock is not None and (now := self._clock()) > self.engine.now:
                self.do(Advance(now))
            yield
        if self.log is None and not self.lock._is_owned():  # type: ignore[attr-defined]  # noqa: SLF001
            for listener in self.listeners:
                listener()

    @contextmanager
    def _whole(self) -> Iterator[None]:
        with self.change():
            before, done = self.state.fork(), [] if self.log is None else self.log.done
            undo = (partial(setattr, self, "state", before), partial(done.__delitem__, slice(len(done), None)))
            try:
                yield
            except BaseException:
                commit(undo)
                raise

    def do(self, *calls: Call) -> Sequence[Cycle]:
        """Execute validated calls, and record them. Call `do` only inside `change`.

        Args:
            calls: The calls; of several, only the first may raise an exception.

        Returns:
            The cycles that the last call ran.

        Raises:
            StateError: A function that this Scheduler called tries to change it.
        """
        return self.execute([((call,), call.steps(self.state)) for call in calls])

    def execute(self, groups: Sequence[tuple[Sequence[Call], Sequence[Step]]]) -> Sequence[Cycle]:
        """Execute calls as `do` does, given the steps of each group of calls, which have the same results."""
        self.expect_idle()
        if not groups:
            return ()
        engine, done = self.engine, [] if self.log is None else self.log.done
        ended = (partial(getattr, engine, "now"), partial(engine.cycle_counts))
        results = map(repeat, map(list, [executed((*steps, *ended)) for _, steps in groups]))
        # This line executes all steps and records their results, with no line of Python between them; see `commit`.
        done.extend(chain.from_iterable(map(zip, [calls for calls, _ in groups], results)))
        return groups[-1][0][-1].cycles_of(done[-1][1])

    def expect_idle(self) -> None:
        """Check that no function of the user that must not change the state is being called.

        Raises:
            StateError: Such a function is being called.
        """
        if "asking" in self.__dict__ and self.asking.is_open():
            raise StateError("this Scheduler is in use by a function that it called; the function may only read it")
