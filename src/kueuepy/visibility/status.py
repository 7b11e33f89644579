"""The status of ClusterQueues, LocalQueues and Cohorts, as Kueue writes it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy._core import Quantity
from kueuepy.engine.inventory import cluster_queues, cohorts, local_queues
from kueuepy.errors.arguments import checked
from kueuepy.objects.times import format_time
from kueuepy.session.session import session_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kueuepy.engine.inventory import ConsumedView, FlavorHoldings
    from kueuepy.objects.status import ConditionStatus
    from kueuepy.scheduler import Scheduler

    Formatter = Callable[[str, int], str]

_MOST = 2**63 - 1


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    def manifest(self) -> dict[str, Any]:
        """The status as `status` of the object shows it; what is not there is left out."""
        built: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return {name: value for name, value in built.items() if value is not None and value != []}


class ActiveCondition(msgspec.Struct, frozen=True):
    """Whether a queue takes part in admission, and why not."""

    status: ConditionStatus
    reason: str
    message: str
    type: str = "Active"


class ResourceUsage(msgspec.Struct, frozen=True):
    """How much of a resource is used; `borrowed` is the part above the nominal quota, if the queue has a cohort."""

    name: str
    total: str
    borrowed: str = "0"


class FlavorUsage(msgspec.Struct, frozen=True):
    """How much of each resource is used in one flavor."""

    name: str
    resources: tuple[ResourceUsage, ...]


class FairSharingStatus(msgspec.Struct, frozen=True, rename="camel"):
    """The share of a queue or Cohort, rounded up; 2^63 - 1 for infinity."""

    weighted_share: int


class ClusterQueueStatus(_Status, frozen=True):
    """`status` of a ClusterQueue.

    Source: `pkg/controller/core/clusterqueue_controller.go:updateCqStatusIfChanged`.

    Attributes:
        conditions: The condition `Active`.
        flavors_reservation: What workloads with quota hold, by flavor.
        flavors_usage: What admitted workloads hold, by flavor.
        pending_workloads: How many wait, inadmissible ones included.
        reserving_workloads: How many hold quota.
        admitted_workloads: How many of these are admitted.
        fair_sharing: The queue's share; only with fair sharing on.
    """

    conditions: tuple[ActiveCondition, ...]
    flavors_reservation: tuple[FlavorUsage, ...]
    flavors_usage: tuple[FlavorUsage, ...]
    pending_workloads: int
    reserving_workloads: int
    admitted_workloads: int
    fair_sharing: FairSharingStatus | None = None

    @property
    def is_active(self) -> bool:
        """Whether the ClusterQueue admits anything."""
        return self.conditions[0].status == "True"


class LocalQueueResourceUsage(msgspec.Struct, frozen=True):
    """How much of a resource the workloads of a LocalQueue use."""

    name: str
    total: str


class LocalQueueFlavorUsage(msgspec.Struct, frozen=True):
    """How much of each resource the workloads of a LocalQueue use in one flavor."""

    name: str
    resources: tuple[LocalQueueResourceUsage, ...]


class AdmissionFairSharingStatus(msgspec.Struct, frozen=True, rename="camel"):
    """What a LocalQueue has used lately, by resource, and when that was written."""

    consumed_resources: dict[str, str]
    last_update: str


class LocalQueueFairSharingStatus(msgspec.Struct, frozen=True, rename="camel"):
    """The place of a LocalQueue in admission fair sharing; Kueue leaves its `weightedShare` at 0."""

    admission_fair_sharing_status: AdmissionFairSharingStatus
    weighted_share: int = 0


class LocalQueueStatus(_Status, frozen=True):
    """`status` of a LocalQueue.

    Source: `pkg/controller/core/localqueue_controller.go:updateStatusIfChanged`.

    Attributes:
        conditions: The condition `Active`.
        pending_workloads: How many wait; 0 while the LocalQueue is stopped.
        reserving_workloads: How many hold quota.
        admitted_workloads: How many of these are admitted.
        flavors_reservation: What workloads with quota hold, by each flavor that the LocalQueue has.
        flavors_usage: What admitted workloads hold, likewise.
        fair_sharing: Its usage; only where admission fair sharing decides.
    """

    conditions: tuple[ActiveCondition, ...]
    pending_workloads: int
    reserving_workloads: int
    admitted_workloads: int
    flavors_reservation: tuple[LocalQueueFlavorUsage, ...]
    flavors_usage: tuple[LocalQueueFlavorUsage, ...]
    fair_sharing: LocalQueueFairSharingStatus | None = None

    @property
    def flavors(self) -> tuple[str, ...]:
        """The flavors that its ClusterQueue offers, in the order in which they are tried."""
        return tuple(usage.name for usage in self.flavors_usage)


class CohortStatus(_Status, frozen=True):
    """`status` of a Cohort: its share, only with fair sharing on."""

    fair_sharing: FairSharingStatus | None = None


@checked
def cluster_queue_status(scheduler: Scheduler) -> dict[str, ClusterQueueStatus]:
    """The status of every ClusterQueue, by name."""
    fair, text = scheduler.configuration.fair_sharing is not None, _formatter(scheduler)
    return {
        view.name: ClusterQueueStatus(
            conditions=(_active(view.why_inactive, view.message),),
            flavors_reservation=tuple(_usage(view.holdings, text, admitted=False, lends=bool(view.cohort))),
            flavors_usage=tuple(_usage(view.holdings, text, admitted=True, lends=bool(view.cohort))),
            pending_workloads=view.active + view.inadmissible,
            reserving_workloads=view.reserving,
            admitted_workloads=view.admitted,
            fair_sharing=FairSharingStatus(weighted_share(view.share)) if fair else None,
        )
        for view in cluster_queues(session_of(scheduler).engine)
    }


@checked
def local_queue_status(scheduler: Scheduler) -> dict[str, LocalQueueStatus]:
    """The status of every LocalQueue, by `namespace/name`."""
    text = _formatter(scheduler)
    return {
        f"{view.namespace}/{view.name}": LocalQueueStatus(
            conditions=(_accepting(runs=view.runs, found=view.is_found, is_active=view.is_active),),
            pending_workloads=view.active + view.inadmissible if view.runs else 0,
            reserving_workloads=view.reserving,
            admitted_workloads=view.admitted,
            flavors_reservation=tuple(_local_usage(view.holdings, text, admitted=False)),
            flavors_usage=tuple(_local_usage(view.holdings, text, admitted=True)),
            fair_sharing=None if view.consumed is None else _consumed(view.consumed),
        )
        for view in local_queues(session_of(scheduler).engine)
    }


@checked
def cohort_status(scheduler: Scheduler) -> dict[str, CohortStatus]:
    """The status of every Cohort that is declared, by name."""
    fair = scheduler.configuration.fair_sharing is not None
    return {
        view.name: CohortStatus(FairSharingStatus(weighted_share(view.share)) if fair else None)
        for view in cohorts(session_of(scheduler).engine)
        if view.is_declared
    }


def weighted_share(share: float) -> int:
    """A share as a status shows it (`pkg/controller/core/helpers.go:WeightedShare`)."""
    return _MOST if math.isinf(share) else min(math.ceil(share), _MOST)


def _active(reason: str, message: str) -> ActiveCondition:
    if not reason:
        return ActiveCondition("True", "Ready", "Can admit new workloads")
    return ActiveCondition("False", reason, message)


def _accepting(*, runs: bool, found: bool, is_active: bool) -> ActiveCondition:
    if not runs:
        return ActiveCondition("False", "Stopped", "LocalQueue is stopped")
    if not found:
        return ActiveCondition("False", "ClusterQueueDoesNotExist", "Can't submit new workloads to clusterQueue")
    if not is_active:
        return ActiveCondition("False", "ClusterQueueIsInactive", "Can't submit new workloads to clusterQueue")
    return ActiveCondition("True", "Ready", "Can submit new workloads to localQueue")


def _formatter(scheduler: Scheduler) -> Formatter:
    """Writes amounts of a resource as Kueue does: those of counters and capacities of devices like memory."""
    names = session_of(scheduler).engine.byte_resources
    return lambda name, amount: Quantity.format(name, amount, name in names)


def _usage(flavors: FlavorHoldings, text: Formatter, *, admitted: bool, lends: bool) -> Iterable[FlavorUsage]:
    for flavor, resources in flavors:
        used = []
        for name, reserved, of_admitted, nominal, _, _ in resources:
            total = of_admitted if admitted else reserved
            borrowed = max(0, total - nominal) if lends else 0
            used.append(ResourceUsage(name, text(name, total), text(name, borrowed)))
        yield FlavorUsage(flavor, tuple(used))


def _local_usage(flavors: FlavorHoldings, text: Formatter, *, admitted: bool) -> Iterable[LocalQueueFlavorUsage]:
    for usage in _usage(flavors, text, admitted=admitted, lends=False):
        used = tuple(LocalQueueResourceUsage(resource.name, resource.total) for resource in usage.resources)
        yield LocalQueueFlavorUsage(usage.name, used)


def _consumed(afs: ConsumedView) -> LocalQueueFairSharingStatus:
    _, last_update, consumed = afs
    return LocalQueueFairSharingStatus(AdmissionFairSharingStatus(consumed, format_time(last_update)))
