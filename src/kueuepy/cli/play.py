"""`kueuepy play`: a page of sliders, and what becomes of the same jobs."""

import webbrowser
from typing import Annotated

import typer

from kueuepy.cli.logs import Format, Window, read_jobs
from kueuepy.cli.options import KueueVersion, Lenient, examples, read
from kueuepy.cli.output import say
from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.words import counted, plural
from kueuepy.play import Playground, Server

EXAMPLES = examples(
    "kueuepy play examples/week/teams.yaml examples/week/jobs.csv",
    "kueuepy play objects.yaml philly.csv.gz --format philly --window 7d:9d --port 8000",
)


def play(
    objects: Annotated[str, typer.Argument(metavar="OBJECTS", help="YAML or JSON, or a directory of it.")],
    jobs: Annotated[str, typer.Argument(metavar="JOBS", help="The jobs: a log or a table.")],
    *,
    format: Format = "auto",  # noqa: A002 - as the option is called
    window: Window = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, metavar="N", help="0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    kueue_version: KueueVersion = None,
    lenient: Lenient = False,
) -> None:
    """Open a page with sliders for quotas, limits and weights; the same jobs are run at each move.

    The page is served on 127.0.0.1 to whoever has its address, which has a token in it. Nothing is written, and nothing
    is fetched from elsewhere. Ctrl-C ends it.
    """
    cluster = Cluster.from_manifest(read([objects], lenient=lenient, version=kueue_version), names=not lenient)
    table = read_jobs(jobs, format, window=window)
    playground = Playground(cluster, table)
    playground.answer({})  # what is wrong with the jobs is told here, not on the page
    try:
        server = Server(playground, port)
    except OSError as error:
        raise InvalidSpecError(f"--port {port}: cannot be listened on: {error.strerror}") from None
    say(f"{counted(len(playground.knobs), 'slider')}, {len(table):,} {plural(len(table), 'job')}: {server.url}")
    if browser:
        webbrowser.open(server.url)
    try:
        server.serve()
    except KeyboardInterrupt:
        pass
    finally:
        server.close()
