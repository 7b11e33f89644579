"""Nodes, and the pods on them that are not managed by Kueue."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import field

from kueuepy.errors import InvalidSpecError, checked
from kueuepy.objects.base import NamespacedObject, Object, QuantityText, ResourceList, quantity
from kueuepy.objects.flavor import Taint
from kueuepy.objects.times import OptionalTimeField, default
from kueuepy.objects.topology import HOSTNAME_LABEL, Topology

PodPhase: TypeAlias = Literal["Pending", "Running", "Succeeded", "Failed", "Unknown"]
_MOST_PODS = 110


class Node(Object, frozen=True, kw_only=True):
    """A Kubernetes node, used for flavors with a topology.

    A node belongs to a flavor if it has all node labels of the flavor and a label for each level of the flavor's
    topology. Kueue places no new pods on a node that is not ready or is cordoned. Workloads already on the node keep
    their assignment until the node fails.

    Source: `pkg/cache/scheduler/tas_nodes_cache.go`, `pkg/controller/tas/node_controller.go`.

    >>> node = Node("n1", labels={"rack": "r1"}, capacity={"cpu": 64, "pods": 110})
    >>> node.allocatable
    {'cpu': 64, 'pods': 110}

    Attributes:
        capacity: Total resources of the node (`status.capacity`).
        allocatable: Resources available to pods (`status.allocatable`). Default: the capacity. Without the resource
            `pods`, no pod fits on the node.
        taints: Taints of the node (`spec.taints`). Pods must tolerate the taints with effect `NoSchedule` or
            `NoExecute`. Default: none.
        unschedulable: Whether the node is cordoned (`spec.unschedulable`). Default: `False`.
        ready: Whether the condition `Ready` is true. Default: `True`. With `ready=None`, the node has other conditions
            but no condition `Ready`, and Kueue treats the node as failed. A manifest without any conditions is read as
            a ready node.
        ready_unknown: Whether the condition `Ready`, if it is not true, has status `Unknown` rather than `False`, for
            example because the node stopped reporting. A node whose condition `Ready` has status `Unknown` or `False`
            is not ready. Default: `False`.
        other_conditions: Status of each condition other than `Ready`, by type. Kueue retries pending workloads when any
            condition of a node changes.
        ready_since: Time of the last change of the condition `Ready`, a datetime. With `ready_since=None`, the default,
            the last change is the time at which a node with this value of `ready` was first applied.
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
        """Set `allocatable` to the capacity if it is empty."""
        Object.__post_init__(self)
        if not self.allocatable:
            msgspec.structs.force_setattr(self, "allocatable", self.capacity)


class Pod(NamespacedObject, frozen=True, kw_only=True):
    """A pod that Kueue does not manage. The requests of the pod reduce the free capacity of its node in a topology.

    A pod that Kueue placed with a topology is identified by its annotations `kueue.x-k8s.io/podset-…-topology`. Kueue
    does not count the resources of a pod with topology annotations again, because the pod's Workload accounts for them.
    Kueue checks the phases of pods with topology annotations to determine whether any of them still runs on a node that
    is not ready.

    Source: `pkg/controller/tas/pod_usage_controller.go`.

    >>> Pod.of("agent", "n1", requests={"cpu": 1}, namespace="kube-system").node_name
    'n1'

    Attributes:
        spec: Spec of the pod as written in the manifest; the field `nodeName` contains the name of the pod's node.
        phase: Phase of the pod (`status.phase`). Pods that are `Succeeded` or `Failed` use no resources. Default:
            `Running`.
    """

    spec: dict[str, Any] = field(default_factory=dict)
    phase: PodPhase = "Running"

    @property
    def node_name(self) -> str:
        """The name of the pod's node; empty if the pod is not on a node."""
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
        """Create a pod with one container.

        >>> Pod.of("agent", "n1", requests={"cpu": 1}).spec["nodeName"]
        'n1'

        Args:
            name: Name of the pod.
            node_name: Name of the pod's node; empty if the pod is not on a node.
            requests: Resource requests of the container.
            namespace: Namespace of the pod.
            annotations: Annotations of the pod.
            phase: Phase of the pod.

        Returns:
            The pod.

        Raises:
            InvalidSpecError: A request is not a quantity.
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
    """Create the nodes of a regular topology, in which all domains of a level have the same number of child domains.

    The name of a domain consists of the first letter of its level and a number. The name of a node consists of the
    names of all domains that contain the node. If the topology does not end with `kubernetes.io/hostname`, the last
    number of `shape` is the number of nodes in each of the lowest domains.

    >>> topology = Topology("racks", levels=["block", "rack", "kubernetes.io/hostname"])
    >>> [node.name for node in nodes(topology, (1, 2, 2), capacity={"nvidia.com/gpu": 8})]
    ['b1-r1-h1', 'b1-r1-h2', 'b1-r2-h1', 'b1-r2-h2']

    Args:
        topology: A Topology, or its levels.
        shape: Number of domains of the first level, then the number of children per domain for each further level. The
            last entry of `shape` is the number of nodes per lowest domain.
        capacity: Capacity of each node. If `capacity` does not contain `pods`, each node can run 110 pods.
        labels: Labels of all nodes, in addition to the labels of their domains.
        taints: Taints of all nodes, as objects or as strings such as `"spot=true:NoSchedule"`.
        prefix: Prefix of all node names.

    Returns:
        The nodes, in the order of their domains.

    Raises:
        InvalidSpecError: `shape` does not have one positive number per level, an amount is not a quantity, or a taint
            cannot be parsed.
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
    for position in product(*(range(1, count + 1) for count in counts)):
        values = [f"{letter}{number}" for letter, number in zip(letters, position, strict=True)]
        name = f"{prefix}{'-'.join(values)}"
        domains = dict(zip(levels, [*values[:-1], name], strict=True))
        found.append(Node(name, labels={**(labels or {}), **domains}, capacity=amounts, taints=tainted))
    return tuple(found)
