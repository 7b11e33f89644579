"""Compute the quota that each ClusterQueue gets in the worst case, and the limits that guarantee required amounts."""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import partial
from math import gcd
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy._core import Quantity
from kueuepy.cluster import Cluster
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.lab.exploration.answer import Fact, Guarantee, facts_of
from kueuepy.lab.exploration.trial import HIGH, LOW, Trials, gets_quota
from kueuepy.objects import Cohort, FlavorQuotas, LabelSelector, ResourceFlavor, ResourceGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kueuepy.lab.exploration.trial import Cell
    from kueuepy.objects import ClusterQueue

_OUTSIDE = (
    "one flavor and resource at a time: a workload that asks for several needs all of them",
    "workloads that do not fit into the guaranteed amount, as by their size on a node",
    "the time until preempted workloads have terminated",
)


def limits(cluster: Cluster, amounts: Mapping[str, str | int | float], flavor_resource: str) -> Guarantee:
    """Compute lending and borrowing limits that guarantee each ClusterQueue an amount; see `guarantee`."""
    flavor, _, resource = flavor_resource.partition("/")
    cell, alone = (flavor, resource), _only(cluster, (flavor, resource))
    required = {name: _amount(name, resource, value) for name, value in amounts.items()}
    if not required:
        raise InvalidSpecError("guarantee: amounts is empty; there must be at least one")
    queues = [queue.name for queue in alone.cluster_queues]
    if missing := [name for name in required if name not in queues]:
        raise NotFoundError(f'guarantee: ClusterQueue "{missing[0]}": does not exist, or has no {flavor_resource}')
    text = partial(Quantity.format, resource)
    ensured = {name: _worst_case(alone, name, cell) for name in queues}
    lending, borrowing = _lending(alone, required, cell), _borrowing(alone, required, cell)
    because = [
        f"{name} needs {text(least)} and is guaranteed {text(ensured[name])}" for name, least in required.items()
    ]
    if lending is None:
        because.append("no lending limits guarantee the required amounts")
    elif lending:
        because.append(f"lendingLimit: {', '.join(f'{name} {text(limit)}' for name, limit in lending.items())}")
    if borrowing is not None and math.isfinite(borrowing):
        because.append(f"borrowingLimit: {text(int(borrowing))} for all ClusterQueues of the trees suffices, too")
    groups = {"guaranteed": ensured, "required": required, "lendingLimit": lending or {}}
    facts = [Fact(name, fact, amount, text(amount)) for fact, group in groups.items() for name, amount in group.items()]
    if borrowing is not None:
        shown = text(int(borrowing)) if math.isfinite(borrowing) else "unlimited"
        facts.append(Fact("all", "borrowingLimit", borrowing, shown))
    edits = {_path(name, cell, "lendingLimit"): text(limit) for name, limit in (lending or {}).items()}
    return Guarantee("limits", lending == {}, tuple(because), facts_of(facts), _OUTSIDE, edits=edits)


def _amount(name: str, resource: str, value: Any) -> int:
    try:
        found = Quantity(str(value)).quota(resource)
    except ValueError as error:
        raise InvalidSpecError(f'guarantee: amounts: "{name}": {value!r}; it must be an amount: {error}') from None
    if found < 0:
        raise InvalidSpecError(f'guarantee: amounts: "{name}": {value!r}; it must be 0 or more')
    return found


def _only(cluster: Cluster, cell: Cell) -> Cluster:
    """Return the cluster with a single flavor and resource, because other quotas do not affect the result."""
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
        if isinstance(node, Cohort):
            nodes.append(msgspec.structs.replace(node, resource_groups=groups))
        elif groups:
            plain = {"admission_checks_strategy": (), "namespace_selector": LabelSelector()}
            nodes.append(msgspec.structs.replace(node, resource_groups=groups, **plain))
    return Cluster(ResourceFlavor(cell[0]), *nodes, configuration=cluster.configuration)


def _worst_case(alone: Cluster, name: str, cell: Cell) -> int:
    """Return the amount that a ClusterQueue gets after all other ClusterQueues have taken as much as they can."""
    trials = Trials(alone)
    scheduler = trials.empty.fork()
    # The nearest queues first: this order exhausts each of the nested limits as far as possible.
    for number, other in enumerate(trials.others(name)):
        if amount := trials.available(scheduler, other.name, cell):
            gets_quota(scheduler, trials.workload(other.name, f"other-{number}", {cell: amount}, HIGH))
    unit = trials.unit(cell)

    def fits(parts: int) -> bool:
        return gets_quota(scheduler.fork(), trials.workload(name, "last", {cell: parts * unit}, LOW))

    return unit * _largest(fits, trials.amount("potential", name, cell) // unit)


def _largest(is_met: Callable[[int], bool], most: int) -> int:
    """Return the largest number up to `most` for which a monotone predicate is true; 0 if there is none."""
    return bisect_left(range(1, most + 1), 1, key=lambda number: int(not is_met(number)))


def _path(name: str, cell: Cell, field: str) -> str:
    return f"ClusterQueue/{name}:quota[{'/'.join(cell)}].{field}"


def _with(alone: Cluster, limits: Mapping[str, int], cell: Cell, field: str) -> Cluster:
    """Return the cluster with one of the limits changed, by ClusterQueue."""
    return alone.edit_all({_path(n, cell, field): Quantity.format(cell[1], limit) for n, limit in limits.items()})


def _lending(alone: Cluster, required: Mapping[str, int], cell: Cell) -> dict[str, int] | None:
    """Return the largest lending limits; each round lowers the limits of queues whose amount is not guaranteed."""
    found: dict[str, int] = {}
    # A new limit changes what other queues get, so each round checks all amounts again.
    for _ in range(len(required) + 1):
        changed = _with(alone, found, cell, "lendingLimit")
        broken = {name: least for name, least in required.items() if _worst_case(changed, name, cell) < least}
        if not broken:
            return found
        for name, least in broken.items():
            limit = _lendable(_with(alone, found, cell, "lendingLimit"), name, least, cell)
            if limit is None:
                return None
            found[name] = limit
    return None


def _lendable(cluster: Cluster, name: str, least: int, cell: Cell) -> int | None:
    """Return the largest lending limit that guarantees a queue an amount; `None` if there is no such limit."""
    trials = Trials(cluster)
    step = gcd(trials.unit(cell), least)

    def is_met(parts: int) -> bool:
        return _worst_case(_with(cluster, {name: parts * step}, cell, "lendingLimit"), name, cell) >= least

    if not trials.has_cohort(name) or not is_met(0):
        return None
    return step * _largest(is_met, trials.amount("nominal_quota", name, cell) // step)


def _borrowing(alone: Cluster, required: Mapping[str, int], cell: Cell) -> float | None:
    """Return the largest borrowing limit for all queues of the trees that guarantees the amounts.

    Return infinity if no limit is needed, and `None` if no limit is sufficient.
    """

    def are_met(cluster: Cluster) -> bool:
        return all(_worst_case(cluster, name, cell) >= least for name, least in required.items())

    if are_met(alone):
        return math.inf
    trials = Trials(alone)
    step = gcd(trials.unit(cell), *required.values())
    names = {other.name for name in required for other in trials.others(name)} | set(required)
    present = {name: trials.amount("borrowing_limit", name, cell) for name in names if trials.has_cohort(name)}
    most = max(trials.amount("potential", queue.name, cell) for queue in alone.cluster_queues)

    def is_met(parts: int) -> bool:
        # A queue with a smaller limit keeps its own limit.
        return are_met(
            _with(alone, {n: min(parts * step, limit) for n, limit in present.items()}, cell, "borrowingLimit")
        )

    return step * _largest(is_met, most // step) if is_met(0) else None
