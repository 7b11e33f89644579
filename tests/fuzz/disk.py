"""Simulation of full disks, and of processes that are killed during a write, by a limit on the size of files.

A write that would exceed the limit (`RLIMIT_FSIZE`) writes the part that fits. The write then fails, or the process is
killed. The limit alone determines which write this is.
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
    """Limit the size of files that this process can write, in bytes; larger writes fail inside the block."""
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def copy(path: Path, to: Path) -> None:
    """Copy the files that a process would leave behind if it were killed now."""
    for source, target in zip(_files(path), _files(to), strict=True):
        target.unlink(missing_ok=True)
        if source.exists():
            shutil.copyfile(source, target)


def remove(path: Path) -> None:
    """Remove a journal and its `-wal`, `-shm` and `-lock` files."""
    for suffix in (*_PARTS, "-shm", "-lock"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def killed(act: Callable[[Callable[[], None]], object], limit: int) -> bool:
    """Run a function in a child process, and return whether a write beyond the limit kills it.

    The child process ends without closing its files.

    Args:
        act: The function. Its argument is a function that activates the limit.
        limit: The maximum size of files, in bytes.

    Raises:
        AssertionError: The process fails in another way.
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
        except BaseException:  # noqa: BLE001 - the child must not return into the parent's code
            traceback.print_exc()
        os._exit(status)  # files are not closed, as after a crash
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
