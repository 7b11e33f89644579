"""Sources of manifests: files, directories, strings, open files, parsed objects, running clusters and recordings."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

from kueuepy.errors import LimitError, ManifestError, NotFoundError, Problem
from kueuepy.files import is_file
from kueuepy.manifest.text.reading import Item, read
from kueuepy.manifest.text.text import Limits, Text
from kueuepy.sources import LiveSource, readers

One: TypeAlias = str | bytes | os.PathLike[str] | IO[str] | IO[bytes] | Mapping[str, Any] | LiveSource
Source: TypeAlias = One | Iterable[One]
"""A path, a directory, a string, an open file, a parsed object, a running cluster, or an iterable of these.

`cluster:` is the cluster of the current kubeconfig context, `cluster:NAME` that of another context, and `cluster:in`
the cluster in which the process runs. A path of a recording, such as `history.db`, or of one of its times, such as
`history.db@2026-11-20T10:00:00Z`, is also accepted.
"""

_SUFFIXES = tuple(f".{suffix}{zipped}" for suffix in ("yaml", "yml", "json") for zipped in ("", ".gz"))
_NOWHERE = Text("object", b"")
CLUSTER = "cluster:"
"""The beginning of the name of a running cluster."""
_RECORDING = ".db"


def items(source: Source, limits: Limits, *, strict: bool) -> Iterator[Item]:
    """Iterate over the documents and objects of a source, in order.

    Raises:
        NotFoundError: A file does not exist.
        ManifestError: A file is not YAML or JSON.
        LimitError: A file exceeds a limit.
    """
    source = opened(source)
    if isinstance(source, LiveSource):
        location = Text(source.name, b"")
        for value in source:
            yield Item(value, location)
    elif isinstance(source, Mapping):
        yield Item(dict(source), _NOWHERE)
    elif isinstance(source, bytes):
        yield from read("text", source, limits, strict=strict)
    elif isinstance(source, str) and _is_text(source):
        yield from read("text", source.encode("utf-8", "surrogatepass"), limits, strict=strict)
    elif isinstance(source, str | os.PathLike):
        yield from _file(Path(source), limits, strict=strict)
    elif hasattr(source, "read") and hasattr(source, "close"):
        yield from _open_file(cast("IO[Any]", source), limits, strict=strict)
    else:
        yield from _all(source, limits, strict=strict)


def is_live(source: object) -> bool:
    """Return whether a source is a running cluster or a recording, given by its name or already opened."""
    if isinstance(source, LiveSource):
        return True
    if not isinstance(source, str | os.PathLike):
        return False
    name = os.fspath(source)
    return isinstance(name, str) and (name.startswith(CLUSTER) or is_recording(name))


def is_recording(name: str) -> bool:
    """Return whether a name is the name of a recording: `FILE.db` or `FILE.db@TIME`."""
    return "\n" not in name and (name.endswith(_RECORDING) or f"{_RECORDING}@" in name)


def opened(source: Any) -> Any:
    """Return a source in which the names of running clusters and recordings are replaced with readers.

    Raises:
        ApiError: A cluster cannot be reached.
        UnsupportedError: The Kubernetes client is not installed.
        NotFoundError: A recording cannot be read.
    """
    if isinstance(source, list | tuple):
        return [opened(one) for one in source]
    if isinstance(source, LiveSource) or not is_live(source):
        return source
    name = os.fspath(source)
    if name.startswith(CLUSTER):
        return readers().cluster(name.removeprefix(CLUSTER))
    return readers().state(name)


def live_parts(source: Any) -> list[LiveSource]:
    """Return the running clusters and recordings that an opened source contains."""
    parts = source if isinstance(source, list) else [source]
    return [one for one in parts if isinstance(one, LiveSource)]


def _all(sources: Iterable[One], limits: Limits, *, strict: bool) -> Iterator[Item]:
    """Iterate over the documents of several sources. Errors are raised after all sources are read.

    Raises:
        ManifestError: Some documents could not be read; the message has one line for each of them.
    """
    problems: list[tuple[str, Problem]] = []
    for part in sources:
        try:
            yield from items(part, limits, strict=strict)
        except ManifestError as error:  # noqa: PERF203 - few sources
            problems += error.problems
    if problems:
        raise ManifestError(problems)


def _is_text(source: str) -> bool:
    """Return whether a string is a manifest instead of a path."""
    return not source.strip() or "\n" in source or ": " in source or source.lstrip()[0] in "{["


def _open_file(source: IO[Any], limits: Limits, *, strict: bool) -> Iterator[Item]:
    data = source.read()
    yield from read(
        str(getattr(source, "name", "text")), data.encode() if isinstance(data, str) else data, limits, strict=strict
    )


def _file(path: Path, limits: Limits, *, strict: bool) -> Iterator[Item]:
    """Iterate over the documents of a file, or of all YAML and JSON files in a directory tree, sorted by name."""
    found = _content(path, limits.document_bytes)
    if isinstance(found, bytes):
        yield from read(str(path), found, limits, strict=strict)
    elif isinstance(found, int):
        raise LimitError(str(path), "document_bytes", limits.document_bytes, f"the file has {found:,} bytes")
    else:
        yield from items(found, limits, strict=strict)


_UNRENDERED = {
    "Chart.yaml": "is part of a Helm chart; give the output of: helm template",
    "kustomization.yaml": "is part of a kustomization; give the output of: kubectl kustomize",
    "kustomization.yml": "is part of a kustomization; give the output of: kubectl kustomize",
}
"""What to do about a file with each name, and about the directory that contains it."""


def _expect_rendered(path: Path) -> None:
    """Check that a path is neither a chart, nor a kustomization, nor a Terraform module.

    Raises:
        ManifestError: The path must be rendered first; the message names the command.
    """
    where = path.parent if path.name in _UNRENDERED or path.suffix == ".tf" else path
    ways = [f"{how} {where}" for name, how in _UNRENDERED.items() if path.name == name or is_file(path / name)]
    if path.suffix == ".tf":
        ways = [
            f"is Terraform; apply it, and give the output of: kubectl get -o yaml, or terraform -chdir={where} show"
        ]
    if ways:
        raise ManifestError([(str(path), Problem((), "Invalid", ways[0]))])


def _content(path: Path, most: int) -> bytes | int | list[Path]:
    """Return the bytes of a file, or its size if the file exceeds the limit; for a directory, return its files."""
    _expect_rendered(path)
    try:
        if path.is_dir():
            return sorted(found for found in path.rglob("*") if found.name.endswith(_SUFFIXES) and found.is_file())
        size = path.stat().st_size
        return size if size > most else path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise NotFoundError(f"{str(path)[:200]}: cannot be read: {reason}") from error
