"""Rules about borrowing and lending limits without effect."""

from collections.abc import Iterator

from kueuepy._core import Quantity
from kueuepy.lint.context import FlavorResource, LintContext
from kueuepy.lint.rule import Hit, rule
from kueuepy.objects import ClusterQueue, Configuration


@rule("L2", "error", "A borrowing or lending limit has no effect on a queue that shares quota with no other queue.")
def limit_without_cohort(context: LintContext) -> Iterator[Hit]:
    """An API server rejects a borrowing or lending limit on a queue without a cohort.

    A limit also has no effect on a queue that is the only queue in its cohort.
    """
    for queue in context.queues:
        reason = _alone(context, queue)
        for (flavor, resource), quota in context.cells(queue).items() if reason else ():
            for name, limit in (("borrowingLimit", quota.borrowing_limit), ("lendingLimit", quota.lending_limit)):
                if limit is not None:
                    yield Hit(
                        queue,
                        (*quota.path, name),
                        f"limits {resource} in {flavor}, but {reason}; add the queue to a cohort or remove the limit",
                    )


def _alone(context: LintContext, queue: ClusterQueue) -> str:
    """Return why a queue shares quota with no other queue; an empty string if it shares quota."""
    if not queue.cohort_name:
        return "the queue has no cohort"
    if not context.others(queue) and not any(cohort.resource_groups for cohort in context.manifest.cohorts):
        return f"no other queue is in cohort {queue.cohort_name}"
    return ""


@rule("L11", "note", "A borrowingLimit above the total that other queues can lend is never reached.")
def limit_beyond_lendable(context: LintContext) -> Iterator[Hit]:
    """Compare each limit, and then the sum of the limits, with the total amount that other queues can lend."""
    excess: set[tuple[str, FlavorResource]] = set()
    for queue in context.queues:
        for pair, quota in context.cells(queue).items() if not _alone(context, queue) else ():
            lendable = context.capacity.borrowable(queue.name, pair)
            if quota.borrowing_limit is not None and quota.borrowing_limit > lendable:
                excess.add((str(context.roots[queue.name]), pair))
                yield Hit(
                    queue,
                    (*quota.path, "borrowingLimit"),
                    f"is {_text(pair, quota.borrowing_limit)}, but all other queues together lend at most "
                    f"{_text(pair, lendable)} of {pair[1]} in {pair[0]}",
                )
    yield from _oversubscribed(context, excess)


def _oversubscribed(context: LintContext, known: set[tuple[str, FlavorResource]]) -> Iterator[Hit]:
    """Yield cohorts whose queues cannot all reach their limits at the same time."""
    limits: dict[tuple[str, FlavorResource], int] = {}
    lent: dict[tuple[str, FlavorResource], int] = {}
    for queue in context.queues:
        for pair, quota in context.cells(queue).items() if context.roots[queue.name] else ():
            owner = (str(context.roots[queue.name]), pair)
            limits[owner] = limits.get(owner, 0) + (quota.borrowing_limit or 0)
            lent[owner] = lent.get(owner, 0) + context.capacity.lent(queue.name, pair)
    for cohort in context.manifest.cohorts:
        root = context.root(cohort.name)
        for owner in limits:
            lent[owner] += context.quota(cohort, owner[1]) if owner[0] == root else 0
    for owner, limit in limits.items():
        if owner not in known and limit > lent[owner]:
            root, pair = owner
            yield Hit(
                f'Cohort "{root}"',
                (),
                f"the borrowing limits of its queues sum to {_text(pair, limit)} of {pair[1]} in {pair[0]}, but the "
                f"queues lend {_text(pair, lent[owner])} in total: not all limits can be reached at the same time",
            )


def _text(pair: FlavorResource, amount: int) -> str:
    text: str = Quantity.format(pair[1], amount)
    return text


@rule("L34", "warning", "A resource with an excluded prefix is no input of a transformation.")
def excluded_before_transformation(context: LintContext) -> Iterator[Hit]:
    """Kueue drops excluded resources before it transforms the others (`pkg/workload/resources.go`)."""
    resources = (context.configuration or Configuration()).resources
    prefixes = tuple(resources.exclude_resource_prefixes)
    for position, transformation in enumerate(resources.transformations):
        for field, name in (("input", transformation.input), ("multiplyBy", transformation.multiply_by or "")):
            if name and name.startswith(prefixes):
                effect = "the transformation has no effect" if field == "input" else "the outputs are not multiplied"
                yield Hit(
                    "Configuration",
                    ("resources", "transformations", position, field),
                    f"is {name}, which excludeResourcePrefixes excludes first: {effect}; remove the prefix",
                )
