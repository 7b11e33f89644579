"""Who delays whom: what becomes of the others when one group's jobs are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked, checked_methods
from kueuepy.errors.guesses import guessed
from kueuepy.errors.words import counted
from kueuepy.exploration.runs import NOTHING, in_order
from kueuepy.exploration.sweep import setup_of
from kueuepy.notebook import Sheet, repr_html, repr_text
from kueuepy.simulation.simulate import Simulation
from kueuepy.simulation.text import span_text
from kueuepy.tables import Categorical, Columns
from kueuepy.tables.columns import categorical
from kueuepy.tables.framed import Framed

if TYPE_CHECKING:
    import threading

    from numpy.typing import NDArray

    from kueuepy.cluster import Cluster
    from kueuepy.simulation.table import Jobs

_HOUR = 3600
_MOST = 1000
"""So many groups at most: each is a run of its own, and one more alone."""


@guessed(table="frame", matrix_frame="frame")
@checked_methods
class DelayMatrix(Framed):
    """Who delays whom; a value. Waits are all time without quota, in seconds, on average over a group's jobs.

    Attributes:
        by: What makes the groups.
        groups: Their names.
        jobs: How many jobs each has.
        waits: The mean wait of each, with everybody there.
        matrix: In row r and column c, how much longer the jobs of c wait because those of r are there: their mean wait
            with everybody minus that without r. NaN in the diagonal. Less than 0: r helps c.
        alone: How much longer the jobs of each group wait because anybody else is there.
        total_hours: Of each row, what all others wait longer because of it, summed over their jobs, in hours: over the
            columns c of its row, the sum of `jobs[c] * matrix[r, c]`.
    """

    def __init__(self, by: str, groups: tuple[str, ...], waits: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        """Takes sums of waits by run and group: with everybody, without each, and each alone."""
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
        """A row for each group that is left out, a column for each that is delayed, and `total_hours`.

        In the last row, `all others`, everybody else is left out.
        """
        names = [*self.groups, "all others"]
        columns = {name: np.append(self.matrix[:, place], self.alone[place]) for place, name in enumerate(self.groups)}
        total = np.append(self.total_hours, np.nan)
        first = categorical(names)
        return Columns({"left_out": first, **columns, "total_hours": total})

    def to_table(self) -> Columns:
        """Return `frame`."""
        return self.frame

    def __repr__(self) -> str:
        """Whose jobs cost the others most."""
        worst = int(self.total_hours.argmax())
        most = f"{self.groups[worst]} costs the others most, {self.total_hours[worst]:.4g} hours of waiting"
        return f"<Delays by {self.by}: {counted(len(self.groups), 'group')}; {most}>"

    def __str__(self) -> str:
        """The group that costs the others most, and the matrix, with units."""
        return f"{repr(self)[1:-1]}\n{repr_text(self.sheets())}"

    def sheets(self) -> tuple[Sheet, ...]:
        """Show the matrix in readable units: how much longer the jobs of a column wait because of a row."""
        names = self.frame.names
        rows = [[_shown(name, row[name]) for name in names] for row in self.frame.rows()]
        head = [name if name in ("left_out", "total_hours") else f"wait of {name}" for name in names]
        return (Sheet(head, rows, "added wait per job on average; total_hours is summed over the jobs of others"),)

    _repr_html_ = repr_html


def _shown(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if value != value:  # noqa: PLR0124 - NaN
        return ""
    if name == "total_hours":
        return f"{value:,.4g} h"
    return span_text(value) if value >= 0 else f"-{span_text(-value)}"


@checked
def delay_matrix(
    cluster: Cluster, jobs: Any, by: str = "cluster_queue", *, threads: int | None = None, **settings: Any
) -> DelayMatrix:
    """Who delays whom, and by how much: everybody's jobs are run, then those without each group, then each alone.

    What a share says of one moment, this says of causes: a queue with a small share delays others where its jobs come
    at a bad time. Effects do not add up: two groups that delay a third together may each alone delay nobody.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
    >>> queues = [ClusterQueue.of(name, {"h100": {"nvidia.com/gpu": 1}}, cohort_name="all") for name in ("a", "b")]
    >>> first = {"queue": "a", "submit": 0, "runtime": 600, "gpu": 2}
    >>> second = {"queue": "b", "submit": 60, "runtime": 1, "gpu": 1}
    >>> found = delay_matrix(Cluster(ResourceFlavor("h100"), *queues), [first, second])
    >>> found.matrix.tolist()
    [[nan, 540.0], [0.0, nan]]

    Args:
        cluster: The configuration.
        jobs: A `Jobs`, rows, frames or manifests.
        by: What makes the groups: `cluster_queue`, or a column of jobs, as `queue` or `user`.
        threads: How many runs go on at once; by default one on each core.
        settings: What `simulate` takes beside.

    Raises:
        NotFoundError: There is no such column.
        InvalidSpecError: There is no job, or more than 1,000 groups.
    """
    setup = setup_of(cluster, jobs, settings)
    table = setup.jobs_of(0)
    groups = _groups(cluster, table, by)
    n = len(groups.names)
    if not 1 <= n <= _MOST:
        raise InvalidSpecError(f'delays: "{by}" makes {n} groups; there must be 1 to {_MOST:,}')
    options = {name: getattr(setup.settings, name) for name in setup.settings.__struct_fields__ if name != "record"}

    def waits(chosen: NDArray[np.bool_], stop: threading.Event) -> Any:
        if not chosen.any() or stop.is_set():
            return np.zeros(n)
        run = Simulation(cluster, table.where(chosen), record=NOTHING, **options)
        run.run()
        return np.bincount(groups.codes[chosen], run.result().jobs["waited"], minlength=n)

    masks = [np.ones(len(table), bool)]
    masks += [groups.codes != code for code in range(n)]
    masks += [groups.codes == code for code in range(n)]
    sums = np.array(in_order(waits, masks, threads))
    return DelayMatrix(by, tuple(map(str, groups.names)), sums, np.bincount(groups.codes, minlength=n))


def _groups(cluster: Cluster, jobs: Jobs, by: str) -> Categorical:
    """The group of each job, those groups only that have jobs."""
    column = jobs["queue" if by == "cluster_queue" else by]
    if by == "cluster_queue":
        leads = {queue.key: queue.cluster_queue for queue in cluster.local_queues}
        texts = np.array([leads.get(name, name) for name in column.names], object)[column.codes]
    elif isinstance(column, Categorical):
        texts = np.array([*map(str, column.names), "none"], object)[column.codes]
    else:
        texts = np.array([str(value) for value in column.tolist()], object)
    names, codes = np.unique(texts.astype(str), return_inverse=True)
    return Categorical(codes.astype(np.int32), [str(name) for name in names])
