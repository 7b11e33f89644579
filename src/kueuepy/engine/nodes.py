"""The cohort forest as the core holds it: a row for each Cohort and ClusterQueue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from kueuepy._core import Engine, Tables

if TYPE_CHECKING:
    from collections.abc import Sequence


class Node(NamedTuple):
    """A Cohort or a ClusterQueue.

    Attributes:
        name: Its name.
        kind: Which of the two.
        parent: The row of its Cohort; -1 for a root.
        exists: Whether it is there; a row outlives its node.
        is_active: Whether it is a ClusterQueue that admits.
    """

    name: str
    kind: Literal["ClusterQueue", "Cohort"]
    parent: int
    exists: bool
    is_active: bool


def nodes_of(engine: Engine) -> list[Node]:
    """The rows of the forest now; the same rows as those of the arrays of `kueuepy.engine.tables`."""
    return [Node(*row) for row in Tables(engine).nodes]


def roots(nodes: Sequence[Node]) -> dict[str, str]:
    """By ClusterQueue, kind and name of the root of its tree; of Cohorts in a cycle, one of these."""
    found = {}
    for row, node in enumerate(nodes):
        if node.kind == "ClusterQueue":
            above, passed = row, {row}
            while (up := nodes[above].parent) >= 0 and up not in passed:
                above = up
                passed.add(up)
            found[node.name] = f"{nodes[above].kind} {nodes[above].name}"
    return found
