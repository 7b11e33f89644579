"""Quotas: how much of which resource, of which flavor, a ClusterQueue or Cohort has."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked_methods
from kueuepy.objects.base import Collection, QuantityText, Value, quantity


class Quota(Value, frozen=True):
    """The three numbers of one resource of one flavor, for `ResourceGroup.of`.

    Attributes:
        nominal: What the queue has of its own (`nominalQuota`).
        borrowing_limit: The most it may borrow beyond that; `None` for no limit. It needs a cohort.
        lending_limit: The most of its own that others may borrow; `None` for all of it. It needs a cohort.
    """

    nominal: QuantityText
    borrowing_limit: QuantityText | None = None
    lending_limit: QuantityText | None = None


class ResourceQuota(Value, frozen=True):
    """The quota of one resource of one flavor.

    Attributes:
        name: The resource's name: `cpu`, `memory`, `pods`, `nvidia.com/gpu`.
        nominal_quota: What the ClusterQueue or Cohort has of its own, 0 or more.
        borrowing_limit: The most that may be borrowed beyond it; `None` for no limit. It needs a cohort or a parent.
        lending_limit: The most of it that others may borrow; `None` for all of it. It needs a cohort or a parent,
            and in a ClusterQueue it is at most the nominal quota.
    """

    name: str
    nominal_quota: QuantityText
    borrowing_limit: QuantityText | None = None
    lending_limit: QuantityText | None = None


class FlavorQuotas(Collection, frozen=True):
    """The quotas of one flavor.

    Attributes:
        name: The ResourceFlavor's name.
        resources: One quota for each covered resource of the group, in the group's order.
    """

    name: str
    resources: Sequence[ResourceQuota]


QuotaTable: TypeAlias = Mapping[str, Mapping[str, QuantityText | Quota]]
"""Quotas by flavor and resource; a plain quantity stands for `Quota(nominal)`."""


@checked_methods
class ResourceGroup(Collection, frozen=True):
    """Resources that a pod set gets from one and the same flavor.

    Source: `apis/kueue/v1beta2/clusterqueue_types.go`, `pkg/webhooks/clusterqueue_webhook.go:validateResourceGroups`.

    Attributes:
        covered_resources: The resources of the group. A resource is in at most one group of a queue.
        flavors: The flavors in the order in which they are tried. A flavor is in at most one group of a queue.
    """

    covered_resources: Sequence[str]
    flavors: Sequence[FlavorQuotas]

    @classmethod
    def of(cls, quotas: QuotaTable) -> "ResourceGroup":
        """The group with these quotas by flavor and resource; the first flavor says which resources are covered.

        >>> group = ResourceGroup.of({"spot": {"cpu": 9, "memory": "36Gi"}, "on-demand": {"memory": "72Gi", "cpu": 18}})
        >>> group.covered_resources
        ('cpu', 'memory')

        Raises:
            InvalidSpecError: The flavors don't have quotas for the same resources, or a quota is no amount.
        """
        if not isinstance(quotas, Mapping) or not all(isinstance(table, Mapping) for table in quotas.values()):
            raise InvalidSpecError(
                f"ResourceGroup.of: is {quotas!r}; it must be quotas by flavor and resource, such as "
                '{"default": {"cpu": 9, "memory": "36Gi"}}'
            )
        covered = tuple(next(iter(quotas.values()), {}))
        return cls(covered, tuple(_flavor_quotas(flavor, table, covered) for flavor, table in quotas.items()))


def _flavor_quotas(flavor: str, table: Mapping[str, QuantityText | Quota], covered: tuple[str, ...]) -> FlavorQuotas:
    if set(table) != set(covered):
        raise InvalidSpecError(
            f'ResourceGroup.of: flavor "{flavor}" has quotas for {", ".join(table) or "nothing"}; '
            f"every flavor of a group must have quotas for the same resources, here {', '.join(covered)}"
        )
    return FlavorQuotas(flavor, tuple(_resource_quota(flavor, name, table[name]) for name in covered))


def _resource_quota(flavor: str, name: str, quota: QuantityText | Quota) -> ResourceQuota:
    given = quota if isinstance(quota, Quota) else Quota(quota)
    where = f'ResourceGroup.of: flavor "{flavor}": {name}'
    borrowing, lending = (
        None if limit is None else quantity(limit, where) for limit in (given.borrowing_limit, given.lending_limit)
    )
    return ResourceQuota(name, quantity(given.nominal, where), borrowing, lending)
