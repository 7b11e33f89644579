"""`kueuepy mcp`: answer the questions of AI agents about a cluster."""

from typing import Annotated

from msgspec import Meta

from kueuepy.cli.agents.server import serve
from kueuepy.cli.agents.source import Source
from kueuepy.manifest.text.sources import CLUSTER

_DEFAULT = (CLUSTER,)


def mcp(
    files: tuple[str, ...] = _DEFAULT,
    *,
    jobs: str | None = None,
    max_age: Annotated[float, Meta(ge=0)] = 60,
    kueue_version: str | None = None,
) -> None:
    """Serve the Model Context Protocol on standard input and output, so that AI agents can ask about a cluster.

    The tools only read the cluster, accept no file names, and return answers of at most 2 kB. This command needs the
    extra mcp.

    Options:
        files (SOURCE): File, directory, recording, or cluster:CONTEXT; by default, the current kubectl context.
        jobs (FILE): Job log to simulate; by default, the job history of SOURCE, if it has one.
        max_age (SECONDS): Read a running cluster again if the data is older than this number of seconds.

    Examples:
        kueuepy mcp
        kueuepy mcp cluster:prod
        kueuepy mcp history.db
        kueuepy mcp manifests/
    """
    serve(Source(list(files), jobs=jobs, version=kueue_version, max_age=max_age))
