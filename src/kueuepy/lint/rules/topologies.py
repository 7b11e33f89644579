"""Rules on topologies: nodes that are in none, requests that none can meet."""

from collections.abc import Iterator
from typing import Any

from kueuepy.engine.places import PlaceFactsView
from kueuepy.errors.words import counted, verb
from kueuepy.lint.context import LintContext
from kueuepy.lint.rule import Hit, rule
from kueuepy.objects import ClusterQueue, Node, PodSet, ResourceFlavor, Workload

_EXPLICIT = (
    "required",
    "preferred",
    "unconstrained",
    "podSetSliceRequiredTopology",
    "podSetSliceSize",
    "podsetSliceRequiredTopologyConstraints",
)


def _placing(context: LintContext) -> Iterator[tuple[ResourceFlavor, tuple[str, ...]]]:
    """The flavors whose Topology is there, with its levels."""
    levels = {topology.name: tuple(topology.levels) for topology in context.manifest.topologies}
    for flavor in context.manifest.resource_flavors:
        if flavor.topology_name in levels:
            yield flavor, levels[flavor.topology_name]


def _is_of(node: Node, flavor: ResourceFlavor) -> bool:
    """Whether a node has the labels of a flavor, whatever the levels."""
    return all(node.labels.get(key, "") == value for key, value in flavor.node_labels.items())


@rule("L21", "warning", "A flavor with a topology and without nodes places no pod.")
def without_nodes(context: LintContext) -> Iterator[Hit]:
    """Quota is not enough there: each pod needs a node that is given."""
    nodes = context.manifest.nodes
    for flavor, levels in _placing(context):
        if not any(_is_of(node, flavor) and all(level in node.labels for level in levels) for node in nodes):
            why = "none of the Nodes has its labels and all levels" if nodes else "no Node is given"
            yield Hit(
                flavor,
                ("spec", "topologyName"),
                f"{why}: pods have no place in {flavor.topology_name}, whatever quota is free; give its Nodes, as "
                "kubectl get nodes -o yaml prints them",
            )


@rule("L22", "error", "A topology request that no domain can meet waits for ever.")
def no_domain_holds_it(context: LintContext) -> Iterator[Hit]:
    """What is asked for in one domain has to fit into one, with nothing else there."""
    if not context.manifest.nodes or not any(True for _ in _placing(context)):
        return
    for workload in context.workloads:
        for position, pod_set in enumerate(workload.pod_sets):
            if not _asks(pod_set):
                continue
            if (place := _nowhere(context, workload, pod_set.name)) is not None:
                most = place["largest_if_empty"]
                yield Hit(
                    workload,
                    ("spec", "podSets", position, "topologyRequest"),
                    f"asks for {counted(pod_set.count, 'pod')} {_place_text(place)}, and even without any workload at "
                    f"most {most} of them {verb(most, 'have')} a place in {place['topology']}; ask for fewer pods, "
                    "for less a pod, or for a wider level",
                )


def _place_text(place: PlaceFactsView) -> str:
    return f"in one {place['level']}" if place["mode"] == "required" else f"in topology {place['topology']}"


def _asks(pod_set: PodSet) -> bool:
    """Whether a pod set asks for a topology itself."""
    request: dict[str, Any] = pod_set.topology_request or {}
    return any(request.get(name) is not None for name in _EXPLICIT)


def _nowhere(context: LintContext, workload: Workload, pod_set: str) -> PlaceFactsView | None:
    """The best of the flavors that could place a pod set, if it has a place in none, with nothing else there."""
    engine = context.empty.fork()
    number = engine.submit(workload)
    facts = engine.explain(number)
    found = [f for p in facts["pod_sets"] if p["name"] == pod_set for f in p["flavors"] if not f["ineligible"]]
    places = [flavor["place"] for flavor in found]
    met = [place for place in places if place is not None and place["failure_if_empty"] is not None]
    if not met or len(met) < len(places):
        return None
    return max(met, key=lambda place: place["largest_if_empty"])


@rule("L23", "error", "A level whose label no node has leaves a topology without domains.")
def level_of_no_node(context: LintContext) -> Iterator[Hit]:
    """A node is in a topology only with a label for each of its levels."""
    known = {label for node in context.manifest.nodes for label in node.labels}
    for topology in context.manifest.topologies if known else ():
        for position, level in enumerate(topology.levels):
            if level not in known:
                yield Hit(
                    topology,
                    ("spec", "levels", position, "nodeLabel"),
                    f'is "{level}", which is a label of none of the {len(context.manifest.nodes)} Nodes: no node is in '
                    "the topology; label the nodes, or leave the level out",
                )


@rule("L24", "warning", "A node without a label for some level is outside of its topology.")
def outside_of_its_topology(context: LintContext) -> Iterator[Hit]:
    """Its capacity may count as quota, and takes no pod that a topology places."""
    known = {label for node in context.manifest.nodes for label in node.labels}
    for node in context.manifest.nodes:
        for flavor, levels in _placing(context):
            missing = [level for level in levels if level not in node.labels and level in known]
            if missing and _is_of(node, flavor):
                yield Hit(
                    node,
                    ("metadata", "labels"),
                    f"has the labels of flavor {flavor.name} and none for {', '.join(missing)}: no pod of topology "
                    f"{flavor.topology_name} goes there",
                )


@rule("L25", "warning", "A node without allocatable pods takes none that a topology places.")
def no_pods(context: LintContext) -> Iterator[Hit]:
    """Each pod takes one of the resource pods, of which a kubelet tells how many there are."""
    for node in context.manifest.nodes:
        if "pods" not in node.allocatable and any(_is_of(node, flavor) for flavor, _ in _placing(context)):
            yield Hit(
                node,
                ("status", "allocatable"),
                "has no pods: the node holds none, however much else is free; give how many it takes, such as 110",
            )


def _mixture(context: LintContext, queue: ClusterQueue) -> tuple[list[str], list[str]]:
    """The flavors of a queue with and without a topology."""
    quotas = (one for group in queue.resource_groups for one in group.flavors)
    named = [one.name for one in quotas if one.name in context.flavors]
    placing = [name for name in named if context.flavors[name].topology_name is not None]
    return placing, [name for name in named if name not in placing]


@rule("L26", "error", "A topology request in a queue without a topology is never admitted.")
def no_topology_in_the_queue(context: LintContext) -> Iterator[Hit]:
    """Whoever asks for a topology gets no flavor without one."""
    for queue in context.queues:
        placing, others = _mixture(context, queue)
        for workload in context.workloads_of(queue) if others and not placing else ():
            for position, pod_set in enumerate(workload.pod_sets):
                if _asks(pod_set):
                    yield Hit(
                        workload,
                        ("spec", "podSets", position, "topologyRequest"),
                        f"asks for a topology, and no flavor of {queue.name} has one: it is never admitted; give "
                        f"{others[0]} a topologyName, or take the request away",
                    )


@rule("L27", "note", "Of flavors with and without a topology, pods without a request get only the latter.")
def with_and_without(context: LintContext) -> Iterator[Hit]:
    """Only where all flavors of a queue have a topology do all pods ask for one."""
    for queue in context.queues:
        placing, others = _mixture(context, queue)
        if placing and others:
            yield Hit(
                queue,
                ("spec", "resourceGroups"),
                f"has {', '.join(placing)} with a topology and {', '.join(others)} without: pods that ask for none are "
                "kept out of the former, and those that do out of the latter",
            )


@rule("L28", "warning", "Pods beyond the last whole slice are placed nowhere.")
def beyond_the_last_slice(context: LintContext) -> Iterator[Hit]:
    """Kueue places whole slices, and admits a pod set whose count is no multiple of their size without the rest."""
    for workload in context.workloads:
        for position, pod_set in enumerate(workload.pod_sets):
            request = pod_set.topology_request or {}
            layers = request.get("podsetSliceRequiredTopologyConstraints") or ()
            size = layers[0].get("size") if layers else request.get("podSetSliceSize")
            if size and pod_set.count % size:
                yield Hit(
                    workload,
                    ("spec", "podSets", position, "count"),
                    f"is {pod_set.count}, in slices of {size}: {pod_set.count % size} of the pods get no place, and "
                    "the workload is admitted all the same; make it a multiple",
                )
