"""What the core tells of one workload, by name: its conditions, its admission, and the rest of its status.

Times are nanoseconds since 1970, amounts the scheduler's integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from kueuepy._core import Engine
    from kueuepy.engine.facts import PlaceView
    from kueuepy.objects.status import CheckState


class ConditionView(NamedTuple):
    """A condition of a workload.

    Attributes:
        is_true: Its status; one that is `Unknown` is never kept.
        reason: Kueue's word for why.
        message: The text that Kueue writes.
        transition: When the status changed last.
    """

    is_true: bool
    reason: str
    message: str
    transition: int


NO_CONDITION = ConditionView(False, "", "", 0)  # noqa: FBT003 - a value by its place
"""A condition that was never set."""


class CheckView(NamedTuple):
    """An admission check of a workload.

    Attributes:
        name: The AdmissionCheck.
        state: How far it is.
        message: What its controller says.
        transition: When the state changed last.
        retries: How often it asked for another try.
        retry_after_seconds: How long to wait after it did.
        updates: What it adds to pod sets, as JSON; empty for nothing.
    """

    name: str
    state: CheckState
    message: str
    transition: int
    retries: int | None
    retry_after_seconds: int | None
    updates: str


class PodSetAdmissionView(NamedTuple):
    """What a pod set got.

    Attributes:
        name: The pod set.
        pods: How many it was admitted with.
        resources: By resource, the flavor and the amount.
        place: Where the pods go, under a topology.
        delayed: Whether the place waits, or waited, for admission checks.
    """

    name: str
    pods: int
    resources: dict[str, tuple[str, int]]
    place: PlaceView | None
    delayed: Literal["", "Pending", "Ready"]


class AdmissionView(NamedTuple):
    """The quota that a workload holds: of which ClusterQueue, and what each pod set got."""

    cluster_queue: str
    pod_sets: tuple[PodSetAdmissionView, ...]


class StatusView(NamedTuple):
    """What a workload's status says beside its conditions and its admission.

    Attributes:
        checks: Its admission checks.
        requeue_count: How often it was evicted for pods that were not ready; None where that is not counted.
        requeue_at: When its back-off ends.
        past_execution_seconds: How long it was admitted before, of `maximumExecutionTimeSeconds`.
        reclaimable: By pod set, the pods that need no more.
        pods_ready: Whether its pods were said to be ready.
        active: Whether it may run at all.
        unhealthy_nodes: The nodes of its place that failed.
    """

    checks: tuple[CheckView, ...]
    requeue_count: int | None
    requeue_at: int | None
    past_execution_seconds: int | None
    reclaimable: dict[str, int]
    pods_ready: bool
    active: bool
    unhealthy_nodes: tuple[str, ...]


def conditions_of(engine: Engine, found: int) -> dict[str, ConditionView]:
    """The conditions of a workload, by type."""
    return {name: ConditionView(*condition) for name, condition in engine.conditions(found).items()}


def admission_of(engine: Engine, found: int) -> AdmissionView | None:
    """The quota that a workload holds; None for none."""
    admission = engine.admission(found)
    if admission is None:
        return None
    return AdmissionView(admission[0], tuple(PodSetAdmissionView(*pod_set) for pod_set in admission[1]))


def status_of(engine: Engine, found: int) -> StatusView:
    """The rest of a workload's status."""
    details = engine.status_details(found)
    return StatusView(
        tuple(CheckView(*check) for check in details["checks"]),
        details["requeue_count"],
        details["requeue_at"],
        details["past_execution_seconds"],
        details["reclaimable"],
        details["pods_ready"],
        details["active"],
        tuple(details["unhealthy_nodes"]),
    )
