"""`kueuepy sweep`: simulate jobs under many policies; `kueuepy plan`: find the smallest value that meets a target."""

import csv
import math
import re
from collections.abc import Callable
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
import yaml

from kueuepy.cli.logs import Censored, Format, JobsFile, Map, Window, pair, read_jobs
from kueuepy.cli.options import Json, KueueVersion, Lenient, Objects, Rows, Until, Warmup, examples, read_cluster
from kueuepy.cli.output import ANSWER_IS_NO, counting, in_lines, print_json, progress, save_figure, say, table
from kueuepy.cluster import Cluster, dump
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.libraries import imported
from kueuepy.files import write_file
from kueuepy.lab.exploration.grid import Sweep
from kueuepy.lab.exploration.measure import promise
from kueuepy.lab.exploration.plan import plan as make_plan
from kueuepy.lab.exploration.space import Uniform, sample
from kueuepy.lab.exploration.sweep import sweep as run
from kueuepy.simulation.catalogue import figure_text, is_shown
from kueuepy.simulation.labels import label_of
from kueuepy.simulation.table import Jobs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kueuepy.tables import Columns

SWEEP_EXAMPLES = examples(
    "kueuepy sweep examples/week/teams.yaml --jobs examples/week/jobs.csv "
    "--over 'ClusterQueue/*:preemption.reclaimWithinCohort=Never,Any' --pareto wait_p95,lost_hours",
    "kueuepy sweep objects/ --jobs log.csv --over 'ClusterQueue/a:quota[f/cpu].nominalQuota=8..64:4' --sample 200 "
    "--seeds 3 --out sweep.parquet",
)
PLAN_EXAMPLES = examples(
    "kueuepy plan examples/week/teams.yaml --jobs examples/week/jobs.csv --target 'wait_p95(robots) <= 30m' "
    "--vary 'ClusterQueue/robots:quota[h100/nvidia.com/gpu].nominalQuota' --from 2 --to 12",
)
_RANGE = re.compile(r"(-?[0-9.]+?)\.\.(-?[0-9.]+?)(?::([0-9.]+))?")

_Seeds: TypeAlias = Annotated[
    int,
    typer.Option(
        "--seeds",
        min=1,
        metavar="N",
        help="Number of simulations per policy; with 2 or more, each shuffles the days of the job log.",
    ),
]
_Threads: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--threads", min=1, metavar="N", help="Number of simulations to run in parallel; by default, one per core."
    ),
]
_Storage: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--storage",
        metavar="FILE",
        help="Store finished simulations in this file, so that a repeated command can reuse them.",
    ),
]

_Over: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--over",
        metavar="PATH=VALUES",
        help="Field and values to try: v1,v2,... or, with --sample, LOW..HIGH:STEP; repeatable.",
    ),
]
_Sample: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--sample", min=1, metavar="N", help="Simulate only N policies, spread evenly over all combinations of values."
    ),
]
_Figure: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--figure",
        metavar="FIGURE",
        help="Additional metric to compute, e.g. wait_p95(team-a)[priority >= 100]; repeatable.",
    ),
]
_Pareto: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--pareto", metavar="F1,F2", help="Show only the Pareto-optimal policies for these metrics (lower is better)."
    ),
]
_Where: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--where", metavar="CONDITION", help="Condition that the selected policy must meet, e.g. 'evictions <= 200'."
    ),
]
_Best: TypeAlias = Annotated[
    str, typer.Option("--best", metavar="FIGURE", help="Select the policy that minimises this metric.")
]
_Dask: TypeAlias = Annotated[
    str | None,
    typer.Option("--dask", metavar="ADDRESS", help="Address of a Dask scheduler whose workers run the simulations."),
]
_Out: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Write all results to this file: as CSV if its name ends with .csv, otherwise as Parquet.",
    ),
]
_Picture: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--picture", metavar="FILE", help="Write a chart of the two metrics given by --pareto to this SVG or PNG file."
    ),
]


def sweep(
    files: Objects,
    *,
    jobs: JobsFile,
    over: _Over,
    format: Format = "auto",  # noqa: A002 - as the option is called
    map: Map = None,  # noqa: A002
    window: Window = None,
    censored: Censored = None,
    number: _Sample = None,
    seeds: _Seeds = 1,
    figure: _Figure = None,
    pareto: _Pareto = None,
    where: _Where = None,
    best: _Best = "wait_p95",
    threads: _Threads = None,
    dask: _Dask = None,
    storage: _Storage = None,
    until: Until = None,
    warmup: Warmup = "0",
    out: _Out = None,
    picture: _Picture = None,
    rows: Rows = 20,
    kueue_version: KueueVersion = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Simulate the same jobs under many policies, and find the best policy.

    A policy sets a value at each path of --over. A path names a field of objects, such as
    ClusterQueue/team-a:quota[h100/nvidia.com/gpu].nominalQuota, a change of the jobs (jobs:scale_load) or a setting of
    the run (model:every). All combinations of the values are simulated, or N of them with --sample N.

    Exits with code 3 if no policy meets the condition --where.
    """
    cluster = read_cluster(files, lenient=lenient, version=kueue_version)
    table_ = read_jobs(jobs, format, map, window, censored)
    given = [pair("--over", text) for text in over]
    space = {path: _values(path, text, sampled=number is not None) for path, text in given}
    policies: Any = space if number is None else sample(space, number)
    names = _metrics(pareto, picture)
    with _workers(dask) as client, counting("simulations done") as show:
        grid = run(
            cluster,
            _by_seed(table_, seeds),
            policies,
            seeds=seeds,
            figures=figure or (),
            threads=threads,
            on=client,
            storage=storage,
            progress=False if show is None else lambda progress: show(progress.done, progress.total),
            until=until,
            warmup=warmup,
        )
    if out is not None:
        _save(grid, out)
    _expect_valid(grid)
    chosen = grid.best(best, where=where)
    front = grid.pareto(minimise=names) if names else grid.means
    if picture is not None:
        save_figure(grid.plot.pareto(*names).figure, picture)
    if json:
        print_json(
            {"policies": len(grid.policies), "seeds": list(grid.seeds), "rows": grid.frame.rows(), "best": chosen}
        )
    else:
        _tell(grid, front, rows)
        if chosen is None:
            say(f"no policy meets {where}", style="bold")
        else:
            edits = ", ".join(f"{path}={value}" for path, value in chosen.edits.items())
            name = grid.named(best)
            say(
                f"best: policy {chosen.policy}: {edits}: {name} {figure_text(name, chosen.figures[name])}", style="bold"
            )
    if chosen is None:
        raise typer.Exit(ANSWER_IS_NO)


def _metrics(pareto: str | None, picture: str | None) -> list[str]:
    names = [name.strip() for name in (pareto or "").split(",") if name.strip()]
    if picture is not None and len(names) != 2:  # noqa: PLR2004 - x and y
        raise typer.BadParameter("needs --pareto with two metrics", param_hint="'--picture'")
    return names


def _expect_valid(grid: Sweep) -> None:
    if len(grid.errors) == len(grid.policies):
        raise InvalidSpecError(f"sweep: no policy is valid; the first: {grid.errors[0]}")


def _values(path: str, text: str, *, sampled: bool) -> Any:
    found = _RANGE.fullmatch(text)
    if found is not None:
        if not sampled:
            raise InvalidSpecError(f"--over {path}: {text} is a range; ranges need --sample")
        try:
            low, high, step = (None if part is None else _number(part) for part in found.groups())
        except ValueError:
            raise InvalidSpecError(f"--over {path}: {text}; it must be LOW..HIGH or LOW..HIGH:STEP") from None
        if step is None and isinstance(low, int) and isinstance(high, int):
            step = 1
        return Uniform(low or 0, high or 0, step=step)
    try:
        return list(yaml.safe_load(f"[{text}]"))
    except yaml.YAMLError:
        raise InvalidSpecError(f"--over {path}: {text}; it must be values separated by commas") from None


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _by_seed(jobs: Jobs, seeds: int) -> Jobs | Callable[[int], Jobs]:
    """Return the jobs; for several seeds, a function that shuffles whole days, which keeps the daily pattern."""
    return jobs if seeds == 1 else jobs.shuffle_days


@contextmanager
def _workers(address: str | None) -> "Iterator[Any]":
    if address is None:
        yield None
        return
    distributed = imported("distributed", "--dask", '"kueuepy[dask]"')
    try:
        with progress(f"connecting to {address}"):
            client = distributed.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise InvalidSpecError(f"--dask {address}: cannot be reached: {error}") from None
    with client:
        yield client


def _tell(grid: Sweep, front: "Columns", rows: int) -> None:
    for text in grid.warnings:
        say(f"warning: {text}", style="yellow")
    paths = list(dict.fromkeys(path for policy in grid.policies for path in policy))
    shown = [name for name in grid.figures if is_shown("sweep", name) or "(" in name]
    lines = [
        [
            row["policy"],
            *(row[path] for path in paths),
            *(figure_text(name, row[name]) for name in shown),
        ]
        for row in front.rows(rows)
    ]
    table("", ("Policy", *paths, *map(_heading, shown)), lines)
    if len(front) > rows:
        say(f"and {len(front) - rows} more")


def _save(grid: Sweep, path: str) -> None:
    if not path.endswith(".csv"):
        grid.save(path)
        return
    file = StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(grid.frame.names)
    writer.writerows(row.values() for row in grid.frame.rows())
    write_file(path, file.getvalue())


def plan(
    files: Objects,
    *,
    jobs: JobsFile,
    target: Annotated[
        str,
        typer.Option(
            "--target", metavar="TARGET", help="Target that the simulation must meet, e.g. 'wait_p95(team-a) <= 30m'."
        ),
    ],
    vary: Annotated[str, typer.Option("--vary", metavar="PATH", help="Path of the numeric field to minimise.")],
    low: Annotated[int, typer.Option("--from", metavar="N", help="Smallest value to try.")],
    high: Annotated[int, typer.Option("--to", metavar="N", help="Largest value to try.")],
    step: Annotated[int, typer.Option("--step", min=1, metavar="N", help="Step between the values to try.")] = 1,
    format: Format = "auto",  # noqa: A002 - as the option is called
    map: Map = None,  # noqa: A002
    window: Window = None,
    censored: Censored = None,
    seeds: _Seeds = 1,
    every: Annotated[
        bool, typer.Option("--all", help="Try every value, even if that takes more than 64 simulations.")
    ] = False,
    threads: _Threads = None,
    storage: _Storage = None,
    out: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="YAML file for the objects, with the field set to the value found."
        ),
    ] = None,
    picture: Annotated[
        str | None,
        typer.Option("--picture", metavar="FILE", help="Write a chart of the values tried to this SVG or PNG file."),
    ] = None,
    kueue_version: KueueVersion = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Find the smallest value of a field that meets a target, such as the smallest quota for a waiting time.

    With several seeds, a value must meet the target with each seed. Prints the result of every value tried, and whether
    a larger value missed the target although a smaller value met it.

    Exits with code 3 if no value meets the target.
    """
    cluster = read_cluster(files, lenient=lenient, version=kueue_version)
    table_ = read_jobs(jobs, format, map, window, censored)
    with counting("simulations done") as show:
        found = make_plan(
            cluster,
            _by_seed(table_, seeds),
            target,
            vary=vary,
            low=low,
            high=high,
            step=step,
            exhaustive=True if every else None,
            seeds=seeds,
            threads=threads,
            storage=storage,
            progress=False if show is None else lambda progress: show(progress.done, progress.total),
        )
    if out is not None and isinstance(found.cluster, Cluster):
        dump(found.cluster, out)
    if picture is not None:
        save_figure(found.plot().figure, picture)
    if json:
        facts = {name: getattr(found, name) for name in ("target", "vary", "value", "monotone", "exhaustive")}
        print_json({**facts, "curve": found.curve.rows()})
    else:
        figure = str(promise(target).measure)
        rows = [
            [row["value"], figure_text(figure, row["mean"]), _interval(figure, row), "yes" if row["passed"] else "no"]
            for row in found.curve.rows()
        ]
        table("", (vary.rpartition(".")[2], _heading(figure), "95% interval", "Target met"), rows)
        say(repr(found)[len("<Plan: ") : -1], style="bold")
    if found.value is None:
        raise typer.Exit(ANSWER_IS_NO)


def _heading(figure: str) -> str:
    """Return the header of the column of a metric: its title, and the name that options accept."""
    return f"{in_lines(label_of(figure))}\n{figure}"


def _interval(figure: str, row: dict[str, Any]) -> str:
    ends = (row["low"], row["high"])
    return "" if any(map(math.isnan, ends)) else " to ".join(figure_text(figure, end) for end in ends)
