"""Quota of cohort trees (`pkg/cache/scheduler/resource_node.go`), each number by its definition.

Amounts are integers. `UNLIMITED` does not change when an amount is added or subtracted; `UNLIMITED - UNLIMITED` is 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field

UNLIMITED = 2**63 - 1
LOWEST = -(2**63)
Cell = tuple[str, str]


def plus(a: int, b: int) -> int:
    return UNLIMITED if UNLIMITED in (a, b) else max(LOWEST, min(UNLIMITED, a + b))


def minus(a: int, b: int) -> int:
    if a == UNLIMITED:
        return 0 if b == UNLIMITED else UNLIMITED
    return LOWEST if b == UNLIMITED else max(LOWEST, min(UNLIMITED, a - b))


@dataclass
class Quota:
    nominal: int
    borrowing_limit: int = UNLIMITED
    lending_limit: int = UNLIMITED


@dataclass
class Node:
    """A ClusterQueue or a Cohort. Only a ClusterQueue is charged; what a Cohort uses follows."""

    name: str
    is_queue: bool
    parent: Node | None = None
    quotas: dict[Cell, Quota] = field(default_factory=dict)
    weight: float = 1.0
    active: bool = True
    children: list[Node] = field(default_factory=list)
    charged: dict[Cell, int] = field(default_factory=dict)

    def quota(self, cell: Cell) -> Quota:
        return self.quotas.get(cell, Quota(0))

    def cells(self) -> set[Cell]:
        """Return the flavors and resources with quota in this subtree."""
        return set(self.quotas).union(*(child.cells() for child in self.children))

    def subtree(self, cell: Cell) -> int:
        total = self.quota(cell).nominal
        for child in self.children:
            total = plus(total, minus(child.subtree(cell), child.local(cell)))
        return total

    def local(self, cell: Cell) -> int:
        """Return the quota that is never lent."""
        return max(0, minus(self.subtree(cell), self.quota(cell).lending_limit))

    def usage(self, cell: Cell) -> int:
        if self.is_queue:
            return self.charged.get(cell, 0)
        total = 0
        for child in self.children:
            total = plus(total, max(0, minus(child.usage(cell), child.local(cell))))
        return total

    def local_available(self, cell: Cell) -> int:
        return max(0, minus(self.local(cell), self.usage(cell)))

    def raw_available(self, cell: Cell) -> int:
        total, used = self.subtree(cell), self.usage(cell)
        if self.parent is None:
            return minus(total, used)
        above, limit = self.parent.raw_available(cell), self.quota(cell).borrowing_limit
        if limit != UNLIMITED:
            kept = minus(minus(total, self.local(cell)), max(0, minus(used, self.local(cell))))
            above = min(above, plus(kept, limit))
        return plus(self.local_available(cell), above)

    def available(self, cell: Cell) -> int:
        return max(0, self.raw_available(cell))

    def potential(self, cell: Cell) -> int:
        if self.parent is None:
            return self.subtree(cell)
        unlimited = plus(self.local(cell), self.parent.potential(cell))
        return min(unlimited, plus(self.subtree(cell), self.quota(cell).borrowing_limit))

    def borrows_with(self, cell: Cell, amount: int) -> bool:
        return plus(self.usage(cell), amount) > self.subtree(cell)

    def is_over(self, cells: list[Cell]) -> bool:
        return any(self.borrows_with(cell, 0) for cell in cells)

    def path(self) -> list[Node]:
        """Return the path from this node to the root."""
        return [self, *(self.parent.path() if self.parent else ())]

    def height(self) -> int:
        present = [child for child in self.children if child.active]
        return max([min(1, len(present)), *(1 + child.height() for child in present if not child.is_queue)])

    def lowest_subtree_that_fits(self, cell: Cell, amount: int) -> tuple[int, bool]:
        """Its height, and whether it is smaller than the whole tree."""
        if self.parent is None or not self.borrows_with(cell, amount):
            return 0, self.parent is not None
        remaining = minus(amount, self.local_available(cell))
        for cohort in self.path()[1:]:
            if not cohort.borrows_with(cell, remaining):
                return cohort.height(), cohort.parent is not None
            remaining = minus(remaining, cohort.local_available(cell))
        return self.path()[-1].height(), False

    def charge(self, usage: dict[Cell, int], sign: int = 1) -> None:
        for cell, amount in usage.items():
            self.charged[cell] = self.charged.get(cell, 0) + sign * amount


class Forest:
    """Nodes by name; implicit Cohorts exist without quotas."""

    def __init__(self) -> None:
        self.queues: dict[str, Node] = {}
        self.cohorts: dict[str, Node] = {}

    def add(self, node: Node, parent: str | None) -> Node:
        known = self.queues if node.is_queue else self.cohorts
        if node.name in known:  # referenced before it was declared
            node.children = known[node.name].children
            for child in node.children:
                child.parent = node
        known[node.name] = node
        if parent is not None:
            if parent not in self.cohorts:
                self.cohorts[parent] = Node(parent, is_queue=False)
            node.parent = self.cohorts[parent]
            node.parent.children.append(node)
        return node
