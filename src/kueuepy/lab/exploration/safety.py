"""Determine whether workloads of a ClusterQueue can ever be preempted, by a proof or by a counterexample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kueuepy.engine.decisions import Preempting
from kueuepy.errors import InvalidSpecError, NotFoundError
from kueuepy.errors.problems import suggestion
from kueuepy.errors.words import counted, verb
from kueuepy.lab.exploration.answer import Fact, Guarantee, facts_of
from kueuepy.lab.exploration.trial import HIGH, LOW, MOST_CYCLES, Trials, cells_by_flavor, cells_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kueuepy.cluster import Cluster
    from kueuepy.lab.exploration.trial import Cell
    from kueuepy.objects import ClusterQueue, Workload

_LENGTH = 12
"""The number of workloads in a random series."""
_OUTSIDE = (
    "quotas, policies and cohorts stay as they are; no priority of a workload is changed",
    "evictions other than preemption: by admission checks, pods that are not ready, failed nodes and stopPolicy",
)


def safety(cluster: Cluster, cluster_queue: str, n: int = 50, seed: int = 0) -> Guarantee:
    """Determine whether any submissions can evict workloads of a ClusterQueue; see `guarantee`.

    Source: `pkg/scheduler/preemption/classical/candidate_generator.go`,
    `pkg/scheduler/preemption/preemption.go:findCandidates`.
    """
    known = {queue.name: queue for queue in cluster.cluster_queues}
    if cluster_queue not in known:
        hint = suggestion(str(cluster_queue), set(known))
        raise NotFoundError(f'guarantee: ClusterQueue "{cluster_queue}": does not exist; {hint}')
    if n < 0:
        raise InvalidSpecError(f"guarantee: n {n}; it must be 0 or more")
    queue, trials = known[cluster_queue], Trials(cluster)
    gaps, reasons = _proof(trials, queue)
    if not gaps:
        head = f"no submission can evict workloads of ClusterQueue {queue.name}"
        return Guarantee("safety", holds=True, because=(head, *reasons), facts=facts_of(()), not_modelled=_OUTSIDE)
    tried = 0
    for series in (*_planned(trials, queue), *_random(trials, queue, n, seed)):
        tried += 1
        if facts := _evicting(trials, queue.name, series):
            head = f"{counted(len(facts), 'submission')} {verb(len(facts), 'evict')} {facts[-1].detail}"
            done = tuple(series[: len(facts)])
            return Guarantee("safety", False, (head, *gaps), facts_of(facts), _OUTSIDE, done)  # noqa: FBT003 - a verdict
    head = f"no proof, and {tried} series of submissions evict no workload of ClusterQueue {queue.name}"
    return Guarantee("safety", None, (head, *gaps), facts_of(()), _OUTSIDE)


def _reclaimers(trials: Trials, queue: ClusterQueue) -> list[ClusterQueue]:
    return [other for other in trials.others(queue.name) if other.preemption.reclaim_within_cohort != "Never"]


def _proof(trials: Trials, queue: ClusterQueue) -> tuple[list[str], list[str]]:
    """Return the reasons why there is no proof (none if there is one), and the facts on which a proof rests."""
    cells = cells_of(queue)
    if not any(trials.amount("potential", queue.name, cell) > 0 for cell in cells):
        return [], ["it has no quota, nor could it borrow any: nothing is ever admitted to it"]
    gaps, reasons = [], ["withinClusterQueue is Never: its own workloads preempt none of it"]
    if queue.preemption.within_cluster_queue != "Never":
        gaps.append(f"withinClusterQueue is {queue.preemption.within_cluster_queue}: its own workloads may preempt")
    reclaimers = _reclaimers(trials, queue)
    if not reclaimers:
        reasons.append("no other ClusterQueue of its tree reclaims")
    for other in reclaimers:
        shared = [cell for cell in cells if cell in cells_of(other)]
        for flavor, resource in shared:
            nominal, most = _limits(trials, queue.name, (flavor, resource))
            # Only queues that use more than their nominal quota are subject to reclamation.
            if most > nominal:
                gaps.append(
                    f"it may borrow {resource} of {flavor}, which {other.name} may take back "
                    f"(reclaimWithinCohort: {other.preemption.reclaim_within_cohort})"
                )
        names = ", ".join(f"{resource} of {flavor}" for flavor, resource in shared)
        why = f"of {names} it can never use more than its nominal quota" if shared else "they share no quota"
        reasons.append(f"{other.name} reclaims from borrowers alone, and {why}")
    return gaps, reasons


def _limits(trials: Trials, queue: str, cell: Cell) -> tuple[int, int]:
    """Return the nominal quota of a queue, and the maximum that it could ever use."""
    return trials.amount("nominal_quota", queue, cell), trials.amount("potential", queue, cell)


def _planned(trials: Trials, queue: ClusterQueue) -> Iterator[list[Workload]]:
    """Yield series that fill the queue and then submit a high-priority workload to a queue that may preempt."""
    own = [queue] if queue.preemption.within_cluster_queue != "Never" else []
    filled: list[Workload] = []
    full = trials.empty.fork()
    for cells in cells_by_flavor(queue):
        amounts = {cell: amount for cell in cells if (amount := trials.available(full, queue.name, cell)) > 0}
        if amounts:
            filled.append(trials.workload(queue.name, f"resident-{len(filled)}", amounts, LOW))
            full.submit(filled[-1])
            full.settle(max_cycles=MOST_CYCLES)
    for other in (*own, *_reclaimers(trials, queue)):
        for cells in cells_by_flavor(other):
            for wanted in _wanted(trials, other.name, cells):
                yield [*filled, trials.workload(other.name, "preemptor", wanted, HIGH)]


def _wanted(trials: Trials, queue: str, cells: list[Cell]) -> Iterator[dict[Cell, int]]:
    """Yield the amounts that a test workload requests in order to preempt.

    The first amounts are the nominal quota of the queue, and the later amounts are the maximum that the queue can use.
    Each amount is requested for all resources of a flavor at once, and then for one resource at a time.
    """
    limits = {cell: _limits(trials, queue, cell) for cell in cells}
    for place in (0, 1):
        if whole := {cell: limit[place] for cell, limit in limits.items() if limit[place] > 0}:
            yield whole
            yield from ({cell: amount} for cell, amount in whole.items())


def _random(trials: Trials, queue: ClusterQueue, n: int, seed: int) -> Iterator[list[Workload]]:
    """Yield series of workloads with random sizes and priorities, for all queues of the cohort tree."""
    places = []
    for one in (queue, *trials.others(queue.name)):
        for cells in cells_by_flavor(one):
            most = {cell: trials.amount("potential", one.name, cell) // trials.unit(cell) for cell in cells}
            places.append((one.name, {cell: units for cell, units in most.items() if units > 0}))
    for trial in range(n):
        rng = np.random.Generator(np.random.PCG64([seed, trial]))
        series = []
        for number in range(_LENGTH):
            name, most = places[int(rng.integers(len(places)))]
            amounts = {cell: trials.unit(cell) * int(rng.integers(1, units + 1)) for cell, units in most.items()}
            if amounts:
                series.append(trials.workload(name, f"w{number}", amounts, int(rng.integers(4))))
        yield series


def _evicting(trials: Trials, name: str, series: list[Workload]) -> list[Fact]:
    """Return the evictions of each workload up to the first that evicts one of the queue's workloads, or nothing."""
    scheduler, facts = trials.empty.fork(), []
    for workload in series:
        scheduler.submit(workload)
        decisions = scheduler.settle(max_cycles=MOST_CYCLES).decisions
        targets = [target for decision in decisions if isinstance(decision, Preempting) for target in decision.targets]
        gone = sorted({target.workload for target in targets if target.cluster_queue == name})
        facts.append(Fact(workload.key, "evicts", len(gone), ", ".join(gone)))
        if gone:
            return facts
        scheduler.advance(1)  # creation times differ, so that the order of the queue is that of the submissions
    return []
