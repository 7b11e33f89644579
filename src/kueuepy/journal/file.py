"""The file of a journal: an SQLite database with four tables of plain columns.

| table | a row |
| --- | --- |
| `snapshot` | the state after call number `call`; one row |
| `calls` | one call after the snapshot: its number, the Scheduler's time, its name, what it is about, and all as JSON |
| `decisions` | one decision that a call came to: cycle, verdict, workload, ClusterQueue, reason, flavors, targets |
| `writer` | who wrote last: a token, new with each start, those before, its lock; the last call and its checksum |

Every row of `calls` has a checksum of itself, of its decisions and of the row before. `PRAGMA application_id` is that
of kueuepy, `user_version` the version of this layout. The token is written with every transaction, so that a log
(`-wal`) tells which file it belongs to: a token before counts only until the file itself holds the new one, and the log
nothing that another writer has left there.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias
from zlib import crc32

import msgspec

from kueuepy.errors import StateError
from kueuepy.journal.lock import is_locked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

APPLICATION_ID = 0x4B554555
VERSION = 2
PATIENCE = 30
"""Seconds to wait for a client that writes, though only one Journal may."""
_SCHEMA = """
CREATE TABLE snapshot (call INTEGER PRIMARY KEY, at INTEGER NOT NULL, state BLOB NOT NULL);
CREATE TABLE calls (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, call TEXT NOT NULL, key TEXT NOT NULL,
  body TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE decisions (number INTEGER PRIMARY KEY, call INTEGER NOT NULL, cycle INTEGER NOT NULL,
  verdict TEXT NOT NULL, workload TEXT NOT NULL, cluster_queue TEXT NOT NULL, reason TEXT NOT NULL,
  flavors TEXT NOT NULL, targets TEXT NOT NULL);
CREATE TABLE writer (token TEXT NOT NULL, before TEXT NOT NULL, lock TEXT NOT NULL, number INTEGER NOT NULL,
  checksum INTEGER NOT NULL);
"""

Durability: TypeAlias = Literal["power", "process"]
CallRow: TypeAlias = tuple[int, int, str, str, str, int]
DecisionRow: TypeAlias = tuple[int, str, str, str, str, str, str]
"""cycle, verdict, workload, cluster_queue, reason, flavors, targets"""


class End(NamedTuple):
    """The row of `writer`."""

    token: str
    before: str
    lock: str
    number: int
    checksum: int


_encoder = msgspec.msgpack.Encoder()


def checksum(before: int, row: Sequence[object], decisions: Sequence[DecisionRow]) -> int:
    """The checksum of a call with its decisions, after the row with the checksum `before`."""
    return crc32(_encoder.encode((row, decisions)), before)


def create(path: Path, at: int, state: bytes, lock: str) -> None:
    """Makes a journal that begins with this state; it is there as a whole, or not at all.

    Raises:
        StateError: It cannot be written, or a log is there without its file.
    """
    _check_no_log(path)
    with _placed(path) as draft, closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.executescript(
            f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; BEGIN; {_SCHEMA} COMMIT;"
        )
        connection.execute("INSERT INTO snapshot VALUES (0, ?, ?)", (at, state))
        row = (secrets.token_hex(8), lock, crc32(state))
        connection.execute("INSERT INTO writer VALUES (?, '', ?, 0, ?)", row)
        connection.execute("PRAGMA journal_mode = WAL")


def _check_no_log(path: Path) -> None:
    for log in (Path(f"{path}-wal"), Path(f"{path}-journal")):
        with suppress(OSError):
            if log.stat().st_size:
                what = f"{path}: is not there, but {log} is: the log of a file that was removed"
                raise StateError(f"{what}; put the file back, or remove the log")


def backup(journal: Path, path: Path) -> None:
    """Copies a journal that is in use, as of its last commit, to a file that is there as a whole, or not at all.

    Raises:
        StateError: It cannot be written, or is in use itself.
    """
    if Path(f"{path}-wal").exists():
        raise StateError(f"{path}: is in use, or was not closed in order: it has a log; back up to another file")
    with (
        _placed(path) as draft,
        closing(connected(journal)) as source,
        closing(sqlite3.connect(draft, isolation_level=None)) as target,
    ):
        source.backup(target)
        # A log of the journal does not belong to the copy, should one ever stand beside it.
        target.execute("UPDATE writer SET token = ?, before = '', lock = ''", (secrets.token_hex(8),))


@contextmanager
def _placed(path: Path) -> Iterator[Path]:
    """A file under another name, readable by its owner alone, which takes its place when it is written."""
    draft = path.with_name(f".{path.name}.new")
    try:
        _clear(draft)
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield draft
        draft.replace(path)
        sync_directory(path.parent)
    except BaseException as error:
        with suppress(OSError):
            _clear(draft)
        if isinstance(error, sqlite3.Error | OSError):
            raise StateError(f"{path}: cannot be made: {error}") from error
        raise


def _clear(draft: Path) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        Path(f"{draft}{suffix}").unlink(missing_ok=True)


def sync_directory(path: Path) -> None:
    """Makes what was renamed in a directory durable, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def connected(path: Path, more: str = "") -> sqlite3.Connection:
    """A connection that changes nothing."""
    return sqlite3.connect(f"{path.as_uri()}?mode=ro{more}", uri=True, isolation_level=None, timeout=PATIENCE)


def open_for_writing(
    path: Path, durability: Durability, read: End, *, lock: str
) -> tuple[sqlite3.Connection, str] | None:
    """The database; after a commit, the death of the process loses nothing, or that of the machine doesn't either.

    Args:
        path: The file.
        durability: Of what the death is survived.
        read: What was read of its end, with all tokens that the file itself may hold until it holds the next one.
        lock: Which file is locked for it. If it is another one than before, somebody's lock may have been removed, so
            that nobody else at all may have the journal open.

    Returns:
        The connection, and the token to write with; none if the end is no longer the one that was read. A writer that
        was killed may have written one call more, which is found when the last reader of that time goes.

    Raises:
        StateError: It cannot be opened, or is in use.
    """
    connection = None
    try:
        if lock != read.lock:
            _expect_nobody(path)
        connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if durability == 'power' else 'NORMAL'}")
        connection.execute("PRAGMA wal_autocheckpoint = 8192")
        connection.execute("PRAGMA cache_spill = OFF")  # nothing of a log is written before its commit
        token = secrets.token_hex(8)
        sql = "UPDATE writer SET token = ?, before = ?, lock = ? WHERE token = ? AND number = ?"
        if connection.execute(sql, (token, read.before, lock, read.token, read.number)).rowcount != 1:
            connection.close()
            return None
        empty_log(connection, patience=1)
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error | StateError):
            raise StateError(f"{path}: cannot be opened for writing: {error}") from error
        raise
    return connection, token


def _expect_nobody(path: Path) -> None:
    with closing(sqlite3.connect(path, timeout=1, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        try:
            connection.execute("SELECT token FROM writer")
        except sqlite3.OperationalError as error:
            if not is_locked(error):
                raise
            raise StateError(
                f"it is in use, and its lock {path}-lock was not there; close it where it is open, as another Journal "
                "may write it"
            ) from None


def write_end(connection: sqlite3.Connection, token: str, number: int, checksum: int) -> None:
    """Writes into a transaction the last call and its checksum, and so the token, too.

    Raises:
        StateError: Somebody else has written meanwhile.
    """
    sql = "UPDATE writer SET number = ?, checksum = ? WHERE token = ?"
    if connection.execute(sql, (number, checksum, token)).rowcount != 1:
        raise StateError("another Journal has written it meanwhile")


def empty_log(connection: sqlite3.Connection, *, patience: int = 0) -> None:
    """Moves the log into the file, and begins a new one, unless somebody reads for so many seconds.

    Once that is done, the file itself holds the token, and nothing in the log is of another writer: it says so.
    """
    if _is_emptied(connection, patience):
        connection.execute("UPDATE writer SET before = '' WHERE before <> ''")
        _is_emptied(connection, patience)


def _is_emptied(connection: sqlite3.Connection, patience: int) -> bool:
    connection.execute(f"PRAGMA busy_timeout = {patience * 1000}")
    is_busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000}")
    return not is_busy
