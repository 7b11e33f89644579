"""Reading of a file of jobs, and the options that control it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal, TypeAlias

import typer

from kueuepy.cli.options import read
from kueuepy.cli.output import progress
from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.words import counted
from kueuepy.simulation.censoring import censored_rows
from kueuepy.simulation.columns import MissingColumnsError
from kueuepy.simulation.table import Jobs

JobsFile: TypeAlias = Annotated[
    str, typer.Option("--jobs", metavar="FILE", help="File of jobs to simulate: a log, a table or manifests.")
]
Format: TypeAlias = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="NAME",
        help="Format of the jobs file, e.g. csv, swf or philly; auto detects the format.",
    ),
]
Map: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="NAME=COLUMN",
        help="Read the job field NAME from the column COLUMN, e.g. queue=team; repeatable.",
    ),
]
Window: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--window",
        metavar="FROM:TO",
        help="Keep only jobs submitted at or after time FROM and before time TO, e.g. 7d:21d.",
    ),
]


Censored: TypeAlias = Annotated[
    Literal["drop", "exponential"] | None,
    typer.Option(
        "--censored", help="Drop unfinished jobs, or draw their remaining runtimes from an exponential distribution."
    ),
]


@contextmanager
def named_by_options() -> Iterator[None]:
    """Name the option `--map` instead of the argument `map` in an error about missing columns inside the context."""
    try:
        yield
    except MissingColumnsError as error:
        options = " ".join(f"--map {name}=COLUMN" for name in error.names)
        raise InvalidSpecError(error.text(options)) from None


def read_jobs(
    path: str,
    kind: str,
    names: list[str] | None = None,
    window: str | None = None,
    censored: Literal["drop", "exponential"] | None = None,
    *,
    option: str = "--censored",
) -> Jobs:
    """Read the jobs of a log, a table, manifests, a recording or a running cluster.

    Args:
        path: The file or the source.
        kind: The file format; `auto` detects it.
        names: Pairs `NAME=COLUMN` that rename columns.
        window: The time window of the submissions, `FROM:TO`; all jobs by default.
        censored: How to treat jobs that had not finished when the log was recorded.
        option: The name of the argument `censored` in error messages.

    Raises:
        InvalidSpecError: Some jobs had not finished, and `censored` is not set.
    """
    columns = dict(pair("--map", given) for given in names or ())
    with progress(f"reading {path}"), named_by_options():
        if kind == "auto" and path.endswith((".yaml", ".yml", ".json")):
            cluster = Cluster.from_manifest(read([path], lenient=False), names=False)
            observed = [one for one in cluster.workloads if one.status is not None and one.status.conditions]
            found = Jobs.from_workloads(path) if observed and not cluster.jobs else Jobs.from_manifests(cluster)
        else:
            found = Jobs.read(path, kind, columns or None)
    if censored is not None:
        found = found.complete(censored)
    elif left := int(censored_rows(found.exact()).sum()):
        raise InvalidSpecError(
            f"{path}: {counted(left, 'job')} had not finished, so the runtime is only a lower bound; "
            f"{option} must be drop or exponential"
        )
    if window is not None:
        first, _, last = window.partition(":")
        found = found.window(first or 0, last or None)
    return found


def pair(option: str, given: str, allowed: tuple[str, ...] = ()) -> tuple[str, str]:
    """Split `NAME=VALUE` into its two sides.

    Raises:
        BadParameter: The text has another form, or the name is not one of the allowed names.
    """
    name, equals, value = given.partition("=")
    if not (name and equals and value) or (allowed and name not in allowed):
        names = f", NAME one of {', '.join(allowed)}" if allowed else ""
        raise typer.BadParameter(f"{given!r}; it must be NAME=VALUE{names}", param_hint=f"'{option}'")
    return name, value
