"""Dominant resource shares (`pkg/cache/scheduler/fair_sharing.go`)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .quota import UNLIMITED, Cell, Node, minus, plus


@dataclass(frozen=True)
class Share:
    ratio: float
    weight: float
    resource: str
    borrowed: frozenset[Cell]

    @property
    def precise(self) -> float:
        if self.ratio == 0:
            return 0.0
        return math.inf if self.weight == 0 else self.ratio / self.weight

    @property
    def rounded(self) -> int:
        return UNLIMITED if self.precise == math.inf else math.ceil(self.precise)

    @property
    def key(self) -> tuple[bool, float]:
        """Return the comparison key: borrowing with weight 0 is the largest share, then ratios decide."""
        unweighted = self.weight == 0 and self.ratio != 0
        return unweighted, self.ratio if unweighted else self.precise


def share(node: Node) -> Share:
    if node.parent is None:
        return Share(0.0, node.weight, "", frozenset())
    excess = {cell: minus(node.usage(cell), node.subtree(cell)) for cell in node.cells()}
    borrowed = {cell: amount for cell, amount in excess.items() if amount > 0}
    root = node.path()[-1]
    best = (0.0, "")
    for resource in sorted({resource for _, resource in borrowed}):
        total = lendable = 0
        for cell, amount in sorted(borrowed.items()):
            total = plus(total, amount) if cell[1] == resource else total
        for cell in sorted(root.cells()):
            lendable = plus(lendable, node.parent.potential(cell)) if cell[1] == resource else lendable
        if lendable > 0:
            ratio = float(total) * 1000.0 / float(lendable)
            best = (ratio, resource) if ratio > best[0] else best
    return Share(best[0], node.weight, best[1], frozenset(borrowed))
