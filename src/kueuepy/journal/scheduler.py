"""A Scheduler that writes down what it is told before it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy.errors.arguments import checked_methods
from kueuepy.scheduler import Scheduler

if TYPE_CHECKING:
    from kueuepy.session.session import Log


@checked_methods
class JournaledScheduler(Scheduler):
    """A Scheduler whose every call is durable before it returns; made by `Journal.scheduler`.

    Calls of several threads are done and written one after the other. A fork is an ordinary Scheduler, which is not
    journalled. What is told to `engine` directly is not written down. What functions answer of admission
    checks is; the functions themselves are given anew at each start, by `answer_checks`.
    """

    @property
    def journal(self) -> Log:
        """Where it writes."""
        assert self.session.log is not None
        return self.session.log

    def fork(self) -> Scheduler:  # type: ignore[override]
        """An ordinary Scheduler with the same state, at once."""
        with self.lock:
            return Scheduler.of_state(self.state.fork())

    def __repr__(self) -> str:
        """Its time, how many workloads there are, and where it writes."""
        return f"{super().__repr__()[:-1]}, {self.journal!r}>"
