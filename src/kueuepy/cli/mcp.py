"""`kueuepy mcp`: answer the questions of AI agents about a cluster."""

from typing import Annotated

import typer

from kueuepy.cli.agents.server import serve
from kueuepy.cli.agents.source import Source
from kueuepy.cli.options import KueueVersion, examples
from kueuepy.manifest.text.sources import CLUSTER

EXAMPLES = examples("kueuepy mcp", "kueuepy mcp cluster:prod", "kueuepy mcp history.db", "kueuepy mcp manifests/")


def mcp(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE",
            help="File, directory, recording, or cluster:CONTEXT; by default, the current kubectl context.",
        ),
    ] = None,
    *,
    jobs: Annotated[
        str | None,
        typer.Option(
            "--jobs", metavar="FILE", help="Job log to simulate; by default, the job history of SOURCE, if it has one."
        ),
    ] = None,
    max_age: Annotated[
        float,
        typer.Option(
            "--max-age",
            min=0,
            metavar="SECONDS",
            help="Read a running cluster again if the data is older than this number of seconds.",
        ),
    ] = 60,
    kueue_version: KueueVersion = None,
) -> None:
    """Serve the Model Context Protocol on standard input and output, so that AI agents can ask about a cluster.

    The tools only read the cluster, accept no file names, and return answers of at most 2 kB. This command needs the
    extra mcp.
    """
    serve(Source(files or [CLUSTER], jobs=jobs, version=kueue_version, max_age=max_age))
