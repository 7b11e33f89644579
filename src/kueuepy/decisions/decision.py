"""What a cycle decides about a workload: Admitted, Preempting or Pending."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec

from kueuepy import _core
from kueuepy.decisions.kinds import FlavorMode, PendingReason, PreemptionReason  # noqa: TC001 - msgspec reads them
from kueuepy.objects import Admission, PodSetAssignment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kueuepy.engine.facts import DecisionView, PodSetAdmissionView


class FlavorAttempt(msgspec.Struct, frozen=True, gc=False):
    """One flavor that the search looked at for a pod set.

    Source: `pkg/scheduler/flavorassigner/flavorassigner.go:findFlavorForPodSets`.

    Attributes:
        pod_set: The position of the pod set in its workload.
        flavor: The flavor.
        mode: How well it did, `NoFit` (worst) to `Fit`; `Reclaim` is `Preempt` in other queues only.
        borrowing_level: How far up the cohort tree it would borrow; 0 for not at all.
        reason: Why it did not fit, as the workload's status would say; empty where it may fit.
    """

    pod_set: int
    flavor: str
    mode: FlavorMode
    borrowing_level: int
    reason: str


class Target(msgspec.Struct, frozen=True, gc=False):
    """A workload that is preempted.

    Attributes:
        workload: Its key, `namespace/name`.
        reason: By which rule.
        cluster_queue: The ClusterQueue whose quota it gives back.
    """

    workload: str
    reason: PreemptionReason
    cluster_queue: str


def _decision_html(decision: Admitted | Preempting | Pending) -> str:
    """The decision as a table, for notebooks."""
    from kueuepy.display.html import decision_html  # noqa: PLC0415 - only a notebook asks

    return decision_html(decision)


class Admitted(msgspec.Struct, frozen=True, gc=False):
    """Quota is reserved for the workload; it starts unless admission checks are outstanding.

    Attributes:
        workload: Its key, `namespace/name`.
        cluster_queue: The ClusterQueue that gave the quota.
        pod_sets: What each pod set got.
        borrowing_level: How far up the cohort tree it borrows; 0 for not at all.
        admitted: Whether it may start at once: no admission check is outstanding.
        attempts: The flavors that were looked at, in order; the last one of each resource group was taken or bettered.
    """

    workload: str
    cluster_queue: str
    pod_sets: tuple[PodSetAssignment, ...]
    borrowing_level: int = 0
    admitted: bool = True
    attempts: tuple[FlavorAttempt, ...] = ()

    _repr_html_ = _decision_html

    @property
    def flavors(self) -> dict[str, dict[str, str]]:
        """The flavor of each resource, by pod set."""
        return {pod_set.name: pod_set.flavors for pod_set in self.pod_sets}

    @property
    def admission(self) -> Admission:
        """The same as a Workload's status has it."""
        return Admission(self.cluster_queue, self.pod_sets)


class Preempting(msgspec.Struct, frozen=True, gc=False):
    """The workload will fit once others have left; they are evicted.

    Attributes:
        workload: Its key, `namespace/name`.
        targets: Who must leave, in Kueue's order.
        cluster_queue: Its ClusterQueue.
        reason: The reason of its condition `QuotaReserved`.
        message: The message of that condition, word for word as Kueue writes it.
        attempts: The flavors that were looked at.
    """

    workload: str
    targets: tuple[Target, ...]
    cluster_queue: str
    reason: PendingReason = "WaitingForPreemptedWorkloads"
    message: str = ""
    attempts: tuple[FlavorAttempt, ...] = ()

    _repr_html_ = _decision_html


class Pending(msgspec.Struct, frozen=True, gc=False):
    """The workload keeps waiting.

    Attributes:
        workload: Its key, `namespace/name`.
        reason: The reason of its condition `QuotaReserved`.
        cluster_queue: Its ClusterQueue; empty if there is none.
        message: The message of that condition, word for word as Kueue writes it.
        attempts: The flavors that were looked at.
    """

    workload: str
    reason: PendingReason
    cluster_queue: str
    message: str = ""
    attempts: tuple[FlavorAttempt, ...] = ()

    _repr_html_ = _decision_html


Decision: TypeAlias = Admitted | Preempting | Pending


def assignments(view: Iterable[PodSetAdmissionView]) -> tuple[PodSetAssignment, ...]:
    """What the core says of an admission, as a Workload's status has it; the amounts as Kueue writes them."""
    return tuple(
        PodSetAssignment(
            name,
            {resource: flavor for resource, (flavor, _) in resources.items()},
            {resource: _core.Quantity.format(resource, amount) for resource, (_, amount) in resources.items()},
            count,
        )
        for name, count, resources in view
    )


def from_record(record: DecisionView) -> Decision:
    """The decision of one record of the core."""
    verdict, workload, queue, reason, message, admitted, borrowing, admission, targets, attempts = record
    tried = tuple(FlavorAttempt(*attempt) for attempt in attempts)
    if verdict == "Admitted":
        return Admitted(
            workload=workload,
            cluster_queue=queue,
            pod_sets=assignments(admission or ()),
            borrowing_level=borrowing,
            admitted=admitted,
            attempts=tried,
        )
    if verdict == "Preempting":
        return Preempting(
            workload=workload,
            cluster_queue=queue,
            targets=tuple(Target(*target) for target in targets),
            reason=reason,
            message=message,
            attempts=tried,
        )
    return Pending(workload=workload, cluster_queue=queue, reason=reason, message=message, attempts=tried)
