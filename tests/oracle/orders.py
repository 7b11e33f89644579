"""Who comes first: in a queue, among the heads of a cycle, and among those who may be preempted."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from .shares import Share, share

if TYPE_CHECKING:
    from collections.abc import Callable

    from .quota import Cell, Node


@dataclass
class Head:
    """The head of a queue: what its admission would charge, and whether it is charged once its turn came."""

    queue: Node
    priority: int
    time: int
    usage: dict[Cell, int]
    is_preemptor: bool = False
    is_charged: bool = False


@dataclass
class Gates:
    prioritize_preemptors: bool = False
    prioritize_non_borrowing: bool = True
    priority_sorting: bool = True


@dataclass
class Workload:
    name: str
    queue: Node
    priority: int
    created: int
    usage: dict[Cell, int] = field(default_factory=dict)
    reserved: int = 0
    is_evicted: bool = False


def queue_order(workload: Workload) -> tuple[int, int, str]:
    """Higher priority, then earlier, then by UID (`pkg/cache/queue/cluster_queue.go:queueOrderingFunc`)."""
    return -workload.priority, workload.created, workload.name


def candidate_order(own: Node) -> Callable[[Workload], tuple[bool, bool, int, int, str]]:
    """Evicted first, other queues first, lower priority, later reservation, UID (`common/ordering.go`)."""

    def key(candidate: Workload) -> tuple[bool, bool, int, int, str]:
        not_evicted = not candidate.is_evicted
        return not_evicted, candidate.queue is own, candidate.priority, -candidate.reserved, candidate.name

    return key


def fair_order(heads: list[Head], gates: Gates) -> list[Head]:
    """The tournaments of a cycle, one for each head (`pkg/scheduler/fair_sharing_iterator.go`)."""
    waiting = {head.queue.name: head for head in heads}
    order = []
    while waiting:
        first = waiting[min(waiting)]
        root = first.queue.path()[-1]
        winner = first if root is first.queue else _tournament(root, waiting, _standings(root, waiting), gates)
        assert winner is not None
        del waiting[winner.queue.name]
        order.append(winner)
        if winner.is_charged:
            winner.queue.charge(winner.usage)
    for head in order:
        if head.is_charged:
            head.queue.charge(head.usage, -1)
    return order


Standings = dict[tuple[str, str], Share]  # by cohort and queue: the share of the cohort's child on the queue's path


def _standings(root: Node, waiting: dict[str, Head]) -> Standings:
    standings: Standings = {}
    for head in waiting.values():
        path = head.queue.path()
        if path[-1] is not root:
            continue
        head.queue.charge(head.usage)
        standings.update({(above.name, head.queue.name): share(node) for node, above in pairwise(path)})
        head.queue.charge(head.usage, -1)
    return standings


def _tournament(cohort: Node, waiting: dict[str, Head], standings: Standings, gates: Gates) -> Head | None:
    children = sorted(cohort.children, key=lambda child: (child.is_queue, child.name))
    found = [
        waiting.get(child.name) if child.is_queue else _tournament(child, waiting, standings, gates)
        for child in children
    ]
    # Of equals the first stays.
    return min((head for head in found if head), key=lambda head: _key(head, cohort, standings, gates), default=None)


def _key(head: Head, cohort: Node, standings: Standings, gates: Gates) -> tuple[object, ...]:
    mine = standings[cohort.name, head.queue.name]
    borrows = any(amount > 0 and cell in mine.borrowed for cell, amount in head.usage.items())
    return (
        gates.prioritize_preemptors and not head.is_preemptor,
        gates.prioritize_non_borrowing and borrows,
        mine.key,
        -head.priority if gates.priority_sorting else 0,
        head.time,
    )
