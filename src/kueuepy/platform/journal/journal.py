"""The Journal class: a file from which a Scheduler recovers exactly the state after its last acknowledged call."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from functools import partial
from threading import Lock as Mutex
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias
from zlib import crc32

import msgspec

from kueuepy.cluster import Cluster
from kueuepy.engine.locks import survives_fork
from kueuepy.errors import InvalidSpecError, StateError, UnsupportedError, checked_methods, counted, not_copied
from kueuepy.errors.problems import expect_one_of
from kueuepy.objects import SECOND, Object, Workload, duration_ns
from kueuepy.platform.journal import file
from kueuepy.platform.journal.file import Durability, Snapshot, decision_rows
from kueuepy.platform.journal.lock import Guard, Lock, resolved
from kueuepy.scheduler import Scheduler, scheduler_with
from kueuepy.session import saved
from kueuepy.session.calls import Call, decode, encode
from kueuepy.session.session import Done, Log, session_of
from kueuepy.session.store import commit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Self

    from kueuepy.objects.times import Duration, TimeLike
    from kueuepy.session.state import SchedulerState


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


OnChange: TypeAlias = Literal["error", "apply", "keep"]
"""How to treat objects that differ: raise an error, apply the objects of the cluster, or keep those of the journal."""
_CHOICES = ("error", "apply", "keep")
# A cluster can differ in thousands of objects, which no message should list.
_SHOWN = 5


def reconcile(path: object, scheduler: Scheduler, given: Cluster | Scheduler | None, on_change: OnChange) -> None:
    """Compare the objects of a recovered Scheduler with the given objects, and apply or reject the differences.

    Args:
        path: The journal's path, for error messages.
        scheduler: The recovered Scheduler, which is changed if `on_change` is `apply`.
        given: The cluster to compare with; `None` skips the comparison.
        on_change: `error`, `apply` or `keep`.

    Raises:
        StateError: Objects differ and `on_change` is `error`; or the Configurations differ and `on_change` is not
            `keep`.
        InvalidSpecError: `on_change` has an unknown value, or an object cannot be changed to the given object.
    """
    expect_one_of("on_change", on_change, _CHOICES)
    if given is None or on_change == "keep":
        return
    cluster = given if isinstance(given, Cluster) else given.cluster
    if cluster.configuration != scheduler.configuration:
        raise StateError(
            f"{path}: holds another Configuration than the one given, and a journal keeps its own; continue in a new "
            "journal with Journal(other).scheduler(scheduler.with_configuration(configuration)), or here with "
            'on_change="keep"'
        )
    there, wanted = _by_name(scheduler.cluster.objects()), _by_name(cluster.objects())
    changed = [obj for name, obj in wanted.items() if there.get(name) != obj]
    gone = [obj for name, obj in there.items() if name not in wanted]
    if on_change == "error" and (changed or gone):
        raise StateError(
            f'{path}: holds other objects than the cluster given: {_named(changed, gone)}; on_change="apply" makes '
            'them those of the cluster, and on_change="keep" keeps those of the journal'
        )
    if changed:
        scheduler.apply(*changed)
    if gone:
        scheduler.remove(*gone)


def _by_name(objects: Iterable[Object]) -> dict[tuple[str, str], Object]:
    return {(type(obj).__name__, obj.key): obj for obj in objects if not isinstance(obj, Workload)}


def _named(changed: list[Object], gone: list[Object]) -> str:
    texts = [f'{type(obj).__name__} "{obj.key}"' for obj in changed]
    texts += [f'{type(obj).__name__} "{obj.key}", which it does not have' for obj in gone]
    more = len(texts) - _SHOWN
    return ", ".join(texts[:_SHOWN]) + (f" and {counted(more, 'other')}" if more > 0 else "")


# Another process can write the journal between reading it and opening it for writing.
_TRIES = 5


class Mark(NamedTuple):
    """The numbers of the last call, of the call of the snapshot and of the last decision, and the last checksum."""

    number: int = 0
    snapshot: int = 0
    decision: int = 0
    checksum: int = 0


@checked_methods
class Journal:
    """An SQLite file with a snapshot of a Scheduler and every call since then.

    Each call is durable before it returns. With `durability="power"`, the default, durable calls survive a power
    failure. With `durability="process"`, durable calls survive if the process is killed, but a power failure can lose
    the most recent calls. If the process is killed, the next call of `scheduler()` loads the snapshot and repeats the
    calls after it. The method compares each decision with the recorded one. Only one process at a time can write to a
    journal. Any SQLite client can read a journal, even while it is being written.

    Attributes:
        path: The path of the file, with symbolic links resolved.
        durability: `"power"` or `"process"`.
        lock: The lock that each call on the Journal or its Scheduler acquires; a group holds the lock until the group
            ends.
        done: The calls of the current group, which are written at its end.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> from kueuepy.platform import Journal
        >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 4}}))
        >>> directory = tempfile.TemporaryDirectory()
        >>> path = Path(directory.name) / "admission.db"
        >>> with Journal(path) as journal:
        ...     scheduler = journal.scheduler(cluster)  # a new file starts from the cluster
        ...     with journal.group():  # both calls are made durable together
        ...         keys = scheduler.submit({"name": "job", "queue": "team", "cpu": 1})
        ...         cycle = scheduler.cycle()
        >>> with Journal(path) as journal:
        ...     print(journal.scheduler().keys())
        ('default/job',)
        >>> directory.cleanup()
    """

    __reduce__ = not_copied

    def __init__(self, path: str | os.PathLike[str], *, durability: Durability = "power", wait: Duration = 0) -> None:
        """Lock the file for this process.

        Args:
            path: The file, which the first call of `scheduler()` creates if it does not exist. SQLite keeps `-wal` and
                `-shm` files next to the journal, and the Journal keeps a `-lock` file.
            durability: Use `"power"` to wait at each commit until the disk has stored the commit. Use `"process"` to
                continue without waiting for the disk: a power failure can then lose the last calls. Default: `"power"`.
            wait: The maximum time to wait while another Journal has the file open, such as `"365d"` for a standby
                process that takes over. Default: 0.

        Raises:
            InvalidSpecError: The file is not a journal, or `durability` has an unknown value.
            UnsupportedError: The format version of the journal is not supported.
            StateError: Another Journal has the file open, or this process has no permission to read and write the file
                and its directory.
        """
        if durability not in ("power", "process"):
            raise InvalidSpecError(f'durability: is "{durability}"; it must be "power" or "process"')
        self.path = resolved(path)
        self.durability = durability
        self._held: Lock | None = Lock(self.path, duration_ns(wait, "wait") / SECOND)
        try:
            if self.path.exists():
                file.check(self.path)
        except BaseException:
            self._held.release(remove=self._held.is_new)
            raise
        self._guard: Guard | None = None
        self._token = ""
        self._process = os.getpid()
        self._connection: sqlite3.Connection | None = None
        self._scheduler: JournaledScheduler | None = None
        self._failure = ""
        self.lock = RLock()
        # A lock that another thread holds during a fork would stay locked in the child.
        survives_fork(self)
        self._copying = Mutex()
        self._end = Mark()
        self.done: list[Done] = []
        self._is_grouped = False
        self._snapshot: Snapshot | None = None

    def scheduler(
        self,
        cluster: Cluster | Scheduler | None = None,
        *,
        now: TimeLike | None = None,
        on_change: OnChange = "error",
        clock: Literal["system"] | None = None,
    ) -> JournaledScheduler:
        """Return the Scheduler in the state after the last acknowledged call, or a new Scheduler if the file is new.

        Args:
            cluster: The Cluster or Scheduler from which a new journal starts. If the file exists, the declared objects
                of the cluster are compared with the objects in the file; Workloads and jobs of the cluster are then
                ignored.
            now: The initial virtual time of a new journal that starts from a Cluster; see `Scheduler`.
            on_change: What to do if the objects of the cluster differ from the objects in the file. `error` raises a
                StateError that names the differing objects. `apply` creates, changes and removes objects until the file
                has the same objects as the cluster. `keep` uses the objects in the file and ignores the objects of the
                cluster. Default: `error`.
            clock: The clock of the Scheduler, as for `Scheduler`. The journal records the time of each call, so that
                the same decisions follow when it is opened again.

        Returns:
            The Scheduler. Repeated calls of `scheduler()` return the same Scheduler.

        Raises:
            StateError: The file is new and no cluster is given, this release makes decisions that differ from the
                recorded ones, or the cluster differs from the file.
            InvalidSpecError: The file is damaged. The method does not modify a damaged file.
            UnsupportedError: The file contains a call that this release does not support.
        """
        with self.lock:
            self._check()
            if self._scheduler is None:
                if not self.path.exists():
                    if cluster is None:
                        raise StateError(f"{self.path}: is new; give the Cluster to start from")
                    fresh = cluster if isinstance(cluster, Scheduler) else Scheduler(cluster, now=now, clock=clock)
                    assert self._held is not None
                    begun = session_of(fresh)
                    file.create(self.path, begun.engine.now, saved.to_bytes(begun), self._held.name)
                    cluster = None
                self._scheduler = self._recover()
                session_of(self._scheduler).follow(clock)
            with self.group():
                reconcile(self.path, self._scheduler, cluster, on_change)
            return self._scheduler

    @property
    def failure(self) -> str:
        """The reason why the journal accepts no more calls; an empty string if it accepts calls."""
        return self._failure

    @property
    def calls(self) -> int:
        """The number of calls after the snapshot, which the next start repeats."""
        return self._end.number - self._end.snapshot + len(self.done)

    @contextmanager
    def group(self) -> Iterator[None]:
        """Make the calls in a `with` block durable together, with one sync at the end of the block.

        The calls in the block are one transaction: after a crash, the file contains all of these calls or none. An
        exception in the block does not roll back: the calls before it are in effect, and are stored.

        Raises:
            StateError: The calls cannot be written.
        """
        with self.lock:
            self._check()
            if self._connection is None or self._is_grouped:
                yield
                return
            try:
                self._is_grouped = True
                yield
                self._commit()
            except BaseException:  # the calls that have ended are in the Scheduler, so they are written
                self._commit()
                raise
        for listener in session_of(self._scheduler).listeners if self._scheduler else ():
            listener()

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of all acknowledged calls to another file with SQLite's online backup.

        Other threads can make calls during the backup. The copy is a complete journal in one file, without `-wal`. An
        existing file is replaced atomically. Another process can also copy an open journal with the command `.backup`
        of the `sqlite3` shell. Do not copy an open journal by any means except `backup` and the `.backup` command (see
        the page Embedding).

        Args:
            path: The copy.

        Raises:
            StateError: `scheduler()` was not called yet; or the copy cannot be written, is in use, or is the journal
                itself.
            InvalidSpecError: The path is not a regular file.
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
        """Replace the snapshot with the current state, and delete all recorded calls and decisions.

        Raises:
            StateError: The file cannot be written. If this error is raised, the contents of the file are unchanged.
        """
        session = session_of(self.scheduler())
        with self.lock:
            with self.group():
                session.expect_idle()
                snapshot = Snapshot(self._end.number + len(self.done), session.engine.now, saved.to_bytes(session))
                commit((partial(setattr, self, "_snapshot", snapshot), partial(self.done.clear)))
            if not self._is_grouped:
                with self._writing() as connection:
                    file.empty_log(connection)

    def close(self) -> None:
        """Close the file and release its lock. Afterwards, the Scheduler can still be read but not changed."""
        with self.lock:
            if self._process == os.getpid():
                if self._connection is not None:
                    self._connection.close()
                if self._held is not None:
                    self._held.release()
            self._connection = self._held = None
            self._failure = self._failure or "it is closed"

    def __enter__(self) -> Self:
        """Return the Journal."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the Journal."""
        self.close()

    def __repr__(self) -> str:
        """Return the path and the durability, with the failure or else the number of calls since the snapshot."""
        state = f"read only: {self._failure}" if self._failure else f"{counted(self.calls, 'call')} since the snapshot"
        return f"<Journal {self.path}: survives loss of {self.durability}; {state}>"

    def _check(self) -> None:
        # SQLite connections must not be used after a fork.
        if self._process != os.getpid():
            raise StateError(f"{self.path}: belongs to the process that opened it, not to its children")
        if self._failure:
            raise StateError(
                f"{self.path}: accepts no more calls: {self._failure}; the Scheduler can be read; close "
                "this Journal, and a new one recovers everything that was acknowledged"
            )

    def _commit(self) -> None:
        """End a group, and write its calls. If an exception ends this method, it can be repeated."""
        self._is_grouped = False
        if not (self.done or self._snapshot) or self._failure:
            return
        with self._writing() as connection:
            # A commit that was interrupted between its statements begins again.
            if connection.in_transaction:
                connection.rollback()
            connection.execute("BEGIN")
            end = self._end
            if self._snapshot is not None:
                file.write_snapshot(connection, self._snapshot)
                end = Mark(self._snapshot.number, self._snapshot.number, 0, crc32(self._snapshot.state))
            for call, results in self.done:
                end = self._write(connection, end, call, results)
            file.write_end(connection, self._token, end.number, end.checksum)
            commit(
                (
                    partial(connection.execute, "COMMIT"),
                    partial(setattr, self, "_end", end),
                    partial(setattr, self, "_snapshot", None),
                    partial(self.done.clear),
                )
            )
            self._expect_files()

    def _write(self, connection: sqlite3.Connection, end: Mark, call: Call, results: list[Any]) -> Mark:
        """Write a call after the given mark, with its decisions; return the mark after it."""
        *_, at, counts = results
        decisions = decision_rows(sum(counts), call.cycles_of(results))
        number = end.number + 1
        row = (number, at, type(call).__name__, call.key, encode(call))
        checksum = file.checksum(end.checksum, row, decisions)
        numbered = ((i, number, *decision) for i, decision in enumerate(decisions, end.decision + 1))
        connection.executemany("INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", numbered)
        connection.execute("INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?)", (*row, checksum))
        return Mark(number, end.snapshot, end.decision + len(decisions), checksum)

    def _expect_files(self) -> None:
        """Raise an error if a file was removed or replaced, because commits to a removed or replaced file are lost."""
        assert self._guard is not None
        if fault := self._guard.fault():
            raise StateError(fault)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection; after any error the Journal accepts no more calls."""
        assert self._connection is not None
        try:
            yield self._connection
        except (sqlite3.Error, OSError, StateError) as error:
            self._failure = self._failure or f"it cannot be written: {error}"
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
            raise StateError(f"{self.path}: another process keeps writing it")
        self._connection, self._token = opened
        self._end = Mark(found.last, found.first, found.decision, found.checksum)
        self._guard = Guard(self.path, self._held)
        self._expect_files()
        return scheduler_with(JournaledScheduler, state, self)

    def _done_again(self) -> tuple[SchedulerState, file.Reading]:
        """Return the state after all recorded calls, and the Reading from which all calls were read."""
        found = None
        try:
            found = file.Reading(self.path)
            state = self._saved(found.state)
            for body, decisions in found.calls():
                cycles = self._decoded(body).do(state)
                if decision_rows(sum(state.engine.cycle_counts()), cycles) != decisions:
                    raise StateError(
                        f"{self.path}: this release decides otherwise at call {found.last} than is written; open it "
                        "with the release that wrote it, and compact it there"
                    )
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise file.damaged(self.path, error) from None
        finally:
            if found is not None:
                found.close()
        return state, found

    def _saved(self, state: bytes) -> SchedulerState:
        try:
            return saved.from_bytes(state, name="its snapshot")
        except (InvalidSpecError, UnsupportedError) as error:
            raise type(error)(f"{self.path}: {error}; it is not changed") from None

    def _decoded(self, body: str) -> Call:
        try:
            return decode(body)
        except msgspec.DecodeError as error:
            raise UnsupportedError(f"{self.path}: holds a call that this release does not know: {error}") from None
