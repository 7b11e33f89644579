"""`kueuepy sweep`: simulate jobs under many policies; `kueuepy plan`: find the smallest value that meets a target."""

import csv
import re
from collections.abc import Callable
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any

from kueuepy.cli.logs import Log, as_in_manifest, pair
from kueuepy.cli.options import Positive, Reading
from kueuepy.cli.output import UsageError, counting, expect_other_file, print_json, progress, save_figure, say, table
from kueuepy.cluster import Cluster, dump
from kueuepy.errors import InvalidSpecError, KueueError, imported
from kueuepy.files import write_file
from kueuepy.lab.exploration.grid import Sweep
from kueuepy.lab.exploration.plan import plan as make_plan
from kueuepy.lab.exploration.policy import Uniform
from kueuepy.lab.exploration.policy import sample as evenly
from kueuepy.lab.exploration.sweep import sweep as run
from kueuepy.objects.base import whole
from kueuepy.simulation.catalogue import figure_text
from kueuepy.simulation.model import Missing
from kueuepy.simulation.table import Jobs
from kueuepy.tables.kinds import exact_number

if TYPE_CHECKING:
    from collections.abc import Iterator

# Lazy numbers, because a greedy one would take the dots of the range.
_RANGE = re.compile(r"(-?[0-9.]+?[a-zA-Z]*)\.\.(-?[0-9.]+?[a-zA-Z]*)(?::([0-9.]+[a-zA-Z]*))?")


def sweep(
    files: list[str],
    *,
    jobs: str | None = None,
    over: tuple[str, ...],
    log: Log,
    sample: Positive | None = None,
    missing: Missing = "error",
    seeds: Positive = 1,
    figure: tuple[str, ...] = (),
    pareto: str | None = None,
    where: str | None = None,
    best: str = "wait_p95",
    threads: Positive | None = None,
    dask: str | None = None,
    storage: str | None = None,
    until: str | None = None,
    warmup: str = "0",
    out: str | None = None,
    picture: str | None = None,
    rows: Positive = 20,
    reading: Reading,
    json: bool = False,
) -> bool:
    """Simulate the same jobs under many policies, and find the best policy.

    A policy sets a value at each path of --over. A path names a field of objects, such as
    ClusterQueue/team-a:quota[h100/nvidia.com/gpu].nominalQuota, a change of the jobs (jobs:scale_load) or a setting of
    the run (model:every). All combinations of the values are simulated, or N of them with --sample N.

    Exits with code 3 if no policy meets the condition --where.

    Options:
        files (FILE): YAML or JSON file, directory of them, - (stdin), or cluster:CONTEXT.
        over (PATH=VALUES): Field and values to try: v1,v2,... or, with --sample, LOW..HIGH:STEP; repeatable.
        sample (N): Simulate only N policies, spread evenly over all combinations of values.
        figure (FIGURE): Additional metric to compute, e.g. wait_p95(team-a)[priority >= 100]; repeatable.
        pareto (F1,F2): Show only the Pareto-optimal policies for these metrics (lower is better).
        where (CONDITION): Condition that the selected policy must meet, e.g. 'evictions <= 200'.
        best (FIGURE): Select the policy that minimises this metric.
        threads (N): Number of simulations to run in parallel; by default, one per core.
        dask (ADDRESS): Address of a Dask scheduler whose workers run the simulations.
        out (FILE): Write all results to this file: as CSV if its name ends with .csv, otherwise as Parquet.
        picture (FILE): Write a chart of the two metrics given by --pareto to this SVG or PNG file.

    Examples:
        kueuepy sweep examples/week/teams.yaml --jobs examples/week/jobs.csv
            --over 'ClusterQueue/*:preemption.reclaimWithinCohort=Never,Any' --pareto wait_p95,lost_hours
        kueuepy sweep objects/ --jobs log.csv --over 'ClusterQueue/a:quota[f/cpu].nominalQuota=8..64:4' --sample 200
            --seeds 3 --out sweep.parquet
    """
    for output in (out, picture):
        expect_other_file(output, *files, jobs, storage)
    cluster, table_ = log.given(files, jobs, reading)
    given = [pair("--over", text) for text in over]
    space = {path: _values(path, text, sampled=sample is not None) for path, text in given}
    policies: Any = space if sample is None else evenly(space, sample)
    names = _metrics(pareto, picture)
    with _workers(dask) as client, counting("simulations done") as show:
        grid = run(
            cluster,
            _by_seed(table_, seeds),
            policies,
            seeds=seeds,
            missing=missing,
            figures=figure,
            threads=threads,
            on=client,
            storage=storage,
            progress=show,
            until=until,
            warmup=warmup,
        )
    if out is not None:
        _save(grid, out)
    if len(grid.errors) == len(grid.policies):
        raise InvalidSpecError(f"sweep: no policy is valid; the first: {grid.errors[0]}")
    chosen = grid.best(best, where=where)
    front = grid.pareto(minimise=names) if names else grid.means
    if picture is not None:
        save_figure(grid.plot.pareto(*names).figure, picture)
    if json:
        print_json(
            {"policies": len(grid.policies), "seeds": list(grid.seeds), "rows": grid.frame.rows(), "best": chosen}
        )
    else:
        for text in grid.warnings:
            say(f"warning: {text}", style="yellow")
        sheet = grid.sheet(front, rows)
        table("", sheet.header, sheet.rows)
        if len(front) > rows:
            say(f"and {len(front) - rows} more")
        _tell_best(grid, chosen, best, where)
    return chosen is None


def _tell_best(grid: Sweep, chosen: Any, best: str, where: str | None) -> None:
    if chosen is None:
        say(f"no policy meets {where}", style="bold")
    else:
        edits = ", ".join(f"{path}={value}" for path, value in chosen.edits.items())
        name = grid.named(best)
        say(f"best: policy {chosen.policy}: {edits}: {name} {figure_text(name, chosen.figures[name])}", style="bold")


def _metrics(pareto: str | None, picture: str | None) -> list[str]:
    names = [name.strip() for name in (pareto or "").split(",") if name.strip()]
    if picture is not None and len(names) != 2:  # noqa: PLR2004 - x and y
        raise UsageError("--picture: needs --pareto with two metrics")
    return names


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
        # As a list of YAML, so that numbers and booleans have their types.
        return as_in_manifest(f"[{text}]")
    except KueueError:
        raise InvalidSpecError(f"--over {path}: {text}; it must be values separated by commas") from None


def _number(text: str) -> int | float:
    number = exact_number(text)
    return whole("--over", text) if number is None else number


def _by_seed(jobs: Jobs, seeds: int) -> Jobs | Callable[[int], Jobs]:
    """Return the jobs; for several seeds, a function that shuffles whole days, which keeps the daily pattern."""
    return jobs if seeds == 1 else jobs.shuffle_days


@contextmanager
def _workers(address: str | None) -> "Iterator[Any]":
    if address is None:
        yield None
        return
    distributed = imported("distributed", "--dask")
    try:
        with progress(f"connecting to {address}"):
            client = distributed.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise InvalidSpecError(f"--dask {address}: cannot be reached: {error}") from None
    with client:
        yield client


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
    files: list[str],
    *,
    jobs: str | None = None,
    target: str,
    vary: str,
    from_: str,
    to: str,
    step: str = "1",
    log: Log,
    missing: Missing = "error",
    seeds: Positive = 1,
    all_: bool = False,
    threads: Positive | None = None,
    storage: str | None = None,
    output: str | None = None,
    picture: str | None = None,
    reading: Reading,
    json: bool = False,
) -> bool:
    """Find the smallest value of a field that meets a target, such as the smallest quota for a waiting time.

    With several seeds, a value must meet the target with each seed. Prints the result of every value tried, and whether
    a larger value missed the target although a smaller value met it.

    Exits with code 3 if no value meets the target.

    Options:
        files (FILE): YAML or JSON file, directory of them, - (stdin), or cluster:CONTEXT.
        target (TARGET): Target that the simulation must meet, e.g. 'wait_p95(team-a) <= 30m'.
        vary (PATH): Path of the numeric field to minimise.
        from_ (N): Smallest value to try, an integer or a quantity such as 64Gi.
        to (N): Largest value to try, in the same form.
        step (N): Step between the values to try.
        all_: Try every value, even if that takes more than 64 simulations.
        threads (N): Number of simulations to run in parallel; by default, one per core.
        output (FILE): YAML file for the objects, with the field set to the value found.
        picture (FILE): Write a chart of the values tried to this SVG or PNG file.

    Examples:
        kueuepy plan examples/week/teams.yaml --jobs examples/week/jobs.csv --target 'wait_p95(robots) <= 30m'
            --vary 'ClusterQueue/robots:quota[h100/nvidia.com/gpu].nominalQuota' --from 2 --to 12
    """
    cluster, table_ = log.given(files, jobs, reading)
    with counting("simulations done") as show:
        found = make_plan(
            cluster,
            _by_seed(table_, seeds),
            target,
            vary=vary,
            low=from_,
            high=to,
            step=step,
            exhaustive=True if all_ else None,
            seeds=seeds,
            missing=missing,
            threads=threads,
            storage=storage,
            progress=show,
        )
    found.source = log.source(files, jobs, reading, missing)
    if output is not None and isinstance(found.cluster, Cluster):
        dump(found.cluster, output)
    if picture is not None:
        save_figure(found.plot().figure, picture)
    if json:
        facts = {name: getattr(found, name) for name in ("target", "vary", "value", "monotone", "exhaustive")}
        print_json({**facts, "curve": found.curve.rows()})
    else:
        say(str(found))
    return found.value is None
