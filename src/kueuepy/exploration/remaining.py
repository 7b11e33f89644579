"""How long jobs still run: drawn from what is known of runtimes, given how long they have run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kueuepy.errors import NotFoundError
from kueuepy.objects import SECOND
from kueuepy.simulation.base import JobColumns
from kueuepy.simulation.columns import NEVER
from kueuepy.simulation.distributions import TABLE, Empirical, distribution_of, draws
from kueuepy.simulation.table import Jobs
from kueuepy.tables import Categorical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kueuepy.objects import Workload
    from kueuepy.scheduler import Scheduler
    from kueuepy.simulation.distributions import Distribution

_OTHERS = ""


class Runtimes:
    """What is known of runtimes, by LocalQueue.

    Takes a distribution or a time for all; by LocalQueue (`namespace/name`) one for each, `""` for all others; or a
    log, a `Jobs`, whose runtimes are drawn by queue, and from all of it where a queue has none.
    """

    def __init__(self, known: Any) -> None:
        """Reads what is known."""
        given: dict[str, Any] = dict(known) if isinstance(known, Mapping) else {_OTHERS: known}
        if isinstance(known, JobColumns):
            given = _of_log(known)
        self._by_queue: dict[str, Distribution] = {name: distribution_of(value) for name, value in given.items()}
        self._ordered: dict[str, NDArray[np.float64]] = {}

    def _of(self, queue: str) -> tuple[str, Distribution]:
        name = queue if queue in self._by_queue else _OTHERS
        if name not in self._by_queue:
            raise NotFoundError(
                f'runtimes: none is given for LocalQueue "{queue}"; there are {", ".join(self._by_queue)}; '
                'that of "" stands for all others'
            )
        return name, self._by_queue[name]

    def remaining(self, queue: str, ran: float, u: float) -> int:
        """Nanoseconds that a job still runs that has run for `ran` seconds, at this part of what is left to it.

        The runtime is drawn from those that are longer than `ran`; where none is, it ends at once.
        """
        name, distribution = self._of(queue)
        if name not in self._ordered:
            self._ordered[name] = np.sort(distribution.seconds((np.arange(TABLE) + 0.5) / TABLE))
        part = float(np.searchsorted(self._ordered[name], ran, side="right")) / TABLE if ran > 0 else 0.0
        if part >= 1:
            return 1
        (whole,) = distribution.nanoseconds(np.array([part + u * (1 - part)])).tolist()
        return max(int(whole) - round(ran * SECOND), 1)


def _of_log(log: JobColumns) -> dict[str, Empirical]:
    ends = log["runtime"] >= 0
    seconds = log["runtime"] / SECOND
    queue = log["queue"]
    found = {
        name: Empirical(tuple(seconds[ends & (queue.codes == code)].tolist())) for code, name in enumerate(queue.names)
    }
    found[_OTHERS] = Empirical(tuple(seconds[ends].tolist()))
    return {name: distribution for name, distribution in found.items() if len(distribution.values)}


class Living:
    """The workloads of a Scheduler that wait or run, as jobs whose runtimes are drawn."""

    def __init__(self, scheduler: Scheduler) -> None:
        """Looks at the Scheduler as it is now."""
        keys = [key for key in scheduler.keys() if not _is(scheduler.workload(key), "Finished")]  # noqa: SIM118
        self.workloads = [scheduler.workload(key) for key in keys]
        self.rows = {key: row for row, key in enumerate(keys)}
        now = scheduler.engine.now
        self._ran = [_ran(workload, now) for workload in self.workloads]
        self._now = now

    def has_quota(self, key: str) -> bool:
        """Whether a workload has quota now."""
        return self._ran[self.rows[key]] is not None

    def jobs(self, runtimes: Runtimes | None, seed: int) -> Jobs:
        """The jobs, with runtimes of a seed; without what is known of them they never end."""
        names = np.empty(len(self.workloads), object)
        names[:] = [workload.name for workload in self.workloads]
        queues = [f"{workload.namespace}/{workload.queue_name}" for workload in self.workloads]
        if runtimes is None:
            left = [NEVER] * len(queues)
        else:
            parts = draws(seed, "remaining", len(queues)).tolist()
            left = [
                runtimes.remaining(queue, ran or 0.0, u) for queue, ran, u in zip(queues, self._ran, parts, strict=True)
            ]
        known: dict[str, int] = {}
        codes = [known.setdefault(queue, len(known)) for queue in queues]
        created = [min(workload.creation_timestamp or 0, self._now) for workload in self.workloads]
        return Jobs(
            {
                "name": names,
                "queue": Categorical(np.array(codes, np.int32), list(known)),
                "submit": np.array(created, np.int64).view("M8[ns]"),
                "runtime": np.array(left, np.int64).view("m8[ns]") if runtimes else np.array(left, np.int64),
            }
        )


def _is(workload: Workload, condition: str) -> bool:
    return workload.status is not None and workload.status.is_true(condition)


def _ran(workload: Workload, now: int) -> float | None:
    """For how many seconds it has run; 0 of one that has quota and is not admitted yet, `None` without quota."""
    if not _is(workload, "QuotaReserved"):
        return None
    if not _is(workload, "Admitted"):
        return 0.0
    conditions = () if workload.status is None else workload.status.conditions
    since = next(c.last_transition_time for c in conditions if c.type == "Admitted")
    return max(0, now - since) / SECOND
