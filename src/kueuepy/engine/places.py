"""The shapes of what the core tells of topologies: why pods find no place, and what the domains of a tree have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypedDict

if TYPE_CHECKING:
    from kueuepy._core import Engine

Exclusion: TypeAlias = tuple[Literal["nodeSelector", "affinity", "taint", "resource"], str, int]
"""Why nodes hold no pod: what is first in the way, the taint's or the resource's name, and how many nodes."""


class DomainView(TypedDict):
    """A domain, how many pods of a pod set it would hold now and if no topology had placed any, and what is in the way.

    Pods are those in whole slices, beside a leader if there is one. `excluded` counts nodes in it that hold none.
    """

    level: str
    values: tuple[str, ...]
    pods: int
    pods_if_empty: int
    nodes: int
    excluded: list[Exclusion]


class PlaceFailureView(TypedDict):
    """Why there is no place: the kind of Kueue's reason, and its numbers and names."""

    kind: str
    fit: int
    of: int
    in_slices: bool
    first: str
    second: str
    total_nodes: int


class PlaceFactsView(TypedDict):
    """A pod set, with the leader of its group if it has one, in the topology of one flavor.

    `largest` is the most pods that would have a place under the same request. `domains` go down to the level that is
    asked for, level by level, those that hold most first and at most 1000 of each; `domain_counts` is how many there
    are of each level. `nearest` is the domain of a required level that holds most. Without `resolved`, the request
    makes no sense in this topology, and there are no numbers.
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
    """The tree of one flavor's topology.

    Amounts are integers, thousandths for cpu; their rows are leaves, their columns the resources.

    Attributes:
        topology: The Topology's name.
        levels: Its levels.
        resources: What the nodes have.
        domains: Level, row of the parent (-1 for none) and value of each, level by level.
        leaves: The row of the domain of each leaf.
        capacity: What the nodes of a leaf have in all.
        free: The same, less what pods outside Kueue take.
        used: What workloads take of that.
        uses: Leaf, workload, pods, and what each of these takes.
        absent: Nodes with the flavor's labels that are in no domain, and why.
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
    """The tree of a flavor; `None` if it has no topology, or one that is not there."""
    found = engine.topology_tree(flavor)
    return None if found is None else TreeView(*found)
