"""Quotas of ClusterQueues and Cohorts, by resource and flavor."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked_methods
from kueuepy.objects.base import Collection, QuantityText, Value, quantity


class Quota(Value, frozen=True):
    """Nominal quota and limits of one resource in one flavor, as an entry of the table for `ResourceGroup.of`.

    >>> group = ResourceGroup.of({"default": {"cpu": Quota(9, borrowing_limit=3)}})
    >>> group.flavors[0].resources[0].borrowing_limit
    3

    Attributes:
        nominal: Nominal quota (`nominalQuota`).
        borrowing_limit: Largest amount that the queue may borrow above its nominal quota (`borrowingLimit`); `None`,
            the default, for no limit. A borrowing or lending limit requires a cohort.
        lending_limit: Largest amount of the nominal quota that other queues may borrow (`lendingLimit`); `None`, the
            default, for the whole nominal quota. A borrowing or lending limit requires a cohort.
    """

    nominal: QuantityText
    borrowing_limit: QuantityText | None = None
    lending_limit: QuantityText | None = None


class ResourceQuota(Value, frozen=True):
    """Quota of one resource in one flavor (`spec.resourceGroups[].flavors[].resources[]`).

    >>> ResourceQuota("nvidia.com/gpu", 32, lending_limit=8).nominal_quota
    32

    Attributes:
        name: Name of the resource, for example `cpu`, `memory`, `pods` or `nvidia.com/gpu`.
        nominal_quota: Quota of the ClusterQueue or Cohort itself, 0 or more (`nominalQuota`). The unit of a quota, such
            as cores or bytes, depends on the resource.
        borrowing_limit: Largest amount that may be borrowed above the nominal quota (`borrowingLimit`); `None`, the
            default, for no limit. A borrowing or lending limit requires a cohort or, for a Cohort, a parent.
        lending_limit: Largest amount that other queues may borrow (`lendingLimit`); `None`, the default, for the whole
            nominal quota. A borrowing or lending limit requires a cohort or, for a Cohort, a parent. The lending limit
            of a ClusterQueue must not exceed the nominal quota.
    """

    name: str
    nominal_quota: QuantityText
    borrowing_limit: QuantityText | None = None
    lending_limit: QuantityText | None = None


class FlavorQuotas(Collection, frozen=True):
    """Quotas of one flavor (`spec.resourceGroups[].flavors[]`).

    >>> FlavorQuotas("spot", [ResourceQuota("cpu", 9)]).name
    'spot'

    Attributes:
        name: Name of the ResourceFlavor.
        resources: One quota per covered resource, in the order of the group's `covered_resources`.
    """

    name: str
    resources: Sequence[ResourceQuota]


QuotaTable: TypeAlias = Mapping[str, Mapping[str, QuantityText | Quota]]
"""Quotas by flavor and resource. A plain quantity is short for `Quota(nominal)`."""


@checked_methods
class ResourceGroup(Collection, frozen=True):
    """Resources for which Kueue assigns the same flavor to a pod set (`spec.resourceGroups[]`).

    Source: `apis/kueue/v1beta2/clusterqueue_types.go`, `pkg/webhooks/clusterqueue_webhook.go:validateResourceGroups`.

    >>> ResourceGroup(["cpu"], [FlavorQuotas("spot", [ResourceQuota("cpu", 9)])]).covered_resources
    ('cpu',)

    Attributes:
        covered_resources: Names of the resources in the group, at most 64 (`coveredResources`). Each resource may
            belong to only one resource group of a queue.
        flavors: Quotas by flavor, at most 64, in the order in which Kueue tries the flavors. Each flavor may belong to
            only one resource group of a queue.
    """

    covered_resources: Sequence[str]
    flavors: Sequence[FlavorQuotas]

    @classmethod
    def of(cls, quotas: QuotaTable) -> "ResourceGroup":
        """Create a resource group from a table of quotas.

        >>> group = ResourceGroup.of({"spot": {"cpu": 9, "memory": "36Gi"}, "on-demand": {"memory": "72Gi", "cpu": 18}})
        >>> group.covered_resources
        ('cpu', 'memory')

        Args:
            quotas: Quotas by flavor and resource; a plain quantity is a nominal quota without limits. Kueue tries the
                flavors in the order of the table. The first flavor determines the order of the covered resources.

        Returns:
            The resource group.

        Raises:
            InvalidSpecError: The flavors do not have quotas for the same resources, or a quota is not a quantity.
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
