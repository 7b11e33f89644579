"""Read and verify a journal."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from kueuepy.errors import InvalidSpecError, StateError, UnsupportedError
from kueuepy.platform.journal.file import APPLICATION_ID, VERSION, End, checksum, connected, is_token

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kueuepy.platform.journal.file import DecisionRow

_NOT_ALLOWED = ("unable to open database file", "attempt to write a readonly database")


def check(path: Path) -> str:
    """Check that a file is a journal in the format of this release. The function changes neither the file nor its WAL.

    Returns:
        The token in the database file, regardless of the WAL; an empty string if only the WAL contains a whole token,
        which is possible after a crash during a checkpoint.

    Raises:
        InvalidSpecError: The file is not a journal, cannot be read, or is truncated.
        StateError: This process has no permission to read the file.
        UnsupportedError: The format version of the journal is not supported.
    """
    size, torn = path.stat().st_size, _has_log(path)
    if size == 0:
        raise InvalidSpecError(f"{path}: is not a journal of kueuepy: it is empty; it is not changed")
    try:
        opened = connected(path, more="&immutable=1")
    except sqlite3.OperationalError as error:
        raise damaged(path, error) from None
    with closing(opened) as connection:
        try:
            connection.execute("PRAGMA writable_schema = ON")  # allows reading a truncated file
            application, version, page = (
                connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("application_id", "user_version", "page_size")
            )
        except sqlite3.OperationalError as error:
            raise damaged(path, error) from None
        except sqlite3.DatabaseError:
            raise InvalidSpecError(f"{path}: is not a journal of kueuepy, or is cut off; it is not changed") from None
        if application != APPLICATION_ID:
            raise InvalidSpecError(f"{path}: is a database, but not a journal of kueuepy; it is not changed")
        if version != VERSION:
            raise UnsupportedError(
                f"{path}: has version {version}; this release reads version {VERSION}; it is not changed"
            )
        if size % page and not torn:
            raise InvalidSpecError(f"{path}: is cut off; it is not changed")
        try:
            row = connection.execute("SELECT token FROM writer").fetchone()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if torn:
                return ""
            raise damaged(path, error) from None
        if row is None and not torn:
            raise InvalidSpecError(f"{path}: is damaged: the row of its writer is missing; it is not changed")
        return row[0] if row is not None and is_token(row[0]) else ""


def _has_log(path: Path) -> bool:
    try:
        return Path(f"{path}-wal").stat().st_size > 0
    except FileNotFoundError:  # the last client to close the database may just have deleted it
        return False


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Return a read-only connection to a journal, after SQLite's integrity check.

    Raises:
        InvalidSpecError: SQLite reports that the file is damaged, or cannot read it.
        StateError: This process has no permission to read the file or to write in its directory.
    """
    connection = None
    try:
        connection = connected(path)
        found = connection.execute("PRAGMA quick_check").fetchone()[0]
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if connection is not None:
            connection.close()
        raise damaged(path, error) from None
    if found != "ok":
        connection.close()
        raise damaged(path, found)
    return connection


def damaged(path: Path, why: object) -> InvalidSpecError | StateError:
    """Return the error for a journal that is damaged or cannot be read.

    Args:
        path: The journal.
        why: SQLite's error, or a description. An OperationalError can mean damage, a disk error or missing permissions.
    """
    if isinstance(why, sqlite3.OperationalError) and str(why) in _NOT_ALLOWED:
        return StateError(f"{path}: cannot be opened: {why}; it and its directory must be readable and writable")
    what = "cannot be read, or is damaged" if isinstance(why, sqlite3.OperationalError) else "is damaged"
    return InvalidSpecError(f"{path}: {what}: {why}; it is not changed")


class Reading:
    """The contents of a journal, verified row by row."""

    def __init__(self, path: Path) -> None:
        """Read the snapshot.

        Raises:
            InvalidSpecError: The journal is damaged, or the `-wal` file does not belong to it.
            UnsupportedError: The format version of the journal is not supported.
        """
        token = check(path)
        self._connection, self._path = open_for_reading(path), path
        try:
            self._begin(token)
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _begin(self, token: str) -> None:
        connection, path = self._connection, self._path
        end = connection.execute("SELECT token, before, lock, number, checksum FROM writer").fetchone()
        if end is None:
            raise self._damaged("the row of its writer is missing")
        self._expect(end, (str, str, str, int, int))
        self.end = End(*end)
        if token and token not in (self.end.token, *self.end.before.split()):
            raise InvalidSpecError(
                f"{path}: the log {path}-wal belongs to another file, or to another state of this one; it is not "
                "changed; remove the log to use the file without it, or restore the file that it belongs to"
            )
        # Until a checkpoint writes the next token to the database file, the file holds one of these.
        self.end = self.end._replace(
            before=" ".join(dict.fromkeys([self.end.token, *(token or self.end.before).split()]))
        )
        self._read_snapshot()

    def _read_snapshot(self) -> None:
        row = self._connection.execute("SELECT call, at, state FROM snapshot ORDER BY call DESC LIMIT 1").fetchone()
        if row is None:
            raise self._damaged("it has no snapshot")
        self._expect(row, (int, int, bytes))
        self.first: int = row[0]
        self.last = self.first
        self.state: bytes = row[2]
        self.checksum, self.decision = crc32(self.state), 0

    def calls(self) -> Iterator[tuple[str, list[DecisionRow]]]:
        """Yield each call after the snapshot as JSON, with its decisions.

        Raises:
            InvalidSpecError: A row is damaged or missing.
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
        if (self.last, self.checksum) != (self.end.number, self.end.checksum):
            raise self._damaged(f"its last call is number {self.end.number}, and not {self.last}")

    def _expect(self, row: Sequence[object], types: Sequence[type]) -> None:
        """Check the types of a row; a damaged row can contain any values."""
        if tuple(map(type, row)) != tuple(types):
            raise self._damaged("a row holds other things than were written")

    def _damaged(self, what: str) -> InvalidSpecError | StateError:
        return damaged(self._path, what)
