"""The shapes in which the core tells what a platform shows; every amount is the scheduler's integer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from kueuepy._core import Engine

# The kinds of `_core.EVENT_KINDS`; a test holds the two, and the table of `kueuepy.visibility.Event`, to each other.
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
"""resource, reserved, admitted, nominal quota, borrowing limit, lending limit"""
FlavorHoldings: TypeAlias = list[tuple[str, list[ResourceHolding]]]
"""By flavor, in the order of the ClusterQueue."""
ConsumedView: TypeAlias = tuple[float, int, dict[str, str]]
"""usage over weight, last update, consumed quantity by resource"""
PendingView: TypeAlias = tuple[str, str, str, int, int, int]
"""namespace, name, LocalQueue, priority, creation, position in the LocalQueue"""
EventView: TypeAlias = tuple[int, int, EventKind, str, str, str, str, str, str, str, str, str, str, int, int | None]
"""The fields of `kueuepy.visibility.Event`."""


class ClusterQueueView(NamedTuple):
    """A ClusterQueue: whom it holds, and who waits."""

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
    """What the pending workloads of a ClusterQueue ask for, and how many are finished.

    `active`, `inadmissible` and `every` count kinds of workloads that the scheduler cannot tell apart.
    """

    name: str
    finished: int
    asked: list[tuple[str, int]]
    """resource, amount"""
    active: int
    inadmissible: int
    every: int


class LocalQueueView(NamedTuple):
    """A LocalQueue; what it holds is by the flavors of its ClusterQueue."""

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
    """A Cohort; `root` is empty where Cohorts form a cycle."""

    name: str
    parent: str
    root: str
    is_declared: bool
    share: float
    cells: list[tuple[str, str, int, int]]
    """flavor, resource, subtree quota, what the queues below use"""


class UnadmittedView(NamedTuple):
    """How many workloads of a LocalQueue are not admitted for one reason."""

    namespace: str
    local_queue: str
    cluster_queue: str
    reason: str
    underlying_cause: str
    count: int  # type: ignore[assignment]


def cluster_queues(engine: Engine) -> list[ClusterQueueView]:
    """Every ClusterQueue."""
    return [ClusterQueueView(*view) for view in engine.cluster_queue_status()]


def backlogs(engine: Engine) -> list[BacklogView]:
    """Who waits in every ClusterQueue, and what for."""
    return [BacklogView(*view) for view in engine.backlogs()]


def local_queues(engine: Engine) -> list[LocalQueueView]:
    """Every LocalQueue."""
    return [LocalQueueView(*view) for view in engine.local_queue_status()]


def cohorts(engine: Engine) -> list[CohortView]:
    """Every Cohort, those that are only named included."""
    return [CohortView(*view) for view in engine.cohort_status()]


def unadmitted(engine: Engine) -> list[UnadmittedView]:
    """How many workloads are not admitted, by LocalQueue and reason."""
    return [UnadmittedView(*view) for view in engine.unadmitted_workloads()]
