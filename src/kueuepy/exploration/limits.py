"""What limits ensure each team in the worst case, and which limits ensure what is promised."""

from __future__ import annotations

from bisect import bisect_left
from functools import partial
from math import gcd
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy._core import Quantity
from kueuepy.engine.nodes import roots
from kueuepy.engine.tables import quota_table
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.arguments import checked, checked_methods
from kueuepy.exploration.trial import HIGH, LOW, MOST_CYCLES, asking, available, has_quota, row_of, unit_of
from kueuepy.notebook import Sheet, repr_html
from kueuepy.objects import FlavorQuotas, LabelSelector, ResourceFlavor, ResourceGroup
from kueuepy.scheduler import Scheduler
from kueuepy.tables.framed import Framed, table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kueuepy.cluster import Cluster
    from kueuepy.engine.tables import QuotaTable
    from kueuepy.objects import ClusterQueue, Cohort
    from kueuepy.tables import Columns

Cell = tuple[str, str]
_OUTSIDE = (
    "one flavor and resource at a time: a workload that asks for several needs all of them",
    "workloads that do not fit what is ensured, as by their size on a node",
    "the time until those who are preempted have left",
)


@checked_methods
class QuotaLimits(msgspec.Struct, Framed, frozen=True):
    """What is ensured of one flavor and resource, and limits that keep promises; a value.

    Amounts are written as in Kubernetes.

    Attributes:
        cell: `flavor/resource`.
        promised: What was asked for, by ClusterQueue.
        ensured: What each ClusterQueue gets in the worst case as it is: all others use all that they can, at the
            highest priority, and it comes last with the lowest.
        lending: By ClusterQueue the largest `lendingLimit` with which all promises are kept, of those that must have
            another one than now; `None` if no lending limits keep them.
        borrowing: The largest `borrowingLimit` that, given to all ClusterQueues of their trees, keeps all promises;
            one that has a smaller one keeps that. `None` if none does; `"unlimited"`: it needs none.
        cluster: The configuration.
        not_modelled: What the answer does not speak of.
    """

    cell: str
    promised: dict[str, str]
    ensured: dict[str, str]
    lending: dict[str, str] | None
    borrowing: str | None
    cluster: Any
    not_modelled: tuple[str, ...] = _OUTSIDE

    @property
    def kept(self) -> bool:
        """Whether all promises are kept as it is."""
        return self.lending == {}

    def with_lending(self) -> Cluster | None:
        """The cluster with the lending limits; `None` without any that do."""
        if self.lending is None:
            return None
        found: Cluster = self.cluster
        for name, limit in self.lending.items():
            found = found.edit(f"ClusterQueue/{name}:quota[{self.cell}].lendingLimit", limit)
        return found

    def __str__(self) -> str:
        """The answer in lines."""
        lines = [
            f"{name}: promised {amount} of {self.cell}, ensured {self.ensured[name]}"
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
        """Return a row for each ClusterQueue: `ensured`, `promised` and `lending`; amounts are Kubernetes' texts."""
        lending = self.lending or {}
        rows = [(name, own, self.promised.get(name), lending.get(name)) for name, own in self.ensured.items()]
        return table_of(("cluster_queue", "ensured", "promised", "lending"), rows)

    def sheets(self) -> tuple[Sheet, ...]:
        """What is ensured and promised, and the limits."""
        lending = self.lending or {}
        rows = [
            (name, amount, self.promised.get(name, ""), lending.get(name, "")) for name, amount in self.ensured.items()
        ]
        return (Sheet(("ClusterQueue", f"ensured of {self.cell}", "promised", "lendingLimit"), rows),)

    _repr_html_ = repr_html


@checked
def limits(cluster: Cluster, promises: Mapping[str, str | int | float], cell: str) -> QuotaLimits:
    """Which lending or borrowing limits ensure each team what it was promised, whatever the others do.

    What is ensured is not computed but tried: all other ClusterQueues take all that they can get, nearest ones first,
    and then the queue asks. What it may take back by its own preemption counts as ensured. Filling the nearest first is
    the worst that others can do: of limits that lie within each other it leaves each as full as it can be.

    >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
    >>> teams = [ClusterQueue.of(name, {"f": {"cpu": 12}}, cohort_name="all") for name in ("a", "b")]
    >>> found = limits(Cluster(ResourceFlavor("f"), *teams), {"a": 9}, "f/cpu")
    >>> found.ensured["a"], found.lending, found.borrowing
    ('0', {'a': '3'}, '3')

    Args:
        cluster: The configuration; workloads in it are left out.
        promises: By ClusterQueue the amount that it must always get.
        cell: Flavor and resource, as `h100/nvidia.com/gpu`.

    Raises:
        NotFoundError: There is no such ClusterQueue, or it has no such flavor and resource.
        InvalidSpecError: A promise is no amount.
    """
    flavor, _, resource = cell.partition("/")
    alone = _only(cluster, (flavor, resource))
    asked = {name: _amount(name, resource, value) for name, value in promises.items()}
    if not asked:
        raise InvalidSpecError("limits: no promise; give one at least")
    for name, amount in asked.items():
        if name not in {queue.name for queue in alone.cluster_queues}:
            raise NotFoundError(f'limits: ClusterQueue "{name}": is not there, or has no {cell}')
        if amount < 0:
            raise InvalidSpecError(f'limits: "{name}": {promises[name]!r}; it must be 0 or more')
    text = partial(Quantity.format, resource)
    asker = _Asker((flavor, resource), asked)
    ensured = {queue.name: _ensured(alone, queue.name, asker.cell) for queue in alone.cluster_queues}
    lending = asker.lending(alone)
    borrowing = asker.borrowing(alone)
    return QuotaLimits(
        cell,
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


def _only(cluster: Cluster, cell: Cell) -> Cluster:
    """The cluster with this flavor and resource alone; quotas of others have no part in it."""
    from kueuepy.cluster import Cluster  # noqa: PLC0415 - for its type alone above

    nodes: list[ClusterQueue | Cohort] = []
    given: list[ClusterQueue | Cohort] = [*cluster.cohorts, *cluster.cluster_queues]
    for node in given:
        groups = tuple(
            ResourceGroup((quota.name,), (FlavorQuotas(flavor.name, (quota,)),))
            for group in node.resource_groups
            for flavor in group.flavors
            for quota in flavor.resources
            if (flavor.name, quota.name) == cell
        )
        if groups or node in cluster.cohorts:
            nodes.append(msgspec.structs.replace(node, resource_groups=groups, **_PLAIN.get(type(node).__name__, {})))
    return Cluster(ResourceFlavor(cell[0]), *nodes, configuration=cluster.configuration)


_PLAIN: dict[str, dict[str, Any]] = {
    "ClusterQueue": {"admission_checks_strategy": (), "namespace_selector": LabelSelector()}
}


def _ensured(alone: Cluster, name: str, cell: Cell) -> int:
    """What a ClusterQueue gets where all others have taken all that they can."""
    scheduler = Scheduler(alone, now=0)
    for number, other in enumerate(_nearest_first(scheduler, name)):
        if amount := available(scheduler, other, cell):
            scheduler.submit(asking(alone, other, f"other-{number}", {cell: amount}, HIGH))
            scheduler.settle(max_cycles=MOST_CYCLES)
    unit = unit_of(scheduler, cell)
    table = quota_table(scheduler.engine)
    most = int(table.array("potential")[row_of(scheduler, name), table.flavor_resources.index(cell)])

    def gets(parts: int) -> bool:
        trial = scheduler.fork()
        (key,) = trial.submit(asking(alone, name, "last", {cell: parts * unit}, LOW))
        trial.settle(max_cycles=MOST_CYCLES)
        return has_quota(trial, key)

    return unit * _largest(gets, most // unit)


def _largest(holds: Callable[[int], bool], most: int) -> int:
    """The largest number up to `most` of which it holds, where it holds of all below as well; 0 holds always."""
    return bisect_left(range(1, most + 1), 1, key=lambda number: int(not holds(number)))


def _nearest_first(scheduler: Scheduler, name: str) -> list[str]:
    """The other ClusterQueues of its tree: those below its Cohort, then those below the one above that, and so on."""
    nodes = quota_table(scheduler.engine).nodes
    root = roots(nodes)

    def above(row: int) -> list[int]:
        found = [row]
        while (up := nodes[found[-1]].parent) >= 0 and up not in found:
            found.append(up)
        return found

    mine = above(row_of(scheduler, name))
    others = [
        (next((place for place, row in enumerate(mine) if row in above(at)), len(mine)), node.name)
        for at, node in enumerate(nodes)
        if node.kind == "ClusterQueue" and node.name != name and node.exists and root[node.name] == root[name]
    ]
    return [other for _, other in sorted(others)]


class _Asker:
    """Promises of a cell, and the limits that keep them."""

    def __init__(self, cell: Cell, asked: Mapping[str, int]) -> None:
        self.cell, self._asked = cell, asked

    def _path(self, name: str, field: str) -> str:
        return f"ClusterQueue/{name}:quota[{'/'.join(self.cell)}].{field}"

    def _keeps(self, alone: Cluster) -> bool:
        return all(_ensured(alone, name, self.cell) >= amount for name, amount in self._asked.items())

    def _with(self, alone: Cluster, name: str, field: str, amount: int) -> Cluster:
        return alone.edit(self._path(name, field), Quantity.format(self.cell[1], amount))

    def lending(self, alone: Cluster) -> dict[str, int] | None:
        """The largest lending limits: a promise that is broken lowers that of its queue, until all are kept."""
        found: dict[str, int] = {}
        for _ in range(len(self._asked) + 1):
            broken = {n: x for n, x in self._asked.items() if _ensured(alone, n, self.cell) < x}
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
        """The largest lending limit of a queue that ensures an amount; `None`: none does, or it is in no tree."""
        scheduler = Scheduler(cluster, now=0)
        table, row = quota_table(scheduler.engine), row_of(scheduler, name)
        if table.nodes[row].parent < 0:
            return None
        nominal = int(table.array("nominal_quota")[row, table.flavor_resources.index(self.cell)])
        step = gcd(unit_of(scheduler, self.cell), ensured)

        def keeps(parts: int) -> bool:
            trial = self._with(cluster, name, "lendingLimit", parts * step)
            return _ensured(trial, name, self.cell) >= ensured

        return step * _largest(keeps, nominal // step) if keeps(0) else None

    def borrowing(self, alone: Cluster) -> int | str | None:
        """The largest limit of all queues of the trees with which the promises are kept."""
        if self._keeps(alone):
            return "unlimited"
        scheduler = Scheduler(alone, now=0)
        step = gcd(unit_of(scheduler, self.cell), *self._asked.values())
        table = quota_table(scheduler.engine)
        most = int(table.array("potential")[:, table.flavor_resources.index(self.cell)].max())
        present = self._borrowing_limits(scheduler, table)

        def keeps(parts: int) -> bool:
            trial = alone
            for name, limit in present.items():
                trial = self._with(trial, name, "borrowingLimit", min(parts * step, limit))
            return self._keeps(trial)

        return step * _largest(keeps, most // step) if keeps(0) else None

    def _borrowing_limits(self, scheduler: Scheduler, table: QuotaTable) -> dict[str, int]:
        """The limits of all queues in the trees of those that are promised something."""
        limits = table.array("borrowing_limit")[:, table.flavor_resources.index(self.cell)]
        names = {other for name in self._asked for other in (name, *_nearest_first(scheduler, name))}
        rows = {name: row_of(scheduler, name) for name in names}
        return {name: int(limits[row]) for name, row in rows.items() if table.nodes[row].parent >= 0}
