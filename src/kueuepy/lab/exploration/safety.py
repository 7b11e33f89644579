"""Determine whether workloads of a ClusterQueue can ever be preempted, by a proof or by a counterexample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
import numpy as np

from kueuepy.engine.decisions import Preempting
from kueuepy.engine.nodes import roots
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked
from kueuepy.errors.words import counted, verb
from kueuepy.lab.exploration.trial import (
    HIGH,
    LOW,
    MOST_CYCLES,
    asking,
    available,
    cells_of,
    queue_named,
    row_of,
    unit_of,
)
from kueuepy.look.notebook import Sheet
from kueuepy.scheduler import Scheduler
from kueuepy.tables.columns import Framed, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kueuepy.cluster import Cluster
    from kueuepy.objects import ClusterQueue, Workload
    from kueuepy.tables import Columns

_LENGTH = 12
"""The number of workloads in a random series."""
_OUTSIDE = (
    "quotas, policies and cohorts stay as they are; no priority of a workload is changed",
    "evictions other than preemption: by admission checks, pods that are not ready, failed nodes and stopPolicy",
)


class Step(NamedTuple):
    """A submitted workload, and the workloads that its submission evicts.

    Attributes:
        workload: The submitted workload. Cycles run after the submission until nothing changes.
        evicted: The keys of the workloads of the examined ClusterQueue that are preempted.
    """

    workload: Workload
    evicted: tuple[str, ...]


class Safety(msgspec.Struct, Framed, frozen=True):
    """Whether workloads of a ClusterQueue can be preempted. `safety` creates it.

    Attributes:
        cluster_queue: The name of the ClusterQueue.
        verdict: `safe` if preemption is proved to be impossible; `unsafe` if a series of submissions causes a
            preemption; `unknown` otherwise.
        because: The facts on which the proof rests, or the reasons why there is no proof.
        steps: The submissions to an empty cluster, of which the last one evicts a workload; empty unless the verdict is
            `unsafe`.
        trials: The number of series of submissions that were simulated.
        not_modelled: Effects that the result does not consider.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> from kueuepy.lab import safety
        >>> found = safety(Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 4}})), "team")
        >>> found.verdict, found.steps
        ('safe', ())
    """

    cluster_queue: str
    verdict: Literal["safe", "unsafe", "unknown"]
    because: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    trials: int = 0
    not_modelled: tuple[str, ...] = _OUTSIDE

    def __str__(self) -> str:
        """Return the verdict and its reasons, one per line."""
        number, evicted = len(self.steps), self.steps[-1].evicted if self.steps else ()
        head = {
            "safe": "no submission can evict its workloads",
            "unsafe": f"{counted(number, 'submission')} {verb(number, 'evict')} {', '.join(evicted)}",
            "unknown": f"no proof, and {self.trials} series of submissions evict none of its workloads",
        }[self.verdict]
        lines = [f"ClusterQueue {self.cluster_queue}: {self.verdict}: {head}", *(f"- {text}" for text in self.because)]
        return "\n".join([*lines, *(f"not modelled: {text}" for text in self.not_modelled)])

    def to_table(self) -> Columns:
        """Return one row per submission: `workload`, its LocalQueue `queue`, and the `evicted` keys."""
        rows = [(step.workload.key, step.workload.queue_name, ", ".join(step.evicted)) for step in self.steps]
        return table_of(("workload", "queue", "evicted"), rows)

    def sheets(self) -> tuple[Sheet, ...]:
        """Return tables of the verdict and the submissions."""
        answer = Sheet((f"{self.cluster_queue}: {self.verdict}",), [(text,) for text in self.because])
        rows = [(step.workload.key, step.workload.queue_name, ", ".join(step.evicted)) for step in self.steps]
        outside = Sheet(("not modelled",), [(text,) for text in self.not_modelled])
        return (answer, *([Sheet(("submitted", "queue", "evicts"), rows)] if rows else []), outside)


@checked
def safety(cluster: Cluster, cluster_queue: str, *, trials: int = 50, seed: int = 0) -> Safety:
    """Determine whether any submissions can evict workloads of a ClusterQueue, such as notebooks or services.

    `safety` proves that preemption is impossible if both of these conditions are met:

    - The queue's own workloads do not preempt (`withinClusterQueue: Never`).
    - The queue can never use more than its nominal quota of any flavor and resource that another queue of its cohort
      tree may reclaim. Only queues that borrow are subject to reclamation.

    If there is no proof, the function simulates series of submissions. The first series fill the queue and then submit
    a workload to each queue that may preempt. All subsequent series of submissions are random. If a series causes an
    eviction, the function returns the series.

    A Cohort whose usage stays within its quota also protects its queues, but `safety` does not accept this protection
    as a proof: while evicted workloads terminate, a Cohort can temporarily exceed its quota. For a queue that is
    protected only by its Cohort, the verdict is `unknown`, unless a series of submissions evicts one of the queue's
    workloads.

    Source: `pkg/scheduler/preemption/classical/candidate_generator.go`,
    `pkg/scheduler/preemption/preemption.go:findCandidates`.

    Args:
        cluster: The cluster; its workloads are ignored.
        cluster_queue: The name of the ClusterQueue.
        trials: The number of random series to simulate if there is no proof. Default: 50.
        seed: The seed of the random series. Default: 0.

    Returns:
        The verdict, with the proof or the series of submissions.

    Raises:
        NotFoundError: The ClusterQueue does not exist.
        InvalidSpecError: `trials` is negative.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, Preemption, Quota, ResourceFlavor
        >>> def teams(limit):
        ...     books = ClusterQueue.of("notebooks", {"f": {"cpu": Quota(9, borrowing_limit=limit)}}, cohort_name="all")
        ...     rules = Preemption(reclaim_within_cohort="Any")
        ...     team = ClusterQueue.of("team", {"f": {"cpu": 12}}, cohort_name="all", preemption=rules)
        ...     return Cluster(ResourceFlavor("f"), books, team)
        >>> safety(teams(None), "notebooks").verdict, safety(teams(0), "notebooks").verdict
        ('unsafe', 'safe')
    """
    queue = queue_named(cluster, cluster_queue)
    if trials < 0:
        raise InvalidSpecError(f"safety: trials {trials}; it must be 0 or more")
    bare = cluster.without(*cluster.workloads) if cluster.workloads else cluster
    empty = Scheduler(bare, now=0)
    gaps = _gaps(bare, empty, queue)
    if not gaps:
        return Safety(queue.name, "safe", tuple(_reasons(bare, empty, queue)))
    tried = 0
    for series in (*_planned(bare, empty, queue), *_random(bare, empty, queue, trials, seed)):
        tried += 1
        if steps := _evicting(empty, queue.name, series):
            return Safety(queue.name, "unsafe", tuple(gaps), tuple(steps), tried)
    return Safety(queue.name, "unknown", tuple(gaps), (), tried)


# --- the proof -------------------------------------------------------------------------------------------------------


def _tree(cluster: Cluster, empty: Scheduler, queue: ClusterQueue) -> list[ClusterQueue]:
    root = roots(empty.quota.nodes)
    return [other for other in cluster.cluster_queues if other is not queue and root[other.name] == root[queue.name]]


def _reclaimers(cluster: Cluster, empty: Scheduler, queue: ClusterQueue) -> list[ClusterQueue]:
    others = _tree(cluster, empty, queue)
    return [other for other in others if other.preemption.reclaim_within_cohort != "Never"]


def _most(empty: Scheduler, queue: str, cell: tuple[str, str]) -> tuple[int, int]:
    """Return the nominal quota of a queue, and the maximum that it could ever use."""
    table = empty.quota
    row, column = row_of(empty, queue), table.flavor_resources.index(cell)
    return int(table.array("nominal_quota")[row, column]), int(table.array("potential")[row, column])


def _gaps(cluster: Cluster, empty: Scheduler, queue: ClusterQueue) -> list[str]:
    """Return the reasons why no proof exists, or an empty list if a proof exists."""
    if not any(_most(empty, queue.name, cell)[1] > 0 for cell in cells_of(queue)):
        return []
    found = []
    if queue.preemption.within_cluster_queue != "Never":
        found.append(f"withinClusterQueue is {queue.preemption.within_cluster_queue}: its own workloads may preempt")
    for other in _reclaimers(cluster, empty, queue):
        shared = set(cells_of(other))
        for cell in cells_of(queue):
            nominal, most = _most(empty, queue.name, cell)
            if cell in shared and most > nominal:
                found.append(
                    f"it may borrow {cell[1]} of {cell[0]}, which {other.name} may take back "
                    f"(reclaimWithinCohort: {other.preemption.reclaim_within_cohort})"
                )
    return found


def _reasons(cluster: Cluster, empty: Scheduler, queue: ClusterQueue) -> Iterator[str]:
    if not any(_most(empty, queue.name, cell)[1] > 0 for cell in cells_of(queue)):
        yield "it has no quota, nor could it borrow any: nothing is ever admitted to it"
        return
    yield "withinClusterQueue is Never: its own workloads preempt none of it"
    reclaimers = _reclaimers(cluster, empty, queue)
    if not reclaimers:
        yield "no other ClusterQueue of its tree reclaims"
    for other in reclaimers:
        shared = [cell for cell in cells_of(queue) if cell in cells_of(other)]
        names = ", ".join(f"{resource} of {flavor}" for flavor, resource in shared)
        why = f"of {names} it can never use more than its nominal quota" if shared else "they share no quota"
        yield f"{other.name} reclaims from borrowers alone, and {why}"


# --- submissions -----------------------------------------------------------------------------------------------------

Asked = tuple[str, dict[tuple[str, str], int], int]
"""A ClusterQueue, amounts by flavor and resource (all of one flavor), and a priority."""


def _by_flavor(queue: ClusterQueue) -> Iterator[list[tuple[str, str]]]:
    for group in queue.resource_groups:
        for flavor in group.flavors:
            yield [(flavor.name, resource.name) for resource in flavor.resources]


def _planned(cluster: Cluster, empty: Scheduler, queue: ClusterQueue) -> Iterator[list[Workload]]:
    """Yield series that fill the queue and then submit a high-priority workload to a queue that may preempt."""
    preemptors = _reclaimers(cluster, empty, queue)
    if queue.preemption.within_cluster_queue != "Never":
        preemptors.insert(0, queue)
    filled: list[Workload] = []
    full = empty.fork()
    for cells in _by_flavor(queue):
        amounts = {cell: amount for cell in cells if (amount := available(full, queue.name, cell)) > 0}
        if amounts:
            filled.append(asking(cluster, queue.name, f"resident-{len(filled)}", amounts, LOW))
            full.submit(filled[-1])
            full.settle(max_cycles=MOST_CYCLES)
    for other in preemptors:
        for cells in _by_flavor(other):
            for wanted in _wanted(empty, other.name, cells):
                yield [*filled, asking(cluster, other.name, "preemptor", wanted, HIGH)]


def _wanted(empty: Scheduler, queue: str, cells: list[tuple[str, str]]) -> Iterator[dict[tuple[str, str], int]]:
    """Yield the amounts that a test workload requests in order to preempt.

    The first amounts are the nominal quota of the queue, and the later amounts are the maximum that the queue can use.
    Each amount is requested for all resources of a flavor at once, and then for one resource at a time.
    """
    limits = {cell: _most(empty, queue, cell) for cell in cells}
    for place in (0, 1):
        if whole := {cell: limit[place] for cell, limit in limits.items() if limit[place] > 0}:
            yield whole
            yield from ({cell: amount} for cell, amount in whole.items())


def _random(
    cluster: Cluster, empty: Scheduler, queue: ClusterQueue, trials: int, seed: int
) -> Iterator[list[Workload]]:
    """Yield series of workloads with random sizes and priorities, for all queues of the cohort tree."""
    queues = [queue, *_tree(cluster, empty, queue)]
    places = [(one.name, _units(empty, one.name, cells)) for one in queues for cells in _by_flavor(one)]
    for trial in range(trials):
        rng = np.random.Generator(np.random.PCG64([seed, trial]))
        series = []
        for number in range(_LENGTH):
            name, units = places[int(rng.integers(len(places)))]
            amounts = {cell: unit * int(rng.integers(1, most + 1)) for cell, (unit, most) in units.items()}
            if amounts:
                series.append(asking(cluster, name, f"w{number}", amounts, int(rng.integers(4))))
        yield series


def _units(empty: Scheduler, queue: str, cells: list[tuple[str, str]]) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the unit of each flavor and resource that the queue can use, and the maximum number of units."""
    units = {cell: unit_of(empty, cell) for cell in cells}
    most = {cell: _most(empty, queue, cell)[1] // units[cell] for cell in cells}
    return {cell: (units[cell], most[cell]) for cell in cells if most[cell] > 0}


def _evicting(empty: Scheduler, name: str, series: list[Workload]) -> list[Step] | None:
    """Return the series up to the workload that evicts one of the queue's workloads; `None` if no workload does."""
    scheduler, steps = empty.fork(), []
    for workload in series:
        scheduler.submit(workload)
        decisions = scheduler.settle(max_cycles=MOST_CYCLES).decisions
        targets = [target for decision in decisions if isinstance(decision, Preempting) for target in decision.targets]
        gone = sorted({target.workload for target in targets if target.cluster_queue == name})
        steps.append(Step(workload, tuple(gone)))
        if gone:
            return steps
        scheduler.advance(1)
    return None
