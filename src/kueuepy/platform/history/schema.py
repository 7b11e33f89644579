"""The tables of a recording. Any SQLite client can read the tables while the recording is being written.

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

from __future__ import annotations

import sqlite3
import zlib
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy.errors import InvalidSpecError, NotFoundError, StateError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

APPLICATION = 0x6B756575
"""The application id of the file, which distinguishes recordings from other SQLite files."""
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


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Convert the errors that damaged data of a recording cause.

    Raises:
        InvalidSpecError: The recording is damaged; the message names the file.
    """
    try:
        yield
    except (*_DAMAGE, sqlite3.Error, zlib.error, msgspec.MsgspecError) as error:
        raise InvalidSpecError(f"{path}: the recording is damaged: {error}") from error


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
            raise InvalidSpecError(f"{path}: {what}")
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
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.executescript(
        f"BEGIN; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; {TABLES} COMMIT;"
    )
