"""`kueuepy play`: a page with sliders; each change of a slider simulates the same jobs again."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from kueuepy.cli.logs import Format, Window, read_jobs
from kueuepy.cli.options import KueueVersion, Lenient, examples, read_cluster
from kueuepy.cli.serving import Browser, Port, serve_page
from kueuepy.errors.words import counted, plural
from kueuepy.lab.play import Playground, Server

EXAMPLES = examples(
    "kueuepy play examples/week/teams.yaml examples/week/jobs.csv",
    "kueuepy play objects.yaml philly.csv.gz --format philly --window 7d:9d --port 8000",
)


def play(
    objects: Annotated[
        str,
        typer.Argument(
            metavar="OBJECTS", help="Cluster configuration: a YAML or JSON file, or a directory of such files."
        ),
    ],
    jobs: Annotated[str, typer.Argument(metavar="JOBS", help="File of jobs to simulate: a log or a table.")],
    *,
    format: Format = "auto",  # noqa: A002 - as the option is called
    window: Window = None,
    port: Port = 0,
    browser: Browser = True,
    kueue_version: KueueVersion = None,
    lenient: Lenient = False,
) -> None:
    """Open a page with sliders for quotas, limits and weights, and simulate the same jobs at each change.

    The page is served on 127.0.0.1 only, at an address with a secret token. The command writes no files and accesses no
    other host. Press Ctrl-C to stop it.
    """
    cluster = read_cluster([objects], lenient=lenient, version=kueue_version)
    table = read_jobs(jobs, format, window=window)
    playground = Playground(cluster, table, Path(objects).stem)
    playground.answer({})  # errors of the jobs are reported here, not on the page
    title = f"{counted(len(playground.knobs), 'slider')}, {len(table):,} {plural(len(table), 'job')}"
    serve_page(partial(Server, playground), port, title, browser=browser)
