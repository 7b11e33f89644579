"""The tables of a result, and the endless preemption that was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy.errors import NotFoundError
from kueuepy.errors.arguments import checked_methods
from kueuepy.errors.words import counted
from kueuepy.tables import Columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

    from kueuepy.simulation.model import Settings
    from kueuepy.simulation.prepare import Prepared

_NAMED = 5


class PreemptionLoop(msgspec.Struct, frozen=True):
    """Endless preemption: at one moment, after `period` cycles all was as before.

    Attributes:
        at: Seconds after the first submission at which it was first found.
        period: How many cycles a round takes.
        times: How often it was found.
        workloads: The keys of the jobs that go round, sorted.
    """

    at: float
    period: int
    times: int
    workloads: tuple[str, ...]

    def __str__(self) -> str:
        """The loop in one sentence."""
        more = len(self.workloads) - _NAMED
        names = ", ".join(self.workloads[:_NAMED]) + (f" and {more} more" if more > 0 else "")
        times = f", {self.times} times" if self.times > 1 else ""
        return f"endless preemption at {self.at:g} s{times}: every {counted(self.period, 'cycle')} the same of {names}"


class JobTable(Columns):
    """A row a job, in the order of `Jobs`; times in seconds after the first submission.

    `job` is the row. `waited` is all time without quota, until the end of the run where a job has not ended; `held`
    all time with it; `lost` progress that was thrown away, `overhead` checkpoints, restores and starts of pods.
    `state` is ToCome, Waiting, Running, Finished or Deactivated, `reason` Kueue's word for why it waits. `slowdown` is
    its life over its runtime, `bounded_slowdown` the same over 10 s at least. `counted` is false of those before the
    warm-up. Columns that `Jobs` has beside these are kept. Resources, such as `nvidia.com/gpu`, are what each pod asks
    for: multiply by `pods` for the whole job. Where the log has dates, `submit_time`, `first_start_time` and `end_time`
    are times of the calendar (UTC), NaT for what did not happen.
    """


class RunsTable(Columns):
    """A row an admission, in the order in which they were over; `preemptor` is the row of a job, or -1."""


class DecisionsTable(Columns):
    """A row a decision, in order: QuotaReserved, Admitted, Evicted, Requeued, Finished, Deactivated."""


class UsageSeries(Columns):
    """A row where what a ClusterQueue uses of a cell, has of it, or how many wait there changes.

    Amounts are thousandths for cpu. A value holds until the next row of the same queue and cell; before the first, all
    is 0.
    """

    def resample(self, step: Any, end: float | None = None) -> Columns:
        """Means over steps of time, by queue and cell: `used`, `nominal`, `borrowed`, `waiting`, `share`."""
        from kueuepy.simulation.series import resample  # noqa: PLC0415 - only on use

        return resample(self, step, end)


class IdleTable(Columns):
    """By tree of cohorts and cell, what is free as far as those who wait there ask for it, where it changes.

    `tree` is the root Cohort, or a ClusterQueue without one. A value holds until the next row; before the first it is
    0.
    """


class BlockedTable(Columns):
    """By ClusterQueue, what it uses over what it is entitled to while jobs wait there; -1 while none does."""


class ConsumedTable(Columns):
    """Under admission fair sharing: the decayed usage of each LocalQueue, where it changes; cores for cpu."""


class CyclesTable(Columns):
    """A row a scheduling cycle: `seconds`, `cycle`, its `heads`, and how many were `admitted` and `evicted`."""


TABLES = ("jobs", "runs", "decisions", "usage", "consumed", "cycles", "idle", "blocked")


@checked_methods
class Recorded:
    """What a run has recorded: tables, and the integrals over time that figures come from."""

    def __init__(
        self,
        tables: Mapping[str, Columns],
        totals: dict[str, Any],
        loops: tuple[PreemptionLoop, ...],
        facts: dict[str, Any],
    ) -> None:
        """Holds what a run, or a folder of files, has given."""
        self.jobs, self.runs, self.decisions, self.usage, self.consumed, self.cycles = (tables[n] for n in TABLES[:6])
        self.idle, self.blocked = tables["idle"], tables["blocked"]
        self.totals, self.loops = totals, loops
        self.notes: tuple[tuple[str, int], ...] = tuple((what, rows) for what, rows in facts["notes"])
        self.seconds: float = facts["seconds"]
        self.warmup: float = facts["warmup"]
        self.settings: Settings | dict[str, Any] = facts["settings"]
        self.stats: dict[str, int] = facts["stats"]
        self.weights: dict[str, float] = facts["weights"]
        self.trees: dict[str, str] = facts["trees"]
        self._waiting = facts.get("waiting", ())
        self._run: Prepared | None = None
        self.wall: dict[str, float] = {}

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """The same record: tables are never changed."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__, wall=dict(self.wall))
        return twin

    __copy__ = __deepcopy__

    def __getstate__(self) -> dict[str, Any]:
        """All but the run that it came of, as `save` writes it."""
        return {**self.__dict__, "_run": None}

    def name_of(self, row: int) -> str:
        """The name of a job.

        Raises:
            NotFoundError: There is no such row.
        """
        if not 0 <= row < len(self.jobs):
            raise NotFoundError(f"jobs: there is no row {row}; the last one is {len(self.jobs) - 1}")
        return str(self.jobs["name"][row]) if "name" in self.jobs.names else f"j{row:07d}"
