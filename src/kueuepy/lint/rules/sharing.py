"""Rules about fair sharing between ClusterQueues and admission fair sharing within them."""

from collections.abc import Iterator

from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule
from kueuepy.objects import AdmissionFairSharing, ClusterQueue, Cohort, Preemption

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
