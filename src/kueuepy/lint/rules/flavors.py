"""Rules on flavors that don't mean the nodes they seem to mean."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule
from kueuepy.manifest.convert import to_dict
from kueuepy.objects import ClusterQueue, ResourceFlavor, Taint, Workload

_EFFECTS = ("NoSchedule", "NoExecute")


@rule("L9", "warning", "A tainted flavor that no workload tolerates is never used.")
def taint_nobody_tolerates(context: LintContext) -> Iterator[Hit]:
    """Pods must tolerate a flavor's taints themselves, unless the flavor adds the tolerations."""
    for queue in context.queues:
        workloads = context.workloads_of(queue)
        for flavor in _flavors(context, queue) if workloads else ():
            for position, taint in enumerate(flavor.node_taints):
                if taint.effect in _EFFECTS and not any(_tolerates(w, flavor, taint) for w in workloads):
                    yield Hit(
                        flavor,
                        ("spec", "nodeTaints", position),
                        f"{taint.key}={taint.value}:{taint.effect} is tolerated by none of the {len(workloads)} "
                        f"workloads of {queue.name}: the flavor is never used there; Kueue adds no toleration for it",
                    )


def _flavors(context: LintContext, queue: ClusterQueue) -> Iterator[ResourceFlavor]:
    """The flavors of a queue that are known."""
    for group in queue.resource_groups:
        yield from (context.flavors[quotas.name] for quotas in group.flavors if quotas.name in context.flavors)


def _tolerates(workload: Workload, flavor: ResourceFlavor, taint: Taint) -> bool:
    """Whether any pod set of a workload, with what the flavor adds, tolerates the taint."""
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


@rule("L10", "warning", "Two flavors with the same labels mean the same nodes.")
def same_labels(context: LintContext) -> Iterator[Hit]:
    """Quota of both counts for nodes that have the labels of both."""
    for queue in context.queues:
        for one, other in combinations(_flavors(context, queue), 2):
            narrow, wide = sorted((one, other), key=lambda flavor: -len(flavor.node_labels))
            if wide.node_labels and wide.node_labels.items() <= narrow.node_labels.items():
                same = "the same labels as" if wide.node_labels == narrow.node_labels else "all labels of"
                yield Hit(
                    narrow,
                    ("spec", "nodeLabels"),
                    f"has {same} {wide.name}: nodes of this flavor are that one's too, and {queue.name} counts their "
                    "capacity twice; labels should tell every two flavors apart",
                )
