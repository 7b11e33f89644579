"""`kueuepy serve-metrics`: serve estimated waits of a running cluster as Prometheus metrics."""

import threading
import time
from typing import Annotated

import typer

from kueuepy.cli.describe import start
from kueuepy.cli.interrupts import until_interrupted
from kueuepy.cli.options import (
    HISTORY,
    Files,
    Futures,
    Horizon,
    KueueVersion,
    Lenient,
    StopAfter,
    Users,
    examples,
    seconds_of,
)
from kueuepy.cli.output import say
from kueuepy.errors import ApiError
from kueuepy.lab.exploration.waits import estimated_waits, wait_series
from kueuepy.objects import SECOND
from kueuepy.platform.metrics import Watch
from kueuepy.platform.metrics.serving import MetricsServer
from kueuepy.platform.metrics.text import OwnSeries, Series, exposition
from kueuepy.simulation.spans import span
from kueuepy.simulation.table import Jobs

EXAMPLES = examples("kueuepy serve-metrics cluster:prod --history history.db --listen 0.0.0.0:9090")


def serve_metrics(
    files: Files,
    *,
    history: Annotated[str, HISTORY],
    listen: Annotated[
        str, typer.Option("--listen", metavar="HOST:PORT", help="Host and port on which to serve the metrics.")
    ] = "127.0.0.1:9090",
    every: Annotated[
        str, typer.Option("--every", metavar="TIME", help="Time between two consecutive estimates.")
    ] = "5m",
    within: Annotated[
        str,
        typer.Option(
            "--within", metavar="TIME", help="Estimate the waiting times of jobs that arrive within this time from now."
        ),
    ] = "1h",
    horizon: Horizon = "1d",
    number: Futures = 40,
    users: Users = "",
    stop_after: StopAfter = None,
    kueue_version: KueueVersion = None,
    lenient: Lenient = False,
) -> None:
    """Serve the estimated waiting times of each LocalQueue, and Kueue's gauges, as Prometheus metrics.

    Every few minutes, the command reads the cluster and the history, and simulates the next jobs. The metric is
    kueuepy_estimated_wait_seconds with the labels queue and quantile. The command only reads the cluster.
    """
    ended = threading.Event()
    seconds = seconds_of(stop_after)
    pause = span("--every", every) / SECOND
    told = [""]

    def estimate() -> None:
        began = time.time()
        scheduler = start(files, lenient=lenient, namespace="default", version=kueue_version).scheduler
        jobs = Jobs.from_workloads(history, user=users or None)
        waits = estimated_waits(scheduler, jobs, within=within, horizon=horizon, n=number, users=users)
        when = OwnSeries(
            "estimated_wait_timestamp_seconds", "gauge", "Unix time at which the estimate began, in seconds"
        )
        when.set(began)
        series: list[Series] = [wait_series(waits), when, *Watch(scheduler).series()]
        told[0] = exposition(series)

    estimate()
    end = None if seconds is None else time.monotonic() + seconds
    with MetricsServer(listen, lambda: told[0]) as server, until_interrupted(ended.set):
        say(f"metrics: {server.url}; press Ctrl-C to stop", stderr=True)
        while not ended.wait(pause if end is None else max(0.0, min(pause, end - time.monotonic()))):
            if end is not None and time.monotonic() >= end:
                break
            try:
                estimate()
            except ApiError as error:
                say(f"note: {error}; the last estimate is served", stderr=True)
