"""`kueuepy serve --jobs` and `kueuepy serve --metrics`: sliders for quotas, and metrics, served until interrupted."""

import threading
import time
from functools import partial
from pathlib import Path

from kueuepy.cli.describe import start
from kueuepy.cli.logs import Log
from kueuepy.cli.options import Port, Positive, Reading, Start, seconds_of
from kueuepy.cli.output import say, until_interrupted
from kueuepy.cli.page import serve_page
from kueuepy.errors import ApiError, counted, plural
from kueuepy.lab.exploration.estimate import estimated_waits, wait_series
from kueuepy.lab.play import Playground, Server
from kueuepy.objects import SECOND
from kueuepy.platform.metrics import Watch
from kueuepy.platform.metrics.series import MetricsServer, OwnSeries, Series, exposition
from kueuepy.simulation.table import Jobs
from kueuepy.tables.kinds import span


def play(
    sources: list[str],
    *,
    jobs: str,
    format_: str = "auto",
    window: str | None = None,
    port: Port = 0,
    browser: bool = True,
    reading: Reading,
) -> None:
    """Serve a page with sliders for quotas, limits and weights, and simulate the same jobs at each change.

    Examples:
        kueuepy serve examples/week/teams.yaml --jobs examples/week/jobs.csv
        kueuepy serve objects.yaml --jobs philly.csv.gz --format philly --window 7d:9d --port 8000
    """
    cluster, table = Log(format_, window=window).given(sources, jobs, reading)
    playground = Playground(cluster, table, Path(sources[0]).stem)
    playground.answer({})  # errors of the jobs are reported here, not on the page
    title = f"{counted(len(playground.knobs), 'slider')}, {len(table):,} {plural(len(table), 'job')}"
    serve_page(partial(Server, playground), port, title, browser=browser)


def serve_metrics(
    sources: list[str],
    *,
    metrics: str,
    history: str,
    every: str = "5m",
    within: str = "1h",
    horizon: str = "1d",
    futures: Positive = 40,
    users: str = "",
    stop_after: str | None = None,
    reading: Start,
) -> None:
    """Serve the estimated waiting times of each LocalQueue, and Kueue's gauges, as Prometheus metrics.

    At each interval --every, the command reads the cluster and the history, and simulates the next jobs. The metric is
    kueuepy_estimated_wait_seconds with the labels queue and quantile. The command only reads the cluster.

    Options:
        metrics (HOST:PORT): Host and port on which to serve the metrics.
        every (TIME): Time between two consecutive estimates.
        within (TIME): Estimate the waiting times of jobs that arrive within this time from now.

    Examples:
        kueuepy serve cluster:prod --metrics 0.0.0.0:9090 --history history.db
    """
    # A signal handler sets the event, which ends the pause between two estimates at once.
    ended = threading.Event()
    seconds = seconds_of(stop_after)
    pause = span("--every", every) / SECOND
    served = [""]

    def estimate() -> None:
        began = time.time()
        scheduler = start(sources, reading).scheduler
        jobs = Jobs.from_workloads(history, user=users or None)
        waits = estimated_waits(scheduler, jobs, within=within, horizon=horizon, n=futures, users=users)
        when = OwnSeries(
            "estimated_wait_timestamp_seconds", "gauge", "Unix time at which the estimate began, in seconds"
        )
        when.set(began)
        series: list[Series] = [wait_series(waits), when, *Watch(scheduler).series()]
        served[0] = exposition(series)

    estimate()
    end = None if seconds is None else time.monotonic() + seconds
    with MetricsServer(metrics, lambda: served[0]) as server, until_interrupted(ended.set):
        say(f"metrics: {server.url}; press Ctrl-C to stop", stderr=True)
        while not ended.wait(pause if end is None else max(0.0, min(pause, end - time.monotonic()))):
            if end is not None and time.monotonic() >= end:
                break
            try:
                estimate()
            # A cluster that cannot be reached for a while must not end the metrics.
            except ApiError as error:
                say(f"note: {error}; the last estimate is served", stderr=True)
