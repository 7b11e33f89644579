"""Types of the engine's data about queues. Amounts are integers in the scheduler's internal units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from kueuepy._core import Engine

# Equal to `_core.EVENT_KINDS` and the table in `kueuepy.platform.visibility.Event`, which a test verifies.
EventKind: TypeAlias = Literal[
    "Created",
    "QuotaReserved",
    "Admitted",
    "PodsReady",
    "Evicted",
    "QuotaReleased",
    "Pending",
    "PreemptionSkipped",
    "TargetsRecomputed",
    "Assigned",
    "UnhealthyNodes",
    "Finished",
    "Deleted",
]

ResourceHolding: TypeAlias = tuple[str, int, int, int, int, int]
"""Resource, reserved amount, admitted amount, nominal quota, borrowing limit, lending limit."""
FlavorHoldings: TypeAlias = list[tuple[str, list[ResourceHolding]]]
"""The holdings of each flavor, in the order of the ClusterQueue."""
ConsumedView: TypeAlias = tuple[float, int, dict[str, str]]
"""Usage divided by weight, time of the last update, consumed quantity by resource."""
PendingView: TypeAlias = tuple[str, str, str, int, int, int]
"""Namespace, name, LocalQueue, priority, creation time, position in the LocalQueue."""
EventView: TypeAlias = tuple[int, int, EventKind, str, str, str, str, str, str, str, str, str, str, int, int | None]
"""The fields of `kueuepy.platform.visibility.Event`."""


class ClusterQueueView(NamedTuple):
    """The status of a ClusterQueue, and the number of its workloads."""

    name: str
    cohort: str
    why_inactive: str
    message: str
    active: int
    inadmissible: int
    reserving: int
    admitted: int
    share: float
    holdings: FlavorHoldings


class BacklogView(NamedTuple):
    """The requests of the pending workloads of a ClusterQueue, and the number of its finished workloads.

    `active`, `inadmissible` and `every` count equivalence classes of workloads. The scheduler treats all workloads of
    one class identically.
    """

    name: str
    finished: int
    asked: list[tuple[str, int]]
    """Resource and amount."""
    active: int
    inadmissible: int
    every: int


class LocalQueueView(NamedTuple):
    """The status of a LocalQueue. The amounts that its workloads hold are listed by flavor of the ClusterQueue."""

    namespace: str
    name: str
    cluster_queue: str
    runs: bool
    is_found: bool
    is_active: bool
    active: int
    inadmissible: int
    reserving: int
    admitted: int
    finished: int
    consumed: ConsumedView | None
    holdings: FlavorHoldings


class CohortView(NamedTuple):
    """A Cohort. `root` is empty if Cohorts form a cycle."""

    name: str
    parent: str
    root: str
    is_declared: bool
    share: float
    cells: list[tuple[str, str, int, int]]
    """Flavor, resource, subtree quota, usage of the queues below."""


class UnadmittedView(NamedTuple):
    """The number of workloads of a LocalQueue that are not admitted for a given reason."""

    namespace: str
    local_queue: str
    cluster_queue: str
    reason: str
    underlying_cause: str
    count: int  # type: ignore[assignment]


def cluster_queues(engine: Engine) -> list[ClusterQueueView]:
    """Return all ClusterQueues."""
    return [ClusterQueueView(*view) for view in engine.cluster_queue_status()]


def backlogs(engine: Engine) -> list[BacklogView]:
    """Return the backlog of every ClusterQueue."""
    return [BacklogView(*view) for view in engine.backlogs()]


def local_queues(engine: Engine) -> list[LocalQueueView]:
    """Return all LocalQueues."""
    return [LocalQueueView(*view) for view in engine.local_queue_status()]


def cohorts(engine: Engine) -> list[CohortView]:
    """Return all Cohorts, including those that are only named by queues."""
    return [CohortView(*view) for view in engine.cohort_status()]


def unadmitted(engine: Engine) -> list[UnadmittedView]:
    """Return the number of workloads that are not admitted, by LocalQueue and reason."""
    return [UnadmittedView(*view) for view in engine.unadmitted_workloads()]
