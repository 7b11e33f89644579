"""Arguments and options that several commands have, and how their files are read."""

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
    list[str], typer.Argument(metavar="FILE", help="YAML or JSON files; directories; - for standard input.")
]
Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="YAML, JSON or, with jobs, CSV files; directories; - for standard input; what import --save wrote.",
    ),
]
Namespace = Annotated[
    str,
    typer.Option("--namespace", "-n", metavar="NAME", help="The namespace of objects and rows that name none."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text for people.")]
Lenient = Annotated[
    bool,
    typer.Option("--lenient", help="Put right, and note, what an API server would refuse, where that is possible."),
]
KueueVersion = Annotated[
    str | None,
    typer.Option("--kueue-version", metavar="VERSION", help="Decide as this release of Kueue: v0.15 to v0.20-devel."),
]
AsIs = Annotated[
    bool, typer.Option("--as-is", help="Ask about the files as they are, without first deciding about what waits.")
]
ExitCode = Annotated[bool, typer.Option("--exit-code", help="Exit with 3 if anything is decided otherwise.")]
Rows = Annotated[int, typer.Option("--rows", min=1, metavar="N", help="How many rows of each table to show.")]


def examples(*lines: str) -> str:
    """The end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def read(files: list[str], *, lenient: bool, namespace: str = "default", version: str | None = None) -> Manifest:
    """All that the files hold.

    Raises:
        InvalidSpecError: There is nothing in them, as when the command that should have written them has failed.
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
    """The files of a command line; `-` is standard input.

    Raises:
        NotFoundError: Standard input is closed.
    """
    if "-" in files and sys.stdin is None:
        raise NotFoundError("standard input: cannot be read: it is closed")
    return [sys.stdin.buffer if name == "-" else _Path(name) for name in files]


class _Path:
    """A file's name, never taken for a text even if it looks like one."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __fspath__(self) -> str:
        return self._name
