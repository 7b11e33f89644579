"""Promises about a cluster, to be asserted where nothing changes any more."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kueuepy._core import Quantity, pod_requests
from kueuepy.errors.arguments import checked
from kueuepy.objects import ClusterQueue, LimitRange, RuntimeClass, Workload
from kueuepy.session.session import session_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kueuepy.objects import FlavorQuotas, ResourceGroup, ResourceQuota
    from kueuepy.scheduler import Scheduler


@checked
def owed(scheduler: Scheduler, cluster_queue: str) -> tuple[str, ...]:
    """The workloads that wait in a ClusterQueue although its own unused quota would hold each of them.

    "Team b always gets its nominal quota" means that nobody is owed anything once the Scheduler is settled. Kueue does
    not promise that: others may have borrowed the quota, and give it back only to a queue that may reclaim it
    (`preemption.reclaimWithinCohort`). Taints, node selectors and admission checks are not looked at.

    Args:
        scheduler: The Scheduler.
        cluster_queue: The ClusterQueue.

    Raises:
        NotFoundError: There is no such ClusterQueue.
    """
    cluster = scheduler.cluster
    queue = cluster.get(ClusterQueue, cluster_queue)
    usage = session_of(scheduler).engine.usage(active=True)
    if cluster_queue not in usage:  # stopped, or in need of an object that isn't there: it admits nobody
        return ()
    used = usage[cluster_queue]
    waiting, _ = session_of(scheduler).engine.queues().get(cluster_queue, ([], []))
    return tuple(
        key for key in waiting if _is_owed(_totals(scheduler, scheduler.workload(key)), queue.resource_groups, used)
    )


def _totals(scheduler: Scheduler, workload: Workload) -> Counter[str]:
    """What all pods of the workload request together."""
    cluster = scheduler.cluster
    ranges: list[LimitRange] = [found for found in cluster.limit_ranges if found.namespace == workload.namespace]
    classes: tuple[RuntimeClass, ...] = cluster.runtime_classes
    totals: Counter[str] = Counter()
    for pod_set in workload.pod_sets:
        requests = pod_requests(
            pod_set.template, runtime_classes=classes, limit_ranges=ranges, configuration=cluster.configuration
        )
        for resource, amount in requests.items():
            totals[resource] += amount * pod_set.count
    return totals


def _is_owed(totals: Counter[str], groups: Sequence[ResourceGroup], used: dict[str, int]) -> bool:
    covered = {resource for group in groups for resource in group.covered_resources}
    return all(resource in covered for resource, amount in totals.items() if amount > 0) and all(
        any(_holds(flavor, totals, used) for flavor in group.flavors)
        for group in groups
        if any(totals[resource] for resource in group.covered_resources)
    )


def _holds(flavor: FlavorQuotas, totals: Counter[str], used: dict[str, int]) -> bool:
    """Whether the flavor's unused nominal quota is enough."""
    return all(
        used.get(f"{flavor.name}/{quota.name}", 0) + totals[quota.name] <= _integer(quota)
        for quota in flavor.resources
        if totals[quota.name]
    )


def _integer(quota: ResourceQuota) -> int:
    """A nominal quota as the scheduler counts it: cpu in thousandths, all else in units."""
    parsed = Quantity(str(quota.nominal_quota))
    return parsed.as_cpu if quota.name == "cpu" else parsed.as_units
