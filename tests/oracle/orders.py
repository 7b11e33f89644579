"""Orders: of a queue, of the heads of a cycle, and of preemption candidates."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cmp_to_key
from itertools import pairwise
from typing import TYPE_CHECKING, Any

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
    local: str = ""  # its LocalQueue
    local_usage: float | None = None  # what that has used, where admission fair sharing is on


def queue_order(workload: Workload) -> tuple[int, int, str]:
    """Higher priority, then earlier, then by UID (`pkg/cache/queue/cluster_queue.go:queueOrderingFunc`)."""
    return -workload.priority, workload.created, workload.name


def candidate_order(own: Node) -> Callable[[Workload], Any]:
    """Evicted first, other queues first, of one queue the LocalQueue that used most, lower priority, later
    reservation, UID (`pkg/scheduler/preemption/common/ordering.go:CandidatesOrdering`).
    """

    def compare(a: Workload, b: Workload) -> int:
        first = (not a.is_evicted, a.queue is own), (not b.is_evicted, b.queue is own)
        if first[0] != first[1]:
            return -1 if first[0] < first[1] else 1
        usages = a.local_usage, b.local_usage
        if a.queue is b.queue and a.local != b.local and None not in usages and usages[0] != usages[1]:
            return -1 if usages[0] > usages[1] else 1
        last = (a.priority, -a.reserved, a.name), (b.priority, -b.reserved, b.name)
        return -1 if last[0] < last[1] else int(last[0] != last[1])

    return cmp_to_key(compare)


def is_transitive(workloads: list[Workload], own: Node) -> bool:
    """Return whether the order of candidates is transitive; LocalQueue usage can make it cyclic."""
    key = candidate_order(own)
    keys = [key(workload) for workload in sorted(workloads, key=lambda workload: workload.name)]
    keys.sort()
    return all(not later < earlier for i, earlier in enumerate(keys) for later in keys[i + 1 :])


def fair_order(heads: list[Head], gates: Gates) -> list[Head]:
    """The tournaments of a cycle, one for each head (`pkg/scheduler/fair_sharing_iterator.go`)."""
    waiting = {head.queue.name: head for head in heads}
    order = []
    while waiting:
        first = min(waiting.values(), key=lambda head: (head.time, head.queue.name))
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
    # With equal values, the first one stays.
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
