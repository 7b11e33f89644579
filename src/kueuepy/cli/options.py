"""Arguments and options that several commands share, and functions that read their files."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kueuepy.cli.output import progress
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.words import counted
from kueuepy.manifest import Manifest, load

if TYPE_CHECKING:
    from kueuepy.manifest.text.sources import One

Objects = Annotated[
    list[str], typer.Argument(metavar="FILE", help="YAML or JSON files, directories of them, or - for standard input.")
]
Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="YAML, JSON or CSV (jobs) files, directories of them, - for standard input, or a saved state.",
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
    """Read the objects in the files.

    Raises:
        InvalidSpecError: The files contain no object, for example because the command that writes them has failed.
        KueueError: A file cannot be read, or is not valid.
    """
    for name in files:
        if name.endswith(".csv"):
            raise InvalidSpecError(f"{name}: holds rows of jobs; objects are given as YAML or JSON")
    with progress(f"reading {counted(len(files), 'file')}"):
        found = load(paths(files), strict=not lenient, namespace=namespace, version=version)
    if files and found.is_empty:
        raise InvalidSpecError(f"{', '.join(files)}: nothing to read; there must be at least one object")
    return found


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
