"""The cohort forest in the engine: one row per Cohort and ClusterQueue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kueuepy._core import Engine, Tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kueuepy.engine.records import NodeRow


def nodes_of(engine: Engine) -> list[NodeRow]:
    """Return the current rows of the forest, which are also the rows of the arrays of `kueuepy.engine.tables`."""
    return Tables(engine).nodes


def roots(nodes: Sequence[NodeRow]) -> dict[str, str]:
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


def depth_first(nodes: Sequence[NodeRow], places: Mapping[str, int] | None = None) -> Iterator[tuple[int, int]]:
    """Yield rows and depths of the existing nodes, parents first and siblings by name; Cohorts before ClusterQueues.

    ClusterQueues with a place precede the others, in the order of their places. If Cohorts form a cycle, the first
    Cohort of the cycle by name is treated as a root.
    """
    children: dict[int, list[int]] = {}
    for row, node in enumerate(nodes):
        if node.exists:
            children.setdefault(node.parent, []).append(row)

    known = places or {}

    def order(row: int) -> tuple[bool, int, str]:
        is_queue = nodes[row].kind == "ClusterQueue"
        return (is_queue, known.get(nodes[row].name, len(known)) if is_queue else 0, nodes[row].name)

    seen: set[int] = set()
    for root in (*sorted(children.get(-1, ()), key=order), *sorted(range(len(nodes)), key=order)):
        stack = [(root, 0)] if nodes[root].exists else []
        while stack:
            row, depth = stack.pop()
            if row in seen:
                continue
            seen.add(row)
            yield row, depth
            stack += [(child, depth + 1) for child in sorted(children.get(row, ()), key=order, reverse=True)]
