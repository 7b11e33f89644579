"""ClusterQueue and LocalQueue: where workloads wait, and the quotas and rules that admit them."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked_methods
from kueuepy.errors.problems import suggestion
from kueuepy.objects.base import Collection, NamespacedObject, Object, QuantityText, ResourceList, Value, Worded
from kueuepy.objects.quota import QuotaTable, ResourceGroup
from kueuepy.objects.selector import LabelSelector

QueueingStrategy: TypeAlias = Literal["StrictFIFO", "BestEffortFIFO"]
StopPolicy: TypeAlias = Literal["None", "Hold", "HoldAndDrain"]
FlavorFungibilityPolicy: TypeAlias = Literal["MayStopSearch", "TryNextFlavor"]
FlavorFungibilityPreference: TypeAlias = Literal["BorrowingOverPreemption", "PreemptionOverBorrowing"]
ReclaimWithinCohort: TypeAlias = Literal["Never", "LowerPriority", "Any"]
WithinClusterQueue: TypeAlias = Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"]
AdmissionMode: TypeAlias = Literal["UsageBasedAdmissionFairSharing", "NoAdmissionFairSharing"]


class FairSharing(Value, frozen=True):
    """How much a ClusterQueue, Cohort or LocalQueue counts where shares are compared.

    Source: KEP-1714, and KEP-4136 for LocalQueues; `pkg/cache/scheduler/fair_sharing.go:parseFairWeight`.

    Attributes:
        weight: The divisor of its share: 0, or more than a billionth. With 0, any borrowing of a ClusterQueue or Cohort
            is an infinite share, and so is any usage of a LocalQueue, none included.
    """

    weight: QuantityText = "1"


class FlavorFungibility(Worded, frozen=True):
    """When the search through a group's flavors stops (KEP-582).

    Attributes:
        when_can_borrow: Whether a flavor that fits by borrowing ends the search.
        when_can_preempt: Whether a flavor that fits after preemption ends the search.
        preference: What to prefer if both policies are `TryNextFlavor`; `None` acts as `BorrowingOverPreemption`.
    """

    when_can_borrow: FlavorFungibilityPolicy = "MayStopSearch"
    when_can_preempt: FlavorFungibilityPolicy = "TryNextFlavor"
    preference: FlavorFungibilityPreference | None = None


class BorrowWithinCohort(Worded, frozen=True):
    """Whether a workload that must borrow may preempt others in the cohort; without meaning under fair sharing.

    Attributes:
        policy: `LowerPriority` lets it preempt workloads of lower priority.
        max_priority_threshold: Only workloads up to this priority are preempted so; `None` for no such bound.
    """

    policy: Literal["Never", "LowerPriority"] = "Never"
    max_priority_threshold: int | None = None


class Preemption(Worded, frozen=True):
    """Whom a pending workload of a ClusterQueue may preempt.

    Source: `apis/kueue/v1beta2/clusterqueue_types.go`, `pkg/webhooks/clusterqueue_webhook.go:validatePreemption`.

    Attributes:
        reclaim_within_cohort: Workloads of other queues that use more than their nominal quota.
        within_cluster_queue: Workloads of the same queue.
        borrow_within_cohort: Workloads of other queues even if the preemptor borrows.
    """

    reclaim_within_cohort: ReclaimWithinCohort = "Never"
    within_cluster_queue: WithinClusterQueue = "Never"
    borrow_within_cohort: BorrowWithinCohort = BorrowWithinCohort()


class AdmissionCheckStrategyRule(Collection, frozen=True):
    """An admission check that workloads of a ClusterQueue must pass.

    Attributes:
        name: The AdmissionCheck's name.
        on_flavors: The flavors for which it is needed; empty for all flavors of the queue.
    """

    name: str
    on_flavors: Sequence[str] = ()


@checked_methods
class ClusterQueue(Object, frozen=True, kw_only=True):
    """A pool of quotas with its rules of admission and preemption.

    Source: `apis/kueue/v1beta2/clusterqueue_types.go`, `pkg/webhooks/clusterqueue_webhook.go`.

    Attributes:
        resource_groups: The quotas, at most 16 groups.
        cohort_name: The cohort to borrow from and lend to; `None` for neither. It need not exist as a Cohort object.
        queueing_strategy: `StrictFIFO` lets a head that doesn't fit block what waits behind it.
        namespace_selector: The namespaces whose workloads are admitted. Built in Python it admits all namespaces;
            `None`, which an absent field of a manifest means, admits none.
        flavor_fungibility: When the search through flavors stops.
        preemption: Whom workloads of this queue may preempt.
        admission_checks_strategy: The checks to pass after quota is reserved, at most 64.
        stop_policy: `Hold` admits nothing new, `HoldAndDrain` also evicts what is admitted.
        fair_sharing: The queue's weight; `None` for 1.
        admission_scope: Whether LocalQueues of this queue are ordered by their usage (its `admissionMode`).
        concurrent_admission_policy: `spec.concurrentAdmissionPolicy` as in the manifest (alpha).
    """

    resource_groups: Sequence[ResourceGroup] = ()
    cohort_name: str | None = None
    queueing_strategy: QueueingStrategy = "BestEffortFIFO"
    namespace_selector: LabelSelector | None = LabelSelector()
    flavor_fungibility: FlavorFungibility = FlavorFungibility()
    preemption: Preemption = Preemption()
    admission_checks_strategy: Sequence[AdmissionCheckStrategyRule] = ()
    stop_policy: StopPolicy = "None"
    fair_sharing: FairSharing | None = None
    admission_scope: AdmissionMode | None = None
    concurrent_admission_policy: dict[str, Any] | None = None

    @classmethod
    def of(cls, name: str, *quotas: QuotaTable, **fields: Any) -> "ClusterQueue":
        """The ClusterQueue with one resource group for each table of quotas, and these other fields.

        >>> queue = ClusterQueue.of("vision", {"h100": {"nvidia.com/gpu": 32}}, cohort_name="research")
        >>> queue.resource_groups[0].flavors[0].resources[0].nominal_quota
        32

        Raises:
            InvalidSpecError: A table is none, flavors of one table have quotas for other resources, or a field is
                unknown.
        """
        return cls(name, resource_groups=tuple(map(ResourceGroup.of, quotas)), **other_fields(cls, fields))


def other_fields(cls: type[Object], fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an object beside its name and quotas, if they are fields.

    Raises:
        InvalidSpecError: One is not.
    """
    known = set(cls.__struct_fields__) - {"name", "resource_groups"}  # which the other arguments say
    for field in fields:
        if field not in known:
            raise InvalidSpecError(f'{cls.__name__}.of: "{field}" is no field; {suggestion(field, known)}')
    return fields


class LocalQueueStatus(Value, frozen=True, kw_only=True):
    """What of a LocalQueue's status decides.

    Attributes:
        consumed_resources: Its decayed usage under admission fair sharing, from which a Kueue that starts goes on
            (`status.fairSharing.admissionFairSharingStatus.consumedResources`).
    """

    consumed_resources: ResourceList = msgspec.field(default_factory=dict)


class LocalQueue(NamespacedObject, frozen=True, kw_only=True):
    """A queue of a namespace, whose workloads go to one ClusterQueue.

    Source: `apis/kueue/v1beta2/localqueue_types.go`.

    Attributes:
        cluster_queue: The ClusterQueue behind it; it cannot be changed.
        stop_policy: As for a ClusterQueue, for the workloads of this LocalQueue.
        fair_sharing: The LocalQueue's weight in admission fair sharing; `None` for 1.
        status: Its usage in the past, read from a live cluster; `None` for none. It counts until the LocalQueue's usage
            is first sampled (`pkg/controller/core/localqueue_controller.go:initializeAfsIfNeeded`).
    """

    cluster_queue: str = ""
    stop_policy: StopPolicy = "None"
    fair_sharing: FairSharing | None = None
    status: LocalQueueStatus | None = None
