"""Rules on fair sharing, between queues and within them."""

from collections.abc import Iterator

from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule
from kueuepy.objects import AdmissionFairSharing, ClusterQueue, Cohort, Preemption

_BYTES = ("memory", "ephemeral-storage")
_GIB = 2**30


@rule("L4", "warning", "Weights of fair sharing do little without preemption.")
def weights_without_preemption(context: LintContext) -> Iterator[Hit]:
    """Without preemption, shares only order the heads of one cycle; nothing is ever taken back."""
    for owner, root in _weighted(context):
        members = [queue for queue in context.queues if context.roots[queue.name] == root]
        if members and not any(_preempts(queue.preemption) for queue in members):
            yield Hit(
                owner,
                ("spec", "fairSharing", "weight"),
                f"only orders the heads of one cycle: no queue under cohort {root} preempts, so that shares never move "
                "towards the weights; set reclaimWithinCohort or withinClusterQueue",
            )


def _weighted(context: LintContext) -> Iterator[tuple[ClusterQueue | Cohort, str]]:
    """Queues and cohorts that have a weight of their own, with their topmost cohort."""
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
    """Under fair sharing only withinClusterQueue and reclaimWithinCohort count."""
    if context.configuration is None or context.configuration.fair_sharing is None:
        return
    for queue in context.queues:
        if queue.preemption.borrow_within_cohort.policy != "Never":
            yield Hit(
                queue,
                ("spec", "preemption", "borrowWithinCohort"),
                "has no effect, because the Configuration turns fair sharing on; only withinClusterQueue and "
                "reclaimWithinCohort count there",
            )


@rule("L8", "warning", "Memory counts in bytes, and outweighs everything else in a LocalQueue's usage.")
def memory_outweighs(context: LintContext) -> Iterator[Hit]:
    """A weight is per base unit: a core counts one, a gibibyte a thousand million."""
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
                f"orders LocalQueues by usage in which a byte of {heavy} weighs as much as a whole core: {heavy} alone "
                "decides; give it a weight near 1e-9 in resourceWeights of the Configuration",
            )


def _heaviest(sharing: AdmissionFairSharing, covered: list[str]) -> str:
    """A resource counted in bytes of which a gibibyte weighs a thousand times as much as a unit of something else."""
    weights = {resource: sharing.resource_weights.get(resource, 1.0) for resource in covered}
    others = [weight for resource, weight in weights.items() if resource not in _BYTES and weight > 0]
    heavy = (r for r in covered if r in _BYTES and others and weights[r] * _GIB > 1000 * max(others))
    return next(heavy, "")
