"""Whether workloads of a ClusterQueue can be preempted at all: a proof that they cannot, or submissions that do it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
import numpy as np

from kueuepy.decisions import Preempting
from kueuepy.engine.nodes import roots
from kueuepy.engine.tables import quota_table
from kueuepy.errors import InvalidSpecError
from kueuepy.errors.arguments import checked
from kueuepy.errors.words import counted, verb
from kueuepy.exploration.trial import HIGH, LOW, MOST_CYCLES, asking, available, cells_of, queue_named, row_of, unit_of
from kueuepy.notebook import Sheet, repr_html
from kueuepy.scheduler import Scheduler
from kueuepy.tables.framed import Framed, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kueuepy.cluster import Cluster
    from kueuepy.objects import ClusterQueue, Workload
    from kueuepy.tables import Columns

_LENGTH = 12
"""So many workloads come in a random trial."""
_OUTSIDE = (
    "quotas, policies and cohorts stay as they are; nobody edits a workload's priority",
    "evictions that are no preemption, as by admission checks, pods that are not ready, failed nodes and stopPolicy",
)


class Step(NamedTuple):
    """A workload that comes, and whom that evicts.

    Attributes:
        workload: What is submitted; cycles run then until nothing changes.
        evicted: The keys of workloads of the asked ClusterQueue that are preempted for it.
    """

    workload: Workload
    evicted: tuple[str, ...]


class Safety(msgspec.Struct, Framed, frozen=True):
    """Whether workloads of a ClusterQueue can be preempted; a value.

    Attributes:
        cluster_queue: The ClusterQueue.
        verdict: `safe`: there is a proof; `unsafe`: there are submissions that do it; `unknown`: neither was found.
        because: What the proof rests on; of no proof, what it fails on.
        steps: The submissions, to an empty cluster, of which the last one evicts; empty if there are none.
        trials: How many series of submissions were tried.
        not_modelled: What the answer does not speak of.
    """

    cluster_queue: str
    verdict: Literal["safe", "unsafe", "unknown"]
    because: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    trials: int = 0
    not_modelled: tuple[str, ...] = _OUTSIDE

    def __str__(self) -> str:
        """The answer, and what it rests on, a line each."""
        number = len(self.steps)
        head = {
            "safe": "no submission can evict its workloads",
            "unsafe": f"{counted(number, 'submission')} {verb(number, 'evict')} {', '.join(self._evicted())}",
            "unknown": f"no proof, and {self.trials} series of submissions evict none of its workloads",
        }[self.verdict]
        lines = [f"ClusterQueue {self.cluster_queue}: {self.verdict}: {head}", *(f"- {text}" for text in self.because)]
        return "\n".join([*lines, *(f"not modelled: {text}" for text in self.not_modelled)])

    def _evicted(self) -> tuple[str, ...]:
        return self.steps[-1].evicted if self.steps else ()

    def to_table(self) -> Columns:
        """Return a row for each submission: `workload`, its LocalQueue `queue`, and the keys that it evicts."""
        rows = [(step.workload.key, step.workload.queue_name, ", ".join(step.evicted)) for step in self.steps]
        return table_of(("workload", "queue", "evicted"), rows)

    def sheets(self) -> tuple[Sheet, ...]:
        """The answer, then the submissions."""
        answer = Sheet((f"{self.cluster_queue}: {self.verdict}",), [(text,) for text in self.because])
        rows = [(step.workload.key, step.workload.queue_name, ", ".join(step.evicted)) for step in self.steps]
        outside = Sheet(("not modelled",), [(text,) for text in self.not_modelled])
        return (answer, *([Sheet(("submitted", "queue", "evicts"), rows)] if rows else []), outside)

    _repr_html_ = repr_html


@checked
def safety(cluster: Cluster, cluster_queue: str, *, trials: int = 50, seed: int = 0) -> Safety:
    """Whether any submissions can evict workloads of a ClusterQueue, as of notebooks or services that must stay.

    The proof: nobody of the queue itself preempts (`withinClusterQueue: Never`), and of each flavor and resource that
    another queue of its tree may reclaim, it can never use more than its nominal quota, so that it is never a borrower
    from whom is reclaimed. Without a proof, submissions that fill the queue and then come to each that may preempt are
    tried, and random ones after them; one that evicts is told, and has been run.

    A Cohort above the queue that uses no more than its quota shields it as well, but that is no proof: while victims
    leave, more may be admitted than a Cohort has. Such a queue is `unknown` unless submissions are found.

    Source: `pkg/scheduler/preemption/classical/candidate_generator.go`,
    `pkg/scheduler/preemption/preemption.go:findCandidates`.

    >>> from kueuepy import Cluster, ClusterQueue, Preemption, Quota, ResourceFlavor
    >>> def teams(limit):
    ...     books = ClusterQueue.of("notebooks", {"f": {"cpu": Quota(9, borrowing_limit=limit)}}, cohort_name="all")
    ...     rules = Preemption(reclaim_within_cohort="Any")
    ...     team = ClusterQueue.of("team", {"f": {"cpu": 12}}, cohort_name="all", preemption=rules)
    ...     return Cluster(ResourceFlavor("f"), books, team)
    >>> safety(teams(None), "notebooks").verdict, safety(teams(0), "notebooks").verdict
    ('unsafe', 'safe')

    Args:
        cluster: The configuration; workloads in it are left out.
        cluster_queue: The name of the ClusterQueue.
        trials: How many random series of submissions are tried where there is no proof.
        seed: Of what is random.

    Raises:
        NotFoundError: There is no such ClusterQueue.
        InvalidSpecError: The number of trials is less than 0.
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
    """The other ClusterQueues of its tree."""
    root = roots(quota_table(empty.engine).nodes)
    return [other for other in cluster.cluster_queues if other is not queue and root[other.name] == root[queue.name]]


def _reclaimers(cluster: Cluster, empty: Scheduler, queue: ClusterQueue) -> list[ClusterQueue]:
    others = _tree(cluster, empty, queue)
    return [other for other in others if other.preemption.reclaim_within_cohort != "Never"]


def _most(empty: Scheduler, queue: str, cell: tuple[str, str]) -> tuple[int, int]:
    """What a queue has of a cell of its own, and what it could use at most."""
    table = quota_table(empty.engine)
    row, column = row_of(empty, queue), table.flavor_resources.index(cell)
    return int(table.array("nominal_quota")[row, column]), int(table.array("potential")[row, column])


def _gaps(cluster: Cluster, empty: Scheduler, queue: ClusterQueue) -> list[str]:
    """Why there is no proof; nothing if there is one."""
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
"""A ClusterQueue, amounts by cell of one flavor, and a priority."""


def _by_flavor(queue: ClusterQueue) -> Iterator[list[tuple[str, str]]]:
    for group in queue.resource_groups:
        for flavor in group.flavors:
            yield [(flavor.name, resource.name) for resource in flavor.resources]


def _planned(cluster: Cluster, empty: Scheduler, queue: ClusterQueue) -> Iterator[list[Workload]]:
    """Workloads that fill the queue, each followed by one that outranks all and comes to a queue that preempts."""
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
    """Amounts that a preemptor asks for: all that it has of a flavor, of one resource, and as much as it could get."""
    limits = {cell: _most(empty, queue, cell) for cell in cells}
    for place in (0, 1):
        if whole := {cell: limit[place] for cell, limit in limits.items() if limit[place] > 0}:
            yield whole
            yield from ({cell: amount} for cell, amount in whole.items())


def _random(
    cluster: Cluster, empty: Scheduler, queue: ClusterQueue, trials: int, seed: int
) -> Iterator[list[Workload]]:
    """Series of workloads of any size and priority, to the queue and the others of its tree."""
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
    """The unit of each cell, and how many of it the queue could hold; no cell of which it could hold none."""
    units = {cell: unit_of(empty, cell) for cell in cells}
    most = {cell: _most(empty, queue, cell)[1] // units[cell] for cell in cells}
    return {cell: (units[cell], most[cell]) for cell in cells if most[cell] > 0}


def _evicting(empty: Scheduler, name: str, series: list[Workload]) -> list[Step] | None:
    """The series up to the workload that evicts one of the queue's; `None` if none does."""
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
