"""Measure how much the jobs of each group delay the jobs of other groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked, checked_methods
from kueuepy.errors.guesses import guessed
from kueuepy.errors.settings import spelled_out
from kueuepy.errors.words import counted
from kueuepy.lab.exploration.runs import NOTHING, in_order
from kueuepy.lab.exploration.sweep import setup_of
from kueuepy.look.notebook import MOST_ROWS, Sheet, repr_text
from kueuepy.look.numbers import duration, number
from kueuepy.simulation.model import RunSettings
from kueuepy.simulation.simulate import Simulation
from kueuepy.tables import Categorical, Columns
from kueuepy.tables.columns import Framed, categorical

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from kueuepy.cluster import Cluster
    from kueuepy.simulation.table import Jobs

_HOUR = 3600
_COLUMNS = 8
"""The number of delayed groups that a display shows."""
_MOST = 1000
"""The maximum number of groups. Each group needs two simulations."""


@guessed(table="frame", matrix_frame="frame")
@checked_methods
class DelayMatrix(Framed):
    """A matrix of the delays that each group's jobs cause for the jobs of other groups. `delay_matrix` creates it.

    A waiting time is the total time without quota, in seconds, averaged over the jobs of a group.

    Attributes:
        by: The column that defines the groups.
        groups: The names of the groups.
        jobs: The number of jobs of each group.
        waits: The mean waiting time of each group when all jobs are present.
        matrix: A square array with one row and one column per group. The value in row r and column c is the mean
            waiting time of c with all jobs present, minus the mean waiting time of c without the jobs of r. The value
            is negative if the jobs of r shorten the waiting times of c. The values on the diagonal are NaN.
        alone: For each group, the mean waiting time with all jobs present, minus the mean waiting time with only its
            own jobs.
        total_hours: For each group r, the waiting time that it adds for all other groups, in hours: the sum of `jobs[c]
            * matrix[r, c]` over the other groups c.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> from kueuepy.lab import delay_matrix
        >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 1}}))
        >>> jobs = [{"queue": "team", "user": user, "submit": 0, "runtime": "1h", "cpu": 1} for user in ("ann", "bob")]
        >>> delay_matrix(cluster, jobs, by="user").total_hours.tolist()
        [1.0, 0.0]
    """

    def __init__(self, by: str, groups: tuple[str, ...], waits: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        """Create a DelayMatrix from sums of waiting times.

        Args:
            by: The column that defines the groups.
            groups: The names of the groups.
            waits: An array with one row per simulation and one column per group. The first row is the simulation with
                all jobs. The next rows are the simulations without each group, followed by the simulations with each
                group alone.
            counts: The number of jobs of each group.
        """
        n = len(groups)
        self.by, self.groups, self.jobs = by, groups, counts
        with np.errstate(invalid="ignore", divide="ignore"):
            means = waits / counts
        self.waits = means[0]
        self.matrix = means[0] - means[1 : n + 1]
        np.fill_diagonal(self.matrix, np.nan)
        self.alone = means[0] - np.diagonal(means[n + 1 :])
        self.total_hours = np.nansum(self.matrix * counts, axis=1) / _HOUR

    @property
    def frame(self) -> Columns:
        """One row per group that is left out, with one column per delayed group and the column `total_hours`.

        The values in the last row, `all others`, compare the simulation of all jobs with a simulation of only the
        column's own jobs.
        """
        names = [*self.groups, "all others"]
        columns = dict(zip(self.groups, np.vstack([self.matrix, self.alone]).T, strict=True))
        return Columns({"left_out": categorical(names), **columns, "total_hours": np.append(self.total_hours, np.nan)})

    def to_table(self) -> Columns:
        """Return `frame`."""
        return self.frame

    def __repr__(self) -> str:
        """Return the group that delays the other groups most."""
        worst = int(self.total_hours.argmax())
        most = f"{self.groups[worst]} costs the others most, {number(float(self.total_hours[worst]))} hours of waiting"
        return f"<Delays by {self.by}: {counted(len(self.groups), 'group')}; {most}>"

    def __str__(self) -> str:
        """Return the result in words, and the matrix with units."""
        return repr_text(self.sheets(), self)

    def sheets(self) -> tuple[Sheet, ...]:
        """Return the result in words, and the matrix in readable units.

        A row shows by how much its group delays the groups of the columns. The first row is the group that delays the
        others most, and the first column is the group that is delayed most.
        """
        causes = np.argsort(-self.total_hours, kind="stable")[:MOST_ROWS]
        delayed = self._most_delayed()[:_COLUMNS]
        rows = [
            [self.groups[row], f"{number(float(self.total_hours[row]))} h", *map(_shown, self.matrix[row, delayed])]
            for row in causes.tolist()
        ]
        rows.append(["all others", "", *map(_shown, self.alone[delayed])])
        head = ["Left out", "Added wait in total", *(f"Wait of {self.groups[place]}" for place in delayed)]
        caption = f"{counted(len(self.groups), 'group')} by {self.by}: the wait that the jobs of a row add for each "
        caption += "job of a column, on average; the total is over all jobs of the other groups"
        if len(self.groups) > len(delayed):
            caption += ". .frame has all groups"
        said = Sheet(("Result",), [(text,) for text in self._in_words()])
        return (said, Sheet(head, rows[-MOST_ROWS:], caption))

    def _most_delayed(self) -> list[int]:
        """Return the groups by the wait that all other groups add for each of their jobs, the longest wait first."""
        return [int(place) for place in np.argsort(-np.nan_to_num(self.alone, nan=-np.inf), kind="stable")]

    def _in_words(self) -> list[str]:
        """Return which group delays the others most, which group is delayed most, and the next step, as sentences."""
        worst, most = int(self.total_hours.argmax()), self._most_delayed()[0]
        if not self.total_hours[worst] > 0:
            return ["No group delays the other groups."]
        name = self.groups[worst]
        texts = [f"{name} delays the others most: its jobs add {number(float(self.total_hours[worst]))} h of waiting."]
        if self.alone[most] > 0:
            wait = f"{duration(float(self.alone[most]))} longer on average than without the jobs of the others."
            texts.append(f"{self.groups[most]} is delayed most: each of its jobs waits {wait}")
        texts.append("All simulations run the same jobs once, so that there is no confidence interval.")
        if self.by == "cluster_queue":
            texts.append(f"Next step: compare a lower borrowing limit or nominal quota of {name} with kueuepy compare.")
        return texts


def _shown(value: float) -> str:
    if value != value:  # noqa: PLR0124 - NaN
        return ""
    return duration(value) if value >= 0 else f"-{duration(-value)}"


@checked
@spelled_out(RunSettings)
def delay_matrix(
    cluster: Cluster,
    jobs: Any,
    by: str = "cluster_queue",
    *,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Unpack[RunSettings],
) -> DelayMatrix:
    """Measure how much the jobs of each group delay the jobs of the other groups.

    The function first simulates all jobs. For each group, it then simulates all jobs except the group's jobs, and the
    group's jobs alone. Unlike a snapshot of the groups' shares, the result shows causes: a queue with a small share can
    delay others if its jobs arrive at a bad time.

    The delays that several groups cause are not additive. For example, two groups together can delay a third group
    although neither group does so alone.

    Args:
        cluster: The cluster.
        jobs: A `Jobs`, rows, data frames or manifests.
        by: The column that defines the groups: `cluster_queue`, or a column of jobs such as `queue` or `user`. Default:
            `cluster_queue`.
        threads: The number of simulations to run in parallel. Default: the number of available cores.
        progress: A function that is called with the number of finished simulations and their total number, at most
            ten times per second.
        settings: Further arguments of `simulate`.

    Returns:
        The matrix of delays between the groups.

    Raises:
        NotFoundError: The column does not exist.
        InvalidSpecError: There are no jobs, or more than 1,000 groups.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> queues = [ClusterQueue.of(name, {"h100": {"nvidia.com/gpu": 1}}, cohort_name="all") for name in ("a", "b")]
        >>> first = {"queue": "a", "submit": 0, "runtime": 600, "gpu": 2}
        >>> second = {"queue": "b", "submit": 60, "runtime": 1, "gpu": 1}
        >>> found = delay_matrix(Cluster(ResourceFlavor("h100"), *queues), [first, second])
        >>> found.matrix.tolist()
        [[nan, 540.0], [0.0, nan]]
    """
    setup = setup_of(cluster, jobs, settings)
    table = setup.jobs_of(0)
    groups = _groups(cluster, table, by)
    n = len(groups.names)
    if not 1 <= n <= _MOST:
        raise InvalidSpecError(f'delays: "{by}" makes {n} groups; there must be 1 to {_MOST:,}')
    options = {**msgspec.structs.asdict(setup.settings), "record": NOTHING}

    def waits(chosen: NDArray[np.bool_], stop: threading.Event) -> Any:
        if not chosen.any() or stop.is_set():
            return np.zeros(n)
        run = Simulation(cluster, table.where(chosen), **options)
        run.run()
        return np.bincount(groups.codes[chosen], run.result().jobs["waited"], minlength=n)

    masks = [np.ones(len(table), bool)]
    masks += [groups.codes != code for code in range(n)]
    masks += [groups.codes == code for code in range(n)]
    told = None if progress is None else lambda done: progress(done, len(masks))
    sums = np.array(in_order(waits, masks, threads, told))
    return DelayMatrix(by, tuple(groups.names), sums, np.bincount(groups.codes, minlength=n))


def _groups(cluster: Cluster, jobs: Jobs, by: str) -> Categorical:
    """Return the names of the groups that contain at least one job, and the index of each job's group among them."""
    column = jobs["queue" if by == "cluster_queue" else by]
    if not isinstance(column, Categorical):
        column = categorical(map(str, column.tolist()))
    leads = {queue.key: queue.cluster_queue for queue in cluster.local_queues} if by == "cluster_queue" else {}
    texts = np.array([*(leads.get(name, name) for name in map(str, column.names)), "none"])[column.codes]
    names, codes = np.unique(texts, return_inverse=True)
    return Categorical(codes.astype(np.int32), names.tolist())
