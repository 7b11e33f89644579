"""Files by name, and writing of files: if a file cannot be written completely, its previous content remains."""

import os
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Protocol, TypeAlias, TypeVar

from kueuepy.errors import StateError

SAVED = "kueuepy-scheduler"
"""The format of a saved state of a Scheduler, which is at its beginning."""
Write: TypeAlias = "Callable[[BinaryIO], object]"
"""A function that writes the content of a file."""


class _Closable(Protocol):
    def close(self) -> None: ...


C = TypeVar("C", bound=_Closable)


def begins_saved_state(data: bytes) -> bool:
    """Return whether data has the beginning of a saved state."""
    # MessagePack writes one byte for the array, and at most two before the text.
    return SAVED.encode() in data[: 1 + 2 + len(SAVED)]


@contextmanager
def closed_on_error(opened: C) -> Iterator[C]:
    """Close a resource if the block raises any exception, also KeyboardInterrupt; otherwise leave it open."""
    try:
        yield opened
    except BaseException:
        opened.close()
        raise


def is_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file exists; `Path.is_file` raises OSError for a name that is too long for any file."""
    return os.path.isfile(path)  # noqa: PTH113 - see above


def is_directory(path: str | os.PathLike[str]) -> bool:
    """Return whether a directory exists; no directory has a name that is too long or has a NUL character."""
    return os.path.isdir(path)  # noqa: PTH112 - as in `is_file`


# The first bytes of compressed files that are not read.
_OTHERS = {b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd"}


def uncompressed(data: bytes, most: int = -1) -> bytes:
    """Return data, decompressed if it is gzipped; the first bytes show it, whatever the name of its file is.

    Args:
        data: The data.
        most: The number of bytes after which decompression ends. Default: all bytes.

    Raises:
        OSError: The compressed data is damaged, or has another format.
    """
    if name := next((name for start, name in _OTHERS.items() if data.startswith(start)), ""):
        raise OSError(f"it is compressed by {name}; only gzip is read, so decompress it first")
    if data[:2] != b"\x1f\x8b":
        return data
    import gzip  # noqa: PLC0415 - few files are compressed
    import zlib  # noqa: PLC0415 - see above

    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as file:
            return file.read(most)
    except (EOFError, zlib.error) as error:
        raise OSError(f"it is gzipped and damaged: {error}") from error


def write_file(path: str | os.PathLike[str], content: str | bytes, *, mode: int = 0o666, regular: bool = False) -> None:
    """Write a file; an existing file is replaced atomically, and keeps its permissions.

    Args:
        path: The file. A symbolic link remains, and the file to which it points is replaced.
        content: The content; text is encoded as UTF-8.
        mode: The permissions of a new file, from which the umask is subtracted. Default: 0o666.
        regular: Whether a pipe or a device is an error, instead of written directly.

    Raises:
        StateError: The file cannot be written; the message names it.
    """
    data = content.encode() if isinstance(content, str) else content
    write_files({path: lambda file: file.write(data)}, mode=mode, regular=regular)


def write_files(contents: Mapping[str | os.PathLike[str], Write], *, mode: int = 0o666, regular: bool = False) -> None:
    """Write several files. No existing file changes before all contents are on the disk.

    Args:
        contents: The function that writes the content, by file.
        mode: The permissions of new files.
        regular: Whether a pipe or a device is an error, instead of written directly.

    Raises:
        StateError: A file cannot be written; the message names it.
    """
    drafts: dict[Path, Path] = {}
    path: str | os.PathLike[str] = ""
    try:
        for path, write in contents.items():
            target = Path(os.path.realpath(path))
            draft = target.with_name(f".{secrets.token_hex(8)}.new")
            drafts[draft] = target  # before it exists, so that no interruption leaves it there
            if not _create(draft, target, mode, regular=regular):
                del drafts[draft]
                with target.open("wb") as file:
                    write(file)
                continue
            with draft.open("wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
        for draft, target in drafts.items():
            path = target
            draft.replace(target)
    except OSError as error:
        raise StateError(f"{path}: cannot be written: {error.strerror or error}") from error
    except ValueError as error:  # a path that contains a null character
        raise StateError(f"{path!r:.99}: cannot be written: {error}") from error
    finally:
        for draft in drafts:
            with suppress(OSError):
                draft.unlink(missing_ok=True)


def _create(draft: Path, target: Path, mode: int, *, regular: bool) -> bool:
    """Create an empty file next to another file; return False if the other file must be written directly.

    Devices and pipes are written directly, and files in a directory in which no file can be created.
    """
    status = target.stat() if target.exists() else None
    if status is not None and not stat.S_ISREG(status.st_mode):
        if regular and not stat.S_ISDIR(status.st_mode):
            raise OSError("it is a pipe or a device; it must be a file")
        return False
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
    except PermissionError:
        if status is None:
            raise
        return False
    if status is not None:
        with suppress(OSError):
            os.chown(draft, status.st_uid, status.st_gid)
        draft.chmod(stat.S_IMODE(status.st_mode))
    return True
