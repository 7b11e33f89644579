"""The file of a journal: an SQLite database with three tables of plain columns.

| table | a row |
| --- | --- |
| `snapshot` | the state after call number `call`; one row |
| `calls` | one call after the snapshot: its number, the Scheduler's time, its name, what it is about, and all as JSON |
| `decisions` | one decision that a call came to: cycle, verdict, workload, ClusterQueue, reason, flavors, targets |

Every row of `calls` has a checksum of itself, of its decisions and of the row before. `PRAGMA application_id` is that
of kueuepy, `user_version` the version of this layout.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias
from zlib import crc32

import msgspec

from kueuepy.errors import InvalidSpecError, StateError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

APPLICATION_ID = 0x4B554555
VERSION = 1
PATIENCE = 30
"""Seconds to wait for a client that writes, though only one Journal may."""
_MAGIC = b"SQLite format 3\0"
_HEADER = 100
_SCHEMA = """
CREATE TABLE snapshot (call INTEGER PRIMARY KEY, at INTEGER NOT NULL, state BLOB NOT NULL);
CREATE TABLE calls (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, call TEXT NOT NULL, key TEXT NOT NULL,
  body TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE decisions (number INTEGER PRIMARY KEY, call INTEGER NOT NULL, cycle INTEGER NOT NULL,
  verdict TEXT NOT NULL, workload TEXT NOT NULL, cluster_queue TEXT NOT NULL, reason TEXT NOT NULL,
  flavors TEXT NOT NULL, targets TEXT NOT NULL);
"""

Durability: TypeAlias = Literal["power", "process"]
CallRow: TypeAlias = tuple[int, int, str, str, str, int]
DecisionRow: TypeAlias = tuple[int, str, str, str, str, str, str]
"""cycle, verdict, workload, cluster_queue, reason, flavors, targets"""
_encoder = msgspec.msgpack.Encoder()


def checksum(before: int, row: Sequence[object], decisions: Sequence[DecisionRow]) -> int:
    """The checksum of a call with its decisions, after the row with the checksum `before`."""
    return crc32(_encoder.encode((row, decisions)), before)


def create(path: Path, at: int, state: bytes) -> None:
    """Makes a journal that begins with this state; it is there as a whole, or not at all.

    Raises:
        StateError: It cannot be written.
    """
    draft = path.with_name(f".{path.name}.new")
    try:
        draft.unlink(missing_ok=True)
        _write(draft, at, state)
        draft.replace(path)
        sync_directory(path.parent)
    except (sqlite3.Error, OSError) as error:
        for suffix in ("", "-journal", "-wal", "-shm"):
            with suppress(OSError):
                Path(f"{draft}{suffix}").unlink()
        raise StateError(f"{path}: cannot be made: {error}") from error


def _write(draft: Path, at: int, state: bytes) -> None:
    connection = sqlite3.connect(draft, isolation_level=None)
    try:
        connection.executescript(
            f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; BEGIN; {_SCHEMA} COMMIT;"
        )
        connection.execute("INSERT INTO snapshot VALUES (0, ?, ?)", (at, state))
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


def sync_directory(path: Path) -> None:
    """Makes what was renamed in a directory durable, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lock(path: Path) -> sqlite3.Connection:
    """Holds a journal for this process alone, until the connection is closed or the process is gone.

    Raises:
        StateError: Another Journal holds it, or there is no place for the lock.
    """
    connection = None
    try:
        # Of several that try at once, SQLite turns all but one away, and that one waits until they are gone.
        connection = sqlite3.connect(f"{path}-lock", timeout=0.1, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        if connection is not None:
            connection.close()
        if "locked" in str(error):
            raise StateError(f"{path}: is in use by another Journal ({error}); only one may write it") from None
        raise StateError(f"{path}: cannot be locked: {error}") from None
    return connection


def check_header(path: Path) -> None:
    """Whether the file is a journal of a version that this release reads; nothing is changed.

    Raises:
        InvalidSpecError: It is something else, or cannot be read.
        UnsupportedError: It is of a later version.
    """
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER)
    except OSError as error:
        raise InvalidSpecError(f"{path}: cannot be read: {error.strerror}; it must be a file") from error
    if len(header) < _HEADER or not header.startswith(_MAGIC):
        raise InvalidSpecError(f"{path}: is no journal of kueuepy, or is cut off; it is left as it is")
    version, application = struct.unpack_from(">i4xi", header, 60)
    if application != APPLICATION_ID:
        raise InvalidSpecError(f"{path}: is a database, but no journal of kueuepy; it is left as it is")
    if version != VERSION:
        raise UnsupportedError(
            f"{path}: has version {version}; this release reads version {VERSION}; it is left as it is"
        )
    page = struct.unpack_from(">H", header, 16)[0]
    size = 65536 if page == 1 else page
    if size < 512 or path.stat().st_size % size:  # noqa: PLR2004 - the smallest page of SQLite
        raise InvalidSpecError(f"{path}: is cut off; it is left as it is")


def open_for_reading(path: Path) -> sqlite3.Connection:
    """The database, which the connection cannot change.

    Raises:
        InvalidSpecError: SQLite finds it damaged, or cannot read it.
    """
    connection = None
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
        found = connection.execute("PRAGMA quick_check").fetchone()[0]
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if connection is not None:
            connection.close()
        raise damaged(path, error) from None
    if found != "ok":
        connection.close()
        raise damaged(path, found)
    return connection


def damaged(path: Path, why: object) -> InvalidSpecError:
    """What is wrong with a journal; the disk may be to blame for an OperationalError, or the file."""
    what = "cannot be read, or is damaged" if isinstance(why, sqlite3.OperationalError) else "is damaged"
    return InvalidSpecError(f"{path}: {what}: {why}; it is left as it is")


def open_for_writing(path: Path, durability: Durability) -> sqlite3.Connection:
    """The database; after a commit, the death of the process loses nothing, or that of the machine doesn't either.

    Raises:
        StateError: It cannot be opened.
    """
    try:
        connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if durability == 'power' else 'NORMAL'}")
        connection.execute("PRAGMA wal_autocheckpoint = 8192")
    except sqlite3.Error as error:
        raise StateError(f"{path}: cannot be opened for writing: {error}") from error
    return connection


class Reading:
    """All that a journal holds, checked row by row."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        """Reads the snapshot."""
        self._connection, self._path = connection, path
        row = connection.execute("SELECT call, at, state FROM snapshot ORDER BY call DESC LIMIT 1").fetchone()
        if row is None:
            raise self._damaged("it has no snapshot")
        self._expect(row, (int, int, bytes))
        self.last: int = row[0]
        self.state: bytes = row[2]
        self.checksum = crc32(self.state)
        self.decision = 0

    def calls(self) -> Iterator[tuple[str, list[DecisionRow]]]:
        """Each call after the snapshot as JSON, with its decisions.

        Raises:
            InvalidSpecError: A row is not what was written.
        """
        rows = self._connection.execute("SELECT number, at, call, key, body, checksum FROM calls ORDER BY number")
        decisions = self._connection.execute(
            "SELECT call, cycle, verdict, workload, cluster_queue, reason, flavors, targets, number"
            " FROM decisions ORDER BY number"
        )
        ahead = decisions.fetchone()
        for row in rows:
            self._expect(row, (int, int, str, str, str, int))
            number, *rest, expected = row
            made: list[DecisionRow] = []
            while ahead is not None and ahead[0] == number:
                self._expect(ahead, (int, int, *[str] * 6, int))
                made.append(ahead[1:8])
                self.decision = ahead[8]
                ahead = decisions.fetchone()
            self.checksum = checksum(self.checksum, (number, *rest), made)
            if number != self.last + 1 or self.checksum != expected:
                raise self._damaged(f"call {number} is not what was written")
            self.last = number
            yield rest[3], made
        if ahead is not None:
            raise self._damaged(f"a decision is of call {ahead[0]}, which is missing")

    def _expect(self, row: Sequence[object], types: Sequence[type]) -> None:
        """A damaged row may hold anything."""
        if tuple(map(type, row)) != tuple(types):
            raise self._damaged("a row holds other things than were written")

    def _damaged(self, what: str) -> InvalidSpecError:
        return damaged(self._path, what)
