"""Validation rules for ClusterQueues and Cohorts.

Source: `pkg/webhooks/clusterqueue_webhook.go`, `pkg/webhooks/cohort_webhook.go`, and the API types.
"""

from collections.abc import Iterable, Sequence

from kueuepy.errors.problems import Path
from kueuepy.manifest.validation.quota import GROUPS, Owner, review_groups, review_totals, review_weight
from kueuepy.manifest.validation.review import Review
from kueuepy.objects import AdmissionCheckStrategyRule, ClusterQueue, Cohort, LabelSelector

_CHECKS = ("spec", "admissionChecksStrategy", "admissionChecks")
_CONCURRENT = ("spec", "concurrentAdmissionPolicy", "migration")
_MAX_CONCURRENT_FLAVORS = 16


def review_cluster_queue(queue: ClusterQueue, review: Review, skipped_checks: Iterable[str] = ()) -> None:
    """Check a ClusterQueue.

    Args:
        queue: The ClusterQueue.
        review: Collects the problems.
        skipped_checks: Names of the admission checks whose flavors are not checked.
    """
    review_groups(queue.resource_groups, Owner("cohort", queue.cohort_name is not None, bounds_lending=True), review)
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


def _review_fungibility(queue: ClusterQueue, review: Review) -> None:
    fungibility = queue.flavor_fungibility
    policies = {fungibility.when_can_borrow, fungibility.when_can_preempt}
    if fungibility.preference is not None and policies != {"TryNextFlavor"}:
        review.problem(
            ("spec", "flavorFungibility", "preference"),
            f"is {fungibility.preference}; it needs whenCanBorrow and whenCanPreempt to be TryNextFlavor",
        )


def flavor_names(queue: ClusterQueue) -> list[str]:
    """Return the names of the flavors of all resource groups."""
    return [quotas.name for group in queue.resource_groups for quotas in group.flavors]


def _review_checks(queue: ClusterQueue, skipped: set[str], review: Review) -> None:
    rules: Sequence[AdmissionCheckStrategyRule] = queue.admission_checks_strategy
    flavors = flavor_names(queue)
    for position, rule in enumerate(rules):
        path = (*_CHECKS, position, "onFlavors")
        if rule.name not in skipped:
            for index, flavor in enumerate(rule.on_flavors):
                review.one_of(flavor, flavors, (*path, index))


def _review_concurrent_admission(queue: ClusterQueue, review: Review) -> None:
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


def review_selector(selector: LabelSelector | None, path: Path, review: Review) -> None:
    """Check a label selector."""
    if selector is None:
        return
    review.labels(selector.match_labels, (*path, "matchLabels"))
    for position, requirement in enumerate(selector.match_expressions):
        place = (*path, "matchExpressions", position)
        review.label_key(requirement.key, (*place, "key"))
        wants_values = requirement.operator in ("In", "NotIn")
        if wants_values and not requirement.values:
            review.problem((*place, "values"), f"must not be empty with operator {requirement.operator}", "Required")
        if not wants_values and requirement.values:
            review.problem((*place, "values"), f"must be empty with operator {requirement.operator}", "Forbidden")
        for index, value in enumerate(requirement.values):
            review.label_value(value, (*place, "values", index))


def review_cohort(cohort: Cohort, review: Review) -> None:
    """Check a Cohort. Cycles of cohorts are valid; the ClusterQueues in a cycle are inactive."""
    review_groups(cohort.resource_groups, Owner("parent", cohort.parent_name is not None, bounds_lending=False), review)
    review_weight(cohort.fair_sharing, review)
