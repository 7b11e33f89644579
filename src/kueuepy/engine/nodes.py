"""The cohort forest in the engine: one row per Cohort and ClusterQueue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from kueuepy._core import Engine, Tables

if TYPE_CHECKING:
    from collections.abc import Sequence


class Node(NamedTuple):
    """A Cohort or a ClusterQueue.

    Attributes:
        name: The name.
        kind: `ClusterQueue` or `Cohort`.
        parent: The row of its Cohort; -1 for a root.
        exists: Whether the object exists. Rows of deleted objects remain.
        is_active: Whether it is an active ClusterQueue.
    """

    name: str
    kind: Literal["ClusterQueue", "Cohort"]
    parent: int
    exists: bool
    is_active: bool


def nodes_of(engine: Engine) -> list[Node]:
    """Return the current rows of the forest, which are also the rows of the arrays of `kueuepy.engine.tables`."""
    return [Node(*row) for row in Tables(engine).nodes]


def roots(nodes: Sequence[Node]) -> dict[str, str]:
    """Return the kind and name of each ClusterQueue's root; if Cohorts form a cycle, one of them is the root."""
    found = {}
    for row, node in enumerate(nodes):
        if node.kind == "ClusterQueue":
            above, passed = row, {row}
            while (up := nodes[above].parent) >= 0 and up not in passed:
                above = up
                passed.add(up)
            found[node.name] = f"{nodes[above].kind} {nodes[above].name}"
    return found
