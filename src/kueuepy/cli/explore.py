"""`kueuepy import --jobs`, `delays` and `eta`: a configuration for a log, and analyses by many simulations."""

from collections.abc import Callable
from typing import Any

from kueuepy.cli.describe import find, start
from kueuepy.cli.logs import Log
from kueuepy.cli.options import Reading, Start
from kueuepy.cli.output import counting, expect_other_file, print_json, say
from kueuepy.cli.shared import Count, Positive
from kueuepy.cli.signature import UsageError
from kueuepy.cluster import dump
from kueuepy.errors import InvalidSpecError
from kueuepy.lab.exploration.arrivals import Arrivals
from kueuepy.lab.exploration.delays import delay_matrix as delays_between
from kueuepy.lab.exploration.estimate import eta as when_admitted
from kueuepy.lab.exploration.estimate import risk as risk_of_eviction
from kueuepy.objects import SECOND
from kueuepy.simulation.load import cluster_of as make_cluster
from kueuepy.simulation.spans import parse_span, span
from kueuepy.simulation.table import Jobs

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
    found = make_cluster(log.read(jobs), headroom, None if alone else cohort, flavor)
    if output is None:
        say(dump(found).rstrip("\n"))
    else:
        dump(found, output)
    say(
        "note: the quotas are derived from the jobs; they are not the quotas of the cluster where the log was recorded",
        stderr=True,
    )


def delays(
    files: list[str],
    *,
    jobs: str,
    log: Log,
    by: str = "cluster_queue",
    reading: Reading,
    json: bool = False,
) -> None:
    """Measure how much the jobs of each group lengthen the waiting times of the other groups.

    The command simulates all jobs together, then the jobs without each group, and then each group alone. Each row names
    the group that is left out. Each column shows how much longer, on average, the jobs of a group wait if the left-out
    group is present. The first row is the group that delays the others most, and the first column is the group that is
    delayed most.

    Options:
        files (FILE): YAML or JSON file, directory of such files, - (stdin), or cluster:CONTEXT.
        by (COLUMN): Group the jobs by the values of this column.

    Examples:
        kueuepy delays examples/week/teams.yaml --jobs examples/week/jobs.csv
        kueuepy delays examples/week/teams.yaml --jobs examples/week/jobs.csv --by queue --json
    """
    cluster = reading.cluster(files)
    table_ = log.read(jobs)
    with counting("simulations done") as show:
        found = delays_between(cluster, table_, by, progress=show)
    if json:
        print_json({"by": found.by, "groups": found.groups, "jobs": found.jobs.tolist(), "rows": found.frame.rows()})
        return
    say(str(found))


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
    reading: Start,
    json: bool = False,
) -> None:
    """Estimate when a pending workload gets quota, by running many simulations with randomly drawn runtimes.

    With --history, remaining runtimes are drawn from the jobs of the same queue and user, given how long each workload
    has run, and new jobs arrive as in the recorded period. Unfinished jobs are treated as censored at the time for
    which they have run. Without --history and --future, no other jobs arrive, so the estimated time is too early.

    Examples:
        kueuepy eta a-4 examples/seeds/002/two-teams.yaml examples/seeds/002/jobs.csv --runtimes 1h
        kueuepy eta a-4 state --runtimes examples/week/jobs.csv --future examples/week/jobs.csv
        kueuepy eta train cluster:prod -n team-a --history history.db
    """
    if (runtimes is None) == (history is None):
        raise UsageError("--runtimes or --history: one of them must be given, and only one")
    scheduler = start(files, reading).tell()
    key = find(scheduler, workload)
    known, coming = (_known(runtimes), _coming(future)) if runtimes is not None else (None, _coming(future))
    if history is not None:
        known = Jobs.from_workloads(history, user=users or None)
        coming = coming or Arrivals(known, _arriving(horizon), since=scheduler.now % 86400)
    with counting("futures simulated") as show:
        found = when_admitted(
            scheduler,
            key,
            known,
            future=coming,
            n=futures,
            seed=seed,
            horizon=horizon,
            users=users,
            progress=_of(show, futures),
        )
    if json:
        print_json(found)
    else:
        say(str(found))
        if coming is None:
            say("note: without --future no other jobs arrive, so the estimate is too early", stderr=True)


def risk(
    workload: str,
    files: list[str],
    *,
    within: str = "24h",
    runtimes: str | None = None,
    future: str | None = None,
    futures: Positive = 200,
    seed: Count = 0,
    reading: Start,
    json: bool = False,
) -> None:
    """Estimate the probability that a workload is evicted, in total and by rule; without --runtimes, none finishes.

    Options:
        within (TIME): Virtual time that each Monte Carlo simulation covers.

    Examples:
        kueuepy eta --risk a-1 examples/seeds/002/two-teams-reclaim.yaml examples/seeds/002/jobs.csv --within 12h
    """
    scheduler = start(files, reading).tell()
    key = find(scheduler, workload)
    known = None if runtimes is None else _known(runtimes)
    with counting("futures simulated") as show:
        found = risk_of_eviction(
            scheduler,
            key,
            within=within,
            future=_coming(future),
            runtimes=known,
            n=futures,
            seed=seed,
            progress=_of(show, futures),
        )
    if json:
        print_json(found)
    else:
        say(str(found))


def _of(show: Callable[..., None] | None, total: int) -> Callable[[int], None] | None:
    return None if show is None else lambda done: show(done, total)


def _known(text: str) -> Any:
    """Return the runtimes given by an option: one time for all workloads, or the jobs of a log."""
    return text if parse_span(text) is not None else Log().read(text)


def _arriving(horizon: str) -> float:
    """Return the time in seconds for which jobs arrive: a week, or the whole horizon if it is shorter."""
    return min(span("--horizon", horizon), span("", _WEEK)) / SECOND


def _coming(path: str | None) -> Any:
    """Return the future jobs of a file; their `submit` times count from now."""
    return None if path is None else Log().read(path)
