"""Validation rules for ClusterQueues and Cohorts: their resource groups, weights and policies.

Source: `pkg/webhooks/clusterqueue_webhook.go`, `pkg/webhooks/cohort_webhook.go`,
`pkg/webhooks/common.go:validateFairSharing`, and the API types.
"""

from collections.abc import Iterable, Sequence

import kueuepy.objects as api
from kueuepy._core import Quantity
from kueuepy.errors import Path
from kueuepy.manifest.validation.review import ZERO, Review

_CHECKS = ("spec", "admissionChecksStrategy", "admissionChecks")
_CONCURRENT = ("spec", "concurrentAdmissionPolicy", "migration")
_MAX_CONCURRENT_FLAVORS = 16


def review_cluster_queue(queue: api.ClusterQueue, review: Review, skipped_checks: Iterable[str] = ()) -> None:
    """Check a ClusterQueue.

    Args:
        queue: The ClusterQueue.
        review: Collects the problems.
        skipped_checks: Names of the admission checks whose flavors are not checked.
    """
    review_groups(queue, review)
    review_totals(queue.resource_groups, review)
    review_selector(queue.namespace_selector, ("spec", "namespaceSelector"), review)
    preemption = queue.preemption
    if preemption.reclaim_within_cohort == "Never" and preemption.borrow_within_cohort.policy != "Never":
        review.problem(
            ("spec", "preemption"),
            f"has borrowWithinCohort.policy {preemption.borrow_within_cohort.policy} with reclaimWithinCohort Never; "
            "reclaimWithinCohort must be LowerPriority or Any for that",
        )
    _review_fungibility(queue, review)
    _review_checks(queue, set(skipped_checks), review)
    review_weight(queue.fair_sharing, review)
    _review_concurrent_admission(queue, review)


def _review_fungibility(queue: api.ClusterQueue, review: Review) -> None:
    fungibility = queue.flavor_fungibility
    policies = {fungibility.when_can_borrow, fungibility.when_can_preempt}
    if fungibility.preference is not None and policies != {"TryNextFlavor"}:
        review.problem(
            ("spec", "flavorFungibility", "preference"),
            f"is {fungibility.preference}; it needs whenCanBorrow and whenCanPreempt to be TryNextFlavor",
        )


def flavor_names(queue: api.ClusterQueue) -> list[str]:
    """Return the names of the flavors of all resource groups."""
    return [quotas.name for group in queue.resource_groups for quotas in group.flavors]


def _review_checks(queue: api.ClusterQueue, skipped: set[str], review: Review) -> None:
    rules: Sequence[api.AdmissionCheckStrategyRule] = queue.admission_checks_strategy
    flavors = flavor_names(queue)
    for position, rule in enumerate(rules):
        path = (*_CHECKS, position, "onFlavors")
        if rule.name not in skipped:
            for index, flavor in enumerate(rule.on_flavors):
                review.one_of(flavor, flavors, (*path, index))


def _review_concurrent_admission(queue: api.ClusterQueue, review: Review) -> None:
    policy = queue.concurrent_admission_policy
    if policy is None:
        return
    migration = policy.get("migration") or {}
    mode = migration.get("mode")
    if not review.enabled("ConcurrentAdmission"):
        return
    if len(queue.resource_groups) != 1:
        review.problem(GROUPS, f"are {len(queue.resource_groups)}; with a concurrentAdmissionPolicy there must be one")
    elif len(queue.resource_groups[0].flavors) > _MAX_CONCURRENT_FLAVORS:
        review.at_most(queue.resource_groups[0].flavors, _MAX_CONCURRENT_FLAVORS, (*GROUPS, 0, "flavors"))
    if queue.queueing_strategy == "StrictFIFO":
        review.problem(("spec", "queueingStrategy"), "is StrictFIFO; with a concurrentAdmissionPolicy it must not be")
    constraints = migration.get("constraints")
    if constraints and mode != "TryPreferredFlavors":
        review.problem((*_CONCURRENT, "constraints"), f"may not be set with mode {mode}", "Forbidden")
    elif constraints and constraints.get("lastAcceptableFlavorName") is not None:
        path = (*_CONCURRENT, "constraints", "lastAcceptableFlavorName")
        review.one_of(constraints["lastAcceptableFlavorName"], flavor_names(queue), path)


def review_selector(selector: api.LabelSelector | None, path: Path, review: Review) -> None:
    """Check a label selector."""
    if selector is None:
        return
    review.labels(selector.match_labels, (*path, "matchLabels"))
    for position, requirement in enumerate(selector.match_expressions):
        location = (*path, "matchExpressions", position)
        review.label_key(requirement.key, (*location, "key"))
        wants_values = requirement.operator in ("In", "NotIn")
        if wants_values and not requirement.values:
            review.problem((*location, "values"), f"must not be empty with operator {requirement.operator}", "Required")
        if not wants_values and requirement.values:
            review.problem((*location, "values"), f"must be empty with operator {requirement.operator}", "Forbidden")
        for index, value in enumerate(requirement.values):
            review.label_value(value, (*location, "values", index))


def review_cohort(cohort: api.Cohort, review: Review) -> None:
    """Check a Cohort. Cycles of cohorts are valid; the ClusterQueues in a cycle are inactive."""
    review_groups(cohort, review)
    review_weight(cohort.fair_sharing, review)


GROUPS = ("spec", "resourceGroups")
_MAX_IN_ALL = 256
_MAX_COMBINATIONS = 512
_NANO = Quantity("1n")


def review_groups(owner: api.ClusterQueue | api.Cohort, review: Review) -> None:
    """Check all resource groups of a ClusterQueue or Cohort."""
    resources: set[str] = set()
    flavors: set[str] = set()
    for position, group in enumerate(owner.resource_groups):
        path = (*GROUPS, position)
        for index, name in enumerate(group.covered_resources):
            review.label_key(name, (*path, "coveredResources", index))
            _once(name, "resource", resources, (*path, "coveredResources", index), review)
        for index, quotas in enumerate(group.flavors):
            _once(quotas.name, "flavor", flavors, (*path, "flavors", index, "name"), review)
            _review_flavor(quotas, group, (*path, "flavors", index), owner, review)


def review_totals(groups: Sequence[api.ResourceGroup], review: Review) -> None:
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


def _review_flavor(
    quotas: api.FlavorQuotas, group: api.ResourceGroup, path: Path, owner: api.ClusterQueue | api.Cohort, review: Review
) -> None:
    covered = group.covered_resources
    names = tuple(quota.name for quota in quotas.resources)
    if len(names) != len(covered):
        missing = ", ".join(name for name in covered if name not in names)
        detail = f"are {len(names)}; there must be one for each of the {len(covered)} covered resources"
        review.problem((*path, "resources"), f"{detail}{f', here lacking {missing}' if missing else ''}")
    for index, (quota, name) in enumerate(zip(quotas.resources, covered, strict=False)):
        location = (*path, "resources", index)
        if quota.name != name:
            detail = f'is "{quota.name}"; it must be "{name}", as at this place of coveredResources'
            review.problem((*location, "name"), detail)
        _review_quota(quota, location, owner, review)


def _review_quota(quota: api.ResourceQuota, path: Path, owner: api.ClusterQueue | api.Cohort, review: Review) -> None:
    nominal = review.quantity(quota.nominal_quota, (*path, "nominalQuota"))
    lending = review.quantity(quota.lending_limit, (*path, "lendingLimit"))
    review.quantity(quota.borrowing_limit, (*path, "borrowingLimit"))
    is_queue = isinstance(owner, api.ClusterQueue)
    parent = owner.cohort_name if isinstance(owner, api.ClusterQueue) else owner.parent_name
    for field, limit in (("borrowingLimit", quota.borrowing_limit), ("lendingLimit", quota.lending_limit)):
        if limit is not None and parent is None:
            word = "cohort" if is_queue else "parent"
            review.problem((*path, field), f"is {limit}; there must be none without a {word}")
    if is_queue and nominal is not None and lending is not None and lending > nominal:
        detail = f"is {quota.lending_limit}; it must be at most the nominalQuota, {quota.nominal_quota}"
        review.problem((*path, "lendingLimit"), detail)


def review_weight(sharing: api.FairSharing | None, review: Review) -> None:
    """Check that a weight is 0 or more than 1n.

    Kueue rejects smaller weights because divisions would lose their precision.
    """
    if sharing is None:
        return
    path = ("spec", "fairSharing", "weight")
    weight = review.quantity(sharing.weight, path)
    if weight is not None and ZERO < weight <= _NANO:
        review.problem(path, f"is {sharing.weight}; it must be 0, or more than 1n")
