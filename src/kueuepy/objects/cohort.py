"""Cohort: ClusterQueues and Cohorts that borrow from and lend to each other."""

from collections.abc import Sequence
from typing import Any

from kueuepy.errors.arguments import checked_methods
from kueuepy.objects.base import Object
from kueuepy.objects.queue import FairSharing, other_fields
from kueuepy.objects.quota import QuotaTable, ResourceGroup


@checked_methods
class Cohort(Object, frozen=True, kw_only=True):
    """A node of the tree of quotas; a cohort that is only named exists as one without quotas of its own.

    Source: `apis/kueue/v1beta2/cohort_types.go`, `pkg/webhooks/cohort_webhook.go:validateCohort`.

    Attributes:
        parent_name: The cohort above; `None` for a root.
        resource_groups: Quotas that the cohort adds to those of its members. A lending limit may exceed them.
        fair_sharing: The cohort's weight among its siblings; `None` for 1.
    """

    parent_name: str | None = None
    resource_groups: Sequence[ResourceGroup] = ()
    fair_sharing: FairSharing | None = None

    @classmethod
    def of(cls, name: str, *quotas: QuotaTable, **fields: Any) -> "Cohort":
        """Return the Cohort with one resource group for each table of quotas, and these other fields.

        >>> Cohort.of("all", {"h100": {"nvidia.com/gpu": 8}}, parent_name="org").resource_groups[0].flavors[0].name
        'h100'

        Raises:
            InvalidSpecError: A table is not one, flavors of one table have quotas for other resources, or a field is
                unknown.
        """
        return cls(name, resource_groups=tuple(map(ResourceGroup.of, quotas)), **other_fields(cls, fields))
