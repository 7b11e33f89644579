"""How much of each flavor and resource a queue or cohort could have at most, whoever else uses what.

Mirrors pkg/cache/scheduler/resource_node.go:potentialAvailable, on quotas alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple, TypeAlias

from kueuepy._core import Quantity
from kueuepy.errors.problems import Path
from kueuepy.objects import ClusterQueue, Cohort, QuantityText

Cell: TypeAlias = tuple[str, str]
"""A flavor and a resource."""


class CellQuota(NamedTuple):
    """The quota of a cell, in the scheduler's integers, and where it is written.

    Attributes:
        nominal: The nominal quota.
        borrowing_limit: The most beyond it; `None` for no limit.
        lending_limit: The most of it that others may have; `None` for all.
        path: The field.
    """

    nominal: int = 0
    borrowing_limit: int | None = None
    lending_limit: int | None = None
    path: Path = ()


def cells_of(owner: ClusterQueue | Cohort) -> dict[Cell, CellQuota]:
    """The quotas of a queue or cohort by flavor and resource."""
    return dict(_cells(owner))


def _cells(owner: ClusterQueue | Cohort) -> Iterator[tuple[Cell, CellQuota]]:
    for number, group in enumerate(owner.resource_groups):
        for flavor_number, flavor in enumerate(group.flavors):
            for position, quota in enumerate(flavor.resources):
                place = ("resourceGroups", number, "flavors", flavor_number, "resources", position)
                limits = (quota.nominal_quota, quota.borrowing_limit, quota.lending_limit)
                nominal, borrowing, lending = (_amount(quota.name, limit) for limit in limits)
                yield (flavor.name, quota.name), CellQuota(nominal or 0, borrowing, lending, ("spec", *place))


def _amount(resource: str, quantity: QuantityText | None) -> int | None:
    return None if quantity is None else Quantity(quantity).quota(resource)


class Capacity:
    """The largest amounts in a forest of cohorts without usage."""

    def __init__(self, queues: Iterable[ClusterQueue], cohorts: Mapping[str, Cohort]) -> None:
        """Takes the queues, and the cohorts by name."""
        self._quotas: dict[str, dict[Cell, CellQuota]] = {}
        self._parent: dict[str, str | None] = {}
        self._members: dict[str, list[str]] = {}
        self._subtree = cache(self._count_subtree)
        self._largest = cache(self._count_largest)
        for cohort in cohorts.values():
            self._add(f"cohort {cohort.name}", cohort, cohort.parent_name)
        for queue in queues:
            self._add(queue.name, queue, queue.cohort_name)

    def _add(self, node: str, owner: ClusterQueue | Cohort, parent: str | None) -> None:
        self._quotas[node] = cells_of(owner)
        self._parent[node] = f"cohort {parent}" if parent else None
        if parent:
            self._members.setdefault(f"cohort {parent}", []).append(node)

    def largest(self, queue: str, cell: Cell) -> int:
        """The most that a queue could have of a cell (potentialAvailable)."""
        return self._largest(queue, cell)

    def borrowable(self, queue: str, cell: Cell) -> int:
        """The most that others could lend to a queue of a cell, whatever the queue's own borrowing limit says."""
        parent = self._parent.get(queue)
        return self._largest(parent, cell) - self._lent(queue, cell) if parent else 0

    def lent(self, queue: str, cell: Cell) -> int:
        """The most that a queue lends of a cell."""
        return self._lent(queue, cell) if self._parent.get(queue) else 0

    def _quota(self, node: str, cell: Cell) -> CellQuota:
        return self._quotas.get(node, {}).get(cell, CellQuota())

    def _count_subtree(self, node: str, cell: Cell) -> int:
        lent = sum(self._lent(member, cell) for member in self._members.get(node, ()))
        return self._quota(node, cell).nominal + lent

    def _lent(self, node: str, cell: Cell) -> int:
        limit = self._quota(node, cell).lending_limit
        subtree = self._subtree(node, cell)
        return subtree if limit is None else min(limit, subtree)

    def _count_largest(self, node: str, cell: Cell) -> int:
        subtree, parent = self._subtree(node, cell), self._parent.get(node)
        if not parent:
            return subtree
        limit = self._quota(node, cell).borrowing_limit
        reachable = subtree - self._lent(node, cell) + self._largest(parent, cell)
        return reachable if limit is None else min(reachable, subtree + limit)
