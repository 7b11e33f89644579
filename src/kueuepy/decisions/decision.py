"""What a cycle decides about a workload: Admitted, Preempting or Pending."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from kueuepy.decisions.kinds import FlavorMode, PendingReason, PreemptionReason  # noqa: TC001 - msgspec reads them
from kueuepy.notebook import repr_html
from kueuepy.objects import Admission, PodSetAssignment


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


class Admitted(msgspec.Struct, frozen=True, gc=False):
    """Quota is reserved for the workload; it starts unless admission checks are outstanding.

    Attributes:
        workload: Its key, `namespace/name`.
        cluster_queue: The ClusterQueue that gave the quota.
        pod_sets: What each pod set got.
        borrowing_level: How far up the cohort tree it borrows; 0 for not at all.
        admitted: Whether it may start at once: no admission check is outstanding.
        attempts: The flavors that were looked at, in order; the last one of each resource group was taken or bettered.
        not_modelled: What the workload asks for that nobody looks at here, a sentence each.
    """

    workload: str
    cluster_queue: str
    pod_sets: tuple[PodSetAssignment, ...]
    borrowing_level: int = 0
    admitted: bool = True
    attempts: tuple[FlavorAttempt, ...] = ()
    not_modelled: tuple[str, ...] = ()

    _repr_html_ = repr_html

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
        not_modelled: What the workload asks for that nobody looks at here, a sentence each.
    """

    workload: str
    targets: tuple[Target, ...]
    cluster_queue: str
    reason: PendingReason = "WaitingForPreemptedWorkloads"
    message: str = ""
    attempts: tuple[FlavorAttempt, ...] = ()
    not_modelled: tuple[str, ...] = ()

    _repr_html_ = repr_html


class Pending(msgspec.Struct, frozen=True, gc=False):
    """The workload keeps waiting.

    Attributes:
        workload: Its key, `namespace/name`.
        reason: The reason of its condition `QuotaReserved`.
        cluster_queue: Its ClusterQueue; empty if there is none.
        message: The message of that condition, word for word as Kueue writes it.
        attempts: The flavors that were looked at.
        not_modelled: What the workload asks for that nobody looks at here, a sentence each.
    """

    workload: str
    reason: PendingReason
    cluster_queue: str
    message: str = ""
    attempts: tuple[FlavorAttempt, ...] = ()
    not_modelled: tuple[str, ...] = ()

    _repr_html_ = repr_html


Decision: TypeAlias = Admitted | Preempting | Pending
