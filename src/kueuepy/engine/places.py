"""Types of the engine's data about topologies: why pods cannot be placed, and the domains of a tree."""

from typing import Literal, TypeAlias, TypedDict

Exclusion: TypeAlias = tuple[Literal["nodeSelector", "affinity", "taint", "resource"], str, int]
"""The reason why nodes are excluded: the first obstacle, the name of the taint or resource, and the number of nodes."""


class DomainView(TypedDict):
    """A domain, and the number of pods of a pod set that fit into it.

    `pods` is the number of pods that fit now, and `pods_if_empty` the number that would fit if no workload were placed
    in the topology. `pods` and `pods_if_empty` include only pods in whole slices, plus the leader if there is one.
    `excluded` counts the nodes on which no pod fits. `unmanaged` lists at most three pods that hold the missing
    resource of these nodes and that Kueue does not place, the largest first.
    """

    level: str
    values: tuple[str, ...]
    pods: int
    pods_if_empty: int
    nodes: int
    excluded: list[Exclusion]
    unmanaged: list[str]


class PlaceFailureView(TypedDict):
    """The reason why pods cannot be placed: its category in Kueue, and the numbers and names in its message."""

    kind: str
    fit: int
    of: int
    in_slices: bool
    first: str
    second: str
    total_nodes: int


class _Request(TypedDict):
    topology: str
    levels: tuple[str, ...]
    count: int
    has_leader: bool
    resolved: bool
    mode: Literal["required", "preferred", "unconstrained", "slices", "implied"]
    level: str
    slice_size: int
    slice_level: str


class PlaceFactsView(_Request, total=False):
    """The placement of a pod set, and of the leader of its group if any, in the topology of one flavor.

    `largest` is the largest pod count that could be placed with an otherwise identical request. `domains` lists the
    domains of each level down to the requested level, with the largest capacity first and at most 1000 domains per
    level. `domain_counts` is the number of domains of each level. If the request requires a level, `nearest` is the
    domain of this level into which the most pods fit. If `resolved` is False, the request is not valid for this
    topology, and all numbers are absent. `absent` lists the flavor's nodes that the topology leaves out, with the
    reason: `unschedulable`, `not ready` or `without a label of some level`.
    """

    failure: PlaceFailureView | None
    failure_if_empty: PlaceFailureView | None
    largest: int
    largest_if_empty: int
    most_on_a_node: int
    domains: list[DomainView]
    domain_counts: list[int]
    nearest: tuple[str, ...] | None
    sufficient_alone: list[str]
    absent: list[tuple[str, str]]
