"""Jobs of a file, and the options that say how it is read."""

from typing import Annotated, TypeAlias

import typer

from kueuepy.cli.options import read
from kueuepy.cli.output import progress
from kueuepy.cluster import Cluster
from kueuepy.simulation.table import Jobs

Format: TypeAlias = Annotated[
    str, typer.Option("--format", metavar="NAME", help="What the file of jobs is, as philly or swf.")
]
Map: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="NAME=COLUMN", help="What a column is called in the file; repeatable."),
]
Window: TypeAlias = Annotated[
    str | None, typer.Option("--window", metavar="FROM:TO", help="Only jobs submitted then, as 7d:21d.")
]


def read_jobs(path: str, kind: str, names: list[str] | None = None, window: str | None = None) -> Jobs:
    """The jobs of a file: a log, a table, or manifests; those of a window alone if one is given."""
    columns = dict(pair("--map", given) for given in names or ())
    with progress(f"reading {path}"):
        if kind == "auto" and path.endswith((".yaml", ".yml", ".json")):
            found = Jobs.from_manifests(Cluster.from_manifest(read([path], lenient=False), names=False))
        else:
            found = Jobs.read(path, kind, columns or None)
    if window is not None:
        first, _, last = window.partition(":")
        found = found.window(first or 0, last or None)
    return found


def pair(option: str, given: str, allowed: tuple[str, ...] = ()) -> tuple[str, str]:
    """Both sides of `NAME=VALUE`.

    Raises:
        BadParameter: It is something else, or the name is none of those that are allowed.
    """
    name, equals, value = given.partition("=")
    if not (name and equals and value) or (allowed and name not in allowed):
        names = f", NAME one of {', '.join(allowed)}" if allowed else ""
        raise typer.BadParameter(f"{given!r}; it must be NAME=VALUE{names}", param_hint=f"'{option}'")
    return name, value
