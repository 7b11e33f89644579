"""Topology and the nodes in it."""

from collections.abc import Sequence

import msgspec
from msgspec import field

from kueuepy.objects.base import Object, ResourceList
from kueuepy.objects.flavor import Taint

HOSTNAME_LABEL = "kubernetes.io/hostname"


class Topology(Object, frozen=True, kw_only=True):
    """The levels of a data centre, from the widest to the narrowest.

    Source: `apis/kueue/v1beta2/topology_types.go`.

    Attributes:
        levels: Node labels, 1 to 16, each once; `kubernetes.io/hostname` only as the last.
    """

    levels: Sequence[str]


class Node(Object, frozen=True, kw_only=True):
    """A node, for flavors with a topology.

    Attributes:
        capacity: What the node has.
        allocatable: What of it pods may use; by default the capacity.
        taints: The node's taints.
        unschedulable: Whether it takes no new pods (`kubectl cordon`).
        ready: Whether condition `Ready` is true.
    """

    capacity: ResourceList = field(default_factory=dict)
    allocatable: ResourceList = field(default_factory=dict)
    taints: Sequence[Taint] = ()
    unschedulable: bool = False
    ready: bool = True

    def __post_init__(self) -> None:
        """A node's whole capacity is allocatable unless it says otherwise."""
        Object.__post_init__(self)
        if not self.allocatable:
            msgspec.structs.force_setattr(self, "allocatable", self.capacity)
