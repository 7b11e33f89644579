"""Cohort: a group of ClusterQueues and Cohorts that borrow quota from and lend quota to each other."""

from collections.abc import Sequence
from typing import Any

from kueuepy.errors.arguments import checked_methods
from kueuepy.objects.base import Object
from kueuepy.objects.queue import FairSharing, other_fields
from kueuepy.objects.quota import QuotaTable, ResourceGroup


@checked_methods
class Cohort(Object, frozen=True, kw_only=True):
    """A cohort, which is a node in the quota tree.

    A cohort without a Cohort object, which exists only because its members name it, has no quotas of its own and no
    parent.

    Source: `apis/kueue/v1beta2/cohort_types.go`, `pkg/webhooks/cohort_webhook.go:validateCohort`.

    >>> Cohort("research", parent_name="org").resource_groups
    ()

    Attributes:
        parent_name: Name of the parent cohort (`spec.parentName`); `None`, the default, for a root.
        resource_groups: Quotas that the cohort provides in addition to the quotas of its members
            (`spec.resourceGroups`). Default: none. In a Cohort, unlike in a ClusterQueue, a lending limit may exceed
            the nominal quota.
        fair_sharing: Weight relative to the other children of the parent (`spec.fairSharing`); `None`, the default, for
            weight 1.
        effective_quotas: Quotas that another controller computed, as written in the manifest (`status.effectiveQuotas`,
            alpha, not modelled); `None` by default.
    """

    parent_name: str | None = None
    resource_groups: Sequence[ResourceGroup] = ()
    fair_sharing: FairSharing | None = None
    effective_quotas: dict[str, Any] | None = None

    @classmethod
    def of(cls, name: str, *quotas: QuotaTable, **fields: Any) -> "Cohort":
        """Create a Cohort with one resource group per table of quotas.

        >>> Cohort.of("all", {"h100": {"nvidia.com/gpu": 8}}, parent_name="org").resource_groups[0].flavors[0].name
        'h100'

        Args:
            name: Name of the Cohort.
            quotas: Tables of quotas by flavor and resource, as for `ResourceGroup.of`. Each table of quotas becomes one
                resource group.
            fields: Other fields of the Cohort, such as `parent_name`.

        Returns:
            The Cohort.

        Raises:
            InvalidSpecError: A table is malformed, the flavors of a table have quotas for different resources, or a
                field is unknown.
        """
        return cls(name, resource_groups=tuple(map(ResourceGroup.of, quotas)), **other_fields(cls, fields))
