"""Synthetic workloads that test which requests an empty cluster admits."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any

from kueuepy._core import Quantity
from kueuepy.engine.nodes import path_of, roots
from kueuepy.engine.records import NO_CONDITION
from kueuepy.engine.tables import UNLIMITED
from kueuepy.errors import InvalidSpecError
from kueuepy.objects import PodSet, Toleration, Workload
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import session_of

if TYPE_CHECKING:
    from kueuepy.cluster import Cluster
    from kueuepy.objects import ClusterQueue, Cohort

HIGH = 1_000_000_000
"""A priority higher than that of all other workloads."""
LOW = -1_000_000_000
"""A priority lower than that of all other workloads."""
# Endless preemption changes no answer, so a bounded number of cycles is enough.
MOST_CYCLES = 200
Cell = tuple[str, str]
"""A flavor and a resource."""


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


def without_workloads(cluster: Cluster) -> Cluster:
    """Return a cluster without its workloads."""
    return cluster.without(*cluster.workloads) if cluster.workloads else cluster


def cells_of(owner: ClusterQueue | Cohort) -> list[Cell]:
    """Return the flavor and resource of each quota of a ClusterQueue or Cohort, in order."""
    return [cell for cells in cells_by_flavor(owner) for cell in cells]


def cells_by_flavor(owner: ClusterQueue | Cohort) -> list[list[Cell]]:
    """Return the flavors and resources of a ClusterQueue or Cohort, with one list per flavor."""
    return [[(f.name, r.name) for r in f.resources] for group in owner.resource_groups for f in group.flavors]


class Trials:
    """Submissions to an empty cluster.

    Attributes:
        empty: A Scheduler of the cluster without workloads.
    """

    def __init__(self, cluster: Cluster) -> None:
        """Create the Scheduler; workloads of the cluster are ignored."""
        self._cluster = without_workloads(cluster)
        self.empty = Scheduler(self._cluster, now=0)
        self._quota = self.empty.quota
        self._rows = {
            node.name: row for row, node in enumerate(self._quota.nodes) if node.kind == "ClusterQueue" and node.exists
        }

    def amount(self, fact: str, queue: str, cell: Cell) -> int:
        """Return an amount of the table of quotas, such as `nominal_quota`, in the engine's units."""
        return int(self._quota.array(fact)[self._rows[queue], self._quota.flavor_resources.index(cell)])

    def available(self, scheduler: Scheduler, queue: str, cell: Cell) -> int:
        """Return the amount that a ClusterQueue could still use without preemption, in the engine's units."""
        table = scheduler.usage
        if cell not in table.flavor_resources:
            return 0
        return max(0, int(table.array("available")[self._rows[queue], table.flavor_resources.index(cell)]))

    def has_cohort(self, queue: str) -> bool:
        """Return whether a ClusterQueue has a Cohort."""
        return self._quota.nodes[self._rows[queue]].parent >= 0

    def others(self, queue: str) -> list[ClusterQueue]:
        """Return the other ClusterQueues of the cohort tree, ordered by distance to the lowest common ancestor."""
        nodes = self._quota.nodes
        root, mine = roots(nodes), path_of(nodes, self._rows[queue])

        def distance(other: ClusterQueue) -> tuple[int, str]:
            path = path_of(nodes, self._rows[other.name])
            return next((place for place, row in enumerate(mine) if row in path), len(mine)), other.name

        tree = [one for one in self._cluster.cluster_queues if one.name != queue and root[one.name] == root[queue]]
        return sorted(tree, key=distance)

    def unit(self, cell: Cell) -> int:
        """Return the greatest common divisor of all quotas and limits of a flavor and resource."""
        column = self._quota.flavor_resources.index(cell)
        facts = ("nominal_quota", "borrowing_limit", "lending_limit")
        amounts = (int(value) for fact in facts for value in self._quota.array(fact)[:, column] if value != UNLIMITED)
        return gcd(*amounts) or 1

    def workload(self, queue: str, name: str, amounts: dict[Cell, int], priority: int) -> Workload:
        """Return a workload of one pod that requests amounts of one flavor from a ClusterQueue.

        The pod tolerates all taints and selects the flavor's nodes by their labels.
        """
        (flavor,) = {name for name, _ in amounts}
        (labels,) = (known.node_labels for known in self._cluster.resource_flavors if known.name == flavor)
        local = next(known for known in self._cluster.local_queues if known.cluster_queue == queue)
        pods = PodSet.of(
            requests={resource: Quantity.format(resource, amount) for (_, resource), amount in amounts.items()},
            node_selector=labels,
            tolerations=[Toleration(operator="Exists")],
        )
        return Workload(name, namespace=local.namespace, queue_name=local.name, pod_sets=(pods,), priority=priority)


def gets_quota(scheduler: Scheduler, workload: Workload) -> bool:
    """Submit a workload, and return whether it then holds quota and is not being evicted."""
    (key,) = scheduler.submit(workload)
    scheduler.settle(max_cycles=MOST_CYCLES)
    conditions = session_of(scheduler).engine.conditions(session_of(scheduler).state.id_of(key))
    reserved, evicted = (conditions.get(name, NO_CONDITION).is_true for name in ("QuotaReserved", "Evicted"))
    return reserved and not evicted
