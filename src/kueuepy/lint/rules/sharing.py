"""Rules on fair sharing, between queues and within them."""

from collections.abc import Iterator

from kueuepy.lint.rule import Hit, rule
from kueuepy.lint.scene import Scene
from kueuepy.objects import AdmissionFairSharing, ClusterQueue, Cohort, Preemption

_BYTES = ("memory", "ephemeral-storage")
_GIB = 2**30


@rule("L4", "warning", "Weights of fair sharing do little without preemption.")
def weights_without_preemption(scene: Scene) -> Iterator[Hit]:
    """Without preemption, shares only order the heads of one cycle; nothing is ever taken back."""
    for owner, root in _weighted(scene):
        members = [queue for queue in scene.queues if scene.roots[queue.name] == root]
        if members and not any(_preempts(queue.preemption) for queue in members):
            yield Hit(
                owner,
                ("spec", "fairSharing", "weight"),
                f"only orders the heads of one cycle: no queue under cohort {root} preempts, so that shares never move "
                "towards the weights; set reclaimWithinCohort or withinClusterQueue",
            )


def _weighted(scene: Scene) -> Iterator[tuple[ClusterQueue | Cohort, str]]:
    """Queues and cohorts that have a weight of their own, with their topmost cohort."""
    for queue in scene.queues:
        root = scene.roots[queue.name]
        if queue.fair_sharing and root:
            yield queue, root
    for cohort in scene.manifest.cohorts:
        root = scene.root(cohort.name)
        if cohort.fair_sharing and root:
            yield cohort, root


def _preempts(preemption: Preemption) -> bool:
    return preemption.reclaim_within_cohort != "Never" or preemption.within_cluster_queue != "Never"


@rule("L5", "warning", "Fair sharing ignores borrowWithinCohort.")
def borrow_within_cohort_ignored(scene: Scene) -> Iterator[Hit]:
    """Under fair sharing only withinClusterQueue and reclaimWithinCohort count."""
    if scene.configuration is None or scene.configuration.fair_sharing is None:
        return
    for queue in scene.queues:
        if queue.preemption.borrow_within_cohort.policy != "Never":
            yield Hit(
                queue,
                ("spec", "preemption", "borrowWithinCohort"),
                "has no effect, because the Configuration turns fair sharing on; only withinClusterQueue and "
                "reclaimWithinCohort count there",
            )


@rule("L8", "warning", "Memory counts in bytes, and outweighs everything else in a LocalQueue's usage.")
def memory_outweighs(scene: Scene) -> Iterator[Hit]:
    """A weight is per base unit: a core counts one, a gibibyte a thousand million."""
    sharing = scene.configuration and scene.configuration.admission_fair_sharing
    if not sharing:
        return
    for queue in scene.queues:
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
