"""Who may write a journal: a lock beside the file, and a guard over the files that were opened.

SQLite's locks on POSIX are those of `fcntl`: a process loses all that it has on a file as soon as it closes any
descriptor of that file. So nothing in this package opens a journal but SQLite itself; files are only looked at by name.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from kueuepy.errors import InvalidSpecError, StateError

Identity: TypeAlias = tuple[int, int]
"""Device and number of a file, by whatever name."""
_TRIES = 5


def resolved(path: str | os.PathLike[str]) -> Path:
    """The file that a path leads to, through all symbolic links; it need not be there.

    Raises:
        InvalidSpecError: It leads to something that is no file, or to a file with several names.
    """
    found = Path(os.path.realpath(path))
    try:
        status = found.stat()
    except (FileNotFoundError, NotADirectoryError):
        return found
    except OSError as error:
        raise InvalidSpecError(f"{path}: cannot be read: {error.strerror}; it must be a file") from error
    if not stat.S_ISREG(status.st_mode):
        raise InvalidSpecError(f"{path}: cannot be read: it is a directory or a device; it must be a file")
    if status.st_nlink > 1:
        raise InvalidSpecError(
            f"{path}: has {status.st_nlink} names (hard links); it must have one, by which SQLite finds its log"
        )
    return found


def identity(path: str | os.PathLike[str]) -> Identity | None:
    """Which file has this name; none if there is no such file."""
    with suppress(OSError):
        found = os.stat(path)  # noqa: PTH116 - with each commit, and faster
        return found.st_dev, found.st_ino
    return None


class Lock:
    """Holds a journal for one Journal of one process, until it is released or the process is gone.

    Attributes:
        path: The file beside the journal that is locked.
        is_new: Whether that file was not there before.
    """

    def __init__(self, journal: Path) -> None:
        """Takes it.

        Raises:
            StateError: Another Journal holds it, or there is no place for the lock.
        """
        self.path = f"{journal}-lock"
        self.is_new = identity(self.path) is None
        for _ in range(_TRIES):
            before = identity(self.path)
            self._connection = _locked(journal, self.path)
            # Equal before and after, it is the file that was locked, and nobody has put another one in its place.
            if before is not None and before == identity(self.path):
                self.identity = before
                return
            self._connection.close()
        raise StateError(f"{journal}: cannot be locked: {self.path} is removed again and again")

    @property
    def name(self) -> str:
        """Which file it is, by whatever path."""
        return "{}:{}".format(*self.identity)

    def release(self, *, remove: bool = False) -> None:
        """Gives it back, without a trace if asked to."""
        if remove:
            with suppress(OSError):
                Path(self.path).unlink()
        self._connection.close()


_BUSY = 5  # SQLITE_BUSY, which sqlite3 has from Python 3.11 on


def is_locked(error: sqlite3.Error) -> bool:
    """Whether somebody else holds the database. Before Python 3.11, an error tells that in its message only."""
    code = getattr(error, "sqlite_errorcode", None)
    return code == _BUSY if code is not None else "locked" in str(error)


def _locked(journal: Path, path: str) -> sqlite3.Connection:
    connection = None
    try:
        # Of several that try at once, SQLite turns all but one away, and that one waits until they are gone.
        connection = sqlite3.connect(path, timeout=0.1, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        if connection is not None:
            connection.close()
        if is_locked(error):
            raise StateError(f"{journal}: is in use by another Journal ({error}); only one may write it") from None
        raise StateError(f"{journal}: cannot be locked: {error}") from None
    return connection


class Guard:
    """Notices when a file that is open no longer has its name: what is written to it then is lost with it."""

    def __init__(self, journal: Path, lock: Lock) -> None:
        """Remembers the files of an open journal: itself, its log, and its lock."""
        log = f"{journal}-wal"
        self._files = ((str(journal), identity(journal)), (log, identity(log)), (lock.path, lock.identity))

    def fault(self) -> str:
        """Which file is no longer there, or is another one; empty while all are."""
        for path, known in self._files:
            if known is None or identity(path) != known:
                return f"{path} was removed or replaced while it was in use"
        return ""
