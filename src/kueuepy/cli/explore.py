"""`kueuepy cluster-of`, `delay_matrix`, `eta` and `risk`: a first cluster for a log, and questions that need many runs."""

from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from kueuepy.cli.describe import find, start
from kueuepy.cli.logs import Format, Map, Window, read_jobs
from kueuepy.cli.options import Files, Json, KueueVersion, Lenient, Namespace, Objects, examples, read
from kueuepy.cli.output import print_json, progress, say, table, writing
from kueuepy.cluster import Cluster, dump
from kueuepy.errors import InvalidSpecError
from kueuepy.exploration.delays import delay_matrix as delays_between
from kueuepy.exploration.estimate import eta as when_admitted
from kueuepy.exploration.estimate import risk as risk_of_eviction
from kueuepy.simulation.load import cluster_of as make_cluster
from kueuepy.simulation.spans import parse_span

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
)
RISK_EXAMPLES = examples(
    "kueuepy risk a-1 examples/seeds/002/two-teams-reclaim.yaml examples/seeds/002/jobs.csv --within 12h",
)

_Jobs: TypeAlias = Annotated[
    str, typer.Option("--jobs", metavar="FILE", help="The jobs: a log, a table, or manifests.")
]
_Workload: TypeAlias = Annotated[
    str, typer.Argument(metavar="WORKLOAD", help="Its name or its job's; namespace/name or queue/name.")
]
_Future: TypeAlias = Annotated[
    str | None,
    typer.Option("--future", metavar="FILE", help="Jobs that are submitted meanwhile; submit counts from now."),
]
_Number: TypeAlias = Annotated[int, typer.Option("-N", "--futures", min=1, metavar="N", help="Number of futures.")]
_Seed: TypeAlias = Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Seed of the first future.")]


def cluster_of(
    jobs: Annotated[str, typer.Argument(metavar="JOBS", help="The jobs: a log, a table, or manifests.")],
    *,
    format: Format = "auto",  # noqa: A002 - as the option is called
    map: Map = None,  # noqa: A002
    window: Window = None,
    headroom: Annotated[
        float, typer.Option("--headroom", metavar="X", help="Nominal quota, as a multiple of the mean load.")
    ] = 1.05,
    flavor: Annotated[str, typer.Option("--flavor", metavar="NAME", help="Name of the ResourceFlavor.")] = "default",
    cohort: Annotated[str, typer.Option("--cohort", metavar="NAME", help="Name of the cohort of all queues.")] = "all",
    alone: Annotated[bool, typer.Option("--alone", help="Make queues without a cohort.")] = False,
    out: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Where to write; standard output by default.")
    ] = None,
) -> None:
    """Write a first configuration for a log: a ClusterQueue and a LocalQueue for each queue of it.

    Nominal quota is the larger of the largest job and --headroom times the mean load. It is an invention, not the
    quota of the cluster that the log is of.
    """
    if not headroom > 0:
        raise InvalidSpecError(f"--headroom {headroom}: it must be more than 0")
    found = make_cluster(read_jobs(jobs, format, map, window), headroom, None if alone else cohort, flavor)
    if out is None:
        say(dump(found).rstrip("\n"))
    else:
        with writing(out):
            Path(out).write_text(dump(found), encoding="utf-8")
    say("note: the quotas follow from the jobs; they are not those of the cluster of the log", stderr=True)


def delay_matrix(
    files: Objects,
    *,
    jobs: _Jobs,
    by: Annotated[
        str, typer.Option("--by", metavar="COLUMN", help="Column of the jobs that makes the groups.")
    ] = "cluster_queue",
    format: Format = "auto",  # noqa: A002 - as the option is called
    map: Map = None,  # noqa: A002
    window: Window = None,
    kueue_version: KueueVersion = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Measure how much longer the jobs of each group wait because of each other group.

    The jobs are run together, then without each group, then each group alone. A row shows the group that is left out,
    a column the change of the mean wait of a group.
    """
    cluster = Cluster.from_manifest(read(files, lenient=lenient, version=kueue_version), names=not lenient)
    with progress("running the jobs without each group"):
        found = delays_between(cluster, read_jobs(jobs, format, map, window), by)
    if json:
        print_json({"by": found.by, "groups": found.groups, "jobs": found.jobs.tolist(), "rows": found.frame.rows()})
        return
    for sheet in found.sheets():
        table(sheet.caption, sheet.header, sheet.rows)
    say(repr(found)[1:-1], style="bold")


def eta(
    workload: _Workload,
    files: Files,
    *,
    runtimes: Annotated[
        str,
        typer.Option("--runtimes", metavar="TIME|FILE", help="One runtime for all, or a log to draw them from."),
    ],
    future: _Future = None,
    number: _Number = 200,
    seed: _Seed = 0,
    horizon: Annotated[str, typer.Option("--horizon", metavar="TIME", help="How far to look ahead.")] = "30d",
    namespace: Namespace = "default",
    kueue_version: KueueVersion = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Estimate when a waiting workload gets quota: in many futures, with runtimes that are drawn.

    Without --future no other job is submitted meanwhile, and the estimate is too early.
    """
    scheduler = start(files, lenient=lenient, version=kueue_version, namespace=namespace).tell()
    key = find(scheduler, workload)
    with progress(f"running {number} futures"):
        found = when_admitted(
            scheduler, key, _known(runtimes), future=_coming(future), n=number, seed=seed, horizon=horizon
        )
    if json:
        print_json(found)
    else:
        say(str(found))
        if future is None:
            say("note: no job is submitted meanwhile (--future), so that the estimate is too early", stderr=True)


def risk(
    workload: _Workload,
    files: Files,
    *,
    within: Annotated[str, typer.Option("--within", metavar="TIME", help="How far to look ahead.")] = "24h",
    runtimes: Annotated[
        str | None,
        typer.Option(
            "--runtimes", metavar="TIME|FILE", help="One runtime for all, or a log; without it, jobs do not end."
        ),
    ] = None,
    future: _Future = None,
    number: _Number = 200,
    seed: _Seed = 0,
    namespace: Namespace = "default",
    kueue_version: KueueVersion = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Estimate how likely it is that a workload is evicted, and by which rule."""
    scheduler = start(files, lenient=lenient, version=kueue_version, namespace=namespace).tell()
    key = find(scheduler, workload)
    known = None if runtimes is None else _known(runtimes)
    with progress(f"running {number} futures"):
        found = risk_of_eviction(
            scheduler, key, within=within, future=_coming(future), runtimes=known, n=number, seed=seed
        )
    if json:
        print_json(found)
    else:
        say(str(found))


def _known(text: str) -> Any:
    """Return the runtimes of an option: one time for all, or those of a log."""
    return text if parse_span(text) is not None else read_jobs(text, "auto")


def _coming(path: str | None) -> Any:
    """Return the jobs of a file, of which the first is submitted as long from now as its `submit` says."""
    return None if path is None else read_jobs(path, "auto")
