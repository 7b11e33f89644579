"""Compare Kueue's choice of workloads to preempt with the smallest possible sets."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import msgspec

from kueuepy.engine.decisions import Admitted, Preempting
from kueuepy.errors import InvalidSpecError, StateError
from kueuepy.errors.arguments import checked
from kueuepy.lab.exploration.trial import one_key
from kueuepy.look.notebook import Sheet
from kueuepy.objects import ClusterQueue
from kueuepy.session.session import session_of
from kueuepy.tables.columns import Framed, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kueuepy.engine.facts import CandidateView
    from kueuepy.scheduler import Scheduler
    from kueuepy.tables import Columns

_ELIGIBLE = ("Taken", "NotNeeded", "NotEnough")
"""The verdicts of an explanation for candidates that the rules allow to be preempted."""


class VictimSets(msgspec.Struct, Framed, frozen=True):
    """The workloads that Kueue preempts for one workload, and the smallest sets of workloads that would suffice.

    `victim_sets` creates it.

    Amounts are summed over the flavors and resources in `short`, with cpu in millicores.

    Attributes:
        workload: The key of the preemptor.
        taken: The keys of the workloads that Kueue preempts.
        fewest: The set with the fewest workloads; if several sets have equally few, the one with the smallest amount.
        least: The set with the smallest amount; if several sets have the same amount, the one with the fewest
            workloads.
        candidates: The number of workloads that the rules allow to be preempted.
        sets: The number of sets that were simulated. Sets that cannot improve on a previous set are skipped.
        short: The flavors and resources with insufficient quota, as `flavor/resource`.
        taken_amount: The amount that `taken` holds.
        fewest_amount: The amount that `fewest` holds.
        least_amount: The amount that `least` holds.
        not_modelled: Effects that the result does not consider.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, Preemption, ResourceFlavor, Scheduler
        >>> from kueuepy.lab import victim_sets
        >>> queue = ClusterQueue.of("q", {"f": {"cpu": 1}}, preemption=Preemption(within_cluster_queue="LowerPriority"))
        >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), queue))
        >>> _ = scheduler.submit({"name": "low", "queue": "q", "cpu": 1}), scheduler.settle()
        >>> found = victim_sets(scheduler, {"name": "high", "queue": "q", "cpu": 1, "priority": 1})
        >>> found.taken, found.more
        (('default/low',), 0)
    """

    workload: str
    taken: tuple[str, ...]
    fewest: tuple[str, ...]
    least: tuple[str, ...]
    candidates: int
    sets: int
    short: tuple[str, ...]
    taken_amount: int
    fewest_amount: int
    least_amount: int
    not_modelled: tuple[str, ...]

    @property
    def more(self) -> int:
        """The number of workloads that Kueue preempts in excess of the smallest set."""
        return len(self.taken) - len(self.fewest)

    @property
    def excess(self) -> int:
        """The amount that Kueue preempts in excess of the smallest possible amount."""
        return self.taken_amount - self.least_amount

    def __str__(self) -> str:
        """Return the answer as several lines of text."""
        return "\n".join(
            [
                f"{self.workload} lacks {', '.join(self.short)}",
                f"Kueue takes {self.taken_amount} ({', '.join(self.taken)})",
                f"fewest: {self.fewest_amount} ({', '.join(self.fewest)})",
                f"least: {self.least_amount} ({', '.join(self.least)})",
                *(f"not modelled: {text}" for text in self.not_modelled),
            ]
        )

    def _sets(self) -> list[tuple[str, int, int, str]]:
        sets = {
            "Kueue's": (self.taken, self.taken_amount),
            "fewest": (self.fewest, self.fewest_amount),
            "least": (self.least, self.least_amount),
        }
        return [(name, len(keys), amount, ", ".join(keys)) for name, (keys, amount) in sets.items()]

    def to_table(self) -> Columns:
        """Return one row per set: `set`, the number of `workloads`, their `amount`, and their `keys`."""
        return table_of(("set", "workloads", "amount", "keys"), self._sets())

    def sheets(self) -> tuple[Sheet]:
        """Return a table with one row per set."""
        rows = [(name, count, str(amount), keys) for name, count, amount, keys in self._sets()]
        return (Sheet(("set", "workloads", f"hold of {', '.join(self.short)}", "who"), rows),)


@checked
def victim_sets(scheduler: Scheduler, workload: Any, *, most: int = 12) -> VictimSets:
    """Compare the workloads that Kueue preempts for a workload with the best of all allowed sets.

    Kueue selects candidates in a fixed order until the workload fits, and then removes candidates that are not needed.
    No member of the set that Kueue selects can be removed, but a different set can be smaller. This function simulates
    every set of candidates on a fork of the Scheduler: it removes the candidates and checks that the workload fits. The
    workload may borrow only as far as Kueue's preemption rules allow.

    Source: `pkg/scheduler/preemption/preemption.go:classicalPreemptions`, `fillBackWorkloads`.

    Args:
        scheduler: The Scheduler with the current state; the function does not modify it.
        workload: The key of a pending workload, or a workload as `Scheduler.submit` accepts it.
        most: The maximum number of candidates. Each further candidate doubles the computing time. Default: 12.

    Returns:
        Kueue's set and the smallest sets.

    Raises:
        StateError: Kueue preempts no workload for this workload.
        NotFoundError: The workload does not exist.
        InvalidSpecError: There are more candidates than `most`, or `workload` describes several workloads.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, Preemption, ResourceFlavor, Scheduler
        >>> rules = Preemption(within_cluster_queue="LowerPriority")
        >>> queue = ClusterQueue.of("q", {"f": {"cpu": 7}}, preemption=rules)
        >>> scheduler = Scheduler(Cluster(ResourceFlavor("f"), queue), now=0)
        >>> for name, cpu in (("wide", 4), ("a", 1), ("b", 1), ("c", 1)):
        ...     _ = scheduler.submit({"name": name, "queue": "q", "cpu": cpu}), scheduler.settle(), scheduler.advance(1)
        >>> found = victim_sets(scheduler, {"name": "urgent", "queue": "q", "cpu": 3, "priority": 1})
        >>> len(found.taken), found.fewest, found.excess
        (3, ('default/wide',), 0)
    """
    trial = scheduler.fork()
    key = one_key(trial, workload)
    decision = trial.try_admit(key)
    if not isinstance(decision, Preempting):
        raise StateError(f'Workload "{key}": is {type(decision).__name__}; no workload is preempted for it')
    facts = session_of(trial).engine.explain(session_of(trial).state.id_of(key))
    eligible = {one["workload"]: one for one in facts["candidates"] if one["verdict"] in _ELIGIBLE}
    number = sum(facts["counts"].get(verdict, 0) for verdict in _ELIGIBLE)
    if number > most:
        raise InvalidSpecError(f"victims: {number} candidates; at most {most} are tried, which double the time each")
    taken = tuple(target.workload for target in decision.targets)
    tried = _Tried(trial, key, facts["contested"], eligible)
    fewest = least = taken
    for chosen in tried.sets():
        size, amount = len(chosen), tried.amount(chosen)
        fewer = (size, amount) < (len(fewest), tried.amount(fewest))
        less = (amount, size) < (tried.amount(least), len(least))
        if (fewer or less) and tried.does(chosen):
            fewest, least = chosen if fewer else fewest, chosen if less else least
    return VictimSets(
        key,
        taken,
        fewest,
        least,
        len(eligible),
        tried.count,
        tuple("/".join(cell) for cell in facts["contested"]),
        tried.amount(taken),
        tried.amount(fewest),
        tried.amount(least),
        _outside(trial),
    )


def _outside(scheduler: Scheduler) -> tuple[str, ...]:
    found = ["what a victim has done already, and its priority: sets are compared by number and amount alone"]
    if scheduler.configuration.fair_sharing is not None:
        found.append("with fair sharing, shares forbid some of the sets: the best is a bound from below")
    elif any(cohort.parent_name for cohort in scheduler.cluster.cohorts):
        found.append("with cohorts in cohorts, some of the sets are forbidden: the best is a bound from below")
    return tuple(found)


class _Tried:
    def __init__(
        self, scheduler: Scheduler, key: str, short: list[tuple[str, str]], eligible: dict[str, CandidateView]
    ) -> None:
        self._scheduler, self._key, self._short, self._eligible = scheduler, key, short, eligible
        self.count = 0
        workload = scheduler.workload(key)
        queue = session_of(scheduler).state.cluster_queue_of(f"{workload.namespace}/{workload.queue_name}")
        assert isinstance(queue, ClusterQueue), "the workload preempts others in it"
        self._queue, self._borrow = queue.name, queue.preemption.borrow_within_cohort
        self._priority = workload.priority or 0

    def sets(self) -> Iterator[tuple[str, ...]]:
        """Yield all sets of candidates, smaller sets first."""
        names = sorted(self._eligible)
        for size in range(1, len(names) + 1):
            yield from combinations(names, size)

    def amount(self, keys: tuple[str, ...]) -> int:
        """Return the amounts that workloads hold of the flavors and resources with insufficient quota."""
        return sum(int(self._eligible[key]["holds"].get(cell, 0) or 0) for key in keys for cell in self._short)

    def does(self, keys: tuple[str, ...]) -> bool:
        """Return whether the rules allow the preemption of the given workloads and the preemptor fits afterwards."""
        self.count += 1
        trial = self._scheduler.fork()
        left = list(keys)
        # Workloads of another queue are candidates only while that queue borrows, so find an order in which it does.
        while left:
            gone = next((key for key in left if self._may_go(trial, key)), None)
            if gone is None:
                return False
            trial.finish(gone)
            left.remove(gone)
        answer = trial.try_admit(self._key)
        if not isinstance(answer, Admitted):
            return False
        others = [key for key in keys if self._eligible[key]["cluster_queue"] != self._queue]
        return not answer.borrowing_level or all(map(self._while_borrowing, others))

    def _may_go(self, trial: Scheduler, key: str) -> bool:
        name = self._eligible[key]["cluster_queue"]
        if name == self._queue:
            return True
        usage = trial.usage
        return any(
            usage.value(name, *cell, "usage") > usage.value(name, *cell, "nominal_quota") for cell in self._short
        )

    def _while_borrowing(self, key: str) -> bool:
        """Return whether a workload may be preempted by a workload that borrows."""
        if self._borrow.policy == "Never":
            return False
        priority, threshold = self._eligible[key]["priority"], self._borrow.max_priority_threshold
        return priority < self._priority and (threshold is None or priority <= threshold)
