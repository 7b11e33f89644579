"""Synthetic workloads to test which requests a configuration allows."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any

from kueuepy._core import Quantity
from kueuepy.engine.nodes import nodes_of
from kueuepy.engine.records import NO_CONDITION
from kueuepy.engine.tables import UNLIMITED
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.problems import suggestion
from kueuepy.objects import PodSet, Toleration, Workload
from kueuepy.session.session import session_of

if TYPE_CHECKING:
    from kueuepy.cluster import Cluster
    from kueuepy.objects import ClusterQueue, Cohort
    from kueuepy.scheduler import Scheduler

HIGH = 1_000_000_000
"""A priority higher than that of all other workloads."""
LOW = -1_000_000_000
"""A priority lower than that of all other workloads."""
MOST_CYCLES = 200


def queue_named(cluster: Cluster, name: str) -> ClusterQueue:
    """Return the ClusterQueue with the given name.

    Raises:
        NotFoundError: The ClusterQueue does not exist.
    """
    known = {queue.name: queue for queue in cluster.cluster_queues}
    if name not in known:
        raise NotFoundError(f'ClusterQueue "{name}": does not exist; {suggestion(str(name), set(known))}')
    return known[name]


def one_key(scheduler: Scheduler, workload: Any) -> str:
    """Return the key of a workload that is given by its key, or as `Scheduler.submit` accepts it; submit the latter.

    Raises:
        NotFoundError: The workload does not exist.
        InvalidSpecError: The argument describes several workloads.
    """
    if isinstance(workload, str):
        return session_of(scheduler).engine.key(session_of(scheduler).state.id_of(workload))
    keys = scheduler.submit(workload)
    if len(keys) != 1:
        raise InvalidSpecError(f"{workload!r} is {len(keys)} workloads; it must be one")
    return keys[0]


def cells_of(owner: ClusterQueue | Cohort) -> list[tuple[str, str]]:
    """Return the flavor and resource of each quota of a ClusterQueue or Cohort, in order."""
    return [(f.name, r.name) for group in owner.resource_groups for f in group.flavors for r in f.resources]


def row_of(scheduler: Scheduler, name: str) -> int:
    """Return the row of a ClusterQueue in the engine's tables."""
    nodes = nodes_of(session_of(scheduler).engine)
    return next(row for row, node in enumerate(nodes) if node.exists and node[:2] == (name, "ClusterQueue"))


def available(scheduler: Scheduler, queue: str, cell: tuple[str, str]) -> int:
    """Return the amount of a flavor and resource that a ClusterQueue could still use, in the engine's units."""
    table = scheduler.usage
    if cell not in table.flavor_resources:
        return 0
    return max(0, int(table.array("available")[row_of(scheduler, queue), table.flavor_resources.index(cell)]))


def unit_of(scheduler: Scheduler, cell: tuple[str, str]) -> int:
    """Return the greatest common divisor of all quotas and limits of a flavor and resource."""
    table = scheduler.quota
    column = table.flavor_resources.index(cell)
    found = 0
    for fact in ("nominal_quota", "borrowing_limit", "lending_limit"):
        found = gcd(found, *(int(value) for value in table.array(fact)[:, column] if value != UNLIMITED))
    return found or 1


def asking(cluster: Cluster, queue: str, name: str, amounts: dict[tuple[str, str], int], priority: int) -> Workload:
    """Return a workload of one pod that requests amounts of one flavor from a ClusterQueue.

    The pod tolerates all taints and selects the flavor's nodes by their labels.
    """
    (flavor,) = {name for name, _ in amounts}
    (labels,) = (known.node_labels for known in cluster.resource_flavors if known.name == flavor)
    local = next(known for known in cluster.local_queues if known.cluster_queue == queue)
    pods = PodSet.of(
        requests={resource: Quantity.format(resource, amount) for (_, resource), amount in amounts.items()},
        node_selector=labels,
        tolerations=[Toleration(operator="Exists")],
    )
    return Workload(name, namespace=local.namespace, queue_name=local.name, pod_sets=(pods,), priority=priority)


def has_quota(scheduler: Scheduler, key: str) -> bool:
    """Return whether a workload holds quota and is not being evicted."""
    conditions = session_of(scheduler).engine.conditions(session_of(scheduler).state.id_of(key))
    reserved, evicted = (conditions.get(name, NO_CONDITION).is_true for name in ("QuotaReserved", "Evicted"))
    return reserved and not evicted
