"""Rules about flavors that match other nodes than intended, and about topologies that cannot place pods."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from kueuepy.engine.places import PlaceFactsView
from kueuepy.errors import counted, verb
from kueuepy.lint.rule import Hit, LintContext, rule
from kueuepy.manifest.convert import to_dict
from kueuepy.objects import ClusterQueue, Node, PodSet, ResourceFlavor, Taint, Workload

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


# A request with other fields only, such as pod indices, does not ask for a placement.
_EXPLICIT = (
    "required",
    "preferred",
    "unconstrained",
    "podSetSliceRequiredTopology",
    "podSetSliceSize",
    "podsetSliceRequiredTopologyConstraints",
)


def _placing(context: LintContext) -> Iterator[tuple[ResourceFlavor, tuple[str, ...]]]:
    """Yield the flavors whose Topology exists, each with the levels of the Topology."""
    levels = {topology.name: tuple(topology.levels) for topology in context.manifest.topologies}
    for flavor in context.manifest.resource_flavors:
        if flavor.topology_name in levels:
            yield flavor, levels[flavor.topology_name]


def _is_of(node: Node, flavor: ResourceFlavor) -> bool:
    return all(node.labels.get(key, "") == value for key, value in flavor.node_labels.items())


@rule("L21", "warning", "A flavor with a topology but no matching Nodes cannot place any pods.")
def without_nodes(context: LintContext) -> Iterator[Hit]:
    """With a topology, quota is not sufficient: each pod also needs a known Node."""
    nodes = context.manifest.nodes
    for flavor, levels in _placing(context):
        if not any(_is_of(node, flavor) and all(level in node.labels for level in levels) for node in nodes):
            why = "no Node has its labels and all level labels" if nodes else "there are no Nodes"
            yield Hit(
                flavor,
                ("spec", "topologyName"),
                f"{why}, so no pods can be placed in topology {flavor.topology_name}, even with free quota; add its "
                "Nodes, for example the output of kubectl get nodes -o yaml",
            )


@rule("L22", "error", "A workload whose topology request exceeds every domain is never admitted.")
def no_domain_holds_it(context: LintContext) -> Iterator[Hit]:
    """A pod set that requires one domain must fit into a domain without workloads."""
    if not context.manifest.nodes or not any(True for _ in _placing(context)):
        return
    for workload, position, pod_set in context.pod_sets:
        if _asks(pod_set) and (best := _nowhere(context, workload, pod_set.name)) is not None:
            most = best["largest_if_empty"]
            where = "in one domain of level {level}" if best["mode"] == "required" else "in topology {topology}"
            yield Hit(
                workload,
                ("spec", "podSets", position, "topologyRequest"),
                f"requests {counted(pod_set.count, 'pod')} {where.format(**best)}, but even without other workloads "
                f"at most {most} {verb(most, 'fit')}; request fewer pods, fewer resources per pod, or a "
                "higher level",
            )


def _asks(pod_set: PodSet) -> bool:
    request: dict[str, Any] = pod_set.topology_request or {}
    return any(request.get(name) is not None for name in _EXPLICIT)


def _nowhere(context: LintContext, workload: Workload, pod_set: str) -> PlaceFactsView | None:
    """Return the facts of the best flavor if no flavor can place all pods, even without other workloads."""
    engine = context.empty.fork()
    number = engine.submit(workload)
    facts = engine.explain(number)
    found = [f for p in facts["pod_sets"] if p["name"] == pod_set for f in p["flavors"] if not f["ineligible"]]
    places = [flavor["place"] for flavor in found]
    met = [best for best in places if best is not None and best["failure_if_empty"] is not None]
    if not met or len(met) < len(places):
        return None
    return max(met, key=lambda best: best["largest_if_empty"])


@rule("L23", "error", "A topology has no domains if no Node has the label of one of its levels.")
def level_of_no_node(context: LintContext) -> Iterator[Hit]:
    """A node belongs to a topology only if it has the labels of all levels."""
    known = {label for node in context.manifest.nodes for label in node.labels}
    for topology in context.manifest.topologies if known else ():
        for position, level in enumerate(topology.levels):
            if level not in known:
                yield Hit(
                    topology,
                    ("spec", "levels", position, "nodeLabel"),
                    f'is "{level}", which is not a label of any of the {len(context.manifest.nodes)} Nodes, so the '
                    "topology has no domains; label the Nodes, or remove the level",
                )


@rule("L24", "warning", "A node that lacks the label of a topology level is not part of the topology.")
def outside_of_its_topology(context: LintContext) -> Iterator[Hit]:
    """The topology places no pods on a node that lacks a level's label, but quota may include the node's capacity."""
    known = {label for node in context.manifest.nodes for label in node.labels}
    for node in context.manifest.nodes:
        for flavor, levels in _placing(context):
            missing = [level for level in levels if level not in node.labels and level in known]
            if missing and _is_of(node, flavor):
                yield Hit(
                    node,
                    ("metadata", "labels"),
                    f"has the labels of flavor {flavor.name}, but not {', '.join(missing)}: topology "
                    f"{flavor.topology_name} places no pods on it",
                )


@rule("L25", "warning", "A topology places no pods on a node without allocatable pods.")
def no_pods(context: LintContext) -> Iterator[Hit]:
    """Each pod uses one unit of the node resource `pods`, which a kubelet reports."""
    for node in context.manifest.nodes:
        if "pods" not in node.allocatable and any(_is_of(node, flavor) for flavor, _ in _placing(context)):
            yield Hit(
                node,
                ("status", "allocatable"),
                "has no entry for pods, so no pods fit on the node; set it to the capacity of the node, such as 110",
            )


def _mixture(context: LintContext, queue: ClusterQueue) -> tuple[list[str], list[str]]:
    """Return the flavors of a queue that have a topology, and the flavors that have none."""
    quotas = (one for group in queue.resource_groups for one in group.flavors)
    named = [one.name for one in quotas if one.name in context.flavors]
    placing = [name for name in named if context.flavors[name].topology_name is not None]
    return placing, [name for name in named if name not in placing]


@rule("L26", "error", "A workload with a topology request is never admitted by a queue without a topology.")
def no_topology_in_the_queue(context: LintContext) -> Iterator[Hit]:
    """A pod set with a topology request can use only flavors with a topology."""
    for queue in context.queues:
        placing, others = _mixture(context, queue)
        for workload in context.workloads_of(queue) if others and not placing else ():
            for position, pod_set in enumerate(workload.pod_sets):
                if _asks(pod_set):
                    yield Hit(
                        workload,
                        ("spec", "podSets", position, "topologyRequest"),
                        f"requests a topology, but no flavor of {queue.name} has one, so the workload is never "
                        f"admitted; set topologyName of {others[0]}, or remove the request",
                    )


@rule(
    "L27",
    "note",
    "In a queue that has flavors without a topology, pods without a topology request use only these flavors.",
)
def with_and_without(context: LintContext) -> Iterator[Hit]:
    """Kueue adds an implicit topology request only if all flavors of the queue have a topology."""
    for queue in context.queues:
        placing, others = _mixture(context, queue)
        if placing and others:
            yield Hit(
                queue,
                ("spec", "resourceGroups"),
                f"has {', '.join(placing)} with a topology and {', '.join(others)} without one: pods without a "
                "topology request cannot use the former, and pods with one cannot use the latter",
            )


@rule("L28", "warning", "The pods of an incomplete slice get no topology assignment.")
def beyond_the_last_slice(context: LintContext) -> Iterator[Hit]:
    """Kueue places complete slices only, but admits a pod set whose count is not a multiple of the slice size."""
    for workload, position, pod_set in context.pod_sets:
        request = pod_set.topology_request or {}
        layers = request.get("podsetSliceRequiredTopologyConstraints") or ()
        size = layers[0].get("size") if layers else request.get("podSetSliceSize")
        if size and (rest := pod_set.count % size):
            yield Hit(
                workload,
                ("spec", "podSets", position, "count"),
                f"is {pod_set.count}, in slices of {size}: {counted(rest, 'pod')} {verb(rest, 'get')} "
                f"no topology assignment, but the workload is admitted; use a multiple of {size}",
            )
