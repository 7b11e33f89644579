"""ClusterQueue, Cohort, LocalQueue and AdmissionCheck, with the policies of admission, preemption and fair sharing.

Quotas of ClusterQueues and Cohorts, by resource and flavor.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from kueuepy.errors import InvalidSpecError, checked_methods, suggestion
from kueuepy.objects.base import (
    Collection,
    NamespacedObject,
    Object,
    QuantityText,
    ResourceList,
    Value,
    Worded,
    quantity,
)
from kueuepy.objects.selector import LabelSelector
from kueuepy.objects.times import OptionalTimeField, default


class Quota(Value, frozen=True):
    """Nominal quota and limits of one resource in one flavor, as an entry of the table for `ResourceGroup.of`.

    >>> group = ResourceGroup.of({"default": {"cpu": Quota(9, borrowing_limit=3)}})
    >>> group.flavors[0].resources[0].borrowing_limit
    3

    Attributes:
        nominal: Nominal quota (`nominalQuota`).
        borrowing_limit: Largest amount that the queue may borrow above its nominal quota (`borrowingLimit`); `None`,
            the default, for no limit. A borrowing or lending limit requires a cohort.
        lending_limit: Largest amount of the nominal quota that other queues may borrow (`lendingLimit`); `None`, the
            default, for the whole nominal quota. A borrowing or lending limit requires a cohort.
    """

    nominal: QuantityText
    borrowing_limit: QuantityText | None = None
    lending_limit: QuantityText | None = None


class ResourceQuota(Value, frozen=True):
    """Quota of one resource in one flavor (`spec.resourceGroups[].flavors[].resources[]`).

    >>> ResourceQuota("nvidia.com/gpu", 32, lending_limit=8).nominal_quota
    32

    Attributes:
        name: Name of the resource, for example `cpu`, `memory`, `pods` or `nvidia.com/gpu`.
        nominal_quota: Quota of the ClusterQueue or Cohort itself, 0 or more (`nominalQuota`). The unit of a quota, such
            as cores or bytes, depends on the resource.
        borrowing_limit: Largest amount that may be borrowed above the nominal quota (`borrowingLimit`); `None`, the
            default, for no limit. A borrowing or lending limit requires a cohort or, for a Cohort, a parent.
        lending_limit: Largest amount that other queues may borrow (`lendingLimit`); `None`, the default, for the whole
            nominal quota. A borrowing or lending limit requires a cohort or, for a Cohort, a parent. The lending limit
            of a ClusterQueue must not exceed the nominal quota.
    """

    name: str
    nominal_quota: QuantityText
    borrowing_limit: QuantityText | None = None
    lending_limit: QuantityText | None = None


class FlavorQuotas(Collection, frozen=True):
    """Quotas of one flavor (`spec.resourceGroups[].flavors[]`).

    >>> FlavorQuotas("spot", [ResourceQuota("cpu", 9)]).name
    'spot'

    Attributes:
        name: Name of the ResourceFlavor.
        resources: One quota per covered resource, in the order of the group's `covered_resources`.
    """

    name: str
    resources: Sequence[ResourceQuota]


QuotaTable: TypeAlias = Mapping[str, Mapping[str, QuantityText | Quota]]
"""Quotas by flavor and resource. A plain quantity is short for `Quota(nominal)`."""


@checked_methods
class ResourceGroup(Collection, frozen=True):
    """Resources for which Kueue assigns the same flavor to a pod set (`spec.resourceGroups[]`).

    Source: `apis/kueue/v1beta2/clusterqueue_types.go`, `pkg/webhooks/clusterqueue_webhook.go:validateResourceGroups`.

    >>> ResourceGroup(["cpu"], [FlavorQuotas("spot", [ResourceQuota("cpu", 9)])]).covered_resources
    ('cpu',)

    Attributes:
        covered_resources: Names of the resources in the group, at most 64 (`coveredResources`). Each resource may
            belong to only one resource group of a queue.
        flavors: Quotas by flavor, at most 64, in the order in which Kueue tries the flavors. Each flavor may belong to
            only one resource group of a queue.
    """

    covered_resources: Sequence[str]
    flavors: Sequence[FlavorQuotas]

    @classmethod
    def of(cls, quotas: QuotaTable) -> "ResourceGroup":
        """Create a resource group from a table of quotas.

        >>> group = ResourceGroup.of({"spot": {"cpu": 9, "memory": "36Gi"}, "on-demand": {"memory": "72Gi", "cpu": 18}})
        >>> group.covered_resources
        ('cpu', 'memory')

        Args:
            quotas: Quotas by flavor and resource; a plain quantity is a nominal quota without limits. Kueue tries the
                flavors in the order of the table. The first flavor determines the order of the covered resources.

        Returns:
            The resource group.

        Raises:
            InvalidSpecError: The flavors do not have quotas for the same resources, or a quota is not a quantity.
        """
        if not isinstance(quotas, Mapping) or not all(isinstance(table, Mapping) for table in quotas.values()):
            raise InvalidSpecError(
                f"ResourceGroup.of: is {quotas!r:.99}; it must be quotas by flavor and resource, such as "
                '{"default": {"cpu": 9, "memory": "36Gi"}}'
            )
        covered = tuple(next(iter(quotas.values()), {}))
        return cls(covered, tuple(_flavor_quotas(flavor, table, covered) for flavor, table in quotas.items()))


def _flavor_quotas(flavor: str, table: Mapping[str, QuantityText | Quota], covered: tuple[str, ...]) -> FlavorQuotas:
    if set(table) != set(covered):
        raise InvalidSpecError(
            f'ResourceGroup.of: flavor "{flavor}" has quotas for {", ".join(table) or "nothing"}; '
            f"every flavor of a group must have quotas for the same resources, here {', '.join(covered)}"
        )
    return FlavorQuotas(flavor, tuple(_resource_quota(flavor, name, table[name]) for name in covered))


def _resource_quota(flavor: str, name: str, quota: QuantityText | Quota) -> ResourceQuota:
    given = quota if isinstance(quota, Quota) else Quota(quota)
    where = f'ResourceGroup.of: flavor "{flavor}": {name}'
    borrowing, lending = (
        None if limit is None else quantity(limit, where) for limit in (given.borrowing_limit, given.lending_limit)
    )
    return ResourceQuota(name, quantity(given.nominal, where), borrowing, lending)


QueueingStrategy: TypeAlias = Literal["StrictFIFO", "BestEffortFIFO"]
StopPolicy: TypeAlias = Literal["None", "Hold", "HoldAndDrain"]
FlavorFungibilityPolicy: TypeAlias = Literal["MayStopSearch", "TryNextFlavor"]
FlavorFungibilityPreference: TypeAlias = Literal["BorrowingOverPreemption", "PreemptionOverBorrowing"]
ReclaimWithinCohort: TypeAlias = Literal["Never", "LowerPriority", "Any"]
WithinClusterQueue: TypeAlias = Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"]
AdmissionMode: TypeAlias = Literal["UsageBasedAdmissionFairSharing", "NoAdmissionFairSharing"]


class FairSharing(Value, frozen=True):
    """Weight of a ClusterQueue, Cohort or LocalQueue in fair sharing (`spec.fairSharing`).

    Source: KEP-1714, and KEP-4136 for LocalQueues; `pkg/cache/scheduler/fair_sharing.go:parseFairWeight`.

    >>> FairSharing(weight="2").weight
    '2'

    Attributes:
        weight: Divisor of the share (`weight`): 0, or more than 1n (one billionth). Default: 1. With weight 0, the
            share of a ClusterQueue or Cohort that borrows is infinite, and the share of a LocalQueue is always
            infinite.
    """

    weight: QuantityText = "1"


class FlavorFungibility(Worded, frozen=True):
    """Rules for stopping the search through the flavors of a resource group (`spec.flavorFungibility`).

    Source: KEP-582.

    >>> FlavorFungibility(when_can_borrow="TryNextFlavor").when_can_preempt
    'TryNextFlavor'

    Attributes:
        when_can_borrow: Whether Kueue uses a flavor that fits only by borrowing (`MayStopSearch`, the default) or tries
            the next flavor first (`TryNextFlavor`).
        when_can_preempt: Whether Kueue uses a flavor that fits only with preemption (`MayStopSearch`) or tries the next
            flavor first (`TryNextFlavor`, the default).
        preference: Which flavor Kueue prefers if every flavor requires borrowing or preemption:
            `BorrowingOverPreemption` or `PreemptionOverBorrowing`. `preference` may be set only if `when_can_borrow`
            and `when_can_preempt` are both `TryNextFlavor`. `None`, the default, has the same effect as
            `BorrowingOverPreemption`.
    """

    when_can_borrow: FlavorFungibilityPolicy = "MayStopSearch"
    when_can_preempt: FlavorFungibilityPolicy = "TryNextFlavor"
    preference: FlavorFungibilityPreference | None = None


class BorrowWithinCohort(Worded, frozen=True):
    """Policy for preemption in the cohort by a workload that needs to borrow (`spec.preemption.borrowWithinCohort`).

    Kueue ignores the policy `borrowWithinCohort` under fair sharing.

    >>> BorrowWithinCohort("LowerPriority", max_priority_threshold=100).policy
    'LowerPriority'

    Attributes:
        policy: `Never` (default), or `LowerPriority` to allow preemption of workloads with lower priority in other
            ClusterQueues.
        max_priority_threshold: Highest priority of a workload that a borrowing workload may preempt, a signed 32-bit
            integer; `None`, the default, for no threshold.
    """

    policy: Literal["Never", "LowerPriority"] = "Never"
    max_priority_threshold: int | None = None


class Preemption(Worded, frozen=True):
    """Preemption policies of a ClusterQueue: which workloads its pending workloads may preempt (`spec.preemption`).

    Source: `apis/kueue/v1beta2/clusterqueue_types.go`, `pkg/webhooks/clusterqueue_webhook.go:validatePreemption`.

    >>> Preemption(reclaim_within_cohort="Any", within_cluster_queue="LowerPriority").reclaim_within_cohort
    'Any'

    Attributes:
        reclaim_within_cohort: Preemption of workloads of other ClusterQueues in the cohort, if the usage of such a
            ClusterQueue exceeds its nominal quota: `Never` (default), `LowerPriority` (only workloads with lower
            priority) or `Any`.
        within_cluster_queue: Preemption of workloads in the same ClusterQueue: `Never` (default), `LowerPriority` (only
            workloads with lower priority), or `LowerOrNewerEqualPriority` (also newer workloads with the same
            priority).
        borrow_within_cohort: Policy for preemption in other ClusterQueues by a workload that needs to borrow. Default:
            never. If the policy is not `Never`, `reclaim_within_cohort` must not be `Never` either.
    """

    reclaim_within_cohort: ReclaimWithinCohort = "Never"
    within_cluster_queue: WithinClusterQueue = "Never"
    borrow_within_cohort: BorrowWithinCohort = BorrowWithinCohort()


class AdmissionCheckStrategyRule(Collection, frozen=True):
    """An admission check required by a ClusterQueue (`spec.admissionChecksStrategy.admissionChecks[]`).

    >>> AdmissionCheckStrategyRule("provisioning", on_flavors=["spot"]).on_flavors
    ('spot',)

    Attributes:
        name: Name of the AdmissionCheck.
        on_flavors: Names of the flavors that require the check (`onFlavors`); if empty, the default, all flavors
            require it.
    """

    name: str
    on_flavors: Sequence[str] = ()


@checked_methods
class ClusterQueue(Object, frozen=True, kw_only=True):
    """A cluster-scoped pool of quotas with its policies for queueing, admission and preemption.

    Source: `apis/kueue/v1beta2/clusterqueue_types.go`, `pkg/webhooks/clusterqueue_webhook.go`.

    >>> queue = ClusterQueue.of("vision", {"h100": {"nvidia.com/gpu": 32}}, queueing_strategy="StrictFIFO")
    >>> queue.stop_policy, queue.preemption.within_cluster_queue
    ('None', 'Never')

    Attributes:
        resource_groups: Quotas by group of resources (`spec.resourceGroups`), at most 16 groups. Default: none.
        cohort_name: Name of the cohort in which the queue borrows and lends quota (`spec.cohortName`); `None`, the
            default, for no cohort. A Cohort object with this name does not need to exist.
        queueing_strategy: Order of admission (`spec.queueingStrategy`). With `BestEffortFIFO`, the default, workloads
            that fit may be admitted before an older workload that does not fit. With `StrictFIFO`, a workload that does
            not fit blocks all workloads behind it.
        namespace_selector: Selects the namespaces whose workloads may be admitted (`spec.namespaceSelector`). The
            default selector selects all namespaces. With `None`, the ClusterQueue selects no namespace; a manifest
            without `namespaceSelector` is read as `None`.
        flavor_fungibility: Rules for stopping the search through flavors (`spec.flavorFungibility`).
        preemption: Preemption policies (`spec.preemption`). Default: no preemption.
        admission_checks_strategy: Admission checks that a workload must pass after its quota is reserved
            (`spec.admissionChecksStrategy.admissionChecks`), at most 64. Default: none.
        stop_policy: Whether the queue is stopped (`spec.stopPolicy`). With the default, the string `"None"`, the queue
            is active. `Hold` stops admission, and `HoldAndDrain` also evicts admitted workloads. Both `Hold` and
            `HoldAndDrain` also cancel the quota reservations of workloads that are not admitted yet.
        fair_sharing: Weight in fair sharing (`spec.fairSharing`); `None`, the default, for weight 1.
        admission_scope: Whether workloads are ordered by the past usage of their LocalQueues
            (`spec.admissionScope.admissionMode`); `None`, the default, for an order that ignores past usage.
        concurrent_admission_policy: Policy of concurrent admission as written in the manifest
            (`spec.concurrentAdmissionPolicy`, alpha); `None` by default.
        effective_quotas: Quotas that another controller computed, as written in the manifest (`status.effectiveQuotas`,
            alpha, not modelled); `None` by default.
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
    effective_quotas: dict[str, Any] | None = None

    @classmethod
    def of(cls, name: str, *quotas: QuotaTable, **fields: Any) -> "ClusterQueue":
        """Create a ClusterQueue with one resource group per table of quotas.

        >>> queue = ClusterQueue.of("vision", {"h100": {"nvidia.com/gpu": 32}}, cohort_name="research")
        >>> queue.resource_groups[0].flavors[0].resources[0].nominal_quota
        32

        Args:
            name: Name of the ClusterQueue.
            quotas: Tables of quotas by flavor and resource, as for `ResourceGroup.of`. Each table of quotas becomes one
                resource group.
            fields: Other fields of the ClusterQueue, such as `cohort_name`.

        Returns:
            The ClusterQueue.

        Raises:
            InvalidSpecError: A table is malformed, the flavors of a table have quotas for different resources, or a
                field is unknown.
        """
        return cls(name, resource_groups=tuple(map(ResourceGroup.of, quotas)), **other_fields(cls, fields))


def other_fields(cls: type[Object], fields: dict[str, Any]) -> dict[str, Any]:
    """Check that the keyword arguments of `ClusterQueue.of` or `Cohort.of` are fields, and return them.

    Raises:
        InvalidSpecError: A keyword argument is not a field of the class.
    """
    known = set(cls.__struct_fields__) - {"name", "resource_groups"}  # set by the other arguments
    for field in fields:
        if field not in known:
            raise InvalidSpecError(f'{cls.__name__}.of: "{field}" is not a field; {suggestion(field, known)}')
    return fields


class LocalQueueStatus(Value, frozen=True, kw_only=True):
    """The fields of a LocalQueue's status that affect admission.

    >>> LocalQueueStatus(consumed_resources={"cpu": "12500m"}).consumed_resources
    {'cpu': '12500m'}

    Attributes:
        consumed_resources: Decayed past usage by resource under admission fair sharing
            (`status.fairSharing.admissionFairSharingStatus.consumedResources`). When Kueue starts, it continues from
            the past usage in the status. Default: empty.
        last_update: Time at which Kueue sampled the usage (`…lastUpdate`), a datetime; `None` by default. An imported
            cluster continues from this time. Kueue ignores it when it starts.
    """

    consumed_resources: ResourceList = msgspec.field(default_factory=dict)
    last_update: OptionalTimeField = default(None)


class LocalQueue(NamespacedObject, frozen=True, kw_only=True):
    """A queue in a namespace, which submits its workloads to one ClusterQueue.

    Source: `apis/kueue/v1beta2/localqueue_types.go`.

    >>> LocalQueue("training", namespace="team-a", cluster_queue="vision").key
    'team-a/training'

    Attributes:
        cluster_queue: Name of the ClusterQueue (`spec.clusterQueue`); immutable.
        stop_policy: Whether the queue is stopped (`spec.stopPolicy`): the string `"None"` (default), `Hold` or
            `HoldAndDrain`, with the same meaning as for a ClusterQueue.
        fair_sharing: Weight in admission fair sharing (`spec.fairSharing`); `None`, the default, for weight 1.
        status: Past usage read from a live cluster; `None`, the default, for no past usage. Kueue uses the past usage
            from the status until it samples the usage of the LocalQueue for the first time
            (`pkg/controller/core/localqueue_controller.go:initializeAfsIfNeeded`).
    """

    cluster_queue: str = ""
    stop_policy: StopPolicy = "None"
    fair_sharing: FairSharing | None = None
    status: LocalQueueStatus | None = None


@checked_methods
class Cohort(Object, frozen=True, kw_only=True):
    """A cohort, which is a node in the quota tree.

    A cohort without a Cohort object, which exists only because its members name it, has no quotas of its own and no
    parent.

    Source: `apis/kueue/v1beta2/cohort_types.go`, `pkg/webhooks/cohort_webhook.go:validateCohort`.

    >>> Cohort("research", parent_name="org").resource_groups
    ()

    Attributes:
        parent_name: Name of the parent cohort (`spec.parentName`); `None`, the default, for a root.
        resource_groups: Quotas that the cohort provides in addition to the quotas of its members
            (`spec.resourceGroups`). Default: none. In a Cohort, unlike in a ClusterQueue, a lending limit may exceed
            the nominal quota.
        fair_sharing: Weight relative to the other children of the parent (`spec.fairSharing`); `None`, the default, for
            weight 1.
        effective_quotas: Quotas that another controller computed, as written in the manifest (`status.effectiveQuotas`,
            alpha, not modelled); `None` by default.
    """

    parent_name: str | None = None
    resource_groups: Sequence[ResourceGroup] = ()
    fair_sharing: FairSharing | None = None
    effective_quotas: dict[str, Any] | None = None

    @classmethod
    def of(cls, name: str, *quotas: QuotaTable, **fields: Any) -> "Cohort":
        """Create a Cohort with one resource group per table of quotas.

        >>> Cohort.of("all", {"h100": {"nvidia.com/gpu": 8}}, parent_name="org").resource_groups[0].flavors[0].name
        'h100'

        Args:
            name: Name of the Cohort.
            quotas: Tables of quotas by flavor and resource, as for `ResourceGroup.of`. Each table of quotas becomes one
                resource group.
            fields: Other fields of the Cohort, such as `parent_name`.

        Returns:
            The Cohort.

        Raises:
            InvalidSpecError: A table is malformed, the flavors of a table have quotas for different resources, or a
                field is unknown.
        """
        return cls(name, resource_groups=tuple(map(ResourceGroup.of, quotas)), **other_fields(cls, fields))


def quotas_of(*owners: ClusterQueue | Cohort) -> Iterator[tuple[str, ResourceQuota]]:
    """Yield the quotas of ClusterQueues and Cohorts, each with the name of its flavor."""
    flavors = (flavor for owner in owners for group in owner.resource_groups for flavor in group.flavors)
    return ((flavor.name, quota) for flavor in flavors for quota in flavor.resources)


class AdmissionCheck(Object, frozen=True, kw_only=True):
    """A check that a controller performs for each workload after its quota is reserved.

    Source: `apis/kueue/v1beta2/admissioncheck_types.go`.

    >>> AdmissionCheck("provisioning", controller_name="kueue.x-k8s.io/provisioning-request").active
    True

    Attributes:
        controller_name: Name of the controller that performs the check, such as `kueue.x-k8s.io/provisioning-request`
            (`spec.controllerName`); immutable. If `controller_name` is empty, the default, no controller performs the
            check.
        parameters: Reference to the controller's parameters: `{"apiGroup": …, "kind": …, "name": …}`
            (`spec.parameters`); `None` by default.
        active: Whether the condition `Active` is true. A ClusterQueue is active only if all checks that it requires are
            active. Default: `True`.
    """

    controller_name: str = ""
    parameters: dict[str, Any] | None = None
    active: bool = True
