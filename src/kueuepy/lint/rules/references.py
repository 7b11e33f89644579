"""Rules about references to missing objects and cycles of cohorts, which are valid but deactivate queues."""

from collections.abc import Iterable, Iterator

from kueuepy.cluster.names import dangling
from kueuepy.errors import suggestion
from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule


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
