"""Disks that are full, and processes that are killed while they write: by the limit that a process has on files.

A write that would make a file larger than the limit (`RLIMIT_FSIZE`) writes what still fits, and then fails, or kills
the process. Which write that is follows from the limit alone.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_PARTS = ("", "-wal")


@contextmanager
def full(limit: int) -> Iterator[None]:
    """While no file of this process may grow beyond so many bytes: writes there fail."""
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def copy(path: Path, to: Path) -> None:
    """What a process leaves behind that is killed now, as another journal."""
    for source, target in zip(_files(path), _files(to), strict=True):
        target.unlink(missing_ok=True)
        if source.exists():
            shutil.copyfile(source, target)


def remove(path: Path) -> None:
    """Removes a journal, and all that belongs to it."""
    for suffix in (*_PARTS, "-shm", "-lock"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def killed(act: Callable[[Callable[[], None]], object], limit: int) -> bool:
    """Whether a process that does this is killed when it writes beyond the limit; else it is at the end.

    Args:
        act: What it does; it calls what it is given when the limit is to hold.
        limit: The size that no file may exceed, in bytes.

    Raises:
        AssertionError: It fails in another way.
    """

    def limit_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    child = os.fork()
    if child == 0:
        status = 1
        try:
            act(limit_files)
            status = 0
        except BaseException:  # noqa: BLE001 - it must not come back into the parent's code
            traceback.print_exc()
        os._exit(status)  # nothing is closed in good order
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGXFSZ, (
            f"a process that journals has died of signal {os.WTERMSIG(status)}"
        )
        return True
    assert os.WEXITSTATUS(status) == 0, "a process that journals has failed"
    return False


def _files(path: Path) -> tuple[Path, ...]:
    return tuple(path.with_name(path.name + part) for part in _PARTS)
