"""`kueuepy jobs`: describe a log of jobs, or convert it to a table."""

from pathlib import Path
from typing import Annotated

import typer

from kueuepy.cli.logs import Format, Map, named_by_options, pair
from kueuepy.cli.options import Json, examples, read_cluster
from kueuepy.cli.output import print_json, progress, say, table
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.words import counted
from kueuepy.look.numbers import duration
from kueuepy.simulation.table import Jobs

EXAMPLES = examples(
    "kueuepy jobs describe philly.csv.gz",
    "kueuepy jobs describe log.csv --map queue=team --on objects.yaml",
    "kueuepy jobs convert NASA-iPSC-1993-3.1-cln.swf.gz --to jobs.parquet",
)
app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})

_File = Annotated[str, typer.Argument(metavar="FILE", help="File of jobs: a log or a table, optionally gzipped.")]


def _read(path: str, kind: str, given: list[str] | None) -> Jobs:
    names = dict(pair("--map", one) for one in given or ())
    with progress(f"reading {path}"), named_by_options():
        return Jobs.read(path, kind, names or None)


def _notes(found: Jobs) -> None:
    for what, rows in found.notes:
        say(f"note: {counted(rows, 'row')}: {what}", style="cyan", stderr=True)


@app.command("describe", short_help="Describe the jobs of each queue.")
def describe(
    file: _File,
    *,
    format: Format = "auto",  # noqa: A002 - as the option is called
    map: Map = None,  # noqa: A002
    on: Annotated[
        list[str] | None,
        typer.Option("--on", metavar="FILE", help="Cluster configuration file to check the jobs against; repeatable."),
    ] = None,
    json: Json = False,
) -> None:
    """Describe the jobs of each queue: the number of jobs and their mean usage.

    With --on, also print the load, that is the mean usage divided by the nominal quota, and warn about missing queues
    and jobs that can never fit.
    """
    found = _read(file, format, map)
    cluster = None if on is None else read_cluster(on, lenient=False)
    rows = found.describe(cluster)
    problems = [] if cluster is None else list(found.check(cluster))
    if json:
        notes = [{"what": what, "rows": count} for what, count in found.notes]
        print_json(
            {"jobs": len(found), "seconds": found.span, "queues": rows.rows(), "notes": notes, "problems": problems}
        )
        return
    _notes(found)
    lines = [[f"{value:.4g}" if isinstance(value, float) else value for value in row.values()] for row in rows.rows()]
    table("", rows.names, lines)
    for problem in problems:
        say(f"warning: {problem}", style="yellow")
    say(f"{counted(len(found), 'job')} submitted in {duration(found.span)}", style="bold")


@app.command("convert", short_help="Convert a log to a Parquet table.")
def convert(
    file: _File,
    *,
    to: Annotated[
        str, typer.Option("--to", metavar="FILE", help="Parquet file to write; its name must end with .parquet or .pq.")
    ],
    format: Format = "auto",  # noqa: A002 - as the option is called
    map: Map = None,  # noqa: A002
) -> None:
    """Convert a log to a Parquet table, which loads faster."""
    if Path(to).suffix not in (".parquet", ".pq"):
        raise InvalidSpecError(f"{to}: its name must end with .parquet or .pq")
    found = _read(file, format, map)
    found.to_parquet(to)
    _notes(found)
    say(f"{counted(len(found), 'job')} written to {to}")
