"""The cohort forest in the engine: one row per Cohort and ClusterQueue."""

from collections.abc import Iterator, Mapping, Sequence

from kueuepy._core import Engine, Tables
from kueuepy.engine.records import NodeRow


def nodes_of(engine: Engine) -> list[NodeRow]:
    """Return the current rows of the forest, which are also the rows of the arrays of `kueuepy.engine.tables`."""
    return Tables(engine).nodes


def path_of(nodes: Sequence[NodeRow], row: int) -> list[int]:
    """Return the rows from a node to its root; if Cohorts form a cycle, each of them once."""
    found = {row: None}
    while (row := nodes[row].parent) >= 0 and row not in found:
        found[row] = None
    return list(found)


def roots(nodes: Sequence[NodeRow]) -> dict[str, str]:
    """Return the kind and name of each ClusterQueue's root; if Cohorts form a cycle, one of them is the root."""
    tops = {node.name: nodes[path_of(nodes, row)[-1]] for row, node in enumerate(nodes) if node.kind == "ClusterQueue"}
    return {name: f"{top.kind} {top.name}" for name, top in tops.items()}


def depth_first(nodes: Sequence[NodeRow], colours: Mapping[str, int] | None = None) -> Iterator[tuple[int, int]]:
    """Yield rows and depths of the existing nodes, parents first and siblings by name; Cohorts before ClusterQueues.

    ClusterQueues with a colour precede the others, in the order of the colours. If Cohorts form a cycle, the first
    Cohort of the cycle by name is treated as a root.
    """
    children: dict[int, list[int]] = {}
    for row, node in enumerate(nodes):
        if node.exists:
            children.setdefault(node.parent, []).append(row)

    known = colours or {}

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
