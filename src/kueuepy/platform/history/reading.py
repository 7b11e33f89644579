"""The tables of a recording, and its events, its Workloads and the state at a given time.

Any SQLite client can read the tables while the recording is being written.

Times are integers, in nanoseconds since the Unix epoch. Columns `body` and `state` contain JSON, compressed with zlib.

| table | content |
| --- | --- |
| `meta` | the version of this schema, the source, the release of Kueue, and how names are anonymised |
| `objects` | each version of each configuration object; `body` is NULL if the object was deleted |
| `nodes` | each version of each Node, in the same form as in `objects` |
| `workloads` | one row per Workload, with the hash of its pod sets and the time of its deletion |
| `pod_sets` | pod sets by their hash, because many Workloads have the same pod sets |
| `transitions` | one row per event of a Workload; the last row of each write contains its state after that write |
| `gaps` | periods in which intermediate states might be missing |
| `watches` | the resourceVersion up to which each kind has been recorded |

The column `what` of `transitions` is one of `Submitted`, `QuotaReserved`, `Admitted`, `Evicted`, `Released` (the quota
of an evicted workload is free), `Requeued`, `PodsReady`, `Finished`, `Deleted` and `Changed` (any other change that
might influence decisions). `reason` is the reason of the condition that records the event.
"""

import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from weakref import finalize

import msgspec

from kueuepy.errors import InvalidSpecError, NotFoundError, StateError
from kueuepy.files import is_file
from kueuepy.jobs.numbers import unsigned
from kueuepy.objects import LONGEST, Timestamp, nanoseconds_of
from kueuepy.sources import LiveSource

APPLICATION = 0x6B756575
"""The application id of the file, which distinguishes recordings from other SQLite files."""
# A recording of another version is refused instead of being read with the wrong meaning.
VERSION = 1
TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE objects (
    kind TEXT NOT NULL, key TEXT NOT NULL, time INTEGER NOT NULL, revision INTEGER NOT NULL, body BLOB,
    PRIMARY KEY (kind, key, revision)
) WITHOUT ROWID;
CREATE TABLE nodes (
    kind TEXT NOT NULL, key TEXT NOT NULL, time INTEGER NOT NULL, revision INTEGER NOT NULL, body BLOB,
    PRIMARY KEY (kind, key, revision)
) WITHOUT ROWID;
CREATE TABLE pod_sets (hash BLOB PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE workloads (
    id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE, namespace TEXT NOT NULL, name TEXT NOT NULL, queue TEXT NOT NULL,
    priority INTEGER NOT NULL, job TEXT NOT NULL, user TEXT NOT NULL, created INTEGER NOT NULL, pod_sets BLOB NOT NULL,
    deleted INTEGER
);
CREATE TABLE transitions (
    id INTEGER PRIMARY KEY, workload INTEGER NOT NULL REFERENCES workloads (id), time INTEGER NOT NULL,
    revision INTEGER NOT NULL, what TEXT NOT NULL, reason TEXT NOT NULL, state BLOB
);
CREATE INDEX transitions_of_workload ON transitions (workload, id);
CREATE TABLE gaps (kind TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER NOT NULL, reason TEXT NOT NULL);
CREATE TABLE watches (kind TEXT PRIMARY KEY, revision INTEGER NOT NULL, time INTEGER NOT NULL) WITHOUT ROWID;
"""


def pack(value: Any) -> bytes:
    """Return a value as compressed JSON."""
    return zlib.compress(msgspec.json.encode(value), 6)


def unpack(data: bytes) -> Any:
    """Return the value that compressed JSON encodes."""
    return msgspec.json.decode(zlib.decompress(data))


# Exceptions that values of an unexpected type cause.
_DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class reading:  # noqa: N801 - used like a function
    """Convert the errors that damaged data of a recording cause.

    From Python 3.12 on, a generator of `contextmanager` that replaces an error is part of a reference cycle with the
    frames of that error. The cursors of these frames would keep the file locked until the garbage collector runs.

    Raises:
        InvalidSpecError: The recording is damaged; the message names the file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Name the file."""
        self._path = path

    def __enter__(self) -> None:
        """Begin to read."""

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        """Replace an error of damaged data."""
        if isinstance(error, (*_DAMAGE, sqlite3.Error, zlib.error, msgspec.MsgspecError)):
            raise InvalidSpecError(f"{self._path}: the recording is damaged: {error}") from error


def table_of(kind: str) -> str:
    """Return the name of the table that contains the versions of objects of a kind."""
    return "nodes" if kind == "Node" else "objects"


def connected(path: str | os.PathLike[str], *, writable: bool = False) -> sqlite3.Connection:
    """Open a recording.

    Args:
        path: The file.
        writable: Whether to create and write the file.

    Raises:
        NotFoundError: The file cannot be read.
        InvalidSpecError: The file is not a recording, or has a different schema version.
        StateError: The file is opened for writing while another process is reading it.
    """
    with ExitStack() as unless_returned:  # closes the file after any error
        try:
            mode = "rwc" if writable else "ro"
            connection = sqlite3.connect(
                f"{Path(path).resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None, check_same_thread=False
            )
            unless_returned.callback(connection.close)
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if isinstance(error, sqlite3.OperationalError):
                raise NotFoundError(f"{path}: cannot be read: {error}") from None
            raise InvalidSpecError(f"{path}: is not a recording: {error}") from None
        # A new file, or an empty one that a killed process has left.
        if writable and not tables:
            _create(connection)
        elif application != APPLICATION:
            what = "is an SQLite file, but not a recording; `kueuepy record` writes recordings"
            hint = "of a Journal, give the state that `journal.scheduler().save(file)` writes"
            raise InvalidSpecError(f"{path}: {what}; {hint}")
        elif version != VERSION:
            raise InvalidSpecError(f"{path}: is a recording of version {version}; it must be of version {VERSION}")
        if writable:
            _begin_writing(connection, path)
        unless_returned.pop_all()
    return connection


def _begin_writing(connection: sqlite3.Connection, path: str | os.PathLike[str]) -> None:
    """Configure the file so that other processes can read the recording while it is written.

    Raises:
        StateError: Another process is reading the file, which therefore cannot be switched to WAL mode.
    """
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        raise StateError(f"{path}: cannot be written while another process reads it: {error}") from None
    # A committed event survives a power failure.
    connection.execute("PRAGMA synchronous = FULL")


def closed(connection: sqlite3.Connection) -> None:
    """Close a recording after writing, and remove its log if possible, so that the recording is a single file.

    Readers of a file in WAL mode create `-wal` and `-shm` files, and a reader without write access cannot remove them.
    While a reader has the file open, the log is emptied but not removed.
    """
    with suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()


def _create(connection: sqlite3.Connection) -> None:
    """Create the tables; a killed process leaves either all of them or none."""
    # Only before the first table is created: `prune` later returns free pages to the file system.
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.executescript(
        f"BEGIN; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; {TABLES} COMMIT;"
    )


SUFFIX = ".db"


class Recording:
    """A recording, open for reading. Another process can write to the recording at the same time.

    Attributes:
        path: The file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open a recording.

        Raises:
            NotFoundError: The file cannot be read.
            InvalidSpecError: The file is not a recording.
        """
        self.path = Path(path)
        self._db = connected(path)
        # Most callers read one recording and drop it; Python 3.13 warns of a connection that is dropped unclosed.
        self._close = finalize(self, self._db.close)

    def close(self) -> None:
        """Close the file, which otherwise is closed when the Recording is no longer referenced."""
        self._close()

    @property
    def meta(self) -> dict[str, str]:
        """The values of the table `meta`."""
        with reading(self.path):
            return dict(self._db.execute("SELECT name, value FROM meta"))

    @property
    def end(self) -> int:
        """The time of the last record, in nanoseconds since the Unix epoch; 0 if there is none."""
        with reading(self.path):
            (time,) = self._db.execute("SELECT max(time) FROM watches").fetchone()
            return int(time or 0)

    def gaps(self) -> list[dict[str, Any]]:
        """Return the periods in which intermediate states might be missing: `kind`, `since`, `until` and `reason`."""
        names = ("kind", "since", "until", "reason")
        with reading(self.path):
            rows = self._db.execute("SELECT kind, since, until, reason FROM gaps ORDER BY since")
            return [dict(zip(names, row, strict=True)) for row in rows]

    def events(self) -> Iterator[dict[str, Any]]:
        """Iterate over the recorded versions as watch events, in the order of their revisions.

        Each event has `received`, `type`, `kind` and `object`.
        """
        seen: set[tuple[str, str]] = set()
        with reading(self.path):
            pod_sets = self._pod_sets()
            rows = self._db.execute(
                "SELECT time, revision, kind, key, body FROM objects"
                " UNION ALL SELECT time, revision, kind, key, body FROM nodes"
                " UNION ALL SELECT transitions.time, revision, 'Workload', namespace || '/' || name, state"
                " FROM transitions JOIN workloads ON workloads.id = workload"
                " WHERE state IS NOT NULL OR what = 'Deleted' ORDER BY 2"
            )
            for time, revision, kind, key, body in rows:
                if body is None:
                    what = "DELETED"
                    seen.discard((kind, key))
                    namespace, _, name = key.rpartition("/")
                    obj: dict[str, Any] = {"kind": kind, "metadata": {"name": name}}
                    if namespace:
                        obj["metadata"]["namespace"] = namespace
                else:
                    what = "MODIFIED" if (kind, key) in seen else "ADDED"
                    seen.add((kind, key))
                    obj = _workload(body, pod_sets) if kind == "Workload" else unpack(body)
                obj["metadata"]["resourceVersion"] = str(revision)
                yield {"received": str(Timestamp.of(time)), "type": what, "kind": kind, "object": obj}

    def workloads(self) -> Iterator[tuple[dict[str, Any], int | None, str]]:
        """Iterate over the last version of each Workload, in the order of creation.

        Yields:
            The Workload, the time of its deletion (nanoseconds since the Unix epoch, or `None`), and its user.
        """
        with reading(self.path):
            pod_sets = self._pod_sets()
            rows = self._db.execute(
                "SELECT state, deleted, user, max(transitions.id) FROM transitions"
                " JOIN workloads ON workloads.id = workload WHERE state IS NOT NULL"
                " GROUP BY workload ORDER BY created, workload"
            )
            for state, deleted, user, _ in rows:
                yield _workload(state, pod_sets), deleted, user

    def state(self, time: int) -> Iterator[dict[str, Any]]:
        """Iterate over the objects that existed at a given time.

        Args:
            time: The time, in nanoseconds since the Unix epoch.
        """
        with reading(self.path):
            # The last version of each object that was written until then, because rows are in the order of revisions.
            for table in ("objects", "nodes"):
                sql = f"SELECT kind, key, body FROM {table} WHERE time <= ? ORDER BY revision"  # noqa: S608 - a constant
                latest = {(kind, key): body for kind, key, body in self._db.execute(sql, (time,))}
                yield from (unpack(body) for body in latest.values() if body is not None)
            pod_sets = self._pod_sets()
            rows = self._db.execute(
                "SELECT state, max(transitions.id) FROM transitions JOIN workloads ON workloads.id = workload"
                " WHERE state IS NOT NULL AND transitions.time <= ? AND (deleted IS NULL OR deleted > ?)"
                " GROUP BY workload ORDER BY created, workload",
                (time, time),
            )
            yield from (_workload(state, pod_sets) for state, _ in rows)

    def _pod_sets(self) -> dict[str, Any]:
        return {key.hex(): unpack(body) for key, body in self._db.execute("SELECT hash, body FROM pod_sets")}


def _workload(state: bytes, pod_sets: dict[str, Any]) -> dict[str, Any]:
    """Return a recorded Workload, with the hash of its pod sets replaced with the pod sets."""
    found: dict[str, Any] = unpack(state)
    found["spec"]["podSets"] = pod_sets[found["spec"]["podSets"]]
    return found


class RecordedState(LiveSource):
    """The objects of a recording at a given time."""

    def __init__(self, recording: Recording, time: int | None = None, name: str = "") -> None:
        """Select the state of a recording.

        Args:
            recording: The recording.
            time: The time in nanoseconds since the Unix epoch; the end of the recording by default.
            name: The name of the source for messages; by default, the path of the recording.

        Raises:
            InvalidSpecError: The recording is empty.
        """
        self.recording = recording
        self.name = name or str(recording.path)
        end = recording.end
        if not end:
            raise InvalidSpecError(f"{self.name}: is empty; `kueuepy record` has not recorded any object yet")
        self.time = end if time is None else time
        self.release = recording.meta.get("release", "")
        self.stamp = {}
        self.notes = []
        if time is not None and time > end:
            self.notes.append(f"{self.name}: ends at {Timestamp.of(end)}; the state of that time is used")
            self.time = end

    @classmethod
    def open(cls, name: str) -> "RecordedState":
        """Open `FILE.db` at its end, or `FILE.db@TIME` at the given time.

        Raises:
            NotFoundError: The file cannot be read.
            InvalidSpecError: The file is not a recording, or the time is not valid.
        """
        path, at, text = name.rpartition(f"{SUFFIX}@")
        if not at or (name.endswith(SUFFIX) and is_file(name)):
            return cls(Recording(name), None, name)
        # People write times without seconds; the parser of Kubernetes' times requires them.
        is_short = len(text) == len("2026-11-20T10:00Z") and text.endswith("Z")
        time = nanoseconds_of(f"{text[:-1]}:00Z" if is_short else text, f"{name}: time")
        return cls(Recording(f"{path}{SUFFIX}"), min(time, LONGEST), name)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the objects of the recording."""
        for obj in self.recording.state(self.time):
            self.stamp[obj["kind"]] = str(max(int(self.stamp.get(obj["kind"], 0)), _revision(obj)))
            yield obj


def _revision(obj: dict[str, Any]) -> int:
    text = str(obj["metadata"].get("resourceVersion", "0"))
    return unsigned(text) or 0
