"""Rules on who gets into a queue at all."""

from collections.abc import Iterator

from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule
from kueuepy.objects import ClusterQueue

_MOST_CHECKS = 8  # of a Workload's status (apis/kueue/v1beta2/workload_types.go:WorkloadStatus)


@rule("L1", "error", "A ClusterQueue without a namespaceSelector admits nobody.")
def no_selector(context: LintContext) -> Iterator[Hit]:
    """A selector that is absent matches no namespace, one that is empty matches all."""
    for queue in context.queues:
        if queue.namespace_selector is None:
            yield Hit(
                queue,
                ("spec", "namespaceSelector"),
                "is absent, so that no namespace's workloads are admitted; write {} to admit those of all namespaces",
            )


@rule("L14", "warning", "Holding a queue that may be borrowing shields what it has borrowed.")
def hold_while_borrowing(context: LintContext) -> Iterator[Hit]:
    """A stopped queue lends its idle quota on, but its running workloads are out of reach for reclaim."""
    for queue in context.queues:
        if queue.stop_policy == "Hold" and (found := next(context.reclaimers(queue), None)):
            other, (flavor, resource) = found
            yield Hit(
                queue,
                ("spec", "stopPolicy"),
                f"Hold keeps what the queue has borrowed of {resource} in {flavor}: {other.name} cannot reclaim it "
                "from a stopped queue. HoldAndDrain gives it back",
            )


@rule("L19", "error", "A workload has room for eight admission checks.")
def too_many_checks(context: LintContext) -> Iterator[Hit]:
    """A queue may name more than a Workload's status can hold, which is then refused whenever it is written."""
    for queue in context.queues:
        if (most := _most_checks(queue)) > _MOST_CHECKS:
            yield Hit(
                queue,
                ("spec", "admissionChecksStrategy", "admissionChecks"),
                f"may ask {most} of a workload, whose status holds {_MOST_CHECKS}: none that gets quota is ever "
                "admitted; name fewer, or each for fewer flavors (onFlavors)",
            )


def _most_checks(queue: ClusterQueue) -> int:
    """How many checks a workload may get at most, with one flavor of each group."""
    checks = queue.admission_checks_strategy
    everywhere = sum(not check.on_flavors for check in checks)
    return everywhere + sum(
        max(sum(flavor.name in check.on_flavors for check in checks) for flavor in group.flavors)
        for group in queue.resource_groups
        if group.flavors
    )
