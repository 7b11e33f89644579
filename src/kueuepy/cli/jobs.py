"""`kueuepy jobs`: describe a log of jobs, or convert it to a table."""

from pathlib import Path

from kueuepy.cli.logs import Log
from kueuepy.cli.options import Reading
from kueuepy.cli.output import print_json, say, table
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.words import counted
from kueuepy.look.numbers import duration
from kueuepy.simulation.table import Jobs


def describe(
    file: str, *, format_: str = "auto", map_: tuple[str, ...] = (), on: tuple[str, ...] = (), json: bool = False
) -> None:
    """Describe the jobs of each queue: the number of jobs and their mean usage.

    With --on, also print the load, that is the mean usage divided by the nominal quota, and warn about missing queues
    and jobs that can never fit.

    Options:
        file (FILE): File of jobs: a log or a table, optionally gzipped.
        on (FILE): Cluster configuration file to check the jobs against; repeatable.

    Examples:
        kueuepy jobs describe philly.csv.gz
        kueuepy jobs describe log.csv --map queue=team --on objects.yaml
        kueuepy jobs convert NASA-iPSC-1993-3.1-cln.swf.gz --to jobs.parquet
    """
    found = Log(format_, map_).recorded(file)
    cluster = Reading().cluster(list(on)) if on else None
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


def convert(file: str, *, to: str, format_: str = "auto", map_: tuple[str, ...] = ()) -> None:
    """Convert a log to a Parquet table, which loads faster.

    Options:
        file (FILE): File of jobs: a log or a table, optionally gzipped.
        to (FILE): Parquet file to write; its name must end with .parquet or .pq.
    """
    if Path(to).suffix not in (".parquet", ".pq"):
        raise InvalidSpecError(f"{to}: its name must end with .parquet or .pq")
    found = Log(format_, map_).recorded(file)
    found.to_parquet(to)
    _notes(found)
    say(f"{counted(len(found), 'job')} written to {to}")


def _notes(found: Jobs) -> None:
    for what, rows in found.notes:
        say(f"note: {counted(rows, 'row')}: {what}", style="cyan", stderr=True)
