"""Rules about settings that keep workloads out of a queue."""

from collections.abc import Iterator

from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule
from kueuepy.objects import ClusterQueue

_MOST_CHECKS = 8  # of a Workload's status (apis/kueue/v1beta2/workload_types.go:WorkloadStatus)


@rule("L1", "error", "A ClusterQueue without a namespaceSelector admits no workloads.")
def no_selector(context: LintContext) -> Iterator[Hit]:
    """An absent selector matches no namespace, and an empty one matches all namespaces."""
    for queue in context.queues:
        if queue.namespace_selector is None:
            yield Hit(
                queue,
                ("spec", "namespaceSelector"),
                "is absent, so no workloads are admitted; set it to {} to admit workloads of all namespaces",
            )


@rule(
    "L14",
    "warning",
    "Setting stopPolicy: Hold on a queue that can borrow protects its borrowed quota from being reclaimed.",
)
def hold_while_borrowing(context: LintContext) -> Iterator[Hit]:
    """A stopped queue still lends its unused quota, but other queues cannot preempt its running workloads."""
    for queue in context.queues:
        if queue.stop_policy == "Hold" and (found := next(context.reclaimers(queue), None)):
            other, (flavor, resource) = found
            yield Hit(
                queue,
                ("spec", "stopPolicy"),
                f"is Hold, which keeps {resource} borrowed in {flavor}: {other.name} cannot reclaim it from a stopped "
                "queue; HoldAndDrain releases it",
            )


@rule("L19", "error", "A ClusterQueue must not require more than eight admission checks for a workload.")
def too_many_checks(context: LintContext) -> Iterator[Hit]:
    """An API server rejects the status of a Workload with more than eight admission checks."""
    for queue in context.queues:
        if (most := _most_checks(queue)) > _MOST_CHECKS:
            yield Hit(
                queue,
                ("spec", "admissionChecksStrategy", "admissionChecks"),
                f"may require {most} checks of a workload, whose status can hold {_MOST_CHECKS}: workloads that "
                "reserve quota are never admitted; remove checks, or limit them to fewer flavors (onFlavors)",
            )


def _most_checks(queue: ClusterQueue) -> int:
    """Return the maximum number of checks of a workload that uses one flavor of each group."""
    checks = queue.admission_checks_strategy
    everywhere = sum(not check.on_flavors for check in checks)
    return everywhere + sum(
        max(sum(flavor.name in check.on_flavors for check in checks) for flavor in group.flavors)
        for group in queue.resource_groups
        if group.flavors
    )
