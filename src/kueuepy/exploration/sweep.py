"""Sweeps: the same jobs under many policies, a row a run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked
from kueuepy.errors.settings import spelled_out
from kueuepy.exploration.grid import Sweep
from kueuepy.exploration.measure import measure
from kueuepy.exploration.policy import JobsBySeed, Setup, check_path
from kueuepy.exploration.runs import Task, cores, on_client, on_threads, row_of
from kueuepy.exploration.space import MOST, policies_of
from kueuepy.exploration.storage import Storage
from kueuepy.simulation.model import RunSettings, Settings
from kueuepy.simulation.progress import Teller
from kueuepy.simulation.table import Jobs

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from typing_extensions import Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.exploration.measure import Measure
    from kueuepy.exploration.runs import Row


class SweepProgress(msgspec.Struct, frozen=True):
    """How far a sweep has come.

    Attributes:
        done: How many runs are over, those that were stored before included.
        total: How many there are.
        failed: Of how many the policy was not valid.
    """

    done: int
    total: int
    failed: int


@checked
@spelled_out(RunSettings)
def sweep(
    cluster: Cluster,
    jobs: Jobs | Callable[[int], Any] | Iterable[Any],
    over: Mapping[str, Iterable[Any]] | Sequence[Mapping[str, Any]],
    *,
    seeds: int | Sequence[int] = 1,
    figures: Sequence[str] = (),
    threads: int | None = None,
    on: Any = None,
    storage: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[SweepProgress], None] | None = None,
    limit: int = MOST,
    **settings: Unpack[RunSettings],
) -> Sweep:
    """What comes of the same jobs under many policies.

    A policy is values by path. `Kind/name:field.field[selector]` is a field of objects as `Cluster.edit` takes it,
    `Configuration:field` one of the installation; `jobs:scale_load`, `jobs:scale_runtime`, `jobs:thin` and
    `jobs:shuffle_days` change the jobs, `jobs:seed` is the seed that a function of jobs is given; `model:every`,
    `clock:cycle` and `delays[0]:fails` are fields of what `simulate` takes. `None` takes a field away.

    Under the same seed all policies see the same jobs and the same draws, so that differences between policies are
    paired. The same input gives the same rows, on any number of threads and on any number of machines, but `wall_s`.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
    >>> cluster = Cluster(ResourceFlavor("h100"), ClusterQueue.of("team", {"h100": {"nvidia.com/gpu": 1}}))
    >>> rows = [{"queue": "team", "submit": 60 * n, "runtime": "1h", "gpu": 1} for n in range(3)]
    >>> grid = sweep(cluster, rows, {"ClusterQueue/team:quota[h100/nvidia.com/gpu].nominalQuota": [1, 2, 3]})
    >>> grid.frame["wait_mean"].tolist()
    [3540.0, 1160.0, 0.0]
    >>> grid.best("utilisation h100/nvidia.com/gpu", where="wait_p95 <= 1h", largest=True).policy
    2

    Args:
        cluster: The configuration that policies change.
        jobs: A `Jobs`, rows, frames or manifests; or a function that makes them from a seed.
        over: Values by path, of which all combinations are tried, the last path's fastest; or a list of policies, as
            `sample` makes one.
        seeds: How many, from 0 on, or which.
        figures: Beside all of `Kpis`, such as `wait_p95(team-a)[priority >= 100]`.
        threads: How many runs go on at once; by default one on each core.
        on: A `dask.distributed.Client`, whose workers run them instead.
        storage: A file in which each row is kept as soon as it is there; a sweep that was stopped goes on with it.
        progress: Who is told, at most ten times a second and at the end; `None`: tqdm, where it is there.
        limit: How many runs there may be.
        settings: What `simulate` takes beside: `model`, `events`, `clock`, `delays`, `until`, `warmup`, `on_loop`,
            `missing`.

    Raises:
        NotFoundError: A path or a figure names nothing.
        InvalidSpecError: There are no policies, or more runs than the limit; or an argument is not valid. A policy that
            is not valid is a row with an error instead.
    """
    setup = setup_of(cluster, jobs, settings)
    policies, numbers = policies_of(over), _seeds(seeds)
    _check(policies, numbers, limit)
    if threads is not None and threads < 1:
        raise InvalidSpecError(f"sweep: threads {threads}; it must be 1 or more")
    for path in dict.fromkeys(path for policy in policies for path in policy):
        check_path(setup, path)
    if isinstance(figures, str):
        raise InvalidSpecError(f"sweep: figures {figures!r}; it must be a list of them")
    measures = tuple(measure(text) for text in figures)
    every = [(policy, seed) for policy in policies for seed in numbers]
    tasks = [Task(place, policy, seed) for place, (policy, seed) in enumerate(every)]
    for seed in numbers:
        setup.jobs_of(seed)  # made once, before threads ask for it
    rows = _run(setup, measures, tasks, Ways(threads, on, storage, progress))
    return Sweep(setup, policies, numbers, rows)


class SweepSettings(RunSettings, total=False):
    """Keyword arguments of `sweep` that `plan` and `search` accept too, beside those of a run.

    Attributes:
        seeds: The number of seeds, from 0 on, or the seeds themselves.
        threads: The number of parallel runs; by default one for each core.
        on: A `dask.distributed.Client` whose workers make the runs.
        storage: A file that keeps each row; a sweep that was stopped continues with it.
        progress: A function that is called with the progress; by default tqdm, where it is installed.
    """

    seeds: int | Sequence[int]
    threads: int | None
    on: Any
    storage: str | os.PathLike[str] | None
    progress: bool | Callable[[SweepProgress], None] | None


class Ways(msgspec.Struct, frozen=True):
    """How runs are made: see `sweep`."""

    threads: int | None = None
    on: Any = None
    storage: Any = None
    progress: Any = None


def setup_of(cluster: Cluster, jobs: Any, settings: RunSettings) -> Setup:
    """Return what all runs have in common, from the arguments of a user."""
    lists: dict[str, Any] = {
        name: tuple(cast("Any", value)) if name in ("events", "delays") else value for name, value in settings.items()
    }
    table = jobs if isinstance(jobs, Jobs) else JobsBySeed(jobs) if callable(jobs) else Jobs.of(jobs)
    return Setup(cluster, table, Settings(**lists))


def _seeds(seeds: int | Sequence[int]) -> tuple[int, ...]:
    found = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
    if not found or len(set(found)) < len(found) or min(found) < 0:
        wanted = "a number of 1 or more, or different seeds of 0 or more"
        raise InvalidSpecError(f"sweep: seeds {seeds!r}; it must be {wanted}")
    return found


def _check(policies: Sequence[Any], seeds: Sequence[int], limit: int) -> None:
    total = len(policies) * len(seeds)
    if not total:
        raise InvalidSpecError("sweep: there are no policies; give one at least")
    if total > limit:
        raise InvalidSpecError(f"sweep: {total:,} runs; at most {limit:,} are made unless limit= says more")


class _Going:
    """Rows as they come, and how far that is."""

    def __init__(self, tasks: Sequence[Task], known: Mapping[int, Row]) -> None:
        self.rows: dict[int, Row] = dict(known)
        self._total = len(tasks)

    def progress(self) -> SweepProgress:
        failed = sum(row["error"] is not None for row in self.rows.values())
        return SweepProgress(len(self.rows), self._total, failed)


def _run(setup: Setup, measures: Sequence[Measure], tasks: Sequence[Task], ways: Ways) -> list[Row]:
    """The row of each task, in their order."""
    storage = None
    if ways.storage is not None:
        storage = Storage(ways.storage, setup, measures, sorted({task.seed for task in tasks}))
    going = _Going(tasks, storage.known(tasks) if storage is not None else {})
    left = [task for task in tasks if task.place not in going.rows]
    tell = Teller(ways.progress, len(tasks), "runs")
    try:
        for task, row in _each(setup, measures, left, ways):
            going.rows[task.place] = row
            if storage is not None:
                storage.keep(task, row)
            tell.maybe(going.progress, last=len(going.rows) == len(tasks))
    finally:
        tell.close()
    return [going.rows[task.place] for task in tasks]


def _each(setup: Setup, measures: Sequence[Measure], tasks: Sequence[Task], ways: Ways) -> Iterator[tuple[Task, Row]]:
    if not tasks:
        return iter(())
    if ways.on is not None:
        return on_client(setup, measures, tasks, ways.on)
    return on_threads(partial(row_of, setup, measures), tasks, ways.threads or cores())
