"""`kueuepy cluster-of`, `guarantee`, `eta` and `risk`: a configuration for a log, and analyses by many simulations."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
import typer

from kueuepy.cli.describe import find, start
from kueuepy.cli.logs import Censored, Format, Map, Window, read_jobs
from kueuepy.cli.options import (
    HISTORY,
    Files,
    Futures,
    Horizon,
    Json,
    KueueVersion,
    Lenient,
    Namespace,
    Users,
    WorkloadName,
    examples,
    read_cluster,
)
from kueuepy.cli.output import ANSWER_IS_NO, counting, expect_other_file, print_json, say
from kueuepy.cluster import dump
from kueuepy.errors import InvalidSpecError
from kueuepy.lab.exploration.arrivals import Arrivals
from kueuepy.lab.exploration.estimate import eta as when_admitted
from kueuepy.lab.exploration.estimate import risk as risk_of_eviction
from kueuepy.lab.exploration.guarantee import guarantee as guaranteed
from kueuepy.objects import SECOND
from kueuepy.simulation.load import cluster_of as make_cluster
from kueuepy.simulation.model import Edit
from kueuepy.simulation.spans import parse_span, span
from kueuepy.simulation.table import Jobs

CLUSTER_OF_EXAMPLES = examples(
    "kueuepy cluster-of examples/logs/philly.csv.gz --flavor p100 --output cluster.yaml",
    "kueuepy cluster-of examples/week/jobs.csv --headroom 1.5 --alone",
)
GUARANTEE_EXAMPLES = examples(
    "kueuepy guarantee safety examples/week/teams.yaml --cluster-queue robots",
    "kueuepy guarantee limits examples/week/teams.yaml --amount robots=4 --flavor-resource h100/nvidia.com/gpu",
    "kueuepy guarantee delays examples/week/teams.yaml --jobs examples/week/jobs.csv --by queue --json",
    "kueuepy guarantee shrink state --runtimes 1h --set 'ClusterQueue/a:quota[f/cpu].nominalQuota=4'",
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
_OfQueue: TypeAlias = Annotated[
    str | None, typer.Option("--cluster-queue", metavar="NAME", help="ClusterQueue of safety.")
]
_Amounts: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--amount", metavar="NAME=AMOUNT", help="Amount that a ClusterQueue needs (limits); repeatable."),
]
_FlavorResource: TypeAlias = Annotated[
    str | None,
    typer.Option("--flavor-resource", metavar="FLAVOR/RESOURCE", help="Flavor and resource of the amounts."),
]
_Jobs: TypeAlias = Annotated[
    str | None,
    typer.Option("--jobs", metavar="FILE", help="File of jobs (delays), or of the jobs of a period (starvation)."),
]
_Once: TypeAlias = Annotated[
    str | None, typer.Option("--once", metavar="FILE", help="File of jobs that are submitted once (starvation).")
]
_Period: TypeAlias = Annotated[
    str | None, typer.Option("--period", metavar="TIME", help="Length of a period (starvation), e.g. 24h.")
]
_By: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--by", metavar="COLUMN", help="Column whose values group the jobs (delays).  [default: cluster_queue]"
    ),
]
_Sets: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Field that reduces quota (shrink); repeatable."),
]
_Runtimes: TypeAlias = Annotated[
    str | None,
    typer.Option("--runtimes", metavar="TIME|FILE", help="Runtime of every workload, or a job log (shrink)."),
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


def guarantee(
    question: Annotated[
        Literal["safety", "limits", "starvation", "shrink", "delays"],
        typer.Argument(metavar="QUESTION", help="One of safety, limits, starvation, shrink, delays."),
    ],
    files: Files,
    *,
    cluster_queue: _OfQueue = None,
    amount: _Amounts = None,
    flavor_resource: _FlavorResource = None,
    jobs: _Jobs = None,
    once: _Once = None,
    period: _Period = None,
    by: _By = None,
    format: Format = "auto",  # noqa: A002 - as the option is called
    map: Map = None,  # noqa: A002
    window: Window = None,
    censored: Censored = None,
    sets: _Sets = None,
    runtimes: _Runtimes = None,
    number: Annotated[
        int | None,
        typer.Option(
            "-N", "--futures", min=1, metavar="N", help="Number of random series (safety) or futures (shrink)."
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, metavar="N", help="Random seed (safety, shrink).")
    ] = None,
    kueue_version: KueueVersion = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Determine whether a cluster guarantees something, by a proof, a counterexample or simulations.

    safety: no submission can evict workloads of a ClusterQueue. limits: each ClusterQueue always gets an amount.
    starvation: no job waits indefinitely if the same jobs are submitted in every period. shrink: usage soon fits into a
    reduced quota. delays: no group of jobs lengthens the waits of the other groups. The exit code is 3 if the guarantee
    is not given.
    """
    state = (
        start(files, lenient=lenient, version=kueue_version, namespace="default").tell()
        if question == "shrink"
        else None
    )
    options: dict[str, Any] = {
        "cluster_queue": cluster_queue,
        "amounts": dict(text.partition("=")[::2] for text in amount) if amount else None,
        "flavor_resource": flavor_resource,
        "jobs": None if jobs is None else read_jobs(jobs, format, map, window, censored),
        "once": _coming(once),
        "period": period,
        "by": by,
        "edits": [Edit(path, value) for path, _, value in (text.rpartition("=") for text in sets)] if sets else None,
        "runtimes": None if runtimes is None else _known(runtimes),
        "n": number,
        "seed": seed,
    }
    options = {name: value for name, value in options.items() if value is not None}
    with counting("simulations done") as show:
        if question in ("shrink", "delays"):
            options["progress"] = show
        found = guaranteed(question, state or read_cluster(files, lenient=lenient, version=kueue_version), **options)
    if json:
        print_json({**msgspec.structs.asdict(found), "facts": found.facts.rows()})
    else:
        say(str(found))
    if found.holds is False:
        raise typer.Exit(ANSWER_IS_NO)


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
