"""Types of the engine's data about topologies: why pods cannot be placed, and the domains of a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypedDict

if TYPE_CHECKING:
    from kueuepy._core import Engine

Exclusion: TypeAlias = tuple[Literal["nodeSelector", "affinity", "taint", "resource"], str, int]
"""Why nodes cannot hold a pod: the first obstacle, the name of the taint or resource, and the number of nodes."""


class DomainView(TypedDict):
    """A domain, and the number of pods of a pod set that fit into it.

    `pods` is the number that fit now, and `pods_if_empty` the number that would fit without the workloads placed in the
    topology. Both numbers include only pods in whole slices, plus the leader if there is one. `excluded` counts the
    nodes on which no pod fits.
    """

    level: str
    values: tuple[str, ...]
    pods: int
    pods_if_empty: int
    nodes: int
    excluded: list[Exclusion]


class PlaceFailureView(TypedDict):
    """The reason why pods cannot be placed: its kind in Kueue, and the numbers and names in its message."""

    kind: str
    fit: int
    of: int
    in_slices: bool
    first: str
    second: str
    total_nodes: int


class PlaceFactsView(TypedDict):
    """Topology facts, for one flavor, about a pod set and the leader of its group, if any.

    `largest` is the largest number of pods that could be placed with the same request. `domains` lists the domains down
    to the requested level, level by level, with the largest capacity first and at most 1000 per level; `domain_counts`
    is the number of domains of each level. `nearest` is the domain of a required level into which the most pods fit. If
    `resolved` is False, the request is not valid for this topology, and all numbers are absent.
    """

    topology: str
    levels: tuple[str, ...]
    count: int
    has_leader: bool
    resolved: bool
    mode: Literal["required", "preferred", "unconstrained", "slices", "implied"]
    level: str
    slice_size: int
    slice_level: str
    failure: PlaceFailureView | None
    failure_if_empty: PlaceFailureView | None
    largest: int
    largest_if_empty: int
    most_on_a_node: int
    domains: list[DomainView]
    domain_counts: list[int]
    nearest: tuple[str, ...] | None
    sufficient_alone: list[str]


TreeRecord: TypeAlias = tuple[
    str,
    tuple[str, ...],
    list[str],
    list[tuple[int, int, str]],
    list[int],
    list[list[int]],
    list[list[int]],
    list[list[int]],
    list[tuple[int, str, int, dict[str, int]]],
    list[tuple[str, str]],
]
"""The fields of a TreeView."""


class TreeView(NamedTuple):
    """The topology tree of a flavor.

    Amounts are integers, in millicores for cpu. In the lists of amounts, each row is a leaf and each column a resource.

    Attributes:
        topology: The name of the Topology.
        levels: The levels of the Topology.
        resources: The resources of the nodes.
        domains: Level, row of the parent (-1 for none) and value of each domain, level by level.
        leaves: For each leaf, the row of its domain.
        capacity: For each leaf, the total capacity of its nodes.
        free: The capacity minus the requests of pods that Kueue does not manage.
        used: For each leaf, the amounts that workloads use.
        uses: For each workload in a leaf, the leaf, the workload, its number of pods there, and the requests per pod.
        absent: Nodes with the flavor's labels that belong to no domain, and the reason.
    """

    topology: str
    levels: tuple[str, ...]
    resources: list[str]
    domains: list[tuple[int, int, str]]
    leaves: list[int]
    capacity: list[list[int]]
    free: list[list[int]]
    used: list[list[int]]
    uses: list[tuple[int, str, int, dict[str, int]]]
    absent: list[tuple[str, str]]


def tree_of(engine: Engine, flavor: str) -> TreeView | None:
    """Return the topology tree of a flavor; `None` if the flavor has no topology or it does not exist."""
    found = engine.topology_tree(flavor)
    return None if found is None else TreeView(*found)
