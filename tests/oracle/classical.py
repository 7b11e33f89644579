"""The classical search for targets (`pkg/scheduler/preemption/preemption.go:classicalPreemptions`)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from .orders import Workload, candidate_order

if TYPE_CHECKING:
    from .quota import Cell, Node

Request = dict["Cell", int]
Targets = list[tuple[str, str]]


@dataclass
class Policies:
    within: str = "Never"
    reclaim: str = "Never"
    borrow: bool = False
    threshold: int | None = None


@dataclass
class Candidate:
    workload: Workload
    kind: str  # own, hierarchical, without borrowing, while borrowing; fair, within nominal
    above: Node | None = None  # the cohort under which it was found

    @property
    def reason(self) -> str:
        return {
            "own": "InClusterQueue",
            "while borrowing": "InCohortReclaimWhileBorrowing",
            "fair": "InCohortFairSharing",
        }.get(self.kind, "InCohortReclamation")


def allows(policy: str, preemptor: Workload, candidate: Workload) -> bool:
    lower = preemptor.priority > candidate.priority
    newer = preemptor.priority == candidate.priority and preemptor.created < candidate.created
    return {"Any": True, "LowerPriority": lower, "LowerOrNewerEqualPriority": lower or newer}.get(policy, False)


class Search:
    """Return the targets of a preemption for `request`, which lacks quota of `contested`."""

    def __init__(
        self, preemptor: Workload, policies: Policies, admitted: list[Workload], contested: list[Cell], request: Request
    ) -> None:
        self.preemptor, self.policies, self.admitted = preemptor, policies, admitted
        self.contested, self.request = contested, request
        self.queue = preemptor.queue

    def targets(self) -> Targets:
        candidates = self._own() + self._others()
        order = candidate_order(self.queue)
        blocks = {"hierarchical": 0, "without borrowing": 1, "while borrowing": 1, "own": 2}
        candidates.sort(key=lambda c: (not c.workload.is_evicted, blocks[c.kind], order(c.workload)))
        for borrow in self._attempts(candidates):
            if found := self._attempt(candidates, borrow=borrow):
                return [(target.workload.name, target.reason) for target in found]
        return []

    def _of(self, queue: Node, policy: str) -> list[Workload]:
        return [
            workload
            for workload in self.admitted
            if workload.queue is queue
            and any(cell in workload.usage for cell in self.contested)
            and allows(policy, self.preemptor, workload)
        ]

    def _own(self) -> list[Candidate]:
        return [Candidate(workload, "own") for workload in self._of(self.queue, self.policies.within)]

    def _others(self) -> list[Candidate]:
        found: list[Candidate] = []
        if self.policies.reclaim == "Never":
            return found
        advantage, remaining = self._fits_in_quota(self.queue, self.request)
        path = self.queue.path()
        for below, cohort in pairwise(path):
            found += [
                Candidate(workload, "hierarchical" if advantage else self._variant(workload), cohort)
                for workload in self._borrowed_below(cohort, below)
            ]
            fits, remaining = self._fits_in_quota(cohort, remaining)
            advantage = advantage or fits
        return found

    def _fits_in_quota(self, node: Node, request: Request) -> tuple[bool, Request]:
        fits = not any(node.borrows_with(cell, amount) for cell, amount in request.items())
        return fits, {cell: max(0, amount - node.local_available(cell)) for cell, amount in request.items()}

    def _borrowed_below(self, cohort: Node, skipped: Node) -> list[Workload]:
        found: list[Workload] = []
        for child in cohort.children:
            if child is skipped or child is self.queue or not child.active or not child.is_over(self.contested):
                continue
            found += self._of(child, self.policies.reclaim) if child.is_queue else self._borrowed_below(child, skipped)
        return found

    def _variant(self, candidate: Workload) -> str:
        if not self.policies.borrow or candidate.priority >= self.preemptor.priority:
            return "without borrowing"
        threshold = self.policies.threshold
        return "without borrowing" if threshold is not None and candidate.priority > threshold else "while borrowing"

    def _attempts(self, candidates: list[Candidate]) -> list[bool]:
        """Yield for each attempt whether borrowing is allowed."""
        kinds = {candidate.kind for candidate in candidates}
        under = all(self.queue.quota(cell).nominal > self.queue.usage(cell) for cell in self.contested)
        if kinds <= {"own"} or (not self.policies.borrow and not under):
            return [True]
        return [False, True] if not self.policies.borrow and "hierarchical" not in kinds else [True, False]

    def _attempt(self, candidates: list[Candidate], *, borrow: bool) -> list[Candidate]:
        taken: list[Candidate] = []
        for candidate in candidates:
            if not self._is_valid(candidate, borrow=borrow):
                continue
            candidate.workload.queue.charge(candidate.workload.usage, -1)
            taken.append(candidate)
            if self._fits(borrow=borrow):
                kept = self._fill_back(list(taken), borrow=borrow)
                self._restore(kept)
                return kept
        self._restore(taken)
        return []

    def _is_valid(self, candidate: Candidate, *, borrow: bool) -> bool:
        queue = candidate.workload.queue
        if queue is self.queue:
            return True
        if borrow and candidate.kind == "without borrowing":
            return False
        path = queue.path()
        assert candidate.above is not None
        return all(node.is_over(self.contested) for node in path[: path.index(candidate.above)])

    def _fits(self, *, borrow: bool) -> bool:
        return not any(
            amount > self.queue.available(cell) or (not borrow and self.queue.borrows_with(cell, amount))
            for cell, amount in self.request.items()
        )

    def _fill_back(self, targets: list[Candidate], *, borrow: bool) -> list[Candidate]:
        """Put back unnecessary targets, from the second to last to the first."""
        for i in range(len(targets) - 2, -1, -1):
            workload = targets[i].workload
            workload.queue.charge(workload.usage)
            if self._fits(borrow=borrow):
                targets[i] = targets[-1]
                targets.pop()
            else:
                workload.queue.charge(workload.usage, -1)
        return targets

    @staticmethod
    def _restore(targets: list[Candidate]) -> None:
        for target in targets:
            target.workload.queue.charge(target.workload.usage)


def simulate(search: Search) -> tuple[str, int]:
    """Return the preemption mode of one flavor and resource for the flavor search, and the borrowing level."""
    ((cell, amount),) = search.request.items()
    gone = {name for name, _ in search.targets()}
    victims = [workload for workload in search.admitted if workload.name in gone]
    for victim in victims:
        victim.queue.charge(victim.usage, -1)
    height = search.queue.lowest_subtree_that_fits(cell, amount)[0]
    for victim in victims:
        victim.queue.charge(victim.usage)
    if not victims:
        return "NoCandidates", height
    return ("Preempt" if any(victim.queue is search.queue for victim in victims) else "Reclaim"), height
