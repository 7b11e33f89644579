"""Guarantees of an empty cluster: quota in the worst case, and protection from preemption, by synthetic workloads."""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from math import gcd
from typing import Any, NamedTuple

import msgspec
import numpy as np

from kueuepy._core import Quantity
from kueuepy.cluster import Cluster
from kueuepy.engine.decisions import Preempting
from kueuepy.engine.nodes import path_of, roots
from kueuepy.engine.records import NO_CONDITION
from kueuepy.errors import InvalidSpecError, NotFoundError, counted, suggestion, verb
from kueuepy.look.notebook import Sheet
from kueuepy.look.numbers import number
from kueuepy.objects import (
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    LabelSelector,
    PodSet,
    ResourceFlavor,
    ResourceGroup,
    Toleration,
    Workload,
    quotas_of,
)
from kueuepy.scheduler import Scheduler
from kueuepy.session.session import session_of
from kueuepy.tables.columns import UNLIMITED, Columns, Framed, table_of

_VERDICTS = {True: "yes", False: "no", None: "unknown"}


class Fact(NamedTuple):
    """A row of the table of an answer: an amount or a time that belongs to a subject.

    Attributes:
        subject: The object of the fact, such as a ClusterQueue, a job or a group of jobs.
        measure: The name of the amount or time, such as `guaranteed`.
        value: The value: seconds for a time, the engine's units for an amount (cpu in millicores).
        detail: The value with its unit, or further information; may be empty.
    """

    subject: str
    measure: str
    value: float
    detail: str = ""


class Guarantee(msgspec.Struct, Framed, frozen=True):
    """Whether a cluster guarantees something, why, and the facts of the analysis. `guarantee` creates it.

    Attributes:
        question: The analysis, as `guarantee` accepts it.
        holds: Whether the guarantee is given; `None` if there is neither a proof nor a counterexample.
        because: The result and its reasons, as sentences.
        facts: One row per fact: `subject`, `measure`, `value` (seconds for times, the engine's units for amounts) and
            `detail`.
        not_modelled: Effects that the result does not consider.
        submissions: A counterexample: the workloads to submit to an empty cluster, of which the last one breaks the
            guarantee. Only `safety` sets this attribute.
        edits: Values of fields by path that establish the guarantee, as `Cluster.edit_all` accepts them. Only `limits`
            sets this attribute.

    Example:
        >>> from kueuepy import Cluster, ClusterQueue, ResourceFlavor
        >>> from kueuepy.lab import guarantee
        >>> cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("team", {"f": {"cpu": 4}}))
        >>> found = guarantee("safety", cluster, cluster_queue="team")
        >>> found.holds, found.submissions
        (True, ())
    """

    question: str
    holds: bool | None
    because: tuple[str, ...]
    facts: Columns
    not_modelled: tuple[str, ...]
    submissions: tuple[Workload, ...] = ()
    edits: dict[str, Any] = {}

    def values(self, measure: str) -> dict[str, float]:
        """Return the values of a measure by subject, in the order of `facts`.

        Args:
            measure: The name of the measure. If no fact has this measure, the result is empty.
        """
        return {row["subject"]: row["value"] for row in self.facts.rows() if row["measure"] == measure}

    def to_table(self) -> Columns:
        """Return `facts`."""
        return self.facts

    def sheets(self) -> tuple[Sheet, ...]:
        """Return a table of the verdict and its reasons, and a table of the facts."""
        lines = [*self.because, *(f"not modelled: {text}" for text in self.not_modelled)]
        answer = Sheet((f"{self.question}: {_VERDICTS[self.holds]}",), [(text,) for text in lines])
        rows = [(row["subject"], row["measure"], row["detail"] or number(row["value"])) for row in self.facts.rows()]
        return (answer, Sheet(("subject", "measure", "value"), rows, source=".facts")) if rows else (answer,)


def facts_of(rows: Iterable[Fact]) -> Columns:
    """Return facts as a table; the column `value` has decimal numbers for all analyses."""
    return table_of(Fact._fields, (row._replace(value=float(row.value)) for row in rows))


HIGH = 1_000_000_000
"""A priority higher than that of all other workloads."""
LOW = -1_000_000_000
"""A priority lower than that of all other workloads."""
# Endless preemption changes no answer, so a bounded number of cycles is enough.
MOST_CYCLES = 200
FlavorResource = tuple[str, str]
"""A flavor and a resource."""


def one_key(scheduler: Scheduler, workload: Any) -> str:
    """Return the key of a workload that is given by its key, or as `Scheduler.submit` accepts it; submit the latter.

    Raises:
        NotFoundError: The workload does not exist.
        InvalidSpecError: The argument describes several workloads.
    """
    if isinstance(workload, str):
        return session_of(scheduler).engine.key(session_of(scheduler).state.id_of(workload))
    keys = scheduler.submit(workload)
    if len(keys) != 1:
        raise InvalidSpecError(f"{workload!r:.99} is {len(keys)} workloads; it must be one")
    return keys[0]


def without_workloads(cluster: Cluster) -> Cluster:
    """Return a cluster without its workloads and jobs."""
    return Cluster.from_manifest(msgspec.structs.replace(cluster.written, workloads=(), jobs=()), names=False)


def pairs_of(owner: ClusterQueue | Cohort) -> list[FlavorResource]:
    """Return the flavor and resource of each quota of a ClusterQueue or Cohort, in order."""
    return [pair for pairs in pairs_by_flavor(owner) for pair in pairs]


def pairs_by_flavor(owner: ClusterQueue | Cohort) -> list[list[FlavorResource]]:
    """Return the flavors and resources of a ClusterQueue or Cohort, with one list per flavor."""
    return [[(f.name, r.name) for r in f.resources] for group in owner.resource_groups for f in group.flavors]


class Trials:
    """Submissions to an empty cluster.

    Attributes:
        empty: A Scheduler of the cluster without workloads.
    """

    def __init__(self, cluster: Cluster) -> None:
        """Create the Scheduler; workloads of the cluster are ignored."""
        self._cluster = without_workloads(cluster)
        self.empty = Scheduler(self._cluster, now=0)
        self._quota = self.empty.quota
        self._rows = {
            node.name: row for row, node in enumerate(self._quota.nodes) if node.kind == "ClusterQueue" and node.exists
        }

    def amount(self, fact: str, queue: str, pair: FlavorResource) -> int:
        """Return an amount of the table of quotas, such as `nominal_quota`, in the engine's units."""
        return int(self._quota.array(fact)[self._rows[queue], self._quota.flavor_resources.index(pair)])

    def available(self, scheduler: Scheduler, queue: str, pair: FlavorResource) -> int:
        """Return the amount that a ClusterQueue could still use without preemption, in the engine's units."""
        table = scheduler.usage
        if pair not in table.flavor_resources:
            return 0
        return max(0, int(table.array("available")[self._rows[queue], table.flavor_resources.index(pair)]))

    def has_cohort(self, queue: str) -> bool:
        """Return whether a ClusterQueue has a Cohort."""
        return self._quota.nodes[self._rows[queue]].parent >= 0

    def others(self, queue: str) -> list[ClusterQueue]:
        """Return the other ClusterQueues of the cohort tree, ordered by distance to the lowest common ancestor."""
        nodes = self._quota.nodes
        root, mine = roots(nodes), path_of(nodes, self._rows[queue])

        def distance(other: ClusterQueue) -> tuple[int, str]:
            path = path_of(nodes, self._rows[other.name])
            return next((position for position, row in enumerate(mine) if row in path), len(mine)), other.name

        tree = [one for one in self._cluster.cluster_queues if one.name != queue and root[one.name] == root[queue]]
        return sorted(tree, key=distance)

    def unit(self, pair: FlavorResource) -> int:
        """Return the greatest common divisor of all quotas and limits of a flavor and resource."""
        column = self._quota.flavor_resources.index(pair)
        facts = ("nominal_quota", "borrowing_limit", "lending_limit")
        amounts = (int(value) for fact in facts for value in self._quota.array(fact)[:, column] if value != UNLIMITED)
        return gcd(*amounts) or 1

    def workload(self, queue: str, name: str, amounts: dict[FlavorResource, int], priority: int) -> Workload:
        """Return a workload of one pod that requests amounts of one flavor from a ClusterQueue.

        The pod tolerates all taints and selects the flavor's nodes by their labels.
        """
        (flavor,) = {name for name, _ in amounts}
        (labels,) = (known.node_labels for known in self._cluster.resource_flavors if known.name == flavor)
        local = next(known for known in self._cluster.local_queues if known.cluster_queue == queue)
        pods = PodSet.of(
            requests={resource: Quantity.format(resource, amount) for (_, resource), amount in amounts.items()},
            node_selector=labels,
            # Taints and node labels must not exclude the flavor, because only its quota is tested.
            tolerations=[Toleration(operator="Exists")],
        )
        return Workload(name, namespace=local.namespace, queue_name=local.name, pod_sets=(pods,), priority=priority)


def gets_quota(scheduler: Scheduler, workload: Workload) -> bool:
    """Submit a workload, and return whether it then holds quota and is not being evicted."""
    (key,) = scheduler.submit(workload)
    scheduler.settle(max_cycles=MOST_CYCLES)
    conditions = session_of(scheduler).engine.conditions(session_of(scheduler).state.id_of(key))
    reserved, evicted = (conditions.get(name, NO_CONDITION).is_true for name in ("QuotaReserved", "Evicted"))
    return reserved and not evicted


# What the answer does not cover, because only one workload per queue is tried.
_NOT_IN_LIMITS = (
    "one flavor and resource at a time: a workload that asks for several needs all of them",
    "workloads that do not fit into the guaranteed amount, as by their size on a node",
    "the time until preempted workloads have terminated",
)


def limits(cluster: Cluster, amounts: Mapping[str, str | int | float], flavor_resource: str) -> Guarantee:
    """Compute lending and borrowing limits that guarantee each ClusterQueue an amount; see `guarantee`."""
    flavor, _, resource = flavor_resource.partition("/")
    pair, alone = (flavor, resource), _only(cluster, (flavor, resource))
    required = {name: _amount(name, resource, value) for name, value in amounts.items()}
    if not required:
        raise InvalidSpecError("guarantee: amounts is empty; there must be at least one")
    queues = [queue.name for queue in alone.cluster_queues]
    if missing := [name for name in required if name not in queues]:
        raise NotFoundError(f'guarantee: ClusterQueue "{missing[0]}": does not exist, or has no {flavor_resource}')
    text = partial(Quantity.format, resource)
    ensured = {name: _worst_case(alone, name, pair) for name in queues}
    lending, borrowing = _lending(alone, required, pair), _borrowing(alone, required, pair)
    because = [
        f"{name} needs {text(least)} and is guaranteed {text(ensured[name])}" for name, least in required.items()
    ]
    if lending is None:
        because.append("no lending limits guarantee the required amounts")
    elif lending:
        because.append(f"lendingLimit: {', '.join(f'{name} {text(limit)}' for name, limit in lending.items())}")
    if borrowing is not None and math.isfinite(borrowing):
        because.append(f"borrowingLimit: {text(int(borrowing))} for all ClusterQueues of the trees suffices, too")
    groups = {"guaranteed": ensured, "required": required, "lendingLimit": lending or {}}
    facts = [Fact(name, fact, amount, text(amount)) for fact, group in groups.items() for name, amount in group.items()]
    if borrowing is not None:
        shown = text(int(borrowing)) if math.isfinite(borrowing) else "unlimited"
        facts.append(Fact("all", "borrowingLimit", borrowing, shown))
    edits = {_path(name, pair, "lendingLimit"): text(limit) for name, limit in (lending or {}).items()}
    return Guarantee("limits", lending == {}, tuple(because), facts_of(facts), _NOT_IN_LIMITS, edits=edits)


def _amount(name: str, resource: str, value: Any) -> int:
    try:
        found = Quantity(str(value).strip()).quota(resource)
    except ValueError as error:
        raise InvalidSpecError(f'guarantee: amounts: "{name}": {value!r:.99}; it must be an amount: {error}') from None
    if not 0 <= found < UNLIMITED:
        raise InvalidSpecError(f'guarantee: amounts: "{name}": {value!r:.99}; it must be 0 or more, and fit 64 bits')
    return found


def _only(cluster: Cluster, pair: FlavorResource) -> Cluster:
    """Return the cluster with a single flavor and resource, because other quotas do not affect the result."""
    nodes: list[ClusterQueue | Cohort] = []
    given: list[ClusterQueue | Cohort] = [*cluster.cohorts, *cluster.cluster_queues]
    for node in given:
        groups = tuple(
            ResourceGroup((quota.name,), (FlavorQuotas(flavor, (quota,)),))
            for flavor, quota in quotas_of(node)
            if (flavor, quota.name) == pair
        )
        if isinstance(node, Cohort):
            nodes.append(msgspec.structs.replace(node, resource_groups=groups))
        elif groups:
            plain = {"admission_checks_strategy": (), "namespace_selector": LabelSelector()}
            nodes.append(msgspec.structs.replace(node, resource_groups=groups, **plain))
    return Cluster(ResourceFlavor(pair[0]), *nodes, configuration=cluster.configuration)


def _worst_case(alone: Cluster, name: str, pair: FlavorResource) -> int:
    """Return the amount that a ClusterQueue gets after all other ClusterQueues have taken as much as they can."""
    trials = Trials(alone)
    scheduler = trials.empty.fork()
    # The nearest queues first: this order exhausts each of the nested limits as far as possible.
    for position, other in enumerate(trials.others(name)):
        if amount := trials.available(scheduler, other.name, pair):
            gets_quota(scheduler, trials.workload(other.name, f"other-{position}", {pair: amount}, HIGH))
    unit = trials.unit(pair)

    def fits(parts: int) -> bool:
        return gets_quota(scheduler.fork(), trials.workload(name, "last", {pair: parts * unit}, LOW))

    return unit * _largest(fits, trials.amount("potential", name, pair) // unit)


def _largest(is_met: Callable[[int], bool], most: int) -> int:
    """Return the largest number up to `most` for which a monotone predicate is true; 0 if there is none."""
    return bisect_left(range(1, most + 1), 1, key=lambda number: int(not is_met(number)))


def _path(name: str, pair: FlavorResource, field: str) -> str:
    return f"ClusterQueue/{name}:quota[{'/'.join(pair)}].{field}"


def _with(alone: Cluster, limits: Mapping[str, int], pair: FlavorResource, field: str) -> Cluster:
    """Return the cluster with one of the limits changed, by ClusterQueue."""
    return alone.edit_all({_path(n, pair, field): Quantity.format(pair[1], limit) for n, limit in limits.items()})


def _lending(alone: Cluster, required: Mapping[str, int], pair: FlavorResource) -> dict[str, int] | None:
    """Return the largest lending limits; each round lowers the limits of queues whose amount is not guaranteed."""
    found: dict[str, int] = {}
    # A new limit changes what other queues get, so each round checks all amounts again.
    for _ in range(len(required) + 1):
        changed = _with(alone, found, pair, "lendingLimit")
        broken = {name: least for name, least in required.items() if _worst_case(changed, name, pair) < least}
        if not broken:
            return found
        for name, least in broken.items():
            limit = _lendable(_with(alone, found, pair, "lendingLimit"), name, least, pair)
            if limit is None:
                return None
            found[name] = limit
    return None


def _lendable(cluster: Cluster, name: str, least: int, pair: FlavorResource) -> int | None:
    """Return the largest lending limit that guarantees a queue an amount; `None` if there is no such limit."""
    trials = Trials(cluster)
    # Limits between two multiples of the step admit the same amounts.
    step = gcd(trials.unit(pair), least)

    def is_met(parts: int) -> bool:
        return _worst_case(_with(cluster, {name: parts * step}, pair, "lendingLimit"), name, pair) >= least

    if not trials.has_cohort(name) or not is_met(0):
        return None
    return step * _largest(is_met, trials.amount("nominal_quota", name, pair) // step)


def _borrowing(alone: Cluster, required: Mapping[str, int], pair: FlavorResource) -> float | None:
    """Return the largest borrowing limit for all queues of the trees that guarantees the amounts.

    Return infinity if no limit is needed, and `None` if no limit is sufficient.
    """

    def are_met(cluster: Cluster) -> bool:
        return all(_worst_case(cluster, name, pair) >= least for name, least in required.items())

    if are_met(alone):
        return math.inf
    trials = Trials(alone)
    step = gcd(trials.unit(pair), *required.values())
    names = {other.name for name in required for other in trials.others(name)} | set(required)
    present = {name: trials.amount("borrowing_limit", name, pair) for name in names if trials.has_cohort(name)}
    most = max(trials.amount("potential", queue.name, pair) for queue in alone.cluster_queues)

    def is_met(parts: int) -> bool:
        # A queue with a smaller limit keeps its own limit.
        return are_met(
            _with(alone, {n: min(parts * step, limit) for n, limit in present.items()}, pair, "borrowingLimit")
        )

    return step * _largest(is_met, most // step) if is_met(0) else None


# The number of workloads in a random series.
_LENGTH = 12
_NOT_IN_SAFETY = (
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
        return Guarantee(
            "safety", holds=True, because=(head, *reasons), facts=facts_of(()), not_modelled=_NOT_IN_SAFETY
        )
    tried = 0
    for series in (*_planned(trials, queue), *_random(trials, queue, n, seed)):
        tried += 1
        if facts := _evicting(trials, queue.name, series):
            head = f"{counted(len(facts), 'submission')} {verb(len(facts), 'evict')} {facts[-1].detail}"
            done = tuple(series[: len(facts)])
            return Guarantee("safety", False, (head, *gaps), facts_of(facts), _NOT_IN_SAFETY, done)  # noqa: FBT003 - a verdict
    head = f"no proof, and {tried} series of submissions evict no workload of ClusterQueue {queue.name}"
    return Guarantee("safety", None, (head, *gaps), facts_of(()), _NOT_IN_SAFETY)


def _reclaimers(trials: Trials, queue: ClusterQueue) -> list[ClusterQueue]:
    return [other for other in trials.others(queue.name) if other.preemption.reclaim_within_cohort != "Never"]


def _proof(trials: Trials, queue: ClusterQueue) -> tuple[list[str], list[str]]:
    """Return the reasons why there is no proof (none if there is one), and the facts on which a proof rests."""
    pairs = pairs_of(queue)
    if not any(trials.amount("potential", queue.name, pair) > 0 for pair in pairs):
        return [], ["it has no quota, nor could it borrow any: nothing is ever admitted to it"]
    gaps, reasons = [], ["withinClusterQueue is Never: its own workloads preempt none of it"]
    if queue.preemption.within_cluster_queue != "Never":
        gaps.append(f"withinClusterQueue is {queue.preemption.within_cluster_queue}: its own workloads may preempt")
    reclaimers = _reclaimers(trials, queue)
    if not reclaimers:
        reasons.append("no other ClusterQueue of its tree reclaims")
    for other in reclaimers:
        shared = [pair for pair in pairs if pair in pairs_of(other)]
        for flavor, resource in shared:
            nominal, most = _nominal_and_most(trials, queue.name, (flavor, resource))
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


def _nominal_and_most(trials: Trials, queue: str, pair: FlavorResource) -> tuple[int, int]:
    """Return the nominal quota of a queue, and the maximum that it could ever use."""
    return trials.amount("nominal_quota", queue, pair), trials.amount("potential", queue, pair)


def _planned(trials: Trials, queue: ClusterQueue) -> Iterator[list[Workload]]:
    """Yield series that fill the queue and then submit a high-priority workload to a queue that may preempt."""
    own = [queue] if queue.preemption.within_cluster_queue != "Never" else []
    filled: list[Workload] = []
    full = trials.empty.fork()
    for pairs in pairs_by_flavor(queue):
        amounts = {pair: amount for pair in pairs if (amount := trials.available(full, queue.name, pair)) > 0}
        if amounts:
            filled.append(trials.workload(queue.name, f"resident-{len(filled)}", amounts, LOW))
            full.submit(filled[-1])
            full.settle(max_cycles=MOST_CYCLES)
    for other in (*own, *_reclaimers(trials, queue)):
        for pairs in pairs_by_flavor(other):
            for wanted in _wanted(trials, other.name, pairs):
                yield [*filled, trials.workload(other.name, "preemptor", wanted, HIGH)]


def _wanted(trials: Trials, queue: str, pairs: list[FlavorResource]) -> Iterator[dict[FlavorResource, int]]:
    """Yield the amounts that a test workload requests in order to preempt.

    The first amounts are the nominal quota of the queue, and the later amounts are the maximum that the queue can use.
    Each amount is requested for all resources of a flavor at once, and then for one resource at a time.
    """
    limits = {pair: _nominal_and_most(trials, queue, pair) for pair in pairs}
    # Within its nominal quota a queue may reclaim; with all that it could use, it must borrow to preempt.
    for position in (0, 1):
        if whole := {pair: limit[position] for pair, limit in limits.items() if limit[position] > 0}:
            yield whole
            yield from ({pair: amount} for pair, amount in whole.items())


def _random(trials: Trials, queue: ClusterQueue, n: int, seed: int) -> Iterator[list[Workload]]:
    """Yield series of workloads with random sizes and priorities, for all queues of the cohort tree."""
    places = []
    for one in (queue, *trials.others(queue.name)):
        for pairs in pairs_by_flavor(one):
            most = {pair: trials.amount("potential", one.name, pair) // trials.unit(pair) for pair in pairs}
            places.append((one.name, {pair: units for pair, units in most.items() if units > 0}))
    for trial in range(n):
        # A generator per series: its workloads do not depend on the number of series.
        rng = np.random.Generator(np.random.PCG64([seed, trial]))
        series = []
        for position in range(_LENGTH):
            name, most = places[int(rng.integers(len(places)))]
            amounts = {pair: trials.unit(pair) * int(rng.integers(1, units + 1)) for pair, units in most.items()}
            if amounts:
                # Few priorities, so that equal ones meet.
                series.append(trials.workload(name, f"w{position}", amounts, int(rng.integers(4))))
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
