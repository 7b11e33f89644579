"""Two Schedulers with the same history, one of which is saved, killed and recovered; their states must stay equal."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from fuzz import disk
from fuzz.calls import Call, answering, chosen_at, next_call
from fuzz.objects import cluster
from fuzz.questions import ask
from kueuepy.errors import StateError
from kueuepy.platform.journal import Journal
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import session_of
from saved import from_bytes, to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

    from kueuepy.platform.journal.journal import JournaledScheduler


class World:
    """Two Schedulers with the same history, one with a Journal and its twin without, and a fork that does not change.

    After each step, the engine's invariants are checked, and both Schedulers must have the same fingerprint. After each
    recovery or question, and after every tenth step, their saved states must be identical. These checks verify that
    acknowledged calls survive a killed process, that loaded states and forks behave like their originals, and that
    questions and rejected calls change nothing.
    """

    def __init__(self, seed: int, number: int, folder: Path) -> None:
        """Create both Schedulers from a random cluster."""
        chosen = chosen_at(seed, -1 - number)
        self._seed, self._folder, self._files = seed, folder, 0
        self._checks = answering() if chosen.random() < _HALF else {}
        self._twin = Scheduler(cluster(chosen), now=0, checks=self._checks)
        self._journal = Journal(self._fresh(), durability="process")
        self._scheduler = self._opened(self._twin.fork())
        self._aside: tuple[Scheduler, bytes] | None = None

    def step(self, number: int) -> str:
        """Execute a step, and return a description of it.

        Raises:
            AssertionError: A check fails.
        """
        chosen = chosen_at(self._seed, number)
        move = chosen.choices(_MOVES, _WEIGHTS)[0]
        told = move(self, chosen, number)
        self._hold(to_the_byte=move is not World._call or number % _NOW_AND_THEN == 0)
        return told

    def close(self) -> None:
        """Check that the fork has not changed, and close the Journal."""
        self._release()
        self._journal.close()

    # Steps.

    def _call(self, chosen: Random, number: int) -> str:
        call = next_call(self._twin, chosen, number)
        outcome = call.on(self._twin)
        told = call.on(self._scheduler)
        assert told == outcome, f"{call}: with a journal it comes to {told}, without to {outcome}"
        return str(call)

    def _question(self, chosen: Random, number: int) -> str:
        return ask(self._twin, chosen, number)

    def _load(self, _chosen: Random, _number: int) -> str:
        self._twin = from_bytes(to_bytes(self._twin))
        self._twin.answer_checks(self._checks)
        return "the twin is saved, and loaded again"

    def _fork(self, chosen: Random, _number: int) -> str:
        self._release()
        before = to_bytes(self._twin)
        still = self._twin.fork()
        if chosen.random() < _HALF:
            self._twin, still = still, self._twin
        self._aside = still, before
        return "the twin is forked, and one of the two stands still"

    def _reopen(self, _chosen: Random, _number: int) -> str:
        self._journal.close()
        self._recover(self._journal.path)
        return "the journal is closed, and opened again"

    def _compact(self, _chosen: Random, _number: int) -> str:
        self._journal.compact()
        return "the journal is compacted"

    def _backup(self, _chosen: Random, _number: int) -> str:
        path = self._fresh()
        self._journal.backup(path)
        self._journal.close()
        self._recover(path)
        return "the journal goes on from a backup"

    def _full_disk(self, chosen: Random, number: int) -> str:
        call, limit = next_call(self._twin, chosen, number), _limit(chosen)
        with disk.full(limit):
            outcome = call.on(self._scheduler)
            is_acknowledged = not self._journal.failure
            if is_acknowledged and chosen.random() < _HALF:
                with suppress(StateError):
                    self._journal.compact()
        if is_acknowledged:
            assert outcome == call.on(self._twin), f"{call}: comes to {outcome} on a full disk"
        failure = self._journal.failure
        if failure:
            self._journal.close()
            self._recover(self._journal.path, underway=None if is_acknowledged else call)
        return f"{call}; no file may grow beyond {limit} bytes: {failure or 'it is done'}"

    def _kill(self, chosen: Random, number: int) -> str:
        call, limit, path = next_call(self._twin, chosen, number), _limit(chosen), self._fresh()
        early = chosen.random() < _SELDOM

        def act(limit_files: Callable[[], None]) -> None:
            disk.copy(self._journal.path, path)
            if early:
                limit_files()
            journal = Journal(path, durability="process")
            scheduler = journal.scheduler()
            scheduler.answer_checks(self._checks)
            limit_files()
            call.on(scheduler)
            journal.compact()

        killed = disk.killed(act, limit)
        self._journal.close()
        self._recover(path, underway=call)
        return f"{call}; a process that does it is killed {'by a write' if killed else 'after that'}, limit {limit}"

    # Checks.

    def _hold(self, *, to_the_byte: bool) -> None:
        for scheduler in (self._twin, self._scheduler):
            problems = session_of(scheduler).engine.check()
            assert not problems, f"the engine is unsound: {problems}"
        ahead, twin = self._scheduler, self._twin
        assert session_of(ahead).engine.fingerprint() == session_of(twin).engine.fingerprint(), (
            "with a journal it would decide otherwise"
        )
        if to_the_byte:
            assert to_bytes(ahead) == to_bytes(twin), "the state with a journal is not that without"

    def _release(self) -> None:
        if self._aside is not None:
            still, before = self._aside
            assert to_bytes(still) == before, "a fork has changed with its original"
            self._aside = None

    def _recover(self, path: Path, *, underway: Call | None = None) -> None:
        """Continue with another journal. The call that was interrupted may or may not have been executed."""
        before = self._journal.path
        self._journal = Journal(path, durability="process")
        self._scheduler = self._opened()
        if before != path:
            disk.remove(before)
        if to_bytes(self._scheduler) == to_bytes(self._twin):
            return
        assert underway is not None, "something acknowledged is lost, or made up"
        underway.on(self._twin)
        assert to_bytes(self._scheduler) == to_bytes(self._twin), "something acknowledged is lost, or made up"

    def _opened(self, start: Scheduler | None = None) -> JournaledScheduler:
        scheduler = self._journal.scheduler(start)
        scheduler.answer_checks(self._checks)
        return scheduler

    def _fresh(self) -> Path:
        self._files += 1
        return self._folder / f"{self._files}.db"


def _limit(chosen: Random) -> int:
    return int(2 ** chosen.uniform(9, 18))


_HALF, _SELDOM = 0.5, 0.2
_NOW_AND_THEN = 10
_ALL = {
    World._call: 700,
    World._question: 100,
    World._load: 30,
    World._fork: 60,
    World._reopen: 8,
    World._compact: 8,
    World._backup: 4,
    World._full_disk: 10,
    World._kill: 5,
}
_MOVES, _WEIGHTS = list(_ALL), list(_ALL.values())
