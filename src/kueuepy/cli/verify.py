"""`kueuepy verify`: compare the decisions of kueuepy with those of a cluster; `kueuepy record`: record a cluster."""

import time
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext

from kueuepy.cli.options import Count, Fraction, context_of, seconds_of
from kueuepy.cli.output import counting, print_answer, say, say_notes, until_interrupted
from kueuepy.errors import InvalidSpecError, counted
from kueuepy.manifest.text.reading import is_recording
from kueuepy.objects import SECOND
from kueuepy.platform.live.agreement import Agreement, ClosedAgreement, Difference
from kueuepy.platform.live.closed import verify_closed
from kueuepy.platform.live.judging import verify as verify_recording
from kueuepy.platform.live.recorder import Recorder
from kueuepy.platform.live.recorder import record as record_cluster
from kueuepy.platform.live.shadow import Shadow
from kueuepy.platform.metrics.series import MetricsServer
from kueuepy.tables.kinds import span


def verify(
    recording: str,
    *,
    latency: str = "1.2s",
    at_least: Fraction | None = None,
    closed: bool = False,
    explained: Count = 3,
    json: bool = False,
) -> bool:
    """Compare each decision of a recorded cluster with the decision of kueuepy in the same state.

    With --closed, kueuepy is not set to the recorded state after a difference, so one difference can cause many others.
    The result shows how well a simulation predicts the recorded period.

    Options:
        recording (FILE): Recording written by kueuepy record, or watch events as JSON Lines.
        closed: Simulate from the recorded inputs only, and compare the results with the recorded decisions.
        explained (N): With --closed, the number of differences to explain.

    Examples:
        kueuepy verify tests/live/data/cohort.jsonl.gz
        kueuepy verify tests/live/data/cohort.jsonl.gz --closed --explained 1
        kueuepy verify history.db --at-least 0.99
    """
    found: Agreement | ClosedAgreement
    with counting("recorded changes applied") as show:
        if closed:
            found = verify_closed(recording, tolerance=latency, explained=explained, progress=show)
        else:
            found = verify_recording(recording, latency=latency, progress=show)
    data = {"agreement": found.share, **found.to_dict(), "differences": found.differences, "notes": found.notes}
    say_notes(() if json else found.notes)
    return print_answer(found, data, json=json, is_negative=at_least is not None and found.share < at_least)


def follow(
    cluster: str,
    *,
    metrics: str | None = None,
    every: str = "1m",
    latency: str = "1.2s",
    stop_after: str | None = None,
    at_least: Fraction | None = None,
) -> bool:
    """Compare each decision of a running cluster with the decision of kueuepy, as it happens.

    The command prints each decision that differs and, from time to time, the agreement so far, until it is interrupted.
    The command only reads the cluster. It compares each decision about 3 seconds after the decision was made.

    Options:
        cluster (CLUSTER): Cluster to follow: cluster:CONTEXT, or cluster: for the current context.
        metrics (HOST:PORT): Host and port on which to serve Prometheus metrics; by default, none are served.
        every (TIME): Interval at which to print the current fraction of matching decisions.

    Examples:
        kueuepy verify cluster:prod
        kueuepy verify cluster:in --metrics 0.0.0.0:9090 --every 10m
    """
    context = context_of(cluster)
    seconds = seconds_of(stop_after)
    pause = span("--every", every) / SECOND
    found = Shadow.open(context, latency=latency)
    due = time.monotonic() + pause

    def tell(differences: Sequence[Difference]) -> None:
        nonlocal due
        for one in differences:
            say(str(one))
        if time.monotonic() >= due:
            due = time.monotonic() + pause
            _summary(found)

    with nullcontext() if metrics is None else MetricsServer(metrics, found.metrics_text) as server:
        say(f"following {cluster}; press Ctrl-C to stop", stderr=True)
        if server is not None:
            say(f"metrics: {server.url}", stderr=True)
        with until_interrupted(found.stop):
            found.run(seconds, tell)
    _summary(found)
    say_notes(found.notes[:20])
    return at_least is not None and found.share < at_least


def _summary(found: Shadow) -> None:
    now = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
    different = sum(count for (_, outcome), count in found.counts.items() if outcome == "different")
    say(f"{now} {counted(found.total, 'decision')}, {100 * found.share:.1f}% agree, {different} differ")


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
    # The handler of interrupts stays until the last event is committed.
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
