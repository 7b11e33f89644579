"""The file format of a journal: an SQLite database with four tables.

| table | contents |
| --- | --- |
| `snapshot` | one row: the state after the call with number `call` |
| `calls` | one row per call after the snapshot: number, virtual time, name, key of its object, and the call as JSON |
| `decisions` | one row per decision of a call: cycle, verdict, workload, ClusterQueue, reason, flavors, targets |
| `writer` | one row: the writer's token, previous tokens, its lock, and the number and checksum of the last call |

The checksum of a row of `calls` covers the row, its decisions and the previous row. `PRAGMA application_id` identifies
kueuepy, and `user_version` is the version of the file layout.

Each start of a writer creates a new token, which is written with every transaction. The token shows whether a `-wal`
file belongs to the database file. A previous token is accepted only until the database file itself contains the new
token, and the `-wal` file contains no transaction of another writer. A token ends with its own checksum, because a
power failure during a checkpoint can leave a page of the database file half old and half new. SQLite replaces such a
page by the page in the `-wal` file, so its token means nothing.
"""

import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias
from zlib import crc32

import msgspec

from kueuepy.engine.cycle import Cycle
from kueuepy.engine.decisions import Admitted, Preempting
from kueuepy.errors import InvalidSpecError, StateError, UnsupportedError
from kueuepy.files import closed_on_error
from kueuepy.platform.journal.lock import is_locked

# The bytes of "KUEU", so that `file` and SQLite tools recognise a journal.
APPLICATION_ID = 0x4B554555
VERSION = 2
PATIENCE = 30
"""Time to wait for another SQLite client that holds a write lock, in seconds."""
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
DecisionRow: TypeAlias = tuple[int, str, str, str, str, str, str]
"""A row of `decisions`: cycle, verdict, workload, cluster_queue, reason, flavors, targets."""


class End(NamedTuple):
    """The row of the table `writer`."""

    token: str
    before: str
    lock: str
    number: int
    checksum: int


class Snapshot(NamedTuple):
    """The row of the table `snapshot`: a saved state, the number of its last call and its virtual time."""

    number: int
    at: int
    state: bytes


# msgpack encodes each value with its type, so that 1 and "1" have different checksums.
_encoder = msgspec.msgpack.Encoder()
# Sorted keys: the rows of a decision are compared as text when a journal is recovered.
_json = msgspec.json.Encoder(order="deterministic")


def checksum(before: int, row: Sequence[object], decisions: Sequence[DecisionRow]) -> int:
    """Return the checksum of a call and its decisions.

    Args:
        before: The checksum of the previous row.
        row: The row of `calls`, without its checksum.
        decisions: The rows of `decisions` for the call.
    """
    return crc32(_encoder.encode((row, decisions)), before)


def decision_rows(count: int, cycles: Sequence[Cycle]) -> list[DecisionRow]:
    """Return the rows of `decisions` for a sequence of cycles.

    Args:
        count: The number of all cycles until the last of these, without idle cycles.
        cycles: The cycles; idle cycles have no rows.
    """
    rows: list[DecisionRow] = []
    busy = [cycle for cycle in cycles if not cycle.idle]
    for at, cycle in enumerate(busy, count - len(busy) + 1):
        for decision in cycle:
            flavors = targets = reason = ""
            if isinstance(decision, Admitted):
                flavors = _json.encode(decision.flavors).decode()
            else:
                reason = decision.reason
                if isinstance(decision, Preempting):
                    targets = _json.encode([target.workload for target in decision.targets]).decode()
            verdict = type(decision).__name__
            rows.append((at, verdict, decision.workload, decision.cluster_queue, reason, flavors, targets))
    return rows


def _new_token() -> str:
    text = secrets.token_hex(8)
    return f"{text}{crc32(text.encode()):08x}"


def is_token(text: object) -> bool:
    """Return whether a value read from the database file is a whole token."""
    return isinstance(text, str) and f"{crc32(text[:-8].encode()):08x}" == text[-8:]


def create(path: Path, at: int, state: bytes, lock: str) -> None:
    """Create a journal that begins with a saved state. The file is created atomically.

    Args:
        path: The file.
        at: The virtual time of the state, in nanoseconds since the Unix epoch.
        state: The saved state.
        lock: The identity of the lock file.

    Raises:
        StateError: The file cannot be written, or a `-wal` or `-journal` file exists without its database.
    """
    _check_no_log(path)
    with _placed(path) as draft, closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.executescript(
            f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; BEGIN; {_SCHEMA} COMMIT;"
        )
        connection.execute("INSERT INTO snapshot VALUES (0, ?, ?)", (at, state))
        row = (_new_token(), lock, crc32(state))
        connection.execute("INSERT INTO writer VALUES (?, '', ?, 0, ?)", row)
        connection.execute("PRAGMA journal_mode = WAL")


def _check_no_log(path: Path) -> None:
    for log in (Path(f"{path}-wal"), Path(f"{path}-journal")):
        with suppress(OSError):
            if log.stat().st_size:
                what = f"{path}: does not exist, but {log} does: the log of a file that was removed"
                raise StateError(f"{what}; put the file back, or remove the log")


def backup(journal: Path, path: Path) -> None:
    """Copy the last committed state of a journal that is in use to another file, which is created atomically.

    Args:
        journal: The journal.
        path: The copy.

    Raises:
        StateError: The copy cannot be written, or it is itself an open journal.
    """
    if Path(f"{path}-wal").exists():
        raise StateError(f"{path}: is in use, or was not closed in order: it has a log; back up to another file")
    with (
        _placed(path) as draft,
        closing(connected(journal)) as source,
        closing(sqlite3.connect(draft, isolation_level=None)) as target,
    ):
        source.backup(target)
        # With a token of its own, the copy never accepts a `-wal` file of the journal.
        target.execute("UPDATE writer SET token = ?, before = '', lock = ''", (_new_token(),))


@contextmanager
def _placed(path: Path) -> Iterator[Path]:
    """Yield a temporary file that only its owner can read, and rename it to `path` if the block succeeds."""
    # In the same directory, because a rename is atomic only within a file system.
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
    """Make renames in a directory durable, if the operating system supports it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def connected(path: Path, more: str = "") -> sqlite3.Connection:
    """Return a read-only connection to a database file."""
    return sqlite3.connect(f"{path.as_uri()}?mode=ro{more}", uri=True, isolation_level=None, timeout=PATIENCE)


def open_for_writing(
    path: Path, durability: Durability, read: End, *, lock: str
) -> tuple[sqlite3.Connection, str] | None:
    """Open the database for writing.

    Args:
        path: The file.
        durability: With `process`, committed calls survive if the process is killed. With `power`, committed calls also
            survive a power failure.
        read: The row of `writer` that was read earlier. Until the new token is written, any token in the database file
            is one of the tokens in the row of `writer`.
        lock: The identity of the lock file that this process holds. If the lock differs from the lock in the row of
            `writer`, the previous lock file might have been removed; in that case, no other process is allowed to have
            the journal open.

    Returns:
        The connection and the new token; `None` if the row of `writer` has changed since it was read. If the row has
        changed, a killed writer wrote one more call, which became visible only when the last reader closed the file.

    Raises:
        StateError: The file cannot be opened, or it is in use.
    """
    try:
        if lock != read.lock:
            _expect_nobody(path)
        opened = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        with closed_on_error(opened) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'FULL' if durability == 'power' else 'NORMAL'}")
            # A checkpoint takes time in the middle of a call, so that one follows 32 MiB instead of 4 MiB of log.
            connection.execute("PRAGMA wal_autocheckpoint = 8192")
            connection.execute("PRAGMA cache_spill = OFF")  # write no page to the WAL before the commit
            connection.execute("PRAGMA secure_delete = FAST")  # leave no previous token in an unused part of a page
            token = _new_token()
            sql = "UPDATE writer SET token = ?, before = ?, lock = ? WHERE token = ? AND number = ?"
            if connection.execute(sql, (token, read.before, lock, read.token, read.number)).rowcount != 1:
                connection.close()
                return None
            empty_log(connection, patience=1)
            return connection, token
    except (sqlite3.Error, StateError) as error:
        raise StateError(f"{path}: cannot be opened for writing: {error}") from error


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


def write_snapshot(connection: sqlite3.Connection, snapshot: Snapshot) -> None:
    """Replace the snapshot, and delete the calls before it, in the current transaction."""
    for table in ("snapshot", "calls", "decisions"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names of our own
    connection.execute("INSERT INTO snapshot VALUES (?, ?, ?)", snapshot)


def write_end(connection: sqlite3.Connection, token: str, number: int, checksum: int) -> None:
    """Write the number and the checksum of the last call in the current transaction.

    Raises:
        StateError: Another process has written to the journal.
    """
    sql = "UPDATE writer SET number = ?, checksum = ? WHERE token = ?"
    if connection.execute(sql, (number, checksum, token)).rowcount != 1:
        raise StateError("another Journal has written it")


def empty_log(connection: sqlite3.Connection, *, patience: int = 0) -> None:
    """Move the contents of the WAL into the database file and truncate the WAL, unless a reader prevents it.

    After a successful truncation, the database file contains the token and the WAL contains no transaction of another
    writer, so the list of previous tokens is cleared.

    Args:
        connection: The connection of the writer.
        patience: Time to wait for readers, in seconds.
    """
    if _is_emptied(connection, patience):
        connection.execute("UPDATE writer SET before = '' WHERE before <> ''")
        _is_emptied(connection, patience)


def _is_emptied(connection: sqlite3.Connection, patience: int) -> bool:
    connection.execute(f"PRAGMA busy_timeout = {patience * 1000}")
    is_busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000}")
    return not is_busy


# Python 3.10 has no error codes of SQLite, so that missing permissions are recognised by these texts.
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
    try:
        with closed_on_error(connected(path)) as connection:
            found = connection.execute("PRAGMA quick_check").fetchone()[0]
            if found != "ok":
                raise damaged(path, found)
            return connection
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise damaged(path, error) from None


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
        self._path = path
        with closed_on_error(open_for_reading(path)) as self._connection:
            self._begin(token)

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
