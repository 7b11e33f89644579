"""Rules on names that name nothing, and on cohorts above themselves; both are legal, and switch queues off."""

from collections.abc import Iterable, Iterator

from kueuepy.cluster.names import dangling
from kueuepy.errors.problems import suggestion
from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule


@rule("L16", "error", "A name that names nothing keeps workloads out.")
def names_nothing(context: LintContext) -> Iterator[Hit]:
    """A queue waits for its flavors and checks to exist, a LocalQueue for its queue, a workload for its LocalQueue."""
    for obj, path, name, kind, known in dangling(context.manifest):
        yield Hit(obj, path, _nothing(name, kind, known))
    doors = [local.key for local in context.manifest.local_queues]
    for workload in context.workloads:
        key = f"{workload.namespace}/{workload.queue_name}"
        if workload.queue_name and key not in doors:
            yield Hit(workload, ("spec", "queueName"), _nothing(key, "LocalQueue", doors))


def _nothing(name: str, kind: str, known: Iterable[str]) -> str:
    return f'"{name}" names no {kind}, so that nothing is admitted; {suggestion(name, known)}'


@rule("L17", "error", "Cohorts that are above themselves admit nothing.")
def cohort_cycle(context: LintContext) -> Iterator[Hit]:
    """All queues under a cycle stop admitting; what runs goes on."""
    for cohort in context.manifest.cohorts:
        if context.root(cohort.name) is None:
            yield Hit(
                cohort,
                ("spec", "parentName"),
                f'"{cohort.parent_name}" leads round to {cohort.name} itself or to another cycle: no queue below '
                "admits anything; let one cohort have no parent",
            )
