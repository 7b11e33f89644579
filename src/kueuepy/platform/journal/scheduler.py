"""A Scheduler that records each call in a Journal before the call returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy.errors.arguments import checked_methods
from kueuepy.scheduler import Scheduler, scheduler_with

if TYPE_CHECKING:
    from kueuepy.session.session import Log


@checked_methods
class JournaledScheduler(Scheduler):
    """A Scheduler whose calls are durable before they return; created by `Journal.scheduler`.

    Calls from several threads are executed and recorded one after another. A fork is an ordinary Scheduler that is not
    journaled. Changes made directly on `engine` are not recorded.

    The journal records the answers of functions that answer admission checks, but not the functions. Pass the functions
    to `answer_checks` again after each start.
    """

    @property
    def journal(self) -> Log:
        """The Journal that records the calls."""
        assert self._session.log is not None
        return self._session.log

    def fork(self) -> Scheduler:  # type: ignore[override]
        """Return an independent copy, an ordinary Scheduler that is not journaled."""
        with self._lock:
            return scheduler_with(Scheduler, self._state.fork())

    def __repr__(self) -> str:
        """Return the virtual time, the number of workloads, and the journal."""
        return f"{super().__repr__()[:-1]}, {self.journal!r}>"
