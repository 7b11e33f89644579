"""Random pod requests: the resources that a queue covers, in amounts that match its quotas."""

from __future__ import annotations

from functools import reduce
from math import gcd
from typing import TYPE_CHECKING

import msgspec
from hypothesis import strategies as st

from kueuepy._core import Quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

    from kueuepy.cluster import Cluster
    from kueuepy.objects import ClusterQueue, Cohort, LocalQueue, ResourceQuota

_STEPS = 6
"""The minimum number of units in the largest quota of a resource, if the quota can be divided into this number."""
_MOST_STEPS = 24
_MOST = 8
"""The maximum number of units that a pod requests."""
_PODS = "pods"
"""The resource that counts pods, which pods do not request."""

Requests = dict[str, "int | str"]


class Amount(msgspec.Struct, frozen=True):
    """The unit in which a test counts the quotas of a resource.

    Attributes:
        resource: The name of the resource.
        unit: The size of a unit, in millicores for cpu and in base units for all other resources.
        is_there: Whether any quota of the resource is greater than 0.
    """

    resource: str
    unit: int
    is_there: bool = True

    def of(self, steps: int) -> int | str:
        """Return the quantity of a number of units, as in a manifest."""
        amount = steps * self.unit
        if self.resource != "cpu":
            return amount
        return amount // 1000 if amount % 1000 == 0 else f"{amount}m"

    def steps(self, quantity: str | int | None) -> int:
        """Return the number of units in a quantity, rounded up."""
        return 0 if quantity is None else -(-Quantity(str(quantity)).quota(self.resource) // self.unit)


def amounts_of(objects: Iterable[ClusterQueue | Cohort]) -> dict[str, Amount]:
    """Return the unit of each resource for which the objects have quotas.

    Unless this would result in more than 24 units per quota, the unit divides all quotas and limits, so that requests
    can match quotas exactly.
    """
    found: dict[str, set[int]] = {}
    for quota in _quotas(objects):
        given = (quota.nominal_quota, quota.borrowing_limit, quota.lending_limit)
        amounts = {Quantity(str(one)).quota(quota.name) for one in given if one is not None}
        found.setdefault(quota.name, set()).update(amount for amount in amounts if amount > 0)
    return {name: Amount(name, _unit(name, amounts), bool(amounts)) for name, amounts in found.items()}


def _quotas(objects: Iterable[ClusterQueue | Cohort]) -> Iterable[ResourceQuota]:
    rows = (row for obj in objects for group in obj.resource_groups for row in group.flavors)
    return (quota for row in rows for quota in row.resources)


def _unit(resource: str, amounts: set[int]) -> int:
    whole = 1000 if resource == "cpu" else 1
    if not amounts:
        return whole
    common, most = reduce(gcd, amounts), max(amounts)
    if most // common > _MOST_STEPS:
        return max(1, most // (2 * _STEPS))
    wanted = -(-_STEPS * common // most)
    parts = next((n for n in range(wanted, 2 * wanted + 1) if common % n == 0), min(wanted, common))
    return max(1, common // parts)


def requests_of(cluster: Cluster, queue: LocalQueue) -> SearchStrategy[Requests]:
    """Return a strategy for the requests of a pod in a LocalQueue: a subset of the resources of its ClusterQueue."""
    amounts = amounts_of([*cluster.cluster_queues, *cluster.cohorts])
    leads = [one for one in cluster.cluster_queues if one.name == queue.cluster_queue]
    covered = [name for one in leads for group in one.resource_groups for name in group.covered_resources]
    return requests_in([amounts.get(name, Amount(name, 1)) for name in covered if name != _PODS])


def requests_in(amounts: Sequence[Amount]) -> SearchStrategy[Requests]:
    """Return a strategy for requests of the given resources.

    The first resource with a quota greater than 0 is always requested; the other resources are optional.
    """
    ordered = sorted(amounts, key=lambda one: not one.is_there)
    drawn = {one.resource: st.integers(0, _MOST).map(one.of) for one in ordered}
    first = dict(list(drawn.items())[:1])
    return st.fixed_dictionaries(first, optional={name: one for name, one in drawn.items() if name not in first})


def other_quota(draw: DrawFn, quota: ResourceQuota, amount: Amount) -> ResourceQuota:
    """Return a quota with a different nominal quota that is not below the lending limit."""
    least = amount.steps(quota.lending_limit)
    nominal = amount.of(draw(st.integers(least, least + 2 * _STEPS)))
    return msgspec.structs.replace(quota, nominal_quota=nominal)
