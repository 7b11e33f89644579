"""The status of queues, and pending workloads, as Kueue's controllers and its visibility API show them."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import msgspec

from kueuepy._core import Engine, Quantity
from kueuepy.engine.records import ConsumedView, FlavorHolding
from kueuepy.errors import InvalidSpecError, NotFoundError, checked
from kueuepy.objects.status import ConditionStatus
from kueuepy.objects.times import Timestamp, format_time
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import session_of

Formatter: TypeAlias = "Callable[[str, int], str]"
# Go's math.MaxInt64, which Kueue reports for an infinite share.
_MOST = 2**63 - 1


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    def manifest(self) -> dict[str, Any]:
        """Return the status in the form of a manifest, without absent fields."""
        built: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self, enc_hook=str))
        return {name: value for name, value in built.items() if value is not None and value != []}


class ActiveCondition(msgspec.Struct, frozen=True):
    """The condition `Active` of a queue: whether it admits workloads, and the reason."""

    status: ConditionStatus
    reason: str
    message: str
    type: str = "Active"


class ResourceUsage(msgspec.Struct, frozen=True):
    """Usage of a resource; `borrowed` is the amount above the nominal quota. A LocalQueue does not have it."""

    name: str
    total: str
    borrowed: str | msgspec.UnsetType = msgspec.UNSET


class FlavorUsage(msgspec.Struct, frozen=True):
    """Usage of the resources of a flavor."""

    name: str
    resources: tuple[ResourceUsage, ...]


class FairSharingStatus(msgspec.Struct, frozen=True, rename="camel"):
    """The weighted share of a queue or Cohort, rounded up; 2^63 - 1 stands for infinity."""

    weighted_share: int


class ClusterQueueStatus(_Status, frozen=True):
    """The status of a ClusterQueue.

    Source: `pkg/controller/core/clusterqueue_controller.go:updateCqStatusIfChanged`.

    Attributes:
        conditions: The condition `Active`.
        flavors_reservation: Quota reserved by workloads, by flavor.
        flavors_usage: Quota of admitted workloads, by flavor.
        pending_workloads: Number of pending workloads, including inadmissible ones.
        reserving_workloads: Number of workloads that hold quota.
        admitted_workloads: Number of admitted workloads.
        fair_sharing: The weighted share of the queue; `None` without fair sharing.
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
        """Whether the ClusterQueue is active and can therefore admit workloads."""
        return self.conditions[0].status == "True"


class AdmissionFairSharingStatus(msgspec.Struct, frozen=True, rename="camel"):
    """The decayed usage of a LocalQueue by resource, and the time of its last update."""

    consumed_resources: dict[str, str]
    last_update: str


class LocalQueueFairSharingStatus(msgspec.Struct, frozen=True, rename="camel"):
    """The fair sharing status of a LocalQueue; Kueue always sets its `weightedShare` to 0."""

    admission_fair_sharing_status: AdmissionFairSharingStatus
    weighted_share: int = 0


class LocalQueueStatus(_Status, frozen=True):
    """The status of a LocalQueue.

    Source: `pkg/controller/core/localqueue_controller.go:updateStatusIfChanged`.

    Attributes:
        conditions: The condition `Active`.
        pending_workloads: Number of pending workloads; 0 while the LocalQueue is stopped.
        reserving_workloads: Number of workloads that hold quota.
        admitted_workloads: Number of admitted workloads.
        flavors_reservation: Quota reserved by workloads of the LocalQueue, by flavor.
        flavors_usage: Quota of admitted workloads of the LocalQueue, by flavor.
        fair_sharing: The decayed usage of the LocalQueue; `None` without admission fair sharing.
    """

    conditions: tuple[ActiveCondition, ...]
    pending_workloads: int
    reserving_workloads: int
    admitted_workloads: int
    flavors_reservation: tuple[FlavorUsage, ...]
    flavors_usage: tuple[FlavorUsage, ...]
    fair_sharing: LocalQueueFairSharingStatus | None = None

    @property
    def flavors(self) -> tuple[str, ...]:
        """The flavors of the ClusterQueue, in the order in which Kueue tries them."""
        return tuple(usage.name for usage in self.flavors_usage)


class CohortStatus(_Status, frozen=True):
    """The status of a Cohort: its weighted share, or `None` without fair sharing."""

    fair_sharing: FairSharingStatus | None = None


@checked
def cluster_queue_status(scheduler: Scheduler) -> dict[str, ClusterQueueStatus]:
    """Return the status of all ClusterQueues, by name."""
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
        for view in session_of(scheduler).engine.cluster_queue_status()
    }


@checked
def local_queue_status(scheduler: Scheduler) -> dict[str, LocalQueueStatus]:
    """Return the status of all LocalQueues, by `namespace/name`."""
    text = _formatter(scheduler)
    return {
        f"{view.namespace}/{view.name}": LocalQueueStatus(
            conditions=(_accepting(runs=view.runs, found=view.is_found, is_active=view.is_active),),
            pending_workloads=view.active + view.inadmissible if view.runs else 0,
            reserving_workloads=view.reserving,
            admitted_workloads=view.admitted,
            flavors_reservation=tuple(_usage(view.holdings, text, admitted=False)),
            flavors_usage=tuple(_usage(view.holdings, text, admitted=True)),
            fair_sharing=None if view.consumed is None else _consumed(view.consumed),
        )
        for view in session_of(scheduler).engine.local_queue_status()
    }


@checked
def cohort_status(scheduler: Scheduler) -> dict[str, CohortStatus]:
    """Return the status of all Cohort objects, by name."""
    fair = scheduler.configuration.fair_sharing is not None
    return {
        view.name: CohortStatus(FairSharingStatus(weighted_share(view.share)) if fair else None)
        for view in session_of(scheduler).engine.cohort_status()
        if view.is_declared
    }


def weighted_share(share: float) -> int:
    """Convert a share to the integer in a status (`pkg/controller/core/helpers.go:WeightedShare`)."""
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
    """Return a function that formats amounts as Kueue does: device counters and capacities like memory."""
    names = session_of(scheduler).engine.byte_resources
    return lambda name, amount: Quantity.format(name, amount, name in names)


def _usage(
    flavors: list[FlavorHolding], text: Formatter, *, admitted: bool, lends: bool | None = None
) -> Iterable[FlavorUsage]:
    """Yield the usage of flavors; `lends` is whether a ClusterQueue is in a cohort, and `None` for a LocalQueue."""
    for flavor, resources in flavors:
        used = []
        for name, reserved, of_admitted, nominal, *_ in resources:
            total = of_admitted if admitted else reserved
            borrowed = msgspec.UNSET if lends is None else text(name, max(0, total - nominal) if lends else 0)
            used.append(ResourceUsage(name, text(name, total), borrowed))
        yield FlavorUsage(flavor, tuple(used))


def _consumed(afs: ConsumedView) -> LocalQueueFairSharingStatus:
    _, last_update, consumed = afs
    return LocalQueueFairSharingStatus(AdmissionFairSharingStatus(consumed, format_time(last_update)))


DEFAULT_LIMIT = 1000
"""Default number of listed workloads (`pkg/constants/constants.go:DefaultPendingWorkloadsLimit`)."""
MAX_LIMIT = 100_000
"""Maximum number of listed workloads (`pkg/visibility/storage/utils.go`)."""


class OwnerReference(msgspec.Struct, frozen=True, rename="camel"):
    """A reference to the job of a workload."""

    api_version: str
    kind: str
    name: str
    uid: str


class PendingWorkload(_Status, frozen=True):
    """A pending workload.

    Attributes:
        name: The name of the workload.
        namespace: The namespace of the workload.
        creation_timestamp: The workload's creation time, as a datetime.
        priority: The workload's priority, without a boost.
        local_queue_name: The name of the workload's LocalQueue.
        position_in_cluster_queue: Number of workloads ahead of the workload in its ClusterQueue.
        position_in_local_queue: Number of workloads ahead of the workload in its LocalQueue.
        owner_references: The workload's job, if a job was submitted to the Scheduler.
    """

    name: str
    namespace: str
    creation_timestamp: Timestamp
    priority: int
    local_queue_name: str
    position_in_cluster_queue: int
    position_in_local_queue: int
    owner_references: tuple[OwnerReference, ...] = ()

    @property
    def key(self) -> str:
        """The key of the workload, `namespace/name`."""
        return f"{self.namespace}/{self.name}"

    def manifest(self) -> dict[str, Any]:
        """Return the workload in the format of the visibility API."""
        built = super().manifest()
        names = ("name", "namespace", "creationTimestamp", "ownerReferences")
        return {"metadata": {name: built.pop(name) for name in names if name in built}, **built}


class PendingWorkloadsSummary(msgspec.Struct, frozen=True):
    """A list of pending workloads.

    Attributes:
        items: The workloads, in the order of their ClusterQueue.
    """

    items: tuple[PendingWorkload, ...] = ()

    def manifest(self) -> dict[str, Any]:
        """Return the summary in the format of the visibility API."""
        return {
            "apiVersion": "visibility.kueue.x-k8s.io/v1beta2",
            "kind": "PendingWorkloadsSummary",
            "metadata": {},
            "items": [item.manifest() for item in self.items],
        }


@checked
def pending_workloads(
    source: Scheduler | Engine,
    *,
    cluster_queue: str | None = None,
    local_queue: str | None = None,
    limit: int = DEFAULT_LIMIT,
    offset: int = 0,
) -> PendingWorkloadsSummary:
    """Return the pending workloads of a ClusterQueue or a LocalQueue, including inadmissible ones.

    If the queue uses admission fair sharing, the workloads are ordered by the usage of their LocalQueues first. Among
    workloads with the same usage, a workload that waits for the workloads that it preempted is first. Remaining ties
    are broken by priority, then by queue order timestamp, then by UID. Positions count from 0 in the whole queue,
    independent of `offset`.

    Source: `pkg/visibility/storage/pending_workloads_{cq,lq}.go`.

    Args:
        source: A Scheduler or an engine.
        cluster_queue: The name of a ClusterQueue.
        local_queue: Alternatively, a LocalQueue as `namespace/name`; a name without a namespace refers to the namespace
            `default`.
        limit: Maximum number of workloads, at most 100,000; 0 means 1,000.
        offset: Number of workloads to skip at the start.

    Returns:
        The pending workloads in queue order.

    Raises:
        NotFoundError: The queue does not exist, or the LocalQueue is stopped: Kueue's queue manager removes a stopped
            LocalQueue (`pkg/controller/core/localqueue_controller.go`), and the visibility API returns 404.
        InvalidSpecError: Both queues are given, or neither queue is given.
    """
    if (cluster_queue is None) == (local_queue is None):
        raise InvalidSpecError("pending workloads: name either a ClusterQueue or a LocalQueue")
    engine = source if isinstance(source, Engine) else session_of(source).engine
    # A limit of 0 means the default, as in Kueue's API.
    limit, offset = min(limit, MAX_LIMIT) or DEFAULT_LIMIT, max(offset, 0)
    found = _waiting(engine, cluster_queue) if cluster_queue is not None else _of_local_queue(engine, local_queue or "")
    page = found[offset : offset + max(limit, 0)]
    return PendingWorkloadsSummary(tuple(page if isinstance(source, Engine) else _with_owners(source, page)))


def _waiting(engine: Engine, cluster_queue: str) -> list[PendingWorkload]:
    views = engine.pending_workloads(cluster_queue)
    if views is None:
        raise NotFoundError(f'ClusterQueue "{cluster_queue}": there is no such ClusterQueue')
    return [
        PendingWorkload(
            view.name,
            view.namespace,
            Timestamp.of(view.created),
            view.priority,
            view.local_queue,
            position,
            view.position,
        )
        for position, view in enumerate(views)
    ]


def _with_owners(source: Scheduler, page: Iterable[PendingWorkload]) -> Iterator[PendingWorkload]:
    jobs = session_of(source).state.store.jobs
    for waiting in page:
        job = jobs.get(waiting.key)
        if job is None:
            yield waiting
            continue
        metadata = job.get("metadata") or {}
        owner = OwnerReference(job["apiVersion"], job["kind"], metadata.get("name", ""), metadata.get("uid", ""))
        yield msgspec.structs.replace(waiting, owner_references=(owner,))


def _of_local_queue(engine: Engine, key: str) -> list[PendingWorkload]:
    namespace, name = key.split("/", 1) if "/" in key else ("default", key)
    for view in engine.local_queue_status():
        if (view.namespace, view.name) == (namespace, name):
            if not view.runs:
                raise NotFoundError(f'LocalQueue "{key}": is stopped; Kueue\'s visibility API does not find it')
            waiting = _waiting(engine, view.cluster_queue) if view.is_found else []
            return [item for item in waiting if (item.namespace, item.local_queue_name) == (namespace, name)]
    raise NotFoundError(f'LocalQueue "{namespace}/{name}": there is no such LocalQueue')
