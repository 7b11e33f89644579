"""Rules about settings and missing objects that deactivate queues, and about what kueuepy does not model."""

from collections.abc import Iterable, Iterator

from kueuepy.cluster import Cluster
from kueuepy.cluster.cluster import dangling
from kueuepy.cluster.early import EARLY, as_then, early_rules
from kueuepy.cluster.unmodelled import unmodelled
from kueuepy.errors import suggestion
from kueuepy.lint.rule import Hit, LintContext, rule
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


@rule("L16", "error", "A reference to an object that does not exist prevents admission.")
def names_nothing(context: LintContext) -> Iterator[Hit]:
    """Find missing flavors and checks of queues, ClusterQueues of LocalQueues, and LocalQueues of workloads."""
    for obj, path, name, kind, known in dangling(context.manifest):
        yield Hit(obj, path, _nothing(name, kind, known))
    doors = [local.key for local in context.manifest.local_queues]
    for workload in context.workloads:
        key = f"{workload.namespace}/{workload.queue_name}"
        if workload.queue_name and key not in doors:
            yield Hit(workload, ("spec", "queueName"), _nothing(key, "LocalQueue", doors))


def _nothing(name: str, kind: str, known: Iterable[str]) -> str:
    return f'"{name}" is not the name of a {kind}, so no workloads are admitted; {suggestion(name, known)}'


@rule("L17", "error", "Queues below Cohorts whose parents form a cycle admit no workloads.")
def cohort_cycle(context: LintContext) -> Iterator[Hit]:
    """Queues below Cohorts whose parents form a cycle stop admitting workloads; running workloads continue."""
    for cohort in context.manifest.cohorts:
        if context.root(cohort.name) is None:
            yield Hit(
                cohort,
                ("spec", "parentName"),
                f'"{cohort.parent_name}" leads back to {cohort.name} or to another cycle: queues below admit no '
                "workloads; remove the parent of one cohort",
            )


@rule("L20", "warning", "Decisions may differ because kueuepy does not model a feature gate or field of the input.")
def not_modelled(context: LintContext) -> Iterator[Hit]:
    """Find feature gates and fields that kueuepy does not model and that could change a decision."""
    manifest = context.manifest
    for found in unmodelled(context.configuration, manifest.cluster_queues, manifest.cohorts):
        yield Hit(found.obj or "Configuration", found.path, found.message)


@rule(
    "L29", "note", "Kueue releases that serve an early API version may interpret objects of this version differently."
)
def meant_something_else(context: LintContext) -> Iterator[Hit]:
    """Find ClusterQueues with fields that early releases ignored; for v1beta1, the release is v0.6."""
    manifest = context.manifest
    version = min(manifest.versions, default="")
    release = EARLY.get(version)
    if release is None:
        return
    cluster = Cluster.from_manifest(manifest, names=False)
    rules = early_rules(release)
    for early in rules:
        then = as_then(cluster, release, left_out=[other.name for other in rules if other is not early])
        for queue, before in zip(manifest.cluster_queues, then.cluster_queues, strict=True):
            if queue != before:
                text = f"{version} is the API version of releases such as {release}: {early.what}"
                yield Hit(queue, (), f"{text}; `kueuepy upgrade --from {release}` lists the decisions that differ")
