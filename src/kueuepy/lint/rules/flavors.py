"""Rules about flavors that do not match the intended nodes."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from kueuepy.errors import counted
from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule
from kueuepy.manifest.convert import to_dict
from kueuepy.objects import ClusterQueue, ResourceFlavor, Taint, Workload

# Kueue ignores taints with the effect PreferNoSchedule.
_EFFECTS = ("NoSchedule", "NoExecute")


@rule("L9", "warning", "A flavor with a taint that no workload tolerates is never used.")
def taint_nobody_tolerates(context: LintContext) -> Iterator[Hit]:
    """Pods must tolerate the taints of a flavor, unless the flavor adds the tolerations."""
    for queue in context.queues:
        workloads = context.workloads_of(queue)
        for flavor in _flavors(context, queue) if workloads else ():
            for position, taint in enumerate(flavor.node_taints):
                if taint.effect in _EFFECTS and not any(_tolerates(w, flavor, taint) for w in workloads):
                    yield Hit(
                        flavor,
                        ("spec", "nodeTaints", position),
                        f"{taint.key}={taint.value}:{taint.effect} is not tolerated by any of the "
                        f"{counted(len(workloads), 'workload')} of {queue.name}, so the queue never uses the flavor; "
                        "add the toleration to the pods, or to spec.tolerations of the flavor",
                    )


def _flavors(context: LintContext, queue: ClusterQueue) -> Iterator[ResourceFlavor]:
    for group in queue.resource_groups:
        yield from (context.flavors[quotas.name] for quotas in group.flavors if quotas.name in context.flavors)


def _tolerates(workload: Workload, flavor: ResourceFlavor, taint: Taint) -> bool:
    """Return whether any pod set tolerates the taint, including tolerations that the flavor adds."""
    added: list[dict[str, Any]] = to_dict(flavor).get("spec", {}).get("tolerations", [])
    return any(
        _matches(toleration, taint)
        for pod_set in workload.pod_sets
        for toleration in [*((pod_set.template.get("spec") or {}).get("tolerations") or ()), *added]
    )


def _matches(toleration: dict[str, Any], taint: Taint) -> bool:
    exists = toleration.get("operator") == "Exists"
    return (
        toleration.get("effect") in (None, "", taint.effect)
        and toleration.get("key") in ((taint.key, None, "") if exists else (taint.key,))
        and (exists or (toleration.get("value") or "") == taint.value)
    )


@rule(
    "L10",
    "warning",
    "If two flavors of a queue match the same nodes, the capacity of these nodes is counted twice.",
)
def same_labels(context: LintContext) -> Iterator[Hit]:
    """Find flavors of a queue whose node labels include all labels of another flavor."""
    for queue in context.queues:
        for one, other in combinations(_flavors(context, queue), 2):
            narrow, wide = sorted((one, other), key=lambda flavor: -len(flavor.node_labels))
            if wide.node_labels and wide.node_labels.items() <= narrow.node_labels.items():
                same = "the same labels as" if wide.node_labels == narrow.node_labels else "all labels of"
                yield Hit(
                    narrow,
                    ("spec", "nodeLabels"),
                    f"has {same} {wide.name}: nodes of this flavor also match {wide.name}, and {queue.name} counts "
                    "their capacity twice; give each flavor labels that no other flavor matches",
                )
