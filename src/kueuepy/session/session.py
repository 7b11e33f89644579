"""Session: a state that calls change, one after the other, and a log that hears of each."""

from __future__ import annotations

from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Protocol

from kueuepy.engine.locks import survives_fork
from kueuepy.errors import KueueError
from kueuepy.session.doing import do

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from kueuepy._core import Engine
    from kueuepy.engine.cycle import Cycle
    from kueuepy.session.calls import Call
    from kueuepy.session.state import SchedulerState


class Log(Protocol):
    """Where calls are written; a `Journal`."""

    lock: RLock

    def group(self) -> AbstractContextManager[None]:
        """Around calls that are written as one, or not at all."""

    def write(self, call: Call, state: SchedulerState, cycles: Sequence[Cycle]) -> None:
        """Writes a call that was done, the state that it led to, and the cycles that it came to."""

    def give_up(self, why: str) -> None:
        """Takes no more calls."""


class _HasSession(Protocol):
    _session: Session


def session_of(scheduler: _HasSession) -> Session:
    """Return the session of a Scheduler, which its users do not see."""
    return scheduler._session  # noqa: SLF001 - the one door between a Scheduler and the rooms that build on it


class Session:
    """A state and the calls that change it, which are serialised by a lock.

    Attributes:
        state: What the calls change.
        lock: Is held by each call; whoever holds it finds nothing changed between two calls.
        log: Hears of each call, unless there is none.
    """

    def __init__(self, state: SchedulerState, log: Log | None = None) -> None:
        """Goes on from this state."""
        self.state = state
        self.log = log
        self.lock = RLock() if log is None else log.lock  # one for both: there is no order to take two in
        survives_fork(self)
        self._is_changing = False
        self._has_begun = False
        self._harmless: BaseException | None = None

    @property
    def engine(self) -> Engine:
        """The engine of the state."""
        return self.state.engine

    @contextmanager
    def change(self) -> Iterator[None]:
        """Around all calls of one change: no other thread's come between, and the log has all of them or none.

        What is asked for is checked first, and then done: an error, but for those of this project, that comes after
        something was done leaves something half done, and the log takes no more.
        """
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

    def do(self, call: Call) -> Sequence[Cycle]:
        """Does a call that was found to be right, and writes it down; within `change`.

        Returns:
            The cycles that it came to.
        """
        self._has_begun = True
        cycles = do(self.state, call)
        if self.log is not None:
            self.log.write(call, self.state, cycles)
        return cycles

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Around a question to a function of the user's: its error comes between two calls, and harms none."""
        try:
            yield
        except BaseException as error:
            self._harmless = error
            raise
