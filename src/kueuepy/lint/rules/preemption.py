"""Rules on preemption policies that protect less than they seem to."""

from collections.abc import Iterator

from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule
from kueuepy.objects import BorrowWithinCohort, ClusterQueue, Preemption

_NEVER = Preemption(borrow_within_cohort=BorrowWithinCohort())


@rule("L3", "warning", "A queue that never preempts may still be preempted while it borrows.")
def borrower_is_victim(context: LintContext) -> Iterator[Hit]:
    """Policies say whom a queue's own workloads may preempt, not who may preempt them."""
    for queue in context.queues:
        if queue.preemption == _NEVER and (found := next(context.reclaimers(queue), None)):
            other, (flavor, resource) = found
            policy = other.preemption.reclaim_within_cohort
            yield Hit(
                queue,
                ("spec", "preemption"),
                f"is Never throughout, but {other.name} reclaims ({policy}) and evicts what borrows {resource} in "
                f"{flavor} here; borrowingLimit: 0 keeps workloads safe",
            )


@rule("L6", "warning", "A nominal quota in a cohort is not ensured without reclaimWithinCohort.")
def nominal_not_ensured(context: LintContext) -> Iterator[Hit]:
    """One head of each queue is admitted a cycle, borrowers too; what they hold they keep."""
    for queue in context.queues:
        if queue.preemption.reclaim_within_cohort == "Never" and (found := next(_lenders(context, queue), None)):
            other, resource, flavor = found
            yield Hit(
                queue,
                ("spec", "preemption", "reclaimWithinCohort"),
                f"is Never, so that the nominal quota of {resource} in {flavor} is not ensured: {other} may borrow it, "
                "and keeps it for as long as its workloads run; Any or LowerPriority takes it back",
            )


def _lenders(context: LintContext, queue: ClusterQueue) -> Iterator[tuple[str, str, str]]:
    """Who may borrow from a queue what."""
    for other in context.others(queue):
        for cell in (cell for cell in context.cells(queue) if cell in context.cells(other)):
            flavor, resource = cell
            if context.capacity.lent(queue.name, cell) > 0 and context.may_borrow(other, cell):
                yield other.name, resource, flavor


@rule("L15", "note", "borrowWithinCohort without maxPriorityThreshold spares nobody of lower priority.")
def no_threshold(context: LintContext) -> Iterator[Hit]:
    """Without a threshold, any workload of lower priority may be evicted for one that borrows."""
    for queue in context.queues:
        borrowing = queue.preemption.borrow_within_cohort
        if borrowing.policy == "Never" or borrowing.max_priority_threshold is not None or not context.others(queue):
            continue
        yield Hit(
            queue,
            ("spec", "preemption", "borrowWithinCohort", "maxPriorityThreshold"),
            "is absent, so that a borrowing workload evicts others of any lower priority, however high; name the "
            "highest priority that may be evicted",
        )
