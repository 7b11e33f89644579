"""`kueuepy record`: record what happens in a cluster."""

from contextlib import ExitStack

from kueuepy.cli.interrupts import until_interrupted
from kueuepy.cli.options import context_of, seconds_of
from kueuepy.cli.output import say
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.words import counted
from kueuepy.manifest.text.sources import is_recording
from kueuepy.objects import SECOND
from kueuepy.platform.live.recorder import Recorder
from kueuepy.platform.live.recorder import record as record_cluster
from kueuepy.simulation.spans import span


def record(
    cluster: str,
    *,
    out: str,
    keep: str | None = None,
    anonymise: str | None = None,
    users: str = "",
    stop_after: str | None = None,
) -> None:
    """Record the history of a cluster in an SQLite file, until the command is interrupted.

    Other commands accept FILE as the cluster at the end of the recording, FILE@TIME as the cluster at a given time, and
    --jobs FILE as the job history of the cluster. The command only reads the cluster. It does not record environment
    variables and commands of pods.

    Options:
        cluster (CLUSTER): Cluster to record: cluster:CONTEXT, or cluster: for the current context.
        out (FILE): Recording to create or continue; its name must end with .db.
        keep (TIME): How long to keep deleted Workloads, e.g. 90d; by default, indefinitely.
        anonymise (FILE): Replace names with keyed hashes; the key is read from this file, which is created if missing.

    Examples:
        kueuepy record cluster:prod --out history.db --keep 90d
        kueuepy record cluster:in --out /data/history.db --anonymise /keys/names --users team.example.com/user
    """
    context = context_of(cluster)
    if not is_recording(out) or "@" in out:
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
