"""`kueuepy shadow`: compare the decisions of a running cluster with those of kueuepy as they happen."""

import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Annotated

import typer

from kueuepy.cli.interrupts import until_interrupted
from kueuepy.cli.options import AtLeast, Latency, StopAfter, context_of, examples, seconds_of
from kueuepy.cli.output import ANSWER_IS_NO, say, say_notes
from kueuepy.errors.words import counted
from kueuepy.objects import SECOND
from kueuepy.platform.live.agreement import Difference
from kueuepy.platform.live.shadow import Shadow
from kueuepy.platform.metrics.serving import MetricsServer
from kueuepy.simulation.spans import span

EXAMPLES = examples(
    "kueuepy shadow cluster:prod",
    "kueuepy shadow cluster:in --metrics 0.0.0.0:9090 --every 10m",
)


def shadow(
    cluster: Annotated[
        str,
        typer.Argument(
            metavar="CLUSTER", help="Cluster to follow: cluster:CONTEXT, or cluster: for the current context."
        ),
    ],
    *,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            metavar="HOST:PORT",
            help="Host and port on which to serve Prometheus metrics; by default, none are served.",
        ),
    ] = None,
    every: Annotated[
        str,
        typer.Option(
            "--every", metavar="TIME", help="Interval at which to print the current fraction of matching decisions."
        ),
    ] = "1m",
    latency: Latency = "1.2s",
    stop_after: StopAfter = None,
    at_least: AtLeast = None,
) -> None:
    """Compare each decision of a running cluster with the decision of kueuepy, as it happens.

    The command prints each decision that differs and, from time to time, the agreement so far, until it is interrupted.
    The command only reads the cluster. It compares each decision about 3 seconds after the decision was made.
    """
    context = context_of(cluster)
    seconds = seconds_of(stop_after)
    told = _Told(span("--every", every) / SECOND)
    found = Shadow.open(context, latency=latency)
    told.shadow = found
    with nullcontext() if metrics is None else MetricsServer(metrics, found.metrics_text) as server:
        say(f"following {cluster}; press Ctrl-C to stop", stderr=True)
        if server is not None:
            say(f"metrics: {server.url}", stderr=True)
        with until_interrupted(found.stop):
            found.run(seconds, told.tell)
    told.summary()
    say_notes(found.notes[:20])
    if at_least is not None and found.share < at_least:
        raise typer.Exit(ANSWER_IS_NO)


class _Told:
    """What the command prints while it follows a cluster."""

    shadow: Shadow

    def __init__(self, every: float) -> None:
        self._every = every
        self._next = time.monotonic() + every

    def tell(self, differences: Sequence[Difference]) -> None:
        for one in differences:
            say(str(one))
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self._every
            self.summary()

    def summary(self) -> None:
        found = self.shadow
        now = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
        different = sum(count for (_, outcome), count in found.counts.items() if outcome == "different")
        say(f"{now} {counted(found.total, 'decision')}, {100 * found.share:.1f}% agree, {different} differ")
