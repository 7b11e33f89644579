"""The decision of a cycle about a workload: Admitted, Preempting or Pending.

The literal types used in decisions, in Kueue's spelling.
"""

from typing import Literal, TypeAlias

import msgspec

from kueuepy.look.notebook import repr_html
from kueuepy.objects import Admission, PodSetAssignment

FlavorMode: TypeAlias = Literal["NoFit", "NoCandidates", "Preempt", "Reclaim", "Fit"]
"""The result of evaluating a flavor, from worst to best."""

PreemptionReason: TypeAlias = Literal[
    "InClusterQueue", "InCohortReclamation", "InCohortFairSharing", "InCohortReclaimWhileBorrowing"
]
"""The rule by which a workload is preempted."""

PendingReason: TypeAlias = Literal[
    "WaitingForQuota",
    "NoMatchingFlavor",
    "ExceedsMaxQuota",
    "TopologyPlacementFailed",
    "WaitingForPreemptedWorkloads",
    "WaitingForPodsReady",
    "PendingEvaluation",
    "Misconfigured",
    "Suspended",
    "Deactivated",
    "AdmissionGated",
    "OnHold",
    "Inadmissible",
    "Pending",
    "",
]
"""The reason of the condition `QuotaReserved` of a pending workload."""


class FlavorAttempt(msgspec.Struct, frozen=True, gc=False):
    """A flavor that the flavor assigner evaluated for a pod set.

    Source: `pkg/scheduler/flavorassigner/flavorassigner.go:findFlavorForPodSets`.

    Attributes:
        pod_set: The position of the pod set in its workload, from 0.
        flavor: The name of the flavor.
        mode: The result of the flavor assignment, from `NoFit` (worst) to `Fit` (best). `Reclaim` means that only
            workloads of other queues are preempted.
        borrowing_level: The level of the cohort tree up to which the workload would borrow; 0 if it does not borrow.
        reason: Why the flavor does not fit, as Kueue writes it in the workload's status; an empty string if Kueue
            reports no reason.

    Example:
        >>> FlavorAttempt(0, "spot", "NoFit", 0, "insufficient quota").mode
        'NoFit'
    """

    pod_set: int
    flavor: str
    mode: FlavorMode
    borrowing_level: int
    reason: str


class Target(msgspec.Struct, frozen=True, gc=False):
    """A workload that is preempted.

    Attributes:
        workload: The key of the workload, `namespace/name`.
        reason: The rule by which the workload is preempted.
        cluster_queue: The ClusterQueue whose quota is released.

    Example:
        >>> Target("default/low", "InClusterQueue", "team").workload
        'default/low'
    """

    workload: str
    reason: PreemptionReason
    cluster_queue: str


class Admitted(msgspec.Struct, frozen=True, gc=False):
    """A decision that reserves quota for a workload, which starts unless admission checks are outstanding.

    Attributes:
        workload: The key of the workload, `namespace/name`.
        cluster_queue: The ClusterQueue in which the quota is reserved.
        pod_sets: The assignment of each pod set: flavors, usage and topology.
        borrowing_level: The level of the cohort tree up to which the workload borrows; 0 if it does not borrow.
        admitted: Whether the workload can start at once because no admission check is outstanding.
        attempts: The flavors that were evaluated, in order. In each resource group, the flavor with the best result was
            assigned.
        not_modelled: Parts of the input that kueuepy does not model and that could change the decision.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
        >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 4}})))
        >>> scheduler.try_admit({"name": "job", "queue": "team", "cpu": 1}).flavors
        {'main': {'cpu': 'f'}}
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
        """The assigned flavor of each resource, by pod set."""
        return {pod_set.name: pod_set.flavors for pod_set in self.pod_sets}

    @property
    def admission(self) -> Admission:
        """The admission, in the format of a Workload's `status.admission`."""
        return Admission(self.cluster_queue, self.pod_sets)


class Preempting(msgspec.Struct, frozen=True, gc=False):
    """A decision to preempt other workloads so that this workload fits.

    The eviction of the other workloads has already begun.

    Attributes:
        workload: The key of the workload, `namespace/name`.
        targets: The workloads to preempt, in Kueue's order.
        cluster_queue: The ClusterQueue of the workload.
        reason: The reason of the workload's condition `QuotaReserved`.
        message: The message of the condition `QuotaReserved`, exactly as Kueue writes it.
        attempts: The flavors that were evaluated, in order.
        not_modelled: Parts of the input that kueuepy does not model and that could change the decision.

    Example:
        >>> Preempting("default/high", (Target("default/low", "InClusterQueue", "team"),), "team").reason
        'WaitingForPreemptedWorkloads'
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
    """A decision that a workload stays pending.

    Attributes:
        workload: The key of the workload, `namespace/name`.
        reason: The reason of the workload's condition `QuotaReserved`.
        cluster_queue: The ClusterQueue of the workload; an empty string if there is none.
        message: The message of the condition `QuotaReserved`, exactly as Kueue writes it.
        attempts: The flavors that were evaluated, in order.
        not_modelled: Parts of the input that kueuepy does not model and that could change the decision.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
        >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 4}})))
        >>> scheduler.try_admit({"name": "job", "queue": "team", "cpu": 9}).reason
        'ExceedsMaxQuota'
    """

    workload: str
    reason: PendingReason
    cluster_queue: str
    message: str = ""
    attempts: tuple[FlavorAttempt, ...] = ()
    not_modelled: tuple[str, ...] = ()

    _repr_html_ = repr_html


Decision: TypeAlias = Admitted | Preempting | Pending
