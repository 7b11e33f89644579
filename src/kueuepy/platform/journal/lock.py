"""A lock file that allows only one Journal to write, and a check that open files are not removed or replaced.

SQLite uses `fcntl` locks on POSIX. A process loses all its `fcntl` locks on a file as soon as it closes any descriptor
of that file. For this reason, only SQLite opens journals; other code in this package only calls `stat` on them.
"""

import os
import sqlite3
import stat
import time
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from kueuepy.errors import InvalidSpecError, StateError

Identity: TypeAlias = tuple[int, int]
"""Device and inode number of a file."""
# Another process can remove the lock file between its creation and its locking.
_TRIES = 5
# The time in seconds between two attempts of a standby to take over.
_PAUSE = 0.05


def resolved(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file with all symbolic links resolved. The file need not exist.

    Raises:
        InvalidSpecError: The path is not a regular file, or the file has several hard links.
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
    """Return the device and inode number of a file; `None` if the file does not exist."""
    with suppress(OSError):
        found = os.stat(path)  # noqa: PTH116 - with each commit, and faster
        return found.st_dev, found.st_ino
    return None


class Lock:
    """The exclusive right of one Journal to write a file, held until it is released or the process ends.

    Attributes:
        path: The lock file, next to the journal.
        is_new: Whether the lock file did not exist before this process created it.
    """

    def __init__(self, journal: Path, wait: float = 0.0) -> None:
        """Acquire the lock.

        Args:
            journal: The file.
            wait: The maximum time to wait while another Journal holds the lock, in seconds.

        Raises:
            StateError: Another Journal holds the lock, or the lock file cannot be created.
        """
        self.path = f"{journal}-lock"
        self.is_new = identity(self.path) is None
        for _ in range(_TRIES):
            before = identity(self.path)
            self._acquire(journal, time.monotonic() + wait)
            # If the identity is unchanged, the locked file still has this name.
            if before is not None and before == identity(self.path):
                self.identity = before
                return
            self._connection.close()
        raise StateError(f"{journal}: cannot be locked: {self.path} is removed again and again")

    def _acquire(self, journal: Path, until: float) -> None:
        """Lock the file as soon as no other Journal has locked it, until a time of the monotonic clock."""
        try:
            # If several processes try at once, SQLite rejects all but one, which waits until the others have given up.
            self._connection = sqlite3.connect(self.path, timeout=0.1, isolation_level=None, check_same_thread=False)
            while not _begins(self._connection):
                if time.monotonic() >= until:
                    raise StateError(
                        f"{journal}: is in use by another Journal; only one may write it, and wait= waits for it"
                    )
                time.sleep(_PAUSE)
        except sqlite3.Error as error:
            why = error if journal.parent.is_dir() else f"{journal.parent} is not a directory"
            raise StateError(f"{journal}: cannot be locked: {why}") from None

    def __del__(self) -> None:
        """Release the lock if a constructor has failed or was interrupted.

        A connection refers to itself, so that Python alone would close it at some later time.
        """
        with suppress(AttributeError):  # it was interrupted before it had a connection
            self._connection.close()

    @property
    def name(self) -> str:
        """The device and inode number of the lock file, as text."""
        return "{}:{}".format(*self.identity)

    def release(self, *, remove: bool = False) -> None:
        """Release the lock.

        Args:
            remove: Whether to delete the lock file as well. Default: False.
        """
        if remove:
            with suppress(OSError):
                Path(self.path).unlink()
        self._connection.close()


_BUSY = 5  # SQLITE_BUSY, which sqlite3 has from Python 3.11 on


def is_locked(error: sqlite3.Error) -> bool:
    """Return whether an error means that another connection has locked the database.

    Before Python 3.11, only the message of the error contains the error code.
    """
    code = getattr(error, "sqlite_errorcode", None)
    return code == _BUSY if code is not None else "locked" in str(error)


def _begins(connection: sqlite3.Connection) -> bool:
    """Begin the transaction that locks a file, and return whether no other connection has locked it."""
    try:
        # The lock file has no content that could be lost.
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        if not is_locked(error):
            raise
        return False
    return True


class Guard:
    """Detection of open files that were removed or replaced. Data written to a removed or replaced file is lost."""

    def __init__(self, journal: Path, lock: Lock) -> None:
        """Record the identities of the journal, its WAL and its lock file."""
        log = f"{journal}-wal"
        self._files = ((str(journal), identity(journal)), (log, identity(log)), (lock.path, lock.identity))

    def fault(self) -> str:
        """Return the name of the file that was removed or replaced; an empty string if there is no such file."""
        for path, known in self._files:
            if known is None or identity(path) != known:
                return f"{path} was removed or replaced while it was in use"
        return ""
