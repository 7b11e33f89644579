"""Cohort: ClusterQueues and Cohorts that borrow from and lend to each other."""

from collections.abc import Sequence

from kueuepy.objects.base import Object
from kueuepy.objects.queue import FairSharing
from kueuepy.objects.quota import ResourceGroup


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
