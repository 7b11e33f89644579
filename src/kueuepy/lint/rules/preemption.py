"""Rules about preemption policies that protect less than they seem to."""

from collections.abc import Iterator

from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule
from kueuepy.objects import BorrowWithinCohort, ClusterQueue, Preemption

# The defaults, which are `Never` for all policies.
_NEVER = Preemption(borrow_within_cohort=BorrowWithinCohort())


@rule("L3", "warning", "A queue that never preempts can still be preempted while it borrows.")
def borrower_is_victim(context: LintContext) -> Iterator[Hit]:
    """Policies control which workloads a queue's workloads may preempt, not which may preempt them."""
    for queue in context.queues:
        if queue.preemption == _NEVER and (found := next(context.reclaimers(queue), None)):
            other, (flavor, resource) = found
            policy = other.preemption.reclaim_within_cohort
            yield Hit(
                queue,
                ("spec", "preemption"),
                f"is Never for all policies, but {other.name} has reclaimWithinCohort: {policy} and preempts workloads "
                f"that borrow {resource} in {flavor}; set borrowingLimit: 0 to protect all workloads",
            )


@rule("L6", "warning", "The nominal quota of a queue in a cohort is not guaranteed without reclaimWithinCohort.")
def nominal_not_ensured(context: LintContext) -> Iterator[Hit]:
    """Without reclaimWithinCohort, quota lent to another queue is returned only when workloads of that queue finish."""
    for queue in context.queues:
        if queue.preemption.reclaim_within_cohort == "Never" and (found := next(_lenders(context, queue), None)):
            other, resource, flavor = found
            yield Hit(
                queue,
                ("spec", "preemption", "reclaimWithinCohort"),
                f"is Never, so the nominal quota of {resource} in {flavor} is not guaranteed: {other} may borrow it "
                "and keep it until its workloads finish; set Any or LowerPriority to reclaim it",
            )


def _lenders(context: LintContext, queue: ClusterQueue) -> Iterator[tuple[str, str, str]]:
    """Yield the queues that can borrow from a queue, each with a resource and flavor that the queue can borrow."""
    for other in context.others(queue):
        for pair in (pair for pair in context.cells(queue) if pair in context.cells(other)):
            flavor, resource = pair
            if context.capacity.lent(queue.name, pair) > 0 and context.may_borrow(other, pair):
                yield other.name, resource, flavor


@rule("L15", "note", "borrowWithinCohort without maxPriorityThreshold allows preemption of all lower priorities.")
def no_threshold(context: LintContext) -> Iterator[Hit]:
    """Without a threshold, a borrowing workload may preempt any workload of lower priority."""
    for queue in context.queues:
        borrowing = queue.preemption.borrow_within_cohort
        if borrowing.policy == "Never" or borrowing.max_priority_threshold is not None or not context.others(queue):
            continue
        yield Hit(
            queue,
            ("spec", "preemption", "borrowWithinCohort", "maxPriorityThreshold"),
            "is absent, so a borrowing workload may preempt any workload of lower priority in other queues; set it to "
            "the highest priority that may be preempted",
        )
