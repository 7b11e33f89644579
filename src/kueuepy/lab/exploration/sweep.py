"""Sweeps and searches: simulate the same jobs under many policies; in a search, previous trials determine the next."""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from contextlib import closing, contextmanager
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

import msgspec

from kueuepy.cluster import dump
from kueuepy.engine.threads import number_of_threads
from kueuepy.errors import InvalidSpecError, checked, expect_one_of, imported, spelled_out
from kueuepy.fleet import Fleet
from kueuepy.lab.exploration.grid import SelectedPolicy, Sweep
from kueuepy.lab.exploration.measure import Measure, Promise, measure, promise
from kueuepy.lab.exploration.policy import MOST, JobsBySeed, Setup, Space, Uniform, check_path, policies_of, sample
from kueuepy.lab.exploration.runs import Row, Task, on_client, on_threads, row_of
from kueuepy.platform.visibility.coverage import fidelity
from kueuepy.profiles.version import installed
from kueuepy.simulation.model import RunSettings, Settings
from kueuepy.simulation.recorded import fingerprint_of, plain
from kueuepy.simulation.simulate import Teller
from kueuepy.simulation.table import Jobs

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from typing_extensions import Unpack

    from kueuepy.cluster import Cluster


class SweepProgress(msgspec.Struct, frozen=True):
    """The progress of a sweep.

    Attributes:
        done: The number of finished simulations, including simulations read from the storage.
        total: The number of simulations of the sweep.
        failed: The number of finished simulations whose policy was not valid.

    Example:
        >>> SweepProgress(done=3, total=10, failed=0).done
        3
    """

    done: int
    total: int
    failed: int


@checked
@spelled_out(RunSettings)
def sweep(
    cluster: Cluster | Fleet,
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
    """Simulate the same jobs under many policies, and return one row of metrics per simulation.

    A policy is a mapping from paths to values; `None` removes a field. These paths exist:

    - `Kind/name:field.field[selector]` is a field of objects, as `Cluster.edit` accepts it;
    - `Configuration:field` is a field of Kueue's Configuration;
    - `jobs:scale_load`, `jobs:scale_runtime`, `jobs:thin` and `jobs:shuffle_days` transform the jobs;
    - `jobs:seed` is the seed passed to a function that generates jobs;
    - `model:every`, `clock:cycle` and `delays[0]:fails` are fields of arguments of `simulate`.

    With the same seed, all policies see the same jobs and the same random numbers, so differences between policies are
    paired. The rows do not depend on the number of threads or machines, except for the column `wall_s`.

    Args:
        cluster: The cluster or the fleet that the policies change. The paths of a fleet begin with the name of a
            cluster; see `Fleet.edit_all`.
        jobs: A `Jobs`, rows, data frames or manifests; or a function that returns one of these for a seed.
        over: A dict with a list of values for each path, to simulate all combinations (the last path varies fastest);
            or a list of policies, such as the result of `sample`.
        seeds: The number of seeds, counted from 0, or a list of seeds. Default: 1.
        figures: Metrics to compute in addition to the metrics of `Kpis`, such as `wait_p95(team-a)[priority >= 100]`.
        threads: The number of simulations to run in parallel. Default: the number of available cores.
        on: A `dask.distributed.Client` whose workers execute the simulations, instead of threads.
        storage: A file in which each finished row is saved. A call with the file of an interrupted sweep continues the
            sweep.
        progress: A function that is called with a `SweepProgress` at most ten times per second and at the end, or
            whether to show a progress bar. Default: a bar if tqdm is installed.
        limit: The maximum number of simulations. Default: 10,000.
        settings: Further arguments of `simulate`: `model`, `events`, `clock`, `delays`, `until`, `warmup`, `on_loop`,
            `missing`.

    Returns:
        The rows, with methods to compare policies. A policy that is not valid has a row with an error.

    Raises:
        NotFoundError: A path or a metric does not exist.
        InvalidSpecError: There are no policies, more simulations than `limit`, or an argument is not valid.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> cluster = Cluster(ResourceFlavor("h100"), ClusterQueue.of("team", {"h100": {"nvidia.com/gpu": 1}}))
        >>> rows = [{"queue": "team", "submit": 60 * n, "runtime": "1h", "gpu": 1} for n in range(3)]
        >>> grid = sweep(cluster, rows, {"ClusterQueue/team:quota[h100/nvidia.com/gpu].nominalQuota": [1, 2, 3]})
        >>> grid.frame["wait_mean"].tolist()
        [3540.0, 1160.0, 0.0]
        >>> grid.best("utilisation h100/nvidia.com/gpu", where="wait_p95 <= 1h", largest=True).policy
        2
    """
    setup = setup_of(cluster, jobs, settings)
    policies, numbers = policies_of(over), _seeds(seeds)
    number_of_threads(threads)
    total = len(policies) * len(numbers)
    if not total:
        raise InvalidSpecError("sweep: there are no policies; give one at least")
    if total > limit:
        raise InvalidSpecError(f"sweep: {total:,} runs; at most {limit:,} are made unless limit= says more")
    # A misspelled path is an error before the first of thousands of simulations.
    for path in dict.fromkeys(path for policy in policies for path in policy):
        check_path(setup, path)
    if isinstance(figures, str):
        raise InvalidSpecError(f"sweep: figures {figures!r:.99}; it must be a list of them")
    measures = tuple(measure(text) for text in figures)
    tasks = [Task(index, policy, seed) for index, (policy, seed) in enumerate(product(policies, numbers))]
    for seed in numbers:
        setup.jobs_of(seed)  # creates the jobs once, before several threads need them
    kept = None if storage is None else Storage(storage, setup, measures, sorted(numbers))
    rows = {} if kept is None else kept.known(tasks)
    left = [task for task in tasks if task.index not in rows]
    local = partial(row_of, setup, measures)
    runs = on_client(setup, measures, left, on) if on is not None and left else on_threads(local, left, threads)
    _collect(runs, rows, kept, Teller(progress, len(tasks), "runs"), len(tasks))
    return Sweep(setup, policies, numbers, [rows[task.index] for task in tasks])


class SweepSettings(RunSettings, total=False):
    """Keyword arguments of `sweep` that `plan` and `search` also accept, in addition to those of `simulate`.

    Attributes:
        seeds: The number of seeds, counted from 0, or a list of seeds.
        threads: The number of simulations to run in parallel; by default one for each core.
        on: A `dask.distributed.Client` whose workers run the simulations.
        storage: A file in which each finished row is saved; an interrupted sweep continues from this file.
        progress: A function that is called with the progress; by default a tqdm progress bar if tqdm is installed.
    """

    seeds: int | Sequence[int]
    threads: int | None
    on: Any
    storage: str | os.PathLike[str] | None
    progress: bool | Callable[[SweepProgress], None] | None


def setup_of(cluster: Cluster | Fleet, jobs: Any, settings: RunSettings) -> Setup:
    """Return the setup for the arguments of `sweep`.

    Raises:
        InvalidSpecError: A setting does not exist.
    """
    lists: dict[str, Any] = {
        name: tuple(cast("Any", value)) if name in ("events", "delays") else value for name, value in settings.items()
    }
    table = jobs if isinstance(jobs, Jobs) else JobsBySeed(jobs) if callable(jobs) else Jobs.of(jobs)
    return Setup(cluster, table, Settings(**lists))


def _seeds(seeds: int | Sequence[int]) -> tuple[int, ...]:
    found = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
    if not found or len(set(found)) < len(found) or min(found) < 0:
        wanted = "a number of 1 or more, or different seeds of 0 or more"
        raise InvalidSpecError(f"sweep: seeds {seeds!r:.99}; it must be {wanted}")
    return found


def _collect(
    runs: Iterable[tuple[Task, Row]], rows: dict[int, Row], kept: Storage | None, report: Teller, total: int
) -> None:
    """Add each row to `rows` and to the storage as soon as its simulation is finished, and report the progress."""

    def progress() -> SweepProgress:
        return SweepProgress(len(rows), total, sum(row["error"] is not None for row in rows.values()))

    try:
        for task, row in runs:
            rows[task.index] = row
            if kept is not None:
                kept.keep(task, row)
            report.maybe(progress, last=len(rows) == total)
    finally:
        report.close()


# --- storage of finished rows -----------------------------------------------------------------------------------------

_SEED = "jobs:seed"


class Storage:
    """A file of rows, keyed by a hash of cluster, jobs, settings, policy, seed and kueuepy version."""

    def __init__(
        self, path: str | os.PathLike[str], setup: Setup, measures: Sequence[Measure], seeds: Sequence[int]
    ) -> None:
        """Open or create the file.

        Raises:
            InvalidSpecError: The file is not the storage file of a sweep, such as a journal or a recording.
        """
        self._path = path
        self._same = _print_of(setup, measures)
        self._setup = setup
        self._jobs = {seed: _jobs_print(setup.jobs_of(seed)) for seed in seeds}
        with self._file("is not a file of a sweep") as file:
            tables = [name for (name,) in file.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            if tables and "runs" not in tables:
                raise InvalidSpecError(f"{path}: is not a file of a sweep: it has other tables: {', '.join(tables)}")
            file.execute("CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, row TEXT, checksum TEXT)")

    @contextmanager
    def _file(self, what: str) -> Iterator[sqlite3.Connection]:
        """Yield the file in a transaction, and convert SQLite errors to an error that names the file."""
        try:
            with closing(sqlite3.connect(self._path, timeout=60)) as file, file:
                yield file
        except InvalidSpecError:
            raise
        except (sqlite3.Error, ValueError) as error:
            raise InvalidSpecError(f"{self._path}: {what}: {error}") from None

    def known(self, tasks: Sequence[Task]) -> dict[int, Row]:
        """Return the stored rows of the tasks, by position."""
        with self._file("is not a file of a sweep") as file:
            every = file.execute("SELECT key, row, checksum FROM runs")
            rows = {key: (row, checksum) for key, row, checksum in every}
            keys = {task.index: self._key(task) for task in tasks}
            return {index: _row(key, *rows[key]) for index, key in keys.items() if key in rows}

    def keep(self, task: Task, row: Row) -> None:
        """Write a row, and commit it before returning."""
        with self._file("cannot be written") as file:
            key, text = self._key(task), json.dumps(row)
            file.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?)", (key, text, _checksum(key, text)))

    def _key(self, task: Task) -> str:
        """Return a hash of all inputs that determine the result of a simulation."""
        of_jobs = task.policy.get(_SEED, task.seed)
        if of_jobs not in self._jobs:
            self._jobs[of_jobs] = _jobs_print(self._setup.jobs_of(of_jobs))
        run = json.dumps([self._same, self._jobs[of_jobs], plain(task.policy), task.seed])
        return hashlib.sha256(run.encode()).hexdigest()


class _Kept(TypedDict):
    figures: dict[str, float]
    error: str | None
    wall_s: float


def _row(key: str, text: Any, checksum: Any) -> Row:
    # The checksum finds rows that were damaged or edited, which a sweep would otherwise return as results.
    if not isinstance(text, str) or checksum != _checksum(key, text):
        raise ValueError(f"{str(text)[:40]!r} is not a row that a sweep wrote; delete the file")
    return dict(msgspec.convert(json.loads(text), _Kept))


def _checksum(key: str, text: str) -> str:
    return hashlib.sha256(f"{key}\0{text}".encode()).hexdigest()


def _print_of(setup: Setup, measures: Sequence[Measure]) -> str:
    """Return a hash of the setup, the metrics and the kueuepy version."""
    cluster = setup.cluster
    fleet = (repr(cluster), repr(cluster.sync)) if isinstance(cluster, Fleet) else ()
    parts = [
        *map(dump, cluster.members if isinstance(cluster, Fleet) else (cluster,)),
        *fleet,
        json.dumps(plain(setup.settings)),
        *map(str, measures),
        # Another version of kueuepy or of Kueue's rules may give other rows.
        installed(),
        fidelity().commit,
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _jobs_print(jobs: Jobs) -> str:
    # Times are hashed as the integers of the core, because decimal seconds lose digits.
    tables = fingerprint_of({"jobs": jobs.exact()})
    return hashlib.sha256(f"{jobs.templates!r}{tables}".encode()).hexdigest()


# The number of policies per round, which does not depend on the number of cores.
_AT_ONCE = 4


class Search(Sweep):
    """The results of a search: a `Sweep` of all trials in order. `search` creates it.

    Attributes:
        objective: The metric that was minimised or maximised.
        subject_to: The conditions that a policy had to satisfy.
        study: Optuna's study; `None` for a random search.
        largest: Whether the metric was maximised.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> from kueuepy.lab import search
        >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 1}}))
        >>> jobs = [{"queue": "team", "submit": 0, "runtime": "1h", "cpu": 1}]
        >>> space = {"ClusterQueue/team:quota[f/cpu].nominalQuota": [1, 2]}
        >>> search(cluster, jobs, space, "wait_mean", trials=2, sampler="random").found.figures["wait_mean"]
        0.0
    """

    objective: str
    subject_to: tuple[str, ...]
    study: Any = None
    largest = False

    @property
    def found(self) -> SelectedPolicy | None:
        """The best trial that satisfies the conditions; `None` if no trial does."""
        return self.best(self.objective, where=" and ".join(self.subject_to) or None, largest=self.largest)


@checked
@spelled_out(SweepSettings)
def search(
    cluster: Cluster | Fleet,
    jobs: Any,
    space: Space,
    objective: str = "wait_p95",
    *,
    subject_to: Sequence[str] = (),
    largest: bool = False,
    trials: int = 200,
    sampler: Literal["tpe", "random"] = "tpe",
    seed: int = 0,
    **options: Unpack[SweepSettings],
) -> Search:
    """Search for the policy that minimises a metric, or maximises it, subject to conditions.

    The same seed gives the same trials on any number of threads.

    Args:
        cluster: The cluster or the fleet that the policies change. The paths of a fleet begin with the name of a
            cluster; see `Fleet.edit_all`.
        jobs: The jobs, as `sweep` accepts them.
        space: For each path, a `Uniform` range or a list of values.
        objective: The metric, such as `wait_p95(team-a)`. Default: `wait_p95`.
        subject_to: Conditions that the policy must satisfy, such as `["evictions <= 200"]`. Default: none.
        largest: Whether to maximise the metric. Default: False.
        trials: The number of policies to try. Default: 200.
        sampler: `tpe` uses Optuna's TPE sampler, which learns from previous trials and from how far they violate the
            conditions. `random` draws policies at random. Default: `tpe`.
        seed: The seed of the sampler. Default: 0.
        options: Further arguments of `sweep`: `seeds`, `threads`, `on`, `storage`, `progress`, and settings of the
            simulations.

    Returns:
        All trials; `found` is the best one.

    Raises:
        InvalidSpecError: The space is empty, or a condition is malformed.
        NotFoundError: A path or a metric does not exist.
        UnsupportedError: `sampler` is `tpe`, and Optuna is not installed.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 1}}))
        >>> jobs = [{"queue": "team", "submit": 0, "runtime": "1h", "cpu": 1}] * 2
        >>> space = {"ClusterQueue/team:quota[f/cpu].nominalQuota": [2]}
        >>> search(cluster, jobs, space, "wait_mean", trials=1, sampler="random").found.edits
        {'ClusterQueue/team:quota[f/cpu].nominalQuota': 2}
    """
    if isinstance(subject_to, str):
        raise InvalidSpecError(f"search: subject_to {subject_to!r:.99}; it must be a list of conditions")
    if trials < 1 or not space:
        raise InvalidSpecError(f"search: {trials} trials in {dict(space)}; give one at least, and a path")
    conditions = [promise(text) for text in subject_to]
    figures = list(dict.fromkeys([objective, *(str(condition.measure) for condition in conditions)]))
    expect_one_of("search: sampler", sampler, ("tpe", "random"))
    asked = _Study(space, seed, largest) if sampler == "tpe" else None
    if asked is None:
        grids = [sweep(cluster, jobs, sample(space, trials, seed=seed, how="random"), figures=figures, **options)]
    else:
        grids = []
        # Policies of a round run in parallel; the sampler learns from each round.
        for begin in range(0, trials, _AT_ONCE):
            proposals = asked.ask(min(_AT_ONCE, trials - begin))
            grids.append(sweep(cluster, jobs, [policy for _, policy in proposals], figures=figures, **options))
            asked.report([trial for trial, _ in proposals], grids[-1], objective, conditions)
    policies = [policy for grid in grids for policy in grid.policies]
    found = Search(grids[0].setup, policies, grids[0].seeds, [row for grid in grids for row in grid.rows])
    found.objective, found.subject_to, found.largest = objective, tuple(subject_to), largest
    found.study = None if asked is None else asked.study
    return found


class _Study:
    def __init__(self, space: Space, seed: int, largest: bool) -> None:  # noqa: FBT001
        optuna = imported("optuna", 'search: sampler "tpe"', ', or search with sampler="random"')
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._fail = optuna.trial.TrialState.FAIL
        self._space = space
        self._distributions = {path: _distribution(optuna.distributions, path, v) for path, v in space.items()}
        sampler = optuna.samplers.TPESampler(seed=seed)
        self.study = optuna.create_study(sampler=sampler, direction="maximize" if largest else "minimize")

    def ask(self, n: int) -> list[tuple[Any, dict[str, Any]]]:
        """Return the next `n` trials with their policies."""
        trials = [self.study.ask(self._distributions) for _ in range(n)]
        return [(trial, {path: self._value(path, trial.params[path]) for path in self._space}) for trial in trials]

    def _value(self, path: str, asked: Any) -> Any:
        values = self._space[path]
        return asked if isinstance(values, Uniform) else values[asked]

    def report(self, trials: Sequence[Any], grid: Sweep, objective: str, conditions: Sequence[Promise]) -> None:
        """Report the results of the trials to Optuna; a trial without a value of the metric is reported as failed."""
        values = grid.means[grid.named(objective)].tolist()
        for index, trial in enumerate(trials):
            for condition in conditions:
                value = float(grid.means[str(condition.measure)][index])
                trial.set_constraint(condition.text, _violation(condition, value))
            # Optuna accepts no NaN as the value of a trial.
            if math.isnan(values[index]):
                self.study.tell(trial, state=self._fail)
            else:
                self.study.tell(trial, values[index])


def _violation(condition: Promise, value: float) -> float:
    """Return by how much a value violates a condition; 0 if it satisfies the condition."""
    if condition.holds(value):
        return 0.0
    # An undefined metric is worse than any defined one.
    return 1e9 if math.isnan(value) else max(abs(value - condition.value), 1e-9)


def _distribution(kinds: Any, path: str, values: Uniform | Sequence[Any]) -> Any:
    if not isinstance(values, Uniform):
        if not len(values):
            raise InvalidSpecError(f'search: "{path}": no values; give one at least')
        return kinds.CategoricalDistribution(range(len(values)))
    whole = all(isinstance(number, int) for number in (values.low, values.high, values.step))
    if whole and not values.log:
        return kinds.IntDistribution(values.low, values.high, step=values.step)
    return kinds.FloatDistribution(values.low, values.high, log=values.log, step=None if values.log else values.step)
