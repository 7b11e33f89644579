"""`kueuepy record`: record what happens in a cluster."""

import signal
import threading
from pathlib import Path
from typing import Annotated

import typer

from kueuepy.cli.options import examples
from kueuepy.cli.output import say
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.words import counted
from kueuepy.live.recorder import Recorder
from kueuepy.live.recorder import record as record_cluster
from kueuepy.manifest.text.sources import CLUSTER, is_recording
from kueuepy.objects import SECOND
from kueuepy.simulation.spans import span

EXAMPLES = examples(
    "kueuepy record cluster:prod --out history.db --keep 90d",
    "kueuepy record cluster:in --out /data/history.db --anonymise /keys/names --users team.example.com/user",
)


def record(
    cluster: Annotated[str, typer.Argument(metavar="CLUSTER", help="Cluster to record: cluster: or cluster:CONTEXT.")],
    *,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Recording to write or continue; its name ends with .db.")
    ],
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="TIME", help="Time to keep deleted Workloads, e.g. 90d (default: forever)."),
    ] = None,
    anonymise: Annotated[
        Path | None,
        typer.Option("--anonymise", metavar="FILE", help="Replace names by hashes with the key in this file."),
    ] = None,
    users: Annotated[
        str, typer.Option("--users", metavar="LABEL", help="Label of Workloads that names the user (default: none).")
    ] = "",
    stop_after: Annotated[
        str | None,
        typer.Option("--stop-after", metavar="TIME", help="Stop after this time (default: when interrupted)."),
    ] = None,
) -> None:
    """Record what happens in a cluster in an SQLite file, until the command is interrupted.

    Other commands accept the file as the cluster at its last moment, FILE@TIME as the cluster at that time, and --jobs
    FILE as the history of its jobs. The cluster is only read. Environment variables and commands of pods are not
    recorded.
    """
    if not cluster.startswith(CLUSTER):
        raise typer.BadParameter(f"{cluster!r}; it must be cluster: or cluster:CONTEXT", param_hint="'CLUSTER'")
    if not is_recording(str(out)) or "@" in str(out):
        raise InvalidSpecError(f"{out}: its name must end with .db and contain no @")
    handlers = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        written = record_cluster(
            cluster.removeprefix(CLUSTER),
            out,
            keep=None if keep is None else span("--keep", keep) / SECOND,
            anonymise=anonymise,
            users=users,
            seconds=None if stop_after is None else span("--stop-after", stop_after) / SECOND,
            on_start=lambda recorder: _announce(recorder, cluster, out),
        )
    finally:
        if threading.current_thread() is threading.main_thread():
            for one, handler in handlers.items():
                signal.signal(one, handler)
    say(f"{out}: {counted(written, 'event')} written")


def _announce(recorder: Recorder, cluster: str, out: Path) -> None:
    """Print that the recording begins, and end it when the process is asked to terminate."""
    say(f"recording {cluster} in {out}; press Ctrl-C to stop", stderr=True)
    if threading.current_thread() is threading.main_thread():
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, lambda *_: recorder.stop())
