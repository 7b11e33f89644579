"""Journal: a file that a Scheduler comes back from, to exactly what it acknowledged."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from threading import Lock as Mutex
from threading import RLock
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from kueuepy.engine.locks import survives_fork
from kueuepy.errors import InvalidSpecError, StateError, UnsupportedError
from kueuepy.errors.arguments import checked_methods
from kueuepy.errors.words import counted
from kueuepy.journal import file, reading
from kueuepy.journal.declared import reconcile
from kueuepy.journal.lock import Guard, Lock, resolved
from kueuepy.journal.rows import decision_rows
from kueuepy.journal.scheduler import JournaledScheduler
from kueuepy.persist import to_bytes
from kueuepy.scheduler import Scheduler
from kueuepy.session import saved
from kueuepy.session.calls import decode, encode
from kueuepy.session.doing import do

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    from typing_extensions import Self

    from kueuepy.cluster import Cluster
    from kueuepy.engine.cycle import Cycle
    from kueuepy.journal.declared import OnChange
    from kueuepy.journal.file import DecisionRow, Durability
    from kueuepy.objects.times import Moment
    from kueuepy.session.calls import Call
    from kueuepy.session.state import SchedulerState

_TRIES = 5


@checked_methods
class Journal:
    """An SQLite file with a snapshot and every call since, each durable before its caller hears of it.

    One process writes it at a time; anybody may read it with any SQLite client, even meanwhile. When the process is
    killed, the next `scheduler()` does the calls after the snapshot again, and holds each decision against the one that
    is written::

        with Journal("admission.db") as journal:
            scheduler = journal.scheduler(cluster)  # the cluster only counts if the file is new
            scheduler.submit(workload)              # durable
            with journal.group():                   # nothing in here is acknowledged before the end: one sync for all
                scheduler.submit(*workloads)
                scheduler.cycle()

    Attributes:
        path: The file, without symbolic links.
        durability: What is survived: `"process"` the death of the process, `"power"` that of the machine, too.
        lock: Is held by each call on the Journal or its Scheduler, and through a group.
    """

    def __init__(self, path: str | os.PathLike[str], *, durability: Durability = "power") -> None:
        """Takes the file for this process.

        Args:
            path: The file; it need not be there. Beside it come `-wal` and `-shm`, which belong to it, and `-lock`.
            durability: Whether each commit waits until the disk has it.

        Raises:
            InvalidSpecError: The file is something else, or there is no such durability.
            UnsupportedError: It is of a later version.
            StateError: Another Journal holds it, or this process may not read and write it and its directory.
        """
        if durability not in ("power", "process"):
            raise InvalidSpecError(f'durability: is "{durability}"; it must be "power" or "process"')
        self.path = resolved(path)
        self.durability = durability
        self._held: Lock | None = Lock(self.path)
        try:
            if self.path.exists():
                reading.check(self.path)
        except BaseException:
            self._held.release(remove=self._held.is_new)
            raise
        self._guard: Guard | None = None
        self._token = ""
        self._process = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._scheduler: JournaledScheduler | None = None
        self._failure = ""
        self._depth = 0
        self.lock = RLock()
        survives_fork(self)
        self._copying = Mutex()
        self._number = self._decision = self._checksum = self._snapshot = 0

    def scheduler(
        self,
        cluster: Cluster | Scheduler | None = None,
        *,
        now: Moment | None = None,
        on_change: OnChange = "error",
    ) -> JournaledScheduler:
        """The Scheduler as it was when the last call returned; a new one if the file is new.

        Args:
            cluster: What a new one starts from: a cluster, or a Scheduler as it is, such as one that was imported. If
                the file is not new, the declared objects of the cluster are compared with those of the file;
                Workloads and jobs of the cluster do not count then.
            now: The time at the start of a new one from a cluster.
            on_change: What happens if these objects differ: `error` raises a StateError that names them, `apply`
                creates, changes and removes objects until the file has those of the cluster, and `keep` goes on with
                those of the file.

        Raises:
            StateError: The file is new and no cluster is given, this release decides otherwise than is written, or the
                cluster differs from the file.
            InvalidSpecError: The file is damaged; it is left as it is.
            UnsupportedError: A later version has written it.
        """
        with self.lock:
            self._check()
            if self._scheduler is None:
                if not self.path.exists():
                    if cluster is None:
                        raise StateError(f"{self.path}: is new; give the Cluster to start from")
                    fresh = cluster if isinstance(cluster, Scheduler) else Scheduler(cluster, now=now)
                    assert self._held is not None
                    file.create(self.path, fresh.engine.now, to_bytes(fresh), self._held.name)
                    self._scheduler = self._recover()
                    return self._scheduler
                self._scheduler = self._recover()
            with self.group():
                reconcile(self.path, self._scheduler, cluster, on_change)
            return self._scheduler

    @property
    def failure(self) -> str:
        """Why nothing can be written any more; empty while all is well."""
        return self._failure

    @property
    def calls(self) -> int:
        """How many calls are written after the snapshot, and done again by the next start."""
        return self._number - self._snapshot

    @contextmanager
    def group(self) -> Iterator[None]:
        """Calls that are made durable together, by one sync at the end; none of them is acknowledged before.

        Raises:
            StateError: They cannot be written.
        """
        with self.lock:
            self._check()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._commit()

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Writes a copy of all that was acknowledged to another file, while calls go on; by SQLite's online backup.

        The copy is a journal of its own, and whole without the files beside this one. A file that is there already is
        replaced as a whole, or not at all. An open journal must not be copied in any other way (see the guide).

        Raises:
            StateError: There is nothing to copy; the copy cannot be written, is in use, or would be this file.
            InvalidSpecError: The path leads to something that is no file.
        """
        target = resolved(path)
        if self._process != os.getpid() or self._connection is None:
            self._check()
            raise StateError(f"{self.path}: there is nothing to copy before the first scheduler()")
        if target == self.path:
            raise StateError(f"{target}: is the journal itself; back up to another file")
        with self._copying:
            file.backup(self.path, target)

    def compact(self) -> None:
        """Puts a snapshot in the place of all calls so far, and of their decisions.

        Raises:
            StateError: It cannot be written; then everything is as it was.
        """
        scheduler = self.scheduler()
        with self.group():
            state = to_bytes(scheduler)
            with self._writing() as connection:
                connection.execute("DELETE FROM snapshot")
                connection.execute("INSERT INTO snapshot VALUES (?, ?, ?)", (self._number, scheduler.engine.now, state))
                connection.execute("DELETE FROM calls")
                connection.execute("DELETE FROM decisions")
            self._snapshot, self._decision, self._checksum = self._number, 0, crc32(state)
            if self._depth == 1:
                self._commit()
                self._shorten()

    def write(self, call: Call, state: SchedulerState, cycles: Sequence[Cycle]) -> None:
        """Writes a call that was done, and what it came to; for the Scheduler.

        Raises:
            StateError: It cannot be written.
        """
        decisions = _rows(state, cycles)
        number = self._number + 1
        row = (number, state.engine.now, type(call).__name__, call.key, encode(call))
        checksum = file.checksum(self._checksum, row, decisions)
        with self.group(), self._writing() as connection:
            first = self._decision + 1
            numbered = ((i, number, *decision) for i, decision in enumerate(decisions, first))
            connection.executemany("INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", numbered)
            connection.execute("INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?)", (*row, checksum))
            self._number, self._checksum = number, checksum
            self._decision += len(decisions)

    def give_up(self, why: str) -> None:
        """Takes no more calls; for the Scheduler."""
        self._failure = self._failure or why

    def close(self) -> None:
        """Gives the file back; the Scheduler can still be read."""
        with self.lock:
            if self._process == os.getpid():
                if self._connection is not None:
                    self._connection.close()
                if self._held is not None:
                    self._held.release()
            self._connection = self._held = None
            self._failure = self._failure or "it is closed"

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Closes it."""
        self.close()

    def __repr__(self) -> str:
        """Where it is, what it survives, and how it is."""
        state = f"read only: {self._failure}" if self._failure else f"{counted(self.calls, 'call')} since the snapshot"
        return f"<Journal {self.path}: survives loss of {self.durability}; {state}>"

    # Inside.

    def _check(self) -> None:
        if self._process != os.getpid():
            raise StateError(f"{self.path}: belongs to the process that opened it, not to its children")
        if self._failure:
            raise StateError(
                f"{self.path}: takes no more calls: {self._failure}; the Scheduler can be read, and a new Journal "
                "comes back to all that was acknowledged"
            )

    def _commit(self) -> None:
        if self._connection is not None and self._connection.in_transaction and not self._failure:
            with self._writing(begin=False) as connection:
                file.write_end(connection, self._token, self._number, self._checksum)
                connection.execute("COMMIT")
                self._expect_files()

    def _expect_files(self) -> None:
        """What was written is in the files that others find."""
        assert self._guard is not None
        if fault := self._guard.fault():
            raise StateError(fault)

    def _shorten(self) -> None:
        with self._writing(begin=False) as connection:
            file.empty_log(connection)

    @contextmanager
    def _writing(self, *, begin: bool = True) -> Iterator[sqlite3.Connection]:
        """The connection, in a transaction; any error of it is the last."""
        assert self._connection is not None
        try:
            if begin and not self._connection.in_transaction:
                self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection
        except (sqlite3.Error, OSError, StateError) as error:
            self.give_up(f"it cannot be written: {error}")
            if self._connection.in_transaction:
                self._connection.rollback()
            self._check()

    def _recover(self) -> JournaledScheduler:
        assert self._held is not None
        for _ in range(_TRIES):
            state, found = self._done_again()
            opened = file.open_for_writing(self.path, self.durability, found.end, lock=self._held.name)
            if opened is not None:
                break
        else:
            raise StateError(f"{self.path}: somebody else writes it")
        self._connection, self._token = opened
        self._number, self._checksum, self._decision = found.last, found.checksum, found.decision
        self._guard = Guard(self.path, self._held)
        self._expect_files()
        return JournaledScheduler.of_state(state, self)

    def _done_again(self) -> tuple[SchedulerState, reading.Reading]:
        """All that is written, done again, and where it ends."""
        found = None
        try:
            found = reading.Reading(self.path)
            state = self._saved(found.state)
            self._snapshot = found.last
            for body, decisions in found.calls():
                if _rows(state, do(state, self._decoded(body))) != decisions:
                    raise StateError(
                        f"{self.path}: this release decides otherwise at call {found.last} than is written; open it "
                        "with the release that wrote it, and compact it there"
                    )
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise reading.damaged(self.path, error) from None
        finally:
            if found is not None:
                found.close()
        return state, found

    def _saved(self, state: bytes) -> SchedulerState:
        try:
            return saved.from_bytes(state, name="its snapshot")
        except (InvalidSpecError, UnsupportedError) as error:
            raise type(error)(f"{self.path}: {error}; it is left as it is") from None

    def _decoded(self, body: str) -> Call:
        try:
            return decode(body)
        except msgspec.DecodeError as error:
            raise UnsupportedError(f"{self.path}: holds a call that this release does not know: {error}") from None


def _rows(state: SchedulerState, cycles: Sequence[Cycle]) -> list[DecisionRow]:
    """The decisions of the cycles that led to a state."""
    return decision_rows(cycles, sum(state.engine.cycle_counts()))
