"""The tables of a result, and the preemption loops that were found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from kueuepy.errors import StateError, checked_methods, counted, first_of
from kueuepy.simulation.columns import name_of, public_given
from kueuepy.simulation.grouped import resample
from kueuepy.tables.columns import Amounts, Columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from typing_extensions import Self

    from kueuepy.simulation.model import Settings


_NAMED = 5


class PreemptionLoop(msgspec.Struct, frozen=True):
    """A preemption loop: a sequence of scheduling cycles at one virtual time that returns to its initial state.

    Attributes:
        at: The time at which the loop was first found, in seconds after the first submission.
        period: The number of cycles in the loop.
        times: The number of times the loop was found.
        workloads: The keys (`namespace/name`) of the workloads that the loop admits or evicts, sorted.
    """

    at: float
    period: int
    times: int
    workloads: tuple[str, ...]

    def __str__(self) -> str:
        """Return a description of the loop in one sentence."""
        times = f", {self.times} times" if self.times > 1 else ""
        names, period = first_of(self.workloads, _NAMED), counted(self.period, "cycle")
        return f"endless preemption at {self.at:g} s{times}: the same decisions every {period} for {names}"


class JobTable(Columns):
    """One row per job, in the order of `Jobs`, with times in seconds after the first submission.

    | column | meaning |
    | --- | --- |
    | `job` | row number of the job |
    | `queue`, `cluster_queue` | LocalQueue (`namespace/name`) and ClusterQueue |
    | `priority`, `pods`, `runtime` | as in `Jobs`; `runtime` in seconds, NaN for a job that never ends |
    | `submit`, `first_start`, `end` | time of submission, first admission and end; NaN if not reached |
    | `waited`, `held` | total time without quota and total time with quota, up to the end of the job or simulation |
    | `first_wait` | time from submission to first admission; NaN without admission |
    | `runs`, `evictions` | number of quota reservations; number of evictions |
    | `lost`, `overhead` | lost progress; time for checkpoints, restores and pod starts |
    | `borrowed` | whether the last admission borrowed quota |
    | `promised` | whether the job fitted into the free nominal quota of its ClusterQueue at submission |
    | `flavor` | flavor of the first resource |
    | `slowdown` | lifetime / runtime of a finished job |
    | `bounded_slowdown` | the larger of 1 and lifetime / max(runtime, 10 s) of a finished job |
    | `state` | `ToCome` (not yet submitted), `Waiting`, `Running`, `Finished` or `Deactivated` |
    | `reason` | Kueue's reason why the job waits |
    | `counted` | whether metrics include the job; `False` for jobs submitted during the warm-up |
    | resources, such as `nvidia.com/gpu` | request of each pod, in cores, bytes or devices; multiply by `pods` |
    | `submit_time`, `first_start_time`, `end_time` | UTC timestamps if submissions are dates; NaT if not reached |

    The table also contains all other columns of `Jobs`.
    """

    def _column(self, name: str) -> Any:
        """Return a column; columns copied from the input have times in seconds and amounts in the resource's unit."""
        return public_given(name, self._columns[name])


class RunsTable(Columns):
    """One row per admission, in the order in which the runs ended, with times in seconds after the first submission.

    | column | meaning |
    | --- | --- |
    | `job`, `run` | row number of the job; number of the run, from 0 |
    | `reserved`, `start`, `end` | time of quota reservation, admission and release of the quota |
    | `flavors`, `assignment` | assigned flavors; code of the assignment |
    | `outcome` | `Finished`, `Preempted`, `Evicted` or `Running` (at the end of the simulation) |
    | `progress`, `lost`, `overhead` | kept progress, lost progress and overhead of the run, in seconds |
    | `preemptor` | row number of the preempting job, or -1 |
    | `rule` | preemption rule, such as `InClusterQueue` |
    """


class DecisionsTable(Columns):
    """One row per decision, in chronological order.

    `kind` is QuotaReserved, Admitted, Evicted, Requeued, Finished or Deactivated. The other columns are `seconds` after
    the first submission, `cycle`, `job` (row number), `cluster_queue`, `reason`, `rule` (of a preemption) and
    `preemptor` (row number of a job, or -1).
    """


class PairAmounts(Amounts):
    """A table with amounts, such as `used` and `nominal`; each row names the flavor and resource of its amounts."""

    facts = ("used", "nominal", "borrowed", "idle")
    resources = "flavor_resource"


class UsageSeries(PairAmounts):
    """Usage of each ClusterQueue over time, with one row per change of a value.

    Columns are `seconds` after the first submission, `cluster_queue`, `flavor_resource`, `used`, `nominal` and
    `borrowed` quota, the number of `waiting` jobs, and the weighted `share`. Amounts are in cores, bytes or devices.
    A value applies until the next row with the same ClusterQueue, flavor and resource. Before the first row, all values
    are 0.
    """

    def resample(self, step: Any, end: float | None = None) -> Columns:
        """Return time-weighted means over intervals of equal length.

        Args:
            step: The length of an interval, such as `1h` or a number of seconds.
            end: The end of the last interval, in seconds; by default, the time of the last row.

        Returns:
            Columns `seconds` (the beginning of the interval), `cluster_queue`, `flavor_resource`, `used`, `nominal`,
            `borrowed`, `waiting` and `share`.

        Raises:
            InvalidSpecError: `step` is not a time, or there are more than 10,000,000 intervals.
        """
        return resample(self, step, end)


class IdleTable(PairAmounts):
    """Free quota that waiting jobs request, by cohort tree, flavor and resource, with one row per change.

    Columns are `seconds` after the first submission, `tree` (the root Cohort, or a ClusterQueue without a cohort),
    `flavor_resource` and `idle`, the smaller of the free quota and the total request of the waiting jobs. Amounts are
    in cores, bytes or devices. A value applies until the next row; before the first row it is 0.
    """


class BlockedTable(Columns):
    """Ratio of used quota to entitled quota for each ClusterQueue with waiting jobs, with one row per change.

    Columns are `seconds` after the first submission, `cluster_queue` and `blocked`, which is -1 while no job waits.
    """


class ConsumedTable(Columns):
    """Decayed usage of each LocalQueue under admission fair sharing, with one row per change.

    Columns are `seconds` after the first submission, `local_queue`, `resource` and `consumed`, in cores for CPU.
    """


class CyclesTable(Columns):
    """One row per scheduling cycle.

    Columns are `seconds` after the first submission, `cycle`, and the numbers of `heads`, `admitted` workloads and
    `evicted` workloads.
    """


TABLES: dict[str, type[Columns]] = {
    "jobs": JobTable,
    "runs": RunsTable,
    "decisions": DecisionsTable,
    "usage": UsageSeries,
    "consumed": ConsumedTable,
    "cycles": CyclesTable,
    "idle": IdleTable,
    "blocked": BlockedTable,
}
"""The classes of the tables that each result has, by name."""


@checked_methods
class Recorded:
    """The tables of a simulation, and the time integrals from which metrics are computed."""

    kpis: Any  # `Result` computes them, with modules that use this one

    def __init__(
        self,
        tables: Mapping[str, Columns],
        totals: dict[str, Any],
        loops: tuple[PreemptionLoop, ...],
        facts: dict[str, Any],
        run: Any = None,
    ) -> None:
        """Store the tables and other data of a simulation, or of a directory that contains a saved result.

        Args:
            tables: The tables by name, as in `TABLES`.
            totals: Time integrals of the whole simulation, from the core.
            loops: The preemption loops.
            facts: Notes, duration, settings and counts.
            run: The simulation; `None` if the result was loaded from files.
        """
        self.jobs, self.runs, self.decisions, self.usage, *others = (tables[name] for name in TABLES)
        self.consumed, self.cycles, self.idle, self.blocked = others
        self.totals, self.loops = totals, loops
        self.notes: tuple[tuple[str, int], ...] = tuple((what, rows) for what, rows in facts["notes"])
        self.seconds: float = facts["seconds"]
        self.warmup: float = facts["warmup"]
        self.settings: Settings | dict[str, Any] = facts["settings"]
        self.stats: dict[str, int] = facts["stats"]
        self.weights: dict[str, float] = facts["weights"]
        self.trees: dict[str, str] = facts["trees"]
        self.policy: str = facts.get("policy", "")
        # The arguments of the command that named the cluster and the jobs, for the commands that advice names.
        self.source = ""
        self.not_modelled: tuple[str, ...] = tuple(facts.get("not_modelled", ()))
        self._waiting = facts.get("waiting", ())
        # A result keeps its simulation to repeat it; files and pickles do not hold one.
        self._run = run
        self.wall: dict[str, float] = {}

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return a copy that shares the tables, which are immutable."""
        twin = type(self).__new__(type(self))
        # Only the wall-clock times can change.
        twin.__dict__.update(self.__dict__, wall=dict(self.wall))
        return twin

    __copy__ = __deepcopy__

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the simulation, which cannot be pickled."""
        return {**self.__dict__, "_run": None}

    def compare_recorded(self) -> Columns:
        """Return the simulated first wait of each job, and the wait that the log recorded.

        Returns:
            Columns `job`, `cluster_queue`, `recorded_wait`, `first_wait` and `difference` (simulated minus recorded),
            with times in seconds. Each job with a recorded start has one row.

        Raises:
            StateError: The log contains no start times.
        """
        if "recorded_start" not in self.jobs.names:
            raise StateError("compare_recorded: the jobs have no column recorded_start: their log does not tell starts")
        recorded = self.jobs["recorded_start"] - self.jobs["submit"]
        rows = np.flatnonzero(~np.isnan(recorded) & np.asarray(self.jobs["counted"]))
        queues: Any = self.jobs["cluster_queue"]
        first = self.jobs["first_wait"][rows]
        return Columns(
            {
                "job": self.jobs["job"][rows],
                "cluster_queue": queues[rows],
                "recorded_wait": recorded[rows],
                "first_wait": first,
                "difference": first - recorded[rows],
            }
        )

    def name_of(self, row: int) -> str:
        """Return the name of a job's Workload.

        Args:
            row: The row number of the job.

        Raises:
            NotFoundError: The row does not exist.
        """
        return name_of(self.jobs, row)


class Waiter(msgspec.Struct, frozen=True):
    """A job that waits at the end of a simulation.

    Attributes:
        job: The name of the job.
        cluster_queue: The ClusterQueue of the job.
        waited: The job's total waiting time, in seconds.
        reason: Kueue's reason why the job waits.
        explanation: A full explanation, as `Scheduler.explain` returns it; empty if it is not available.
    """

    job: str
    cluster_queue: str
    waited: float
    reason: str
    explanation: str = ""


def largest(rows: NDArray[np.int64], values: NDArray[Any], most: int) -> list[int]:
    """Return the rows with the largest values, starting with the largest; of equal values, the first rows."""
    found: list[int] = rows[np.lexsort((rows, -values[rows]))][:most].tolist()
    return found


def require(run: Recorded, what: str, table: Literal["usage", "runs"]) -> None:
    """Check that a table was recorded.

    Args:
        run: The simulation.
        what: The feature that needs the table, for the error message.
        table: The name of the table.

    Raises:
        StateError: The table is empty.
    """
    if not len(getattr(run, table)):
        raise StateError(f"{what}: needs the {table}; simulate with record=Recording({table}=True)")
