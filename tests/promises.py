"""Properties of a settled cluster, for use in assertions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kueuepy._core import Quantity, pod_requests
from kueuepy.objects import ClusterQueue, LimitRange, RuntimeClass, Workload
from kueuepy.session.session import session_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kueuepy.objects import FlavorQuotas, ResourceGroup, ResourceQuota
    from kueuepy.scheduler import Scheduler


def owed(scheduler: Scheduler, cluster_queue: str) -> tuple[str, ...]:
    """Return the pending workloads of a ClusterQueue that would fit into its unused nominal quota.

    To express "team b always gets its nominal quota", require that the result is empty once the Scheduler has settled.
    Kueue does not guarantee a queue its nominal quota, because other queues can borrow the quota. Only a queue that may
    reclaim quota (`preemption.reclaimWithinCohort`) can take back quota that it has lent. Taints, node selectors and
    admission checks are ignored.

    Args:
        scheduler: The Scheduler.
        cluster_queue: The name of the ClusterQueue.

    Returns:
        The keys of the workloads, each of which would fit if it were the only one admitted; empty if the queue is
        inactive.

    Raises:
        NotFoundError: The ClusterQueue does not exist.

    Example:
        >>> from kueuepy import Cluster, ResourceFlavor, Scheduler
        >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 4}})))
        >>> keys = scheduler.submit({"name": "job", "queue": "team", "cpu": 1})
        >>> owed(scheduler, "team")
        ('default/job',)
        >>> settled = scheduler.settle()
        >>> owed(scheduler, "team")
        ()
    """
    cluster = scheduler.cluster
    queue = cluster.get(ClusterQueue, cluster_queue)
    usage = session_of(scheduler).engine.usage(active=True)
    if cluster_queue not in usage:  # A ClusterQueue that is stopped, or lacks an object, admits no workloads.
        return ()
    used = usage[cluster_queue]
    waiting, _ = session_of(scheduler).engine.queues().get(cluster_queue, ([], []))
    return tuple(
        key for key in waiting if _is_owed(_totals(scheduler, scheduler.workload(key)), queue.resource_groups, used)
    )


def _totals(scheduler: Scheduler, workload: Workload) -> Counter[str]:
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
    """Return whether the unused nominal quota of a flavor is sufficient."""
    return all(
        used.get(f"{flavor.name}/{quota.name}", 0) + totals[quota.name] <= _integer(quota)
        for quota in flavor.resources
        if totals[quota.name]
    )


def _integer(quota: ResourceQuota) -> int:
    """Return a nominal quota in the scheduler's units: millicores for cpu, base units for all other resources."""
    parsed = Quantity(str(quota.nominal_quota))
    return parsed.as_cpu if quota.name == "cpu" else parsed.as_units
