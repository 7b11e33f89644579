"""Guards for standard output and standard error, so that no command has to handle their failures.

If the reader of a pipe stops, the remaining output is dropped and the command ends normally. Characters that the
encoding lacks are replaced. Failing to write standard output, for example to a full disk or a closed descriptor, is an
error. Failures of standard error are ignored, because there is nowhere else to report them.
"""

import errno
import io
import os
import sys
from collections.abc import Callable
from typing import IO, Any, TextIO

_WRONG_OUTPUT = 1
_STDOUT = "standard output"


class _Raw(io.RawIOBase):
    """An unbuffered target of a stream that ignores one kind of error and drops all output after it."""

    def __init__(self, target: Any, passed_over: type[OSError]) -> None:
        """Wrap an unbuffered target; `None` is a closed descriptor."""
        self._target = target
        self._passed_over = passed_over
        self.drops = False

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._target is not None and self._target.isatty()

    def fileno(self) -> int:
        if self._target is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        found: int = self._target.fileno()
        return found

    def write(self, data: Any) -> int | None:
        if not self.drops:
            try:
                if self._target is None:
                    raise OSError(errno.EBADF, os.strerror(errno.EBADF))
                written: int | None = self._target.write(data)
            except self._passed_over:
                self.drops = True
            else:
                return written
        return len(data)


def _guarded(stream: TextIO | None, passed_over: type[OSError], errors: str) -> tuple[Any, _Raw | None]:
    """Return a guarded replacement of a stream, or the stream itself if it has no byte buffer."""
    if stream is not None and not hasattr(stream, "buffer"):
        return stream, None
    buffer: IO[bytes] | None = None
    if stream is not None:
        stream.flush()
        buffer = stream.buffer
    raw = _Raw(getattr(buffer, "raw", buffer), passed_over)
    encoding = "utf-8" if stream is None else stream.encoding
    lines = stream is not None and bool(stream.line_buffering)
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=lines), raw


def guarded(run: Callable[[], int]) -> int:
    """Run a command and return its exit code, which is 1 if its output cannot be written, or a file cannot be used."""
    given = sys.stdout, sys.stderr
    out, out_raw = _guarded(given[0], BrokenPipeError, "replace")
    err, err_raw = _guarded(given[1], OSError, "backslashreplace")
    sys.stdout, sys.stderr = out, err
    try:
        code = run()
        out.flush()
    except OSError as error:
        what = error.filename if isinstance(error.filename, str) else f"{_STDOUT}: cannot be written"
        err.write(f"error: {what}: {error.strerror or error}\n")
        code = _WRONG_OUTPUT
    finally:
        sys.stdout, sys.stderr = given
        if err_raw is not None:
            err.flush()
        # A stream that is closed later must not raise the error again.
        for raw in (out_raw, err_raw):
            if raw is not None:
                raw.drops = True
    return code
