"""A Scheduler that writes down what it is told before it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy.errors.arguments import checked_methods
from kueuepy.scheduler import Scheduler, scheduler_with

if TYPE_CHECKING:
    from kueuepy.session.session import Log


@checked_methods
class JournaledScheduler(Scheduler):
    """A Scheduler whose every call is durable before it returns; made by `Journal.scheduler`.

    Calls of several threads are done and written one after the other. A fork is an ordinary Scheduler, which is not
    journalled. The answers of functions to admission checks are written; pass the functions themselves again at each
    start, by `answer_checks`.
    """

    @property
    def journal(self) -> Log:
        """Where it writes."""
        assert self._session.log is not None
        return self._session.log

    def fork(self) -> Scheduler:  # type: ignore[override]
        """An ordinary Scheduler with the same state, at once."""
        with self._lock:
            return scheduler_with(Scheduler, self._state.fork())

    def __repr__(self) -> str:
        """Its time, how many workloads there are, and where it writes."""
        return f"{super().__repr__()[:-1]}, {self.journal!r}>"
