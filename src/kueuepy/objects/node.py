"""Nodes, and the pods on them that Kueue has not placed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import field

from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked
from kueuepy.objects.base import NamespacedObject, Object, QuantityText, ResourceList, quantity
from kueuepy.objects.flavor import Taint
from kueuepy.objects.times import OptionalTimeField, convert_times, default
from kueuepy.objects.topology import HOSTNAME_LABEL, Topology

PodPhase: TypeAlias = Literal["Pending", "Running", "Succeeded", "Failed", "Unknown"]
_MOST_PODS = 110


class Node(Object, frozen=True, kw_only=True):
    """A node, for flavors with a topology.

    It belongs to a flavor if it has all labels of the flavor, and a label for each level of its topology. One that is
    not ready, or cordoned, takes no new pods; the workloads on it stay until it fails.

    Source: `pkg/cache/scheduler/tas_nodes_cache.go`, `pkg/controller/tas/node_controller.go`.

    Attributes:
        capacity: What the node has.
        allocatable: What of it pods may use; by default the capacity. Without `pods` in it, the node takes no pod.
        taints: The node's taints; `NoSchedule` and `NoExecute` keep off whom they are not tolerated by.
        unschedulable: Whether it takes no new pods (`kubectl cordon`).
        ready: Whether condition `Ready` is true; `None` for a node that has no such condition, which is one that
            failed. A manifest without any condition is that of a ready node.
        ready_unknown: Whether the status of a condition `Ready` that is not true is `Unknown` instead of `False`, as it
            is when the node stopped reporting. Both are not ready; a change from one to the other wakes waiting
            workloads, as each change of a node does.
        other_conditions: The status of each condition but `Ready`, by type; a change wakes who waits, as any change of
            a node does.
        ready_since: When the condition took its status, a datetime; `None` for when it was applied so first. It may be
            given as text or in seconds since 1970.
    """

    capacity: ResourceList = field(default_factory=dict)
    allocatable: ResourceList = field(default_factory=dict)
    taints: Sequence[Taint] = ()
    unschedulable: bool = False
    ready: bool | None = True
    ready_unknown: bool = False
    other_conditions: dict[str, str] = field(default_factory=dict)
    ready_since: OptionalTimeField = default(None)

    def __post_init__(self) -> None:
        """A node's whole capacity is allocatable unless it says otherwise."""
        Object.__post_init__(self)
        convert_times(self, "ready_since")
        if not self.allocatable:
            msgspec.structs.force_setattr(self, "allocatable", self.capacity)


class Pod(NamespacedObject, frozen=True, kw_only=True):
    """A pod of the cluster that is no job: it takes room on its node, which a topology then does not have.

    A pod that a topology has placed, known by its annotations `kueue.x-k8s.io/podset-…-topology`, takes none beside
    that of its workload. It tells by its phase whether anything still runs on a node that is not ready.

    Source: `pkg/controller/tas/pod_usage_controller.go`.

    Attributes:
        spec: The pod's spec as in the manifest; `nodeName` is its node.
        phase: `Succeeded` and `Failed` take no room.
    """

    spec: dict[str, Any] = field(default_factory=dict)
    phase: PodPhase = "Running"

    @property
    def node_name(self) -> str:
        """The node that it is on; empty for none."""
        return str(self.spec.get("nodeName") or "")

    @classmethod
    @checked
    def of(
        cls,
        name: str,
        node_name: str = "",
        *,
        requests: Mapping[str, QuantityText] | None = None,
        namespace: str = "default",
        annotations: Mapping[str, str] | None = None,
        phase: PodPhase = "Running",
    ) -> "Pod":
        """The pod of one container that requests so much.

        >>> Pod.of("agent", "n1", requests={"cpu": 1}).spec["nodeName"]
        'n1'

        Raises:
            InvalidSpecError: A request is no amount.
        """
        asked = {key: quantity(amount, f"Pod.of: requests: {key}") for key, amount in (requests or {}).items()}
        container: dict[str, Any] = {"name": "main", **({"resources": {"requests": asked}} if asked else {})}
        spec = {"containers": [container], **({"nodeName": node_name} if node_name else {})}
        return cls(name, namespace=namespace, annotations=dict(annotations or {}), spec=spec, phase=phase)


@checked
def nodes(
    topology: Topology | Sequence[str],
    shape: Sequence[int],
    *,
    capacity: Mapping[str, QuantityText],
    labels: Mapping[str, str] | None = None,
    taints: Iterable[Taint | str] = (),
    prefix: str = "",
) -> tuple[Node, ...]:
    """The nodes of an even data centre: so many domains of the first level, in each so many of the second, and so on.

    A domain is called by the first letter of its level and its number, a node by all of its domains. If the topology
    does not end with `kubernetes.io/hostname`, the last number is that of nodes in each of its lowest domains.

    >>> topology = Topology("racks", levels=["block", "rack", "kubernetes.io/hostname"])
    >>> [node.name for node in nodes(topology, (1, 2, 2), capacity={"nvidia.com/gpu": 8})]
    ['b1-r1-h1', 'b1-r1-h2', 'b1-r2-h1', 'b1-r2-h2']

    Args:
        topology: A Topology, or its levels.
        shape: How many at each level, ending with nodes.
        capacity: What each node has; 110 pods unless it says otherwise.
        labels: Labels of all nodes beside those of their domains.
        taints: Taints of all nodes, which may be written as text: `"spot=true:NoSchedule"`.
        prefix: What the names of all nodes begin with.

    Raises:
        InvalidSpecError: `shape` has not a number for each level, or an amount is none.
    """
    levels = list(topology.levels if isinstance(topology, Topology) else topology)
    if levels[-1:] != [HOSTNAME_LABEL]:
        levels.append(HOSTNAME_LABEL)
    counts = list(shape)
    if len(counts) != len(levels) or prod(counts) < 1 or min(counts) < 1:
        raise InvalidSpecError(f"nodes: shape: is {tuple(counts)}; it must be a number for each of {', '.join(levels)}")
    amounts = {"pods": _MOST_PODS, **{key: quantity(amount, f"nodes: {key}") for key, amount in capacity.items()}}
    tainted = [Taint.of(taint) if isinstance(taint, str) else taint for taint in taints]
    letters = [re.split(r"[-./]", level)[-1][:1] for level in levels]
    found = []
    for place in product(*(range(1, count + 1) for count in counts)):
        values = [f"{letter}{number}" for letter, number in zip(letters, place, strict=True)]
        name = f"{prefix}{'-'.join(values)}"
        domains = dict(zip(levels, [*values[:-1], name], strict=True))
        found.append(Node(name, labels={**(labels or {}), **domains}, capacity=amounts, taints=tainted))
    return tuple(found)
