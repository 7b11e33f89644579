"""`kueuepy import --jobs`, `guarantee`, `eta`, and `serve` of sliders or metrics: analyses by many simulations."""

import threading
import time
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from kueuepy.cli.describe import Started, find, start
from kueuepy.cli.logs import Log, pair, say_notes_of, setting
from kueuepy.cli.options import Count, Port, Positive, Reading, Start, seconds_of
from kueuepy.cli.output import UsageError, counting, expect_other_file, print_answer, say, until_interrupted
from kueuepy.cli.page import serve_page
from kueuepy.cluster import Cluster, dump
from kueuepy.errors import ApiError, InvalidSpecError, counted, plural, shown
from kueuepy.lab.exploration.estimate import estimated_waits, wait_series
from kueuepy.lab.exploration.estimate import eta as when_admitted
from kueuepy.lab.exploration.estimate import risk as risk_of_eviction
from kueuepy.lab.exploration.guarantee import guarantee as guaranteed
from kueuepy.lab.exploration.remaining import Arrivals
from kueuepy.lab.play import Playground, Server
from kueuepy.objects import SECOND, format_time, parse_span
from kueuepy.platform.metrics import Watch
from kueuepy.platform.metrics.series import MetricsServer, OwnSeries, Series, exposition
from kueuepy.scheduler import Scheduler
from kueuepy.simulation.model import Edit, Missing
from kueuepy.simulation.table import Jobs
from kueuepy.simulation.table import cluster_of as make_cluster
from kueuepy.tables.kinds import span

# Arrivals after a week rarely delay a workload that waits now, and each takes time to simulate.
_WEEK = "7d"


def cluster_of(
    *,
    jobs: str,
    log: Log,
    headroom: float = 1.05,
    flavor: str = "default",
    cohort: str = "all",
    alone: bool = False,
    output: str | None = None,
) -> None:
    """Write a starting configuration for a log: a ClusterQueue and a LocalQueue for each queue in the log.

    The nominal quota is the larger of the largest job and --headroom times the mean load. This quota is derived from
    the jobs and is not the quota of the cluster where the log was recorded.

    Options:
        headroom (X): Nominal quota of each queue as a multiple of its mean load.
        flavor (NAME): Name of the ResourceFlavor to create.
        cohort (NAME): Name of the cohort that all ClusterQueues join.
        alone: Create ClusterQueues that do not belong to a cohort.
        output (FILE): Output file; by default, standard output.

    Examples:
        kueuepy import --jobs examples/logs/philly.csv.gz --flavor p100 --output cluster.yaml
        kueuepy import --jobs examples/week/jobs.csv --headroom 1.5 --alone
    """
    if not headroom > 0:
        raise InvalidSpecError(f"--headroom {headroom}: it must be greater than 0")
    expect_other_file(output, jobs)
    table = log.read(jobs)
    say_notes_of(table)
    found = make_cluster(table, headroom, None if alone else cohort, flavor)
    if output is None:
        say(dump(found).rstrip("\n"))
    else:
        dump(found, output)
    say(
        "note: the quotas are derived from the jobs; they are not the quotas of the cluster where the log was recorded",
        stderr=True,
    )


def guarantee(
    question: Literal["safety", "limits", "starvation", "shrink", "delays"],
    files: list[str],
    *,
    cluster_queue: str | None = None,
    amount: tuple[str, ...] = (),
    flavor_resource: str | None = None,
    jobs: str | None = None,
    log: Log,
    once: str | None = None,
    period: str | None = None,
    by: str | None = None,
    set_: tuple[str, ...] = (),
    runtimes: str | None = None,
    futures: Positive | None = None,
    seed: Count | None = None,
    missing: Missing | None = None,
    reading: Start,
    json: bool = False,
) -> bool:
    """Determine whether a cluster guarantees something, by a proof, a counterexample or simulations.

    safety: no submission can evict workloads of a ClusterQueue. limits: each ClusterQueue always gets an amount.
    starvation: no job waits indefinitely if the same jobs are submitted in every period. shrink: usage soon fits into a
    reduced quota. delays: no group of jobs lengthens the waits of the other groups. The exit code is 3 if the guarantee
    is not given, or unknown.

    Options:
        question (QUESTION): One of safety, limits, starvation, shrink, delays.
        cluster_queue (NAME): ClusterQueue of safety.
        amount (NAME=AMOUNT): Amount that a ClusterQueue needs (limits); repeatable.
        flavor_resource (FLAVOR/RESOURCE): Flavor and resource of the amounts (limits).
        jobs (FILE): File of jobs (delays), or of the jobs of a period (starvation).
        once (FILE): File of jobs that are submitted once (starvation).
        period (TIME): Length of a period (starvation), e.g. 24h.
        by (COLUMN): Column whose values group the jobs (delays).  [default: cluster_queue]
        set_ (PATH=VALUE): Field that reduces quota (shrink); repeatable.
        runtimes (TIME|FILE): Runtime of every workload, or a job log (shrink).
        futures (N): Number of random series (safety) or of futures (shrink).  [default: 50]
        seed (N): Random seed (safety, shrink).  [default: 0]
        missing (HOW): Jobs whose LocalQueue does not exist: error, skip, or wait (starvation, delays).
            [default: error]

    Examples:
        kueuepy guarantee delays examples/week/teams.yaml --jobs examples/week/jobs.csv
        kueuepy guarantee safety examples/week/teams.yaml --cluster-queue robots
    """
    cluster: Any = _timed(start(files, reading)) if question == "shrink" else reading.cluster(files)
    around = None if question == "shrink" else cluster
    options: dict[str, Any] = {
        "cluster_queue": cluster_queue,
        "amounts": dict(pair("--amount", text) for text in amount) or None,
        "flavor_resource": flavor_resource,
        "jobs": None if jobs is None else log.read(jobs, around=around),
        "once": _coming(once, around),
        "period": period,
        "by": by,
        "edits": [Edit(*setting(text)) for text in set_] or None,
        "runtimes": None if runtimes is None else _known(runtimes),
        "n": futures,
        "seed": seed,
        "missing": missing,
    }
    # An argument that does not belong to the question is an error of the library.
    options = {name: value for name, value in options.items() if value is not None}
    with counting("simulations done") as show:
        if question in ("shrink", "delays"):
            options["progress"] = show
        found = guaranteed(question, cluster, **options)
    data = {**msgspec.structs.asdict(found), "facts": found.facts.rows()}
    return print_answer(found, data, json=json, is_negative=found.holds is not True)


def eta(
    workload: str,
    files: list[str],
    *,
    runtimes: str | None = None,
    history: str | None = None,
    users: str = "",
    future: str | None = None,
    futures: Positive = 200,
    seed: Count = 0,
    horizon: str = "30d",
    missing: Missing = "error",
    reading: Start,
    json: bool = False,
) -> None:
    """Estimate when a pending workload gets quota, by running many simulations with randomly drawn runtimes.

    With --history, remaining runtimes are drawn from the jobs of the same queue and user, given how long each workload
    has run, and new jobs arrive as in the recorded period. Unfinished jobs are treated as censored at the time for
    which they have run. Without --history and --future, no other jobs arrive, so the estimated time may be too
    early.

    Examples:
        kueuepy eta a-4 examples/seeds/002/two-teams.yaml examples/seeds/002/jobs.csv --runtimes 1h
        kueuepy eta a-4 state --runtimes examples/week/jobs.csv --future examples/week/jobs.csv
        kueuepy eta train cluster:prod -n team-a --history history.db
    """
    if (runtimes is None) == (history is None):
        raise UsageError("--runtimes or --history: one of them must be given, and only one")
    started = start(files, reading)
    scheduler, key = _timed(started), find(started, workload)
    coming = _coming(future, scheduler.cluster)
    known = None if runtimes is None else _known(runtimes)
    if history is not None:
        known = Jobs.from_workloads(history, user=users or None)
        arriving = min(span("--horizon", horizon), span("", _WEEK)) / SECOND
        coming = coming or Arrivals(known, arriving, since=scheduler.now % 86400)
    options = {"future": coming, "n": futures, "seed": seed, "horizon": horizon, "users": users, "missing": missing}
    with counting("futures simulated", futures) as show:
        found = when_admitted(scheduler, key, known, progress=show, **options)
    print_answer(found, found, json=json)
    if found.closed and found.p95 and not json:
        say("note: without --future no other jobs arrive, so the estimate may be too early", stderr=True)


def risk(
    workload: str,
    files: list[str],
    *,
    within: str = "24h",
    runtimes: str | None = None,
    future: str | None = None,
    futures: Positive = 200,
    seed: Count = 0,
    missing: Missing = "error",
    reading: Start,
    json: bool = False,
) -> None:
    """Estimate the probability that a workload is evicted, in total and by rule; without --runtimes, none finishes.

    Options:
        within (TIME): Virtual time that each Monte Carlo simulation covers.

    Examples:
        kueuepy eta --risk a-1 examples/seeds/002/two-teams-reclaim.yaml examples/seeds/002/jobs.csv --within 12h
    """
    started = start(files, reading)
    scheduler, key = _timed(started), find(started, workload)
    coming = _coming(future, scheduler.cluster)
    options = {"within": within, "future": coming, "n": futures, "seed": seed, "missing": missing}
    known = None if runtimes is None else _known(runtimes)
    with counting("futures simulated", futures) as show:
        found = risk_of_eviction(scheduler, key, runtimes=known, progress=show, **options)
    print_answer(found, found, json=json)


def _timed(started: Started) -> Scheduler:
    """Print the notes, and for the state of a real cluster the time from which the answer counts."""
    scheduler = started.noted()
    if started.has_status:
        say(f"note: times are counted from {format_time(int(scheduler.now) * SECOND)}", stderr=True)
    return scheduler


def _known(text: str) -> Any:
    """Return the runtimes given by an option: one time for all workloads, or the jobs of a log."""
    if parse_span(text) is not None:
        return text
    if not Path(text).exists():
        raise InvalidSpecError(f"--runtimes: {shown(text)} is neither a time such as 1h30m nor a file")
    return Log().recorded(text)  # the time for which an unfinished job has run is a lower bound of its runtime


def _coming(path: str | None, around: Cluster | None) -> Any:
    """Return the future jobs of a file; their `submit` times count from now."""
    return None if path is None else Log().read(path, option="", is_choice=False, around=around)


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
