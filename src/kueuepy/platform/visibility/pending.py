"""Pending workloads and their positions, as in Kueue's visibility API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy._core import Engine
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.arguments import checked
from kueuepy.objects.times import Timestamp
from kueuepy.session.session import session_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kueuepy.scheduler import Scheduler

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


class PendingWorkload(msgspec.Struct, frozen=True):
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
        owners = [msgspec.to_builtins(owner) for owner in self.owner_references]
        return {
            "metadata": {
                "name": self.name,
                "namespace": self.namespace,
                "creationTimestamp": str(self.creation_timestamp),
                **({"ownerReferences": owners} if owners else {}),
            },
            "priority": self.priority,
            "localQueueName": self.local_queue_name,
            "positionInClusterQueue": self.position_in_cluster_queue,
            "positionInLocalQueue": self.position_in_local_queue,
        }


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
    limit, offset = min(limit, MAX_LIMIT) or DEFAULT_LIMIT, max(offset, 0)
    if cluster_queue is not None:
        found = _waiting(engine, cluster_queue)
    else:
        assert local_queue is not None
        found = _of_local_queue(engine, local_queue)
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
