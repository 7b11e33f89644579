"""`kueuepy cluster-of`, `delays`, `eta` and `risk`: a configuration for a log, and analyses by many simulations."""

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

import typer

from kueuepy.cli.describe import find, start
from kueuepy.cli.logs import Censored, Format, JobsFile, Map, Window, read_jobs
from kueuepy.cli.options import (
    HISTORY,
    Files,
    Futures,
    Horizon,
    Json,
    KueueVersion,
    Lenient,
    Namespace,
    Objects,
    Users,
    WorkloadName,
    examples,
    read_cluster,
)
from kueuepy.cli.output import counting, expect_other_file, print_json, say
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

CLUSTER_OF_EXAMPLES = examples(
    "kueuepy cluster-of examples/logs/philly.csv.gz --flavor p100 --output cluster.yaml",
    "kueuepy cluster-of examples/week/jobs.csv --headroom 1.5 --alone",
)
DELAYS_EXAMPLES = examples(
    "kueuepy delays examples/week/teams.yaml --jobs examples/week/jobs.csv",
    "kueuepy delays examples/week/teams.yaml --jobs examples/week/jobs.csv --by queue --json",
)
ETA_EXAMPLES = examples(
    "kueuepy eta a-4 examples/seeds/002/two-teams.yaml examples/seeds/002/jobs.csv --runtimes 1h",
    "kueuepy eta a-4 state --runtimes examples/week/jobs.csv --future examples/week/jobs.csv",
    "kueuepy eta train cluster:prod -n team-a --history history.db",
)
RISK_EXAMPLES = examples(
    "kueuepy risk a-1 examples/seeds/002/two-teams-reclaim.yaml examples/seeds/002/jobs.csv --within 12h",
)

_WEEK = "7d"
_Future: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--future",
        metavar="FILE",
        help="File of future jobs; their submit times are relative to the current time.",
    ),
]
_Seed: TypeAlias = Annotated[
    int,
    typer.Option(
        "--seed",
        min=0,
        metavar="N",
        help="Random seed of the first simulation; each further simulation increases it by 1.",
    ),
]


def cluster_of(
    jobs: Annotated[str, typer.Argument(metavar="JOBS", help="File of jobs: a log, a table or manifests.")],
    *,
    format: Format = "auto",  # noqa: A002 - as the option is called
    map: Map = None,  # noqa: A002
    window: Window = None,
    censored: Censored = None,
    headroom: Annotated[
        float,
        typer.Option("--headroom", metavar="X", help="Nominal quota of each queue as a multiple of its mean load."),
    ] = 1.05,
    flavor: Annotated[
        str, typer.Option("--flavor", metavar="NAME", help="Name of the ResourceFlavor to create.")
    ] = "default",
    cohort: Annotated[
        str, typer.Option("--cohort", metavar="NAME", help="Name of the cohort that all ClusterQueues join.")
    ] = "all",
    alone: Annotated[
        bool, typer.Option("--alone", help="Create ClusterQueues that do not belong to a cohort.")
    ] = False,
    out: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Output file; by default, standard output.")
    ] = None,
) -> None:
    """Write a starting configuration for a log: a ClusterQueue and a LocalQueue for each queue in the log.

    The nominal quota is the larger of the largest job and --headroom times the mean load. This quota is derived from
    the jobs and is not the quota of the cluster where the log was recorded.
    """
    if not headroom > 0:
        raise InvalidSpecError(f"--headroom {headroom}: it must be greater than 0")
    expect_other_file(out, jobs)
    found = make_cluster(read_jobs(jobs, format, map, window, censored), headroom, None if alone else cohort, flavor)
    if out is None:
        say(dump(found).rstrip("\n"))
    else:
        dump(found, out)
    say(
        "note: the quotas are derived from the jobs; they are not the quotas of the cluster where the log was recorded",
        stderr=True,
    )


def delays(
    files: Objects,
    *,
    jobs: JobsFile,
    by: Annotated[
        str, typer.Option("--by", metavar="COLUMN", help="Group the jobs by the values of this column.")
    ] = "cluster_queue",
    format: Format = "auto",  # noqa: A002 - as the option is called
    map: Map = None,  # noqa: A002
    window: Window = None,
    censored: Censored = None,
    kueue_version: KueueVersion = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Measure how much the jobs of each group lengthen the waiting times of the other groups.

    The command simulates all jobs together, then the jobs without each group, and then each group alone. Each row names
    the group that is left out. Each column shows how much longer, on average, the jobs of a group wait if the left-out
    group is present. The first row is the group that delays the others most, and the first column is the group that is
    delayed most.
    """
    cluster = read_cluster(files, lenient=lenient, version=kueue_version)
    table_ = read_jobs(jobs, format, map, window, censored)
    with counting("simulations done") as show:
        found = delays_between(cluster, table_, by, progress=show)
    if json:
        print_json({"by": found.by, "groups": found.groups, "jobs": found.jobs.tolist(), "rows": found.frame.rows()})
        return
    say(str(found))


def eta(
    workload: WorkloadName,
    files: Files,
    *,
    runtimes: Annotated[
        str | None,
        typer.Option(
            "--runtimes",
            metavar="TIME|FILE",
            help="Runtime of every workload, or a job log from which to draw runtimes at random.",
        ),
    ] = None,
    history: Annotated[str | None, HISTORY] = None,
    users: Users = "",
    future: _Future = None,
    number: Futures = 200,
    seed: _Seed = 0,
    horizon: Horizon = "30d",
    namespace: Namespace = "default",
    kueue_version: KueueVersion = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Estimate when a pending workload gets quota, by running many simulations with randomly drawn runtimes.

    With --history, remaining runtimes are drawn from the jobs of the same queue and user, given how long each workload
    has run, and new jobs arrive as in the recorded period. Unfinished jobs are treated as censored at the time for
    which they have run. Without --history and --future, no other jobs arrive, so the estimated time is too early.
    """
    if (runtimes is None) == (history is None):
        raise InvalidSpecError("--runtimes or --history: one of them must be given, and only one")
    scheduler = start(files, lenient=lenient, version=kueue_version, namespace=namespace).tell()
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
            n=number,
            seed=seed,
            horizon=horizon,
            users=users,
            progress=_of(show, number),
        )
    if json:
        print_json(found)
    else:
        say(str(found))
        if coming is None:
            say("note: without --future no other jobs arrive, so the estimate is too early", stderr=True)


def risk(
    workload: WorkloadName,
    files: Files,
    *,
    within: Annotated[
        str, typer.Option("--within", metavar="TIME", help="Virtual time that each Monte Carlo simulation covers.")
    ] = "24h",
    runtimes: Annotated[
        str | None,
        typer.Option(
            "--runtimes",
            metavar="TIME|FILE",
            help="Runtime of every workload, or a log to sample runtimes from; by default, no workload finishes.",
        ),
    ] = None,
    future: _Future = None,
    number: Futures = 200,
    seed: _Seed = 0,
    namespace: Namespace = "default",
    kueue_version: KueueVersion = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Estimate the probability that a workload is evicted, in total and by rule."""
    scheduler = start(files, lenient=lenient, version=kueue_version, namespace=namespace).tell()
    key = find(scheduler, workload)
    known = None if runtimes is None else _known(runtimes)
    with counting("futures simulated") as show:
        found = risk_of_eviction(
            scheduler,
            key,
            within=within,
            future=_coming(future),
            runtimes=known,
            n=number,
            seed=seed,
            progress=_of(show, number),
        )
    if json:
        print_json(found)
    else:
        say(str(found))


def _of(show: Callable[..., None] | None, total: int) -> Callable[[int], None] | None:
    return None if show is None else lambda done: show(done, total)


def _known(text: str) -> Any:
    """Return the runtimes given by an option: one time for all workloads, or the jobs of a log."""
    return text if parse_span(text) is not None else read_jobs(text, "auto")


def _arriving(horizon: str) -> float:
    """Return the time in seconds for which jobs arrive: a week, or the whole horizon if it is shorter."""
    return min(span("--horizon", horizon), span("", _WEEK)) / SECOND


def _coming(path: str | None) -> Any:
    """Return the future jobs of a file; their `submit` times count from now."""
    return None if path is None else read_jobs(path, "auto")
