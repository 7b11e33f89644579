"""Compute the quota that each ClusterQueue gets in the worst case, and the limits that guarantee required amounts."""

from __future__ import annotations

from bisect import bisect_left
from functools import partial
from math import gcd
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy._core import Quantity
from kueuepy.cluster import Cluster
from kueuepy.engine.nodes import path_of, roots
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.arguments import checked, checked_methods
from kueuepy.lab.exploration.trial import HIGH, LOW, MOST_CYCLES, asking, available, has_quota, row_of, unit_of
from kueuepy.look.notebook import Sheet
from kueuepy.objects import Cohort, FlavorQuotas, LabelSelector, ResourceFlavor, ResourceGroup
from kueuepy.scheduler import Scheduler
from kueuepy.tables.columns import Framed, table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kueuepy.engine.tables import QuotaTable
    from kueuepy.objects import ClusterQueue
    from kueuepy.tables import Columns

Cell = tuple[str, str]
_OUTSIDE = (
    "one flavor and resource at a time: a workload that asks for several needs all of them",
    "workloads that do not fit what is ensured, as by their size on a node",
    "the time until preempted workloads have terminated",
)


@checked_methods
class QuotaLimits(msgspec.Struct, Framed, frozen=True):
    """The guaranteed quota for one flavor and resource, and the limits that would guarantee required amounts.

    `limits` creates it. Amounts are written as Kubernetes quantities.

    Attributes:
        flavor_resource: The flavor and resource, as `flavor/resource`.
        promised: The required amount of each ClusterQueue.
        ensured: The amount that each ClusterQueue gets in the worst case under the current limits. In the worst case,
            all other queues first use as much as they can at the highest priority; then the queue requests quota at the
            lowest priority.
        lending: The largest `lendingLimit` that guarantees the required amounts, for each ClusterQueue whose limit must
            change; `None` if no lending limits guarantee the required amounts.
        borrowing: The largest `borrowingLimit` for all ClusterQueues of the cohort trees that guarantees the required
            amounts; a queue with a smaller limit keeps its own limit. `None` if no borrowing limit guarantees the
            required amounts; `"unlimited"` if no borrowing limit is needed.
        cluster: The cluster.
        not_modelled: Effects that the result does not consider.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> from kueuepy.lab import limits
        >>> teams = [ClusterQueue.of(name, {"f": {"cpu": 12}}, cohort_name="all") for name in ("a", "b")]
        >>> found = limits(Cluster(ResourceFlavor("f"), *teams), {"a": 9}, "f/cpu")
        >>> found.kept, found.lending
        (False, {'a': '3'})
        >>> limits(found.with_lending(), {"a": 9}, "f/cpu").kept
        True
    """

    flavor_resource: str
    promised: dict[str, str]
    ensured: dict[str, str]
    lending: dict[str, str] | None
    borrowing: str | None
    cluster: Any
    not_modelled: tuple[str, ...] = _OUTSIDE

    @property
    def kept(self) -> bool:
        """Whether the current limits guarantee all required amounts."""
        return self.lending == {}

    def with_lending(self) -> Cluster | None:
        """Return the cluster with the lending limits applied; `None` if no lending limits suffice."""
        if self.lending is None:
            return None
        found: Cluster = self.cluster
        for name, limit in self.lending.items():
            found = found.edit(f"ClusterQueue/{name}:quota[{self.flavor_resource}].lendingLimit", limit)
        return found

    def __str__(self) -> str:
        """Return the answer as several lines of text."""
        lines = [
            f"{name}: promised {amount} of {self.flavor_resource}, ensured {self.ensured[name]}"
            for name, amount in self.promised.items()
        ]
        lines.append(self._lending_text())
        if not self.kept:
            lines.append(f"borrowingLimit: {self._borrowing_text()}")
        return "\n".join([*lines, *(f"not modelled: {text}" for text in self.not_modelled)])

    def _lending_text(self) -> str:
        if self.lending is None:
            return "no lending limits keep the promises"
        if not self.lending:
            return "all promises are kept as it is"
        return f"lendingLimit: {', '.join(f'{name} {limit}' for name, limit in self.lending.items())}"

    def _borrowing_text(self) -> str:
        if self.borrowing is None:
            return "keeps no promise"
        return f"{self.borrowing} for all ClusterQueues of the trees does it, too"

    def to_table(self) -> Columns:
        """Return one row per ClusterQueue: `ensured`, `promised` and `lending`, as Kubernetes quantities."""
        lending = self.lending or {}
        rows = [(name, own, self.promised.get(name), lending.get(name)) for name, own in self.ensured.items()]
        return table_of(("cluster_queue", "ensured", "promised", "lending"), rows)

    def sheets(self) -> tuple[Sheet, ...]:
        """Return a table of the guaranteed amounts, the required amounts, and the limits."""
        lending = self.lending or {}
        rows = [
            (name, amount, self.promised.get(name, ""), lending.get(name, "")) for name, amount in self.ensured.items()
        ]
        return (Sheet(("ClusterQueue", f"ensured of {self.flavor_resource}", "promised", "lendingLimit"), rows),)


@checked
def limits(cluster: Cluster, promises: Mapping[str, str | int | float], flavor_resource: str) -> QuotaLimits:
    """Compute lending and borrowing limits that guarantee each ClusterQueue an amount, whatever the other queues do.

    The guaranteed amount is determined by simulation: all other ClusterQueues take as much as they can, the nearest in
    the cohort tree first, and then the queue requests quota. Quota that the queue reclaims by preemption is part of the
    guaranteed amount. Filling the nearest queues first is the worst case, because it exhausts each of the nested limits
    as far as possible.

    Args:
        cluster: The cluster; its workloads are ignored.
        promises: The amount that each ClusterQueue must always get, as a number or a Kubernetes quantity.
        flavor_resource: The flavor and resource, such as `h100/nvidia.com/gpu`.

    Returns:
        The guaranteed amounts, and the limits.

    Raises:
        NotFoundError: A ClusterQueue does not exist, or the ClusterQueue has no quota for the flavor and resource.
        InvalidSpecError: There are no amounts, or an amount is not a quantity of 0 or more.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> teams = [ClusterQueue.of(name, {"f": {"cpu": 12}}, cohort_name="all") for name in ("a", "b")]
        >>> found = limits(Cluster(ResourceFlavor("f"), *teams), {"a": 9}, "f/cpu")
        >>> found.ensured["a"], found.lending, found.borrowing
        ('0', {'a': '3'}, '3')
    """
    flavor, _, resource = flavor_resource.partition("/")
    alone = _only(cluster, (flavor, resource))
    asked = {name: _amount(name, resource, value) for name, value in promises.items()}
    if not asked:
        raise InvalidSpecError("limits: no promise; give one at least")
    for name, amount in asked.items():
        if name not in {queue.name for queue in alone.cluster_queues}:
            raise NotFoundError(f'limits: ClusterQueue "{name}": does not exist, or has no {flavor_resource}')
        if amount < 0:
            raise InvalidSpecError(f'limits: "{name}": {promises[name]!r}; it must be 0 or more')
    text = partial(Quantity.format, resource)
    asker = _Asker((flavor, resource), asked)
    ensured = {queue.name: _ensured(alone, queue.name, asker.flavor_resource) for queue in alone.cluster_queues}
    lending = asker.lending(alone)
    borrowing = asker.borrowing(alone)
    return QuotaLimits(
        flavor_resource,
        {name: text(amount) for name, amount in asked.items()},
        {name: text(amount) for name, amount in ensured.items()},
        None if lending is None else {name: text(amount) for name, amount in lending.items()},
        borrowing if borrowing is None or isinstance(borrowing, str) else text(borrowing),
        cluster,
    )


def _amount(name: str, resource: str, value: Any) -> int:
    try:
        return Quantity(str(value)).quota(resource)
    except ValueError as error:
        raise InvalidSpecError(f'limits: "{name}": {value!r}; it must be an amount: {error}') from None


def _only(cluster: Cluster, flavor_resource: Cell) -> Cluster:
    """Return the cluster with a single flavor and resource, because other quotas do not affect the result."""
    nodes: list[ClusterQueue | Cohort] = []
    given: list[ClusterQueue | Cohort] = [*cluster.cohorts, *cluster.cluster_queues]
    for node in given:
        groups = tuple(
            ResourceGroup((quota.name,), (FlavorQuotas(flavor.name, (quota,)),))
            for group in node.resource_groups
            for flavor in group.flavors
            for quota in flavor.resources
            if (flavor.name, quota.name) == flavor_resource
        )
        if isinstance(node, Cohort):
            nodes.append(msgspec.structs.replace(node, resource_groups=groups))
        elif groups:
            plain = {"admission_checks_strategy": (), "namespace_selector": LabelSelector()}
            nodes.append(msgspec.structs.replace(node, resource_groups=groups, **plain))
    return Cluster(ResourceFlavor(flavor_resource[0]), *nodes, configuration=cluster.configuration)


def _ensured(alone: Cluster, name: str, flavor_resource: Cell) -> int:
    """Return the amount that a ClusterQueue gets after all other ClusterQueues have taken as much as they can."""
    scheduler = Scheduler(alone, now=0)
    for number, other in enumerate(_nearest_first(scheduler, name)):
        if amount := available(scheduler, other, flavor_resource):
            scheduler.submit(asking(alone, other, f"other-{number}", {flavor_resource: amount}, HIGH))
            scheduler.settle(max_cycles=MOST_CYCLES)
    unit = unit_of(scheduler, flavor_resource)
    table = scheduler.quota
    most = int(table.array("potential")[row_of(scheduler, name), table.flavor_resources.index(flavor_resource)])

    def gets(parts: int) -> bool:
        trial = scheduler.fork()
        (key,) = trial.submit(asking(alone, name, "last", {flavor_resource: parts * unit}, LOW))
        trial.settle(max_cycles=MOST_CYCLES)
        return has_quota(trial, key)

    return unit * _largest(gets, most // unit)


def _largest(holds: Callable[[int], bool], most: int) -> int:
    """Return the largest number up to `most` for which a monotone predicate holds; 0 if it holds for none."""
    return bisect_left(range(1, most + 1), 1, key=lambda number: int(not holds(number)))


def _nearest_first(scheduler: Scheduler, name: str) -> list[str]:
    """Return the other ClusterQueues of the cohort tree, ordered by distance to the lowest common ancestor."""
    nodes = scheduler.quota.nodes
    root = roots(nodes)
    mine = path_of(nodes, row_of(scheduler, name))
    others = [
        (next((place for place, row in enumerate(mine) if row in path_of(nodes, at)), len(mine)), node.name)
        for at, node in enumerate(nodes)
        if node.kind == "ClusterQueue" and node.name != name and node.exists and root[node.name] == root[name]
    ]
    return [other for _, other in sorted(others)]


class _Asker:
    """Required amounts for one flavor and resource, and the limits that guarantee them."""

    def __init__(self, flavor_resource: Cell, asked: Mapping[str, int]) -> None:
        self.flavor_resource, self._asked = flavor_resource, asked

    def _keeps(self, alone: Cluster) -> bool:
        return all(_ensured(alone, name, self.flavor_resource) >= amount for name, amount in self._asked.items())

    def _with(self, alone: Cluster, name: str, field: str, amount: int) -> Cluster:
        path = f"ClusterQueue/{name}:quota[{'/'.join(self.flavor_resource)}].{field}"
        return alone.edit(path, Quantity.format(self.flavor_resource[1], amount))

    def lending(self, alone: Cluster) -> dict[str, int] | None:
        """Return the largest lending limits; each round lowers the limits of queues whose amount is not guaranteed."""
        found: dict[str, int] = {}
        for _ in range(len(self._asked) + 1):
            broken = {n: x for n, x in self._asked.items() if _ensured(alone, n, self.flavor_resource) < x}
            if not broken:
                return found
            for name, amount in broken.items():
                limit = self._lendable(alone, name, amount)
                if limit is None:
                    return None
                found[name] = limit
                alone = self._with(alone, name, "lendingLimit", limit)
        return None

    def _lendable(self, cluster: Cluster, name: str, ensured: int) -> int | None:
        """Return the largest lending limit with which a queue gets the required amount.

        Return `None` if no limit is sufficient or the queue has no cohort.
        """
        scheduler = Scheduler(cluster, now=0)
        table, row = scheduler.quota, row_of(scheduler, name)
        if table.nodes[row].parent < 0:
            return None
        nominal = int(table.array("nominal_quota")[row, table.flavor_resources.index(self.flavor_resource)])
        step = gcd(unit_of(scheduler, self.flavor_resource), ensured)

        def keeps(parts: int) -> bool:
            trial = self._with(cluster, name, "lendingLimit", parts * step)
            return _ensured(trial, name, self.flavor_resource) >= ensured

        return step * _largest(keeps, nominal // step) if keeps(0) else None

    def borrowing(self, alone: Cluster) -> int | str | None:
        """Return the largest borrowing limit for all queues of the trees with which the amounts are guaranteed."""
        if self._keeps(alone):
            return "unlimited"
        scheduler = Scheduler(alone, now=0)
        step = gcd(unit_of(scheduler, self.flavor_resource), *self._asked.values())
        table = scheduler.quota
        most = int(table.array("potential")[:, table.flavor_resources.index(self.flavor_resource)].max())
        present = self._borrowing_limits(scheduler, table)

        def keeps(parts: int) -> bool:
            trial = alone
            for name, limit in present.items():
                trial = self._with(trial, name, "borrowingLimit", min(parts * step, limit))
            return self._keeps(trial)

        return step * _largest(keeps, most // step) if keeps(0) else None

    def _borrowing_limits(self, scheduler: Scheduler, table: QuotaTable) -> dict[str, int]:
        """Return the current limits of all queues in the cohort trees of the queues with required amounts."""
        limits = table.array("borrowing_limit")[:, table.flavor_resources.index(self.flavor_resource)]
        names = {other for name in self._asked for other in (name, *_nearest_first(scheduler, name))}
        rows = {name: row_of(scheduler, name) for name in names}
        return {name: int(limits[row]) for name, row in rows.items() if table.nodes[row].parent >= 0}
