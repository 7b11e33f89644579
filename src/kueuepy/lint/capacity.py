"""Upper bounds on the amount of each flavor and resource that a queue or cohort can use."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from kueuepy._core import Engine, Quantity, Tables
from kueuepy.errors.problems import Path
from kueuepy.objects import ClusterQueue, Cohort, QuantityText

FlavorResource: TypeAlias = tuple[str, str]
"""A flavor and a resource, by name."""


class PairQuota(NamedTuple):
    """The quota for a flavor and resource, in the scheduler's integer units, and the path of the quota in its object.

    Attributes:
        nominal: The nominal quota.
        borrowing_limit: Maximum borrowed amount; `None` for no limit.
        lending_limit: Maximum amount that other queues can borrow; `None` for all of the nominal quota.
        path: Path of the quota in the object.
    """

    nominal: int = 0
    borrowing_limit: int | None = None
    lending_limit: int | None = None
    path: Path = ()


def quotas_of(owner: ClusterQueue | Cohort) -> dict[FlavorResource, PairQuota]:
    """Return the quotas of a queue or cohort by flavor and resource."""
    return dict(_quotas(owner))


def _quotas(owner: ClusterQueue | Cohort) -> Iterator[tuple[FlavorResource, PairQuota]]:
    for number, group in enumerate(owner.resource_groups):
        for flavor_number, flavor in enumerate(group.flavors):
            for position, quota in enumerate(flavor.resources):
                path = ("resourceGroups", number, "flavors", flavor_number, "resources", position)
                limits = (quota.nominal_quota, quota.borrowing_limit, quota.lending_limit)
                nominal, borrowing, lending = (_amount(quota.name, limit) for limit in limits)
                yield (flavor.name, quota.name), PairQuota(nominal or 0, borrowing, lending, ("spec", *path))


def _amount(resource: str, quantity: QuantityText | None) -> int | None:
    return None if quantity is None else Quantity(quantity).quota(resource)


class Capacity:
    """The capacities of queues in a forest of cohorts without usage, computed by the core."""

    def __init__(self, queues: Iterable[ClusterQueue], cohorts: Mapping[str, Cohort]) -> None:
        """Compute the capacities of queues.

        Args:
            queues: The ClusterQueues.
            cohorts: The Cohorts by name.
        """
        engine = Engine()
        for owner in (*cohorts.values(), *queues):
            engine.apply(owner)
        tables = Tables(engine)
        self._parents = [parent for _, _, parent, *_ in tables.nodes]
        self._rows = {name: row for row, (name, kind, *_) in enumerate(tables.nodes) if kind == "ClusterQueue"}
        self._columns = {pair: column for column, pair in enumerate(tables.cells)}
        self._potential, self._subtree, self._guaranteed = tables.potential, tables.subtree_quota, tables.guaranteed

    def largest(self, queue: str, pair: FlavorResource) -> int:
        """Return the largest amount of a flavor and resource that a queue can use.

        Source: `pkg/cache/scheduler/resource_node.go:potentialAvailable`.
        """
        return self._largest(self._rows[queue], pair)

    def borrowable(self, queue: str, pair: FlavorResource) -> int:
        """Return the largest amount that a queue could borrow if it had no borrowing limit."""
        parent = self._parents[self._rows[queue]]
        return self._largest(parent, pair) - self.lent(queue, pair) if parent >= 0 else 0

    def lent(self, queue: str, pair: FlavorResource) -> int:
        """Return the largest amount of a flavor and resource that a queue can lend."""
        row, column = self._rows[queue], self._columns.get(pair)
        if column is None or self._parents[row] < 0:
            return 0
        return int(self._subtree[row, column]) - int(self._guaranteed[row, column])

    def _largest(self, row: int, pair: FlavorResource) -> int:
        column = self._columns.get(pair)
        return 0 if column is None else int(self._potential[row, column])
