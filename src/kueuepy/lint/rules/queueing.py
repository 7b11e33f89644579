"""Rules on who gets into a queue at all."""

from collections.abc import Iterator

from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule


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
