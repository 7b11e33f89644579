"""Progress of reading a dump, as a bar on the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from kueuepy.files import is_directory, is_file

if TYPE_CHECKING:
    from kueuepy.manifest.text.text import Text

Progress: TypeAlias = Callable[[int, int], None]
"""A function of the number of bytes read and the total number of bytes; in the last call, the two numbers are equal."""
_WIDTH = 40


class ProgressReporter:
    """A counter of the bytes read, which reports every percent."""

    def __init__(self, source: Any, progress: Progress | None) -> None:
        """Create the reporter; it reports nothing if the total size is unknown."""
        self._total = _bytes_of(source) or 0
        self._tell = progress if self._total else None
        self._done = self._told = 0
        self._text: Text | None = None

    def count(self, text: Text) -> None:
        """Count the bytes of the text from which an object was read."""
        if text is self._text or self._tell is None:
            return
        self._text = text
        self._done += text.size
        percent = 100 * self._done // self._total
        if percent > self._told and self._done < self._total:
            self._told = percent
            self._tell(self._done, self._total)

    def finish(self) -> None:
        """Report that everything has been read and placed."""
        if self._tell is not None:
            self._tell(self._total, self._total)


def terminal_bar() -> Progress | None:
    """Return a progress bar for standard error if it is a terminal; `None` otherwise."""
    return bar(sys.stderr) if sys.stderr.isatty() else None


def bar(out: TextIO) -> Progress:
    """Return a progress bar that is redrawn whenever its length changes."""

    def draw(done: int, total: int) -> None:
        filled = _WIDTH * done // total
        end = "\n" if done == total else ""
        out.write(f"\r[{'#' * filled}{'.' * (_WIDTH - filled)}] {100 * done // total:3d} %{end}")
        out.flush()

    return draw


def _bytes_of(source: Any) -> int | None:
    """Return the number of bytes to read; `None` if it is unknown."""
    if isinstance(source, str | os.PathLike) and not (isinstance(source, str) and "\n" in source):
        path = Path(source)
        if is_directory(path):
            return sum(found.stat().st_size for found in path.rglob("*") if found.is_file())
        return path.stat().st_size if is_file(path) else None
    if isinstance(source, bytes):
        return len(source)
    if isinstance(source, list | tuple):
        sizes = [_bytes_of(part) for part in source]
        return None if None in sizes else sum(size for size in sizes if size is not None)
    return None
