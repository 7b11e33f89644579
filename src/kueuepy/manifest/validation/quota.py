"""Validation rules for resource groups and weights of ClusterQueues and Cohorts.

Source: `pkg/webhooks/clusterqueue_webhook.go:validateResourceGroups`, `pkg/webhooks/common.go:validateFairSharing`.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from kueuepy._core import Quantity
from kueuepy.errors.problems import Path
from kueuepy.manifest.validation.review import ZERO, Review
from kueuepy.objects import FairSharing, FlavorQuotas, ResourceGroup, ResourceQuota

GROUPS = ("spec", "resourceGroups")
_MAX_IN_ALL = 256
_MAX_COMBINATIONS = 512
_NANO = Quantity("1n")


class Owner(msgspec.Struct, frozen=True):
    """Properties of the ClusterQueue or Cohort whose quotas are checked.

    Attributes:
        parent: The word for the parent in error messages: `cohort` for a ClusterQueue, `parent` for a Cohort.
        has_parent: Whether the ClusterQueue belongs to a cohort, or the Cohort has a parent. Borrowing and lending
            limits are allowed only with a parent.
        bounds_lending: Whether a lending limit must not exceed the nominal quota, as in a ClusterQueue.
    """

    parent: Literal["cohort", "parent"]
    has_parent: bool
    bounds_lending: bool


def review_groups(groups: Sequence[ResourceGroup], owner: Owner, review: Review) -> None:
    """Check all resource groups of a ClusterQueue or Cohort."""
    resources: set[str] = set()
    flavors: set[str] = set()
    for position, group in enumerate(groups):
        path = (*GROUPS, position)
        for index, name in enumerate(group.covered_resources):
            review.label_key(name, (*path, "coveredResources", index))
            _once(name, "resource", resources, (*path, "coveredResources", index), review)
        for index, quotas in enumerate(group.flavors):
            _once(quotas.name, "flavor", flavors, (*path, "flavors", index, "name"), review)
            _review_flavor(quotas, group, (*path, "flavors", index), owner, review)


def review_totals(groups: Sequence[ResourceGroup], review: Review) -> None:
    """Check the limits on the total size of all groups, which apply to a ClusterQueue."""
    totals = {
        "flavors": sum(len(group.flavors) for group in groups),
        "covered resources": sum(len(group.covered_resources) for group in groups),
    }
    for word, total in totals.items():
        if total > _MAX_IN_ALL:
            review.problem(GROUPS, f"have {total} {word} in all; at most {_MAX_IN_ALL} are allowed")
    for position, group in enumerate(groups):
        total = sum(len(quotas.resources) for quotas in group.flavors)
        if total > _MAX_COMBINATIONS:
            detail = f"has {total} pairs of flavor and resource; at most {_MAX_COMBINATIONS} are allowed"
            review.problem((*GROUPS, position), detail)


def _once(name: str, word: str, seen: set[str], path: Path, review: Review) -> None:
    if name in seen:
        review.problem(path, f'{word} "{name}" occurs twice; it may be in one group, once', "Duplicate")
    seen.add(name)


def _review_flavor(quotas: FlavorQuotas, group: ResourceGroup, path: Path, owner: Owner, review: Review) -> None:
    covered = group.covered_resources
    names = tuple(quota.name for quota in quotas.resources)
    if len(names) != len(covered):
        missing = ", ".join(name for name in covered if name not in names)
        detail = f"are {len(names)}; there must be one for each of the {len(covered)} covered resources"
        review.problem((*path, "resources"), f"{detail}{f', here lacking {missing}' if missing else ''}")
    for index, (quota, name) in enumerate(zip(quotas.resources, covered, strict=False)):
        place = (*path, "resources", index)
        if quota.name != name:
            detail = f'is "{quota.name}"; it must be "{name}", as at this place of coveredResources'
            review.problem((*place, "name"), detail)
        _review_quota(quota, place, owner, review)


def _review_quota(quota: ResourceQuota, path: Path, owner: Owner, review: Review) -> None:
    nominal = review.quantity(quota.nominal_quota, (*path, "nominalQuota"))
    lending = review.quantity(quota.lending_limit, (*path, "lendingLimit"))
    review.quantity(quota.borrowing_limit, (*path, "borrowingLimit"))
    for field, limit in (("borrowingLimit", quota.borrowing_limit), ("lendingLimit", quota.lending_limit)):
        if limit is not None and not owner.has_parent:
            review.problem((*path, field), f"is {limit}; there must be none without a {owner.parent}")
    if owner.bounds_lending and nominal is not None and lending is not None and lending > nominal:
        detail = f"is {quota.lending_limit}; it must be at most the nominalQuota, {quota.nominal_quota}"
        review.problem((*path, "lendingLimit"), detail)


def review_weight(sharing: FairSharing | None, review: Review) -> None:
    """Check that a weight is 0 or more than 1n.

    Kueue rejects smaller weights because divisions would lose their precision.
    """
    if sharing is None:
        return
    path = ("spec", "fairSharing", "weight")
    weight = review.quantity(sharing.weight, path)
    if weight is not None and ZERO < weight <= _NANO:
        review.problem(path, f"is {sharing.weight}; it must be 0, or more than 1n")
