"""Named views of the engine's data about one workload: conditions, admission and status.

Times are in nanoseconds since the Unix epoch; amounts are integers in the scheduler's internal units.
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
        is_true: Whether the status is `True`; conditions with status `Unknown` are not stored.
        reason: The reason.
        message: The message, as Kueue writes it.
        transition: The time of the last change of the status.
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
        name: The name of the AdmissionCheck.
        state: The state of the check.
        message: The message of the check's controller.
        transition: The time of the last change of the state.
        retries: The number of retries.
        retry_after_seconds: The delay after a retry, in seconds.
        updates: The updates to pod sets, as JSON; an empty string if there are none.
    """

    name: str
    state: CheckState
    message: str
    transition: int
    retries: int | None
    retry_after_seconds: int | None
    updates: str


class PodSetAdmissionView(NamedTuple):
    """The admission of a pod set.

    Attributes:
        name: The name of the pod set.
        pods: The admitted number of pods.
        resources: The flavor and amount of each resource.
        place: The topology assignment; `None` without a topology.
        delayed: The state of a topology assignment that is delayed until admission checks are ready; an empty string if
            it is not delayed.
    """

    name: str
    pods: int
    resources: dict[str, tuple[str, int]]
    place: PlaceView | None
    delayed: Literal["", "Pending", "Ready"]


class AdmissionView(NamedTuple):
    """The admission of a workload: its ClusterQueue, and the admission of each pod set."""

    cluster_queue: str
    pod_sets: tuple[PodSetAdmissionView, ...]


class StatusView(NamedTuple):
    """The status of a workload without its conditions and admission.

    Attributes:
        checks: The admission checks.
        requeue_count: The number of evictions because of pods that were not ready; `None` if they are not counted.
        requeue_at: The end of the back-off period.
        past_execution_seconds: The accumulated execution time that counts towards `maximumExecutionTimeSeconds`.
        reclaimable: The reclaimable pods by pod set.
        pods_ready: Whether the pods were reported as ready.
        active: Whether the workload may run.
        unhealthy_nodes: The failed nodes of its topology assignment.
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
    """Return the conditions of a workload by type."""
    return {name: ConditionView(*condition) for name, condition in engine.conditions(found).items()}


def admission_of(engine: Engine, found: int) -> AdmissionView | None:
    """Return the admission of a workload; `None` without quota."""
    admission = engine.admission(found)
    if admission is None:
        return None
    return AdmissionView(admission[0], tuple(PodSetAdmissionView(*pod_set) for pod_set in admission[1]))


def status_of(engine: Engine, found: int) -> StatusView:
    """Return the status of a workload without its conditions and admission."""
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
