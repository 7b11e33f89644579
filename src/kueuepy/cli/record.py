"""`kueuepy record`: record what happens in a cluster."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from kueuepy.cli.interrupts import until_interrupted
from kueuepy.cli.options import StopAfter, Users, context_of, examples, seconds_of
from kueuepy.cli.output import say
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.words import counted
from kueuepy.manifest.text.sources import is_recording
from kueuepy.objects import SECOND
from kueuepy.platform.live.recorder import Recorder
from kueuepy.platform.live.recorder import record as record_cluster
from kueuepy.simulation.spans import span

EXAMPLES = examples(
    "kueuepy record cluster:prod --out history.db --keep 90d",
    "kueuepy record cluster:in --out /data/history.db --anonymise /keys/names --users team.example.com/user",
)


def record(
    cluster: Annotated[
        str,
        typer.Argument(
            metavar="CLUSTER", help="Cluster to record: cluster:CONTEXT, or cluster: for the current context."
        ),
    ],
    *,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Recording to create or continue; its name must end with .db.")
    ],
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep", metavar="TIME", help="How long to keep deleted Workloads, e.g. 90d; by default, indefinitely."
        ),
    ] = None,
    anonymise: Annotated[
        Path | None,
        typer.Option(
            "--anonymise",
            metavar="FILE",
            help="Replace names with keyed hashes; the key is read from this file, which is created if missing.",
        ),
    ] = None,
    users: Users = "",
    stop_after: StopAfter = None,
) -> None:
    """Record the history of a cluster in an SQLite file, until the command is interrupted.

    Other commands accept FILE as the cluster at the end of the recording, FILE@TIME as the cluster at a given time, and
    --jobs FILE as the job history of the cluster. The command only reads the cluster. It does not record environment
    variables and commands of pods.
    """
    context = context_of(cluster)
    if not is_recording(str(out)) or "@" in str(out):
        raise InvalidSpecError(f"{out}: its name must end with .db and contain no @")
    running = ExitStack()

    def begin(recorder: Recorder) -> None:
        say(f"recording {cluster} in {out}; press Ctrl-C to stop", stderr=True)
        running.enter_context(until_interrupted(recorder.stop))

    with running:
        written = record_cluster(
            context,
            out,
            keep=None if keep is None else span("--keep", keep) / SECOND,
            anonymise=anonymise,
            users=users,
            seconds=seconds_of(stop_after),
            on_start=begin,
        )
    say(f"{out}: {counted(written, 'event')} written")
