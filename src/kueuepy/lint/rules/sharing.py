"""Rules about limits, preemption policies and fair sharing that have less effect than they seem to have."""

from collections.abc import Iterator

from kueuepy._core import Quantity
from kueuepy.lint.rule import FlavorResource, Hit, LintContext, rule
from kueuepy.objects import AdmissionFairSharing, BorrowWithinCohort, ClusterQueue, Cohort, Configuration, Preemption


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


_BYTES = ("memory", "ephemeral-storage")
_GIB = 2**30


@rule("L4", "warning", "Fair sharing weights have little effect without preemption.")
def weights_without_preemption(context: LintContext) -> Iterator[Hit]:
    """Without preemption, weights only order the heads of one cycle; no quota is ever reclaimed."""
    for owner, root in _weighted(context):
        members = [queue for queue in context.queues if context.roots[queue.name] == root]
        if members and not any(_preempts(queue.preemption) for queue in members):
            yield Hit(
                owner,
                ("spec", "fairSharing", "weight"),
                f"only orders the heads of one cycle: no queue under cohort {root} preempts, so the shares of running "
                "workloads never adjust to the weights; set reclaimWithinCohort or withinClusterQueue",
            )


def _weighted(context: LintContext) -> Iterator[tuple[ClusterQueue | Cohort, str]]:
    """Yield the queues and cohorts with a weight, each with its root cohort."""
    for queue in context.queues:
        root = context.roots[queue.name]
        if queue.fair_sharing and root:
            yield queue, root
    for cohort in context.manifest.cohorts:
        root = context.root(cohort.name)
        if cohort.fair_sharing and root:
            yield cohort, root


def _preempts(preemption: Preemption) -> bool:
    return preemption.reclaim_within_cohort != "Never" or preemption.within_cluster_queue != "Never"


@rule("L5", "warning", "Fair sharing ignores borrowWithinCohort.")
def borrow_within_cohort_ignored(context: LintContext) -> Iterator[Hit]:
    """With fair sharing, Kueue uses only withinClusterQueue and reclaimWithinCohort."""
    if context.configuration is None or context.configuration.fair_sharing is None:
        return
    for queue in context.queues:
        if queue.preemption.borrow_within_cohort.policy != "Never":
            yield Hit(
                queue,
                ("spec", "preemption", "borrowWithinCohort"),
                "has no effect, because the Configuration enables fair sharing, which only uses withinClusterQueue and "
                "reclaimWithinCohort",
            )


@rule("L8", "warning", "Memory, counted in bytes, dominates the usage of a LocalQueue in admission fair sharing.")
def memory_outweighs(context: LintContext) -> Iterator[Hit]:
    """A weight applies to base units: one core counts 1, and one gibibyte counts 2^30."""
    sharing = context.configuration and context.configuration.admission_fair_sharing
    if not sharing:
        return
    for queue in context.queues:
        covered = [resource for group in queue.resource_groups for resource in group.covered_resources]
        heavy = _heaviest(sharing, covered) if queue.admission_scope == "UsageBasedAdmissionFairSharing" else ""
        if heavy:
            yield Hit(
                queue,
                ("spec", "admissionScope"),
                f"orders LocalQueues by usage, in which one byte of {heavy} has a weight comparable to that of one "
                f"unit of other resources, so {heavy} alone decides; set its weight to about 1e-9 in resourceWeights "
                "of the Configuration",
            )


def _heaviest(sharing: AdmissionFairSharing, covered: list[str]) -> str:
    """Return a resource of which 1 GiB weighs over 1,000 times as much as a unit of the others, or an empty string."""
    weights = {resource: sharing.resource_weights.get(resource, 1.0) for resource in covered}
    others = [weight for resource, weight in weights.items() if resource not in _BYTES and weight > 0]
    # 1 GiB is compared with a single core or device, and a factor of 1,000 leaves no doubt.
    heavy = (r for r in covered if r in _BYTES and others and weights[r] * _GIB > 1000 * max(others))
    return next(heavy, "")


@rule("L33", "warning", "Admission fair sharing has no effect unless the Configuration turns it on.")
def scope_without_configuration(context: LintContext) -> Iterator[Hit]:
    """Without admissionFairSharing, Kueue records no usage of LocalQueues (`pkg/util/admissionfairsharing`)."""
    configuration = context.configuration
    if configuration is None or configuration.admission_fair_sharing is not None:
        return
    for queue in context.queues:
        if queue.admission_scope == "UsageBasedAdmissionFairSharing":
            yield Hit(
                queue,
                ("spec", "admissionScope", "admissionMode"),
                "has no effect, and neither have the weights of its LocalQueues: the Configuration has no "
                "admissionFairSharing; add it, or remove admissionScope",
            )
