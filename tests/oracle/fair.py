"""The search for targets with fair sharing (`pkg/scheduler/preemption/preemption.go:fairPreemptions`)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from .classical import Candidate, Policies, Request, Search, Targets
from .orders import Workload, candidate_order
from .shares import Share, share

if TYPE_CHECKING:
    from .quota import Cell, Node

FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
Waiting = dict[str, list[Workload]]  # by queue: remaining candidates, the next one first


class FairSearch(Search):
    """Return the targets of a fair preemption."""

    def __init__(
        self,
        preemptor: Workload,
        policies: Policies,
        admitted: list[Workload],
        contested: list[Cell],
        request: Request,
        *,
        strategies: tuple[str, ...] = (FINAL, INITIAL),
        reclaims_nominal: bool = True,  # the feature gate FairSharingPreemptWithinNominal
    ) -> None:
        super().__init__(preemptor, policies, admitted, contested, request)
        self.strategies, self.reclaims_nominal = strategies, reclaims_nominal
        self.taken: list[Candidate] = []
        self.retry: list[Workload] = []

    def targets(self) -> Targets:
        candidates = sorted(self.candidates(), key=candidate_order(self.queue))
        self.taken, self.retry = [], []
        self.queue.charge(self.request)  # every share includes the incoming workload
        found = self._first_pass(self._by_queue(candidates))
        if not found and len(self.strategies) > 1:
            found = self._second_pass(self._by_queue(self.retry))
        self.queue.charge(self.request, -1)
        kept = self._fill_back(list(self.taken), borrow=True) if found else []
        self._restore(kept if found else self.taken)
        return [(target.workload.name, target.reason) for target in kept]

    def candidates(self) -> list[Workload]:
        """Its own queue's, and those of every queue of the tree that borrows what is contested; by UID."""
        found = self._of(self.queue, self.policies.within)
        if self.queue.parent is not None:
            for other in _queues(self.queue.path()[-1]):
                if other is not self.queue and other.active and other.is_over(self.contested):
                    found += self._of(other, self.policies.reclaim)
        return sorted(found, key=lambda workload: workload.name)

    @staticmethod
    def _by_queue(candidates: list[Workload]) -> Waiting:
        waiting: Waiting = {}
        for candidate in candidates:
            waiting.setdefault(candidate.queue.name, []).append(candidate)
        return waiting

    # The queue that loses a workload next.

    def _next(self, waiting: Waiting, dropped: set[str]) -> Node | None:
        """Descend from the root to the node with the largest share that still has candidates."""
        path = self.queue.path()

        def queues_of(cohort: Node) -> list[Node]:
            return [
                child
                for child in cohort.children
                if child.is_queue and waiting.get(child.name) and child.name not in dropped
                if child is self.queue or share(child).borrowed
            ]

        def cohorts_of(cohort: Node) -> list[Node]:
            below = [
                child for child in cohort.children if not child.is_queue and (child in path or share(child).borrowed)
            ]
            return [child for child in below if queues_of(child) or cohorts_of(child)]

        def winner(cohort: Node) -> Node | None:
            head = candidate_order(self.queue)
            queues = sorted(queues_of(cohort), key=lambda queue: head(waiting[queue.name][0]))
            queue = max(queues, key=lambda child: share(child).key, default=None)  # the first of equals
            cohorts = sorted(cohorts_of(cohort), key=lambda child: child.name, reverse=True)
            child = max(cohorts, key=lambda child: share(child).key, default=None)  # the last name of equals
            if child is not None and (queue is None or share(child).key >= share(queue).key):
                return winner(child)
            return queue

        if len(path) == 1:
            return self.queue if waiting.get(self.queue.name) and self.queue.name not in dropped else None
        return winner(path[-1])

    # The rules that allow a preemption.

    def _first_pass(self, waiting: Waiting) -> bool:
        within = self.reclaims_nominal and not self.queue.is_over(self.contested)
        while (loser := self._next(waiting, set())) is not None:
            mine = waiting[loser.name]
            if loser is self.queue or within:
                if self._take(mine.pop(0), "own" if loser is self.queue else "within nominal"):
                    return True
                continue
            ours, theirs = self._rivals(loser)
            while mine:
                candidate = mine.pop(0)
                if not self._holds(self.strategies[0], candidate, share(ours), theirs):
                    self.retry.append(candidate)
                    continue
                if self._take(candidate, "fair"):
                    return True
                break
        return False

    def _second_pass(self, waiting: Waiting) -> bool:
        dropped: set[str] = set()
        while (loser := self._next(waiting, dropped)) is not None:
            ours, theirs = self._rivals(loser)
            candidate = waiting[loser.name].pop(0)
            if share(ours).key < share(theirs).key and self._take(candidate, "fair"):
                return True
            dropped.add(loser.name)
        return False

    def _rivals(self, loser: Node) -> tuple[Node, Node]:
        """Return the two children of the lowest common ancestor of the preemptor's queue and the losing queue."""
        above = {below_above[1].name: below_above[0] for below_above in pairwise(self.queue.path())}
        return next((above[up.name], below) for below, up in pairwise(loser.path()) if up.name in above)

    @staticmethod
    def _holds(strategy: str, candidate: Workload, ours: Share, theirs: Node) -> bool:
        if strategy == INITIAL:
            return ours.key < share(theirs).key
        candidate.queue.charge(candidate.usage, -1)
        after = share(theirs)
        candidate.queue.charge(candidate.usage)
        return ours.key <= after.key

    def _take(self, candidate: Workload, kind: str) -> bool:
        """Add the target; return whether the request now fits."""
        candidate.queue.charge(candidate.usage, -1)
        self.taken.append(Candidate(candidate, kind))
        self.queue.charge(self.request, -1)
        enough = self._fits(borrow=True)
        self.queue.charge(self.request)
        return enough


def _queues(node: Node) -> list[Node]:
    if node.is_queue:
        return [node]
    return [queue for child in node.children for queue in _queues(child)]
