"""Arguments and options that several commands share, and functions that read their files."""

import sys
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from kueuepy.cli.output import progress, say
from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.words import counted
from kueuepy.manifest import Manifest, load
from kueuepy.manifest.text.sources import is_live, live_parts, opened

if TYPE_CHECKING:
    from kueuepy.manifest.text.sources import One

Objects = Annotated[
    list[str],
    typer.Argument(metavar="FILE", help="YAML or JSON files, directories, - for standard input, or cluster:CONTEXT."),
]
Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="YAML, JSON or CSV (jobs) files, directories, -, a saved state, cluster:CONTEXT, or a recording.",
    ),
]
Namespace = Annotated[
    str,
    typer.Option("--namespace", "-n", metavar="NAME", help="Namespace of objects and rows that do not specify one."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Lenient = Annotated[
    bool,
    typer.Option("--lenient", help="Correct and report input that an API server would reject, where possible."),
]
KueueVersion = Annotated[
    str | None,
    typer.Option(
        "--kueue-version", metavar="VERSION", help="Release of Kueue to imitate, v0.15 to v0.20-devel (the default)."
    ),
]
AsIs = Annotated[bool, typer.Option("--as-is", help="Use the state in the files; do not run scheduling cycles first.")]
ExitCode = Annotated[bool, typer.Option("--exit-code", help="Exit with 3 if any decision differs.")]
Rows = Annotated[int, typer.Option("--rows", min=1, metavar="N", help="Maximum number of rows printed per table.")]


def examples(*lines: str) -> str:
    """Format example command lines for the end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def read(files: list[str], *, lenient: bool, namespace: str = "default", version: str | None = None) -> Manifest:
    """Read the objects in files, running clusters and recordings; print notes on what a cluster does not show.

    Raises:
        InvalidSpecError: The files contain no object, for example because the command that writes them has failed.
        KueueError: A file cannot be read, or is not valid.
    """
    for name in files:
        if name.endswith(".csv"):
            raise InvalidSpecError(f"{name}: holds rows of jobs; objects are given as YAML or JSON")
    with progress(f"reading {counted(len(files), 'source')}"):
        source = opened(paths(files))
        live = live_parts(source)
        found = load(source, strict=not (lenient or live), namespace=namespace, version=version)
    for one in live:
        for note in one.notes:
            say(f"note: {note}", stderr=True)
    if files and found.is_empty:
        raise InvalidSpecError(f"{', '.join(files)}: nothing to read; there must be at least one object")
    return found


def read_cluster(files: list[str], *, lenient: bool, version: str | None = None) -> Cluster:
    """Read the configuration of a cluster, on which a command runs jobs from another file.

    The Workloads of a running cluster or of a recording are left out, because they would never end.

    Raises:
        KueueError: A file cannot be read, or is not valid.
    """
    manifest = read(files, lenient=lenient, version=version)
    live = [name for name in files if is_live(name)]
    if live and manifest.workloads:
        left = counted(len(manifest.workloads), "Workload")
        say(f"note: {', '.join(live)}: {left} left out; the command runs the jobs that you give it", stderr=True)
        manifest = msgspec.structs.replace(manifest, workloads=())
    return Cluster.from_manifest(manifest, names=not (lenient or live))


def paths(files: list[str]) -> "list[One]":
    """Return the files named on a command line; `-` is standard input.

    Raises:
        NotFoundError: Standard input is closed.
    """
    if "-" in files and sys.stdin is None:
        raise NotFoundError("standard input: cannot be read: it is closed")
    return [sys.stdin.buffer if name == "-" else _Path(name) for name in files]


class _Path:
    """A file name; `load` would parse a plain string that looks like YAML as the text itself."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __fspath__(self) -> str:
        return self._name
