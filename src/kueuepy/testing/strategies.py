"""Hypothesis strategies for clusters, workloads, jobs and configuration changes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, reduce
from math import gcd
from typing import Any, TypeVar
from weakref import WeakSet

import msgspec
from hypothesis import control
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

import kueuepy.objects as api
from kueuepy._core import Quantity
from kueuepy.cluster import Cluster, dump
from kueuepy.manifest import dump as dump_workloads
from kueuepy.objects.queue import ReclaimWithinCohort, WithinClusterQueue, quotas_of

# The minimum number of units in the largest quota of a resource, if the quota can be divided into this number.
_STEPS = 6
_MOST_STEPS = 24
# The maximum number of units that a pod requests.
_MOST = 8
# The resource that counts pods, which pods do not request.
_PODS = "pods"

Requests = dict[str, "int | str"]


class Amount(msgspec.Struct, frozen=True):
    """The unit in which a test counts the quotas of a resource.

    Attributes:
        resource: The name of the resource.
        unit: The size of a unit, in millicores for cpu and in base units for all other resources.
        is_there: Whether any quota of the resource is greater than 0.
    """

    resource: str
    unit: int
    is_there: bool = True

    def of(self, steps: int) -> int | str:
        """Return the quantity of a number of units, as in a manifest."""
        amount = steps * self.unit
        if self.resource != "cpu":
            return amount
        return amount // 1000 if amount % 1000 == 0 else f"{amount}m"

    def steps(self, quantity: str | int | None) -> int:
        """Return the number of units in a quantity, rounded up."""
        return 0 if quantity is None else -(-Quantity(str(quantity)).quota(self.resource) // self.unit)


def amounts_of(objects: Iterable[api.ClusterQueue | api.Cohort]) -> dict[str, Amount]:
    """Return the unit of each resource for which the objects have quotas.

    Unless this would result in more than 24 units per quota, the unit divides all quotas and limits, so that requests
    can match quotas exactly.
    """
    found: dict[str, set[int]] = {}
    for _, quota in quotas_of(*objects):
        given = (quota.nominal_quota, quota.borrowing_limit, quota.lending_limit)
        amounts = {Quantity(str(one)).quota(quota.name) for one in given if one is not None}
        found.setdefault(quota.name, set()).update(amount for amount in amounts if amount > 0)
    return {name: Amount(name, _unit(name, amounts), bool(amounts)) for name, amounts in found.items()}


def _unit(resource: str, amounts: set[int]) -> int:
    whole = 1000 if resource == "cpu" else 1
    if not amounts:
        return whole
    common, most = reduce(gcd, amounts), max(amounts)
    # Quotas such as 7 and 1000 have no useful common unit.
    if most // common > _MOST_STEPS:
        return max(1, most // (2 * _STEPS))
    wanted = -(-_STEPS * common // most)
    parts = next((n for n in range(wanted, 2 * wanted + 1) if common % n == 0), min(wanted, common))
    return max(1, common // parts)


def requests_of(cluster: Cluster, queue: api.LocalQueue) -> SearchStrategy[Requests]:
    """Return a strategy for the requests of a pod in a LocalQueue: a subset of the resources of its ClusterQueue."""
    amounts = amounts_of([*cluster.cluster_queues, *cluster.cohorts])
    leads = [one for one in cluster.cluster_queues if one.name == queue.cluster_queue]
    covered = [name for one in leads for group in one.resource_groups for name in group.covered_resources]
    return requests_in(tuple(amounts.get(name, Amount(name, 1)) for name in covered if name != _PODS))


@lru_cache(256)
def requests_in(amounts: tuple[Amount, ...]) -> SearchStrategy[Requests]:
    """Return a strategy for requests of the given resources.

    The first resource with a quota greater than 0 is always requested; the other resources are optional.
    """
    ordered = sorted(amounts, key=lambda one: not one.is_there)
    drawn = {one.resource: st.integers(0, _MOST).map(one.of) for one in ordered}
    first = dict(list(drawn.items())[:1])
    return st.fixed_dictionaries(first, optional={name: one for name, one in drawn.items() if name not in first})


def other_quota(draw: DrawFn, quota: api.ResourceQuota, amount: Amount) -> api.ResourceQuota:
    """Return a quota with a different nominal quota that is not below the lending limit."""
    least = amount.steps(quota.lending_limit)
    nominal = amount.of(draw(st.integers(least, least + 2 * _STEPS)))
    return msgspec.structs.replace(quota, nominal_quota=nominal)


QUEUES = ("queue-0", "queue-1", "queue-2", "queue-3")
FLAVORS = ("flavor-0", "flavor-1")
RESOURCES = ("cpu", "memory")
# Strategies are made once, because to make and validate one takes much longer than to draw from it.
_QUOTAS = st.integers(0, 12)
_LIMITS = st.none() | _QUOTAS
_LENDING = [st.none() | st.integers(0, nominal) for nominal in range(13)]
_WEIGHTS: SearchStrategy[str | None] = st.sampled_from((None, "2", "0.5", "0"))
_QUEUEING: SearchStrategy[Any] = st.sampled_from(("BestEffortFIFO", "StrictFIFO"))
_BORROW: SearchStrategy[Any] = st.sampled_from(("MayStopSearch", "TryNextFlavor"))
_PREEMPT: SearchStrategy[Any] = st.sampled_from(("TryNextFlavor", "MayStopSearch"))
_PRIORITIES = st.integers(-2, 2)
_THRESHOLDS = st.none() | st.integers(-1, 2)
_COUNTS = st.integers(1, 3)
_FEWEST = [st.none() | st.integers(1, count) for count in range(1, 4)]
_HAS_WORKERS = st.sampled_from((False, False, False, True))
_RECLAIM: SearchStrategy[ReclaimWithinCohort] = st.sampled_from(("Never", "LowerPriority", "Any"))
_WITHIN: SearchStrategy[WithinClusterQueue] = st.sampled_from(("Never", "LowerPriority", "LowerOrNewerEqualPriority"))
Drawn = TypeVar("Drawn", Cluster, "list[api.Workload]")
Stoppable = TypeVar("Stoppable", api.ClusterQueue, api.LocalQueue)


@st.composite
def clusters(
    draw: DrawFn,
    *,
    queues: int = 4,
    cohorts: int = 3,
    flavors: Sequence[str] = FLAVORS,
    resources: Sequence[str] = RESOURCES,
    preemption: bool = True,
    fair_sharing: bool | None = None,
) -> Cluster:
    """Generate valid clusters: a forest of cohorts, quotas with and without limits, and all kinds of policies.

    Args:
        draw: The draw function, provided by Hypothesis.
        queues: The maximum number of ClusterQueues, at least 1. The ClusterQueues are named `queue-0`, `queue-1` and so
            on; each has a LocalQueue of the same name. Default: 4.
        cohorts: The maximum number of declared Cohorts; with 0, no queue has a cohort. Default: 3.
        flavors: The names of the ResourceFlavors.
        resources: The resources that every queue covers. Default: cpu and memory.
        preemption: Whether queues may preempt. Default: True.
        fair_sharing: Whether fair sharing is enabled; `None` for a random choice. Default: `None`.

    Returns:
        A strategy.

    Example:
        >>> from hypothesis import given
        >>> @given(clusters(queues=2, cohorts=0))
        ... def test_without_cohorts(cluster):
        ...     assert len(cluster.cluster_queues) <= 2 and not cluster.cohorts
        >>> test_without_cohorts()
    """
    declared = [_cohort(draw, i, flavors, resources) for i in range(draw(st.integers(0, cohorts)))]
    parents = [None, *(cohort.name for cohort in declared)] + (["implicit"] if cohorts else [])
    made = [
        _queue(draw, f"queue-{i}", draw(st.sampled_from(parents)), flavors, resources, preemption=preemption)
        for i in range(draw(st.integers(1, queues)))
    ]
    fair = draw(st.booleans()) if fair_sharing is None else fair_sharing
    configuration = api.Configuration(fair_sharing=api.FairSharingConfig() if fair else None)
    return noted(Cluster(map(api.ResourceFlavor, flavors), declared, made, configuration=configuration))


# The test cases that have printed a cluster, so that a file contains each object once.
_CASES: WeakSet[Any] = WeakSet()


def noted(drawn: Drawn, queues: object = None) -> Drawn:
    """Return a Cluster or Workloads; a failing test prints them as a file that `kueuepy explain` reads.

    Args:
        drawn: The Cluster or the Workloads.
        queues: A Cluster that no strategy has drawn, which is printed before its first Workloads.
    """
    # Earlier versions of Hypothesis do not tell whether the test case is the last one.
    if getattr(control, "should_note", lambda: True)():
        case = control.current_build_context()
        if isinstance(queues, Cluster) and case not in _CASES:
            noted(queues)
        text = dump(drawn) if isinstance(drawn, Cluster) else dump_workloads(drawn)
        control.note(f"---\n{text}" if text else "")
        if isinstance(drawn, Cluster):
            _CASES.add(case)
    return drawn


def _cohort(draw: DrawFn, i: int, flavors: Sequence[str], resources: Sequence[str]) -> api.Cohort:
    parent = draw(st.sampled_from([None, *(f"cohort-{j}" for j in range(i))]))
    groups = _groups(draw, flavors, resources, in_tree=parent is not None) if draw(st.booleans()) else ()
    return api.Cohort(f"cohort-{i}", parent_name=parent, resource_groups=groups, fair_sharing=_weight(draw))


def _queue(
    draw: DrawFn, name: str, cohort: str | None, flavors: Sequence[str], resources: Sequence[str], *, preemption: bool
) -> api.ClusterQueue:
    return api.ClusterQueue(
        name,
        cohort_name=cohort,
        resource_groups=_groups(draw, flavors, resources, in_tree=cohort is not None),
        queueing_strategy=draw(_QUEUEING),
        flavor_fungibility=api.FlavorFungibility(when_can_borrow=draw(_BORROW), when_can_preempt=draw(_PREEMPT)),
        preemption=_preemption(draw) if preemption else api.Preemption(),
        fair_sharing=_weight(draw),
    )


def _groups(
    draw: DrawFn, flavors: Sequence[str], resources: Sequence[str], *, in_tree: bool
) -> Sequence[api.ResourceGroup]:
    used = draw(_some_of(tuple(flavors)))
    rows = [
        api.FlavorQuotas(flavor, tuple(_resource_quota(draw, name, in_tree=in_tree) for name in resources))
        for flavor in used
    ]
    return (api.ResourceGroup(tuple(resources), tuple(rows)),)


@lru_cache(64)
def _some_of(names: tuple[str, ...]) -> SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(names), min_size=1, unique=True)


def _resource_quota(draw: DrawFn, name: str, *, in_tree: bool) -> api.ResourceQuota:
    nominal = draw(_QUOTAS)
    borrowing = draw(_LIMITS) if in_tree else None
    lending = draw(_LENDING[nominal]) if in_tree else None
    return api.ResourceQuota(name, nominal, borrowing, lending)


def _preemption(draw: DrawFn) -> api.Preemption:
    reclaim: ReclaimWithinCohort = draw(_RECLAIM)
    borrow = api.BorrowWithinCohort()
    if reclaim != "Never" and draw(st.booleans()):
        borrow = api.BorrowWithinCohort("LowerPriority", draw(_THRESHOLDS))
    within: WithinClusterQueue = draw(_WITHIN)
    return api.Preemption(reclaim_within_cohort=reclaim, within_cluster_queue=within, borrow_within_cohort=borrow)


def _weight(draw: DrawFn) -> api.FairSharing | None:
    weight = draw(_WEIGHTS)
    return None if weight is None else api.FairSharing(weight)


def _places(
    queues: Cluster | Iterable[str], resources: Sequence[str]
) -> list[tuple[api.LocalQueue, SearchStrategy[Requests]]]:
    """Return the LocalQueues, each with a strategy for the requests of its pods."""
    if isinstance(queues, Cluster):
        return [(queue, requests_of(queues, queue)) for queue in queues.local_queues]
    asked = requests_in(tuple(Amount(name, 1000 if name == "cpu" else 1) for name in resources))
    return [(api.LocalQueue(name, cluster_queue=name), asked) for name in queues]


@st.composite
def workloads(
    draw: DrawFn,
    queues: Cluster | Iterable[str] = QUEUES,
    *,
    min_size: int = 0,
    max_size: int = 8,
    requests: SearchStrategy[dict[str, int]] | None = None,
    resources: Sequence[str] = RESOURCES,
    prefix: str = "workload",
) -> list[api.Workload]:
    """Generate workloads for the LocalQueues of a Cluster, or for named LocalQueues in the namespace `default`.

    If a Cluster is given, each pod requests resources that the ClusterQueue covers, in amounts similar to its quotas.
    To test a property of a Cluster, pass that Cluster or its `resources`; workloads that request a resource that no
    queue covers always stay pending.

    Args:
        draw: The draw function, provided by Hypothesis.
        queues: The Cluster, or the names of LocalQueues.
        min_size: The minimum number of workloads. Default: 0.
        max_size: The maximum number of workloads. Default: 8.
        requests: A strategy for the requests of one pod. Default: see above.
        resources: The resources that pods request if only names are given: up to 8 units of the first resource, and
            optionally of the other resources.
        prefix: The prefix of the names, which is followed by a number. Default: `workload`.

    Returns:
        A strategy.

    Example:
        >>> from hypothesis import given
        >>> @given(workloads(["team"], max_size=2))
        ... def test_queue(found):
        ...     assert {workload.queue_name for workload in found} <= {"team"}
        >>> test_queue()
    """
    places = st.sampled_from(_places(queues, resources))
    count = draw(st.integers(min_size, max_size))
    return noted([_workload(draw, f"{prefix}-{i}", *draw(places), requests) for i in range(count)], queues)


def workload(
    queues: Cluster | Iterable[str] = QUEUES,
    *,
    requests: SearchStrategy[dict[str, int]] | None = None,
    resources: Sequence[str] = RESOURCES,
    name: str = "workload",
) -> SearchStrategy[api.Workload]:
    """Generate a workload for one of the LocalQueues of a Cluster, as `workloads` does.

    Args:
        queues: The Cluster, or the names of LocalQueues.
        requests: A strategy for the requests of one pod. Default: as for `workloads`.
        resources: The resources that pods request if only names are given.
        name: The beginning of the name. Default: `workload`.

    Returns:
        A strategy.

    Example:
        >>> from hypothesis import given
        >>> @given(workload(["team"]))
        ... def test_queue(one):
        ...     assert one.queue_name == "team"
        >>> test_queue()
    """
    one = workloads(queues, min_size=1, max_size=1, requests=requests, resources=resources, prefix=name)
    return one.map(lambda found: found[0])


def _workload(
    draw: DrawFn,
    name: str,
    queue: api.LocalQueue,
    covered: SearchStrategy[Requests],
    given: SearchStrategy[dict[str, int]] | None,
) -> api.Workload:
    requests: SearchStrategy[Any] = covered if given is None else given

    def pod_set(name: str, *, partial: bool) -> api.PodSet:
        count = draw(_COUNTS)
        fewest = draw(_FEWEST[count - 1]) if partial else None
        return api.PodSet.of(name, count, requests=draw(requests), min_count=fewest)

    sets = [pod_set("main", partial=True)]
    if draw(_HAS_WORKERS):
        sets.append(pod_set("workers", partial=False))
    priority = draw(_PRIORITIES)
    return api.Workload(name, namespace=queue.namespace, queue_name=queue.name, priority=priority, pod_sets=tuple(sets))


@st.composite
def jobs(
    draw: DrawFn,
    queues: Cluster | Iterable[str] = QUEUES,
    *,
    min_size: int = 0,
    max_size: int = 8,
    resources: Sequence[str] = RESOURCES,
    prefix: str = "job",
) -> list[dict[str, Any]]:
    """Generate manifests of `batch/v1` Jobs for LocalQueues.

    Args:
        draw: The draw function, provided by Hypothesis.
        queues: The Cluster, or the names of LocalQueues in the namespace `default`.
        min_size: The minimum number of jobs. Default: 0.
        max_size: The maximum number of jobs. Default: 8.
        resources: The resources that pods request if only names are given (see `workloads`).
        prefix: The prefix of the names, which is followed by a number. Default: `job`.

    Returns:
        A strategy.

    Example:
        >>> from hypothesis import given
        >>> @given(jobs(["team"]))
        ... def test_kind(found):
        ...     assert all(job["kind"] == "Job" for job in found)
        >>> test_kind()
    """
    places = st.sampled_from(_places(queues, resources))
    made = []
    for i in range(draw(st.integers(min_size, max_size))):
        queue, covered = draw(places)
        requests = {name: str(amount) for name, amount in draw(covered).items()}
        asked = {"requests": requests}
        if devices := {name: amount for name, amount in requests.items() if "/" in name}:
            asked["limits"] = devices  # the API server requires equal requests and limits of extended resources
        container = {"name": "main", "image": "busybox", "resources": asked}
        labels = {"kueue.x-k8s.io/queue-name": queue.name}
        spec = {
            "parallelism": draw(st.integers(1, 3)),
            "template": {"spec": {"containers": [container], "restartPolicy": "Never"}},
        }
        metadata = {"name": f"{prefix}-{i}", "namespace": queue.namespace, "labels": labels}
        made.append({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})
    return made


@st.composite
def edits(draw: DrawFn, cluster: Cluster) -> api.ClusterQueue | api.Cohort | api.LocalQueue:
    """Generate one object of a cluster with a changed quota, policy, cohort or stop policy.

    Args:
        draw: The draw function, provided by Hypothesis.
        cluster: The cluster.

    Returns:
        A strategy for an object that `Scheduler.apply` accepts.

    Example:
        >>> from hypothesis import given, strategies as st
        >>> @given(st.data())
        ... def test_edit(data):
        ...     cluster = data.draw(clusters())
        ...     assert data.draw(edits(cluster)).name
        >>> test_edit()
    """
    objects: list[api.ClusterQueue | api.Cohort | api.LocalQueue]
    objects = [*cluster.cluster_queues, *cluster.cohorts, *cluster.local_queues]
    obj = draw(st.sampled_from(objects))
    if isinstance(obj, api.LocalQueue):
        return _stopped(draw, obj)
    amounts = amounts_of([*cluster.cluster_queues, *cluster.cohorts])
    if isinstance(obj, api.Cohort):
        groups = _scaled(draw, obj.resource_groups, amounts)
        return msgspec.structs.replace(obj, resource_groups=groups, fair_sharing=_weight(draw))
    cohorts = [cohort.name for cohort in cluster.cohorts]
    changes: list[Callable[[api.ClusterQueue], api.ClusterQueue]] = [
        lambda queue: msgspec.structs.replace(queue, resource_groups=_scaled(draw, queue.resource_groups, amounts)),
        lambda queue: msgspec.structs.replace(queue, preemption=_preemption(draw)),
        lambda queue: msgspec.structs.replace(queue, fair_sharing=_weight(draw)),
        lambda queue: _stopped(draw, queue),
        # A queue that has a cohort never loses it, because its limits require a cohort.
        lambda queue: msgspec.structs.replace(queue, cohort_name=draw(st.sampled_from([queue.cohort_name, *cohorts]))),
    ]
    return draw(st.sampled_from(changes))(obj)


def _stopped(draw: DrawFn, obj: Stoppable) -> Stoppable:
    return msgspec.structs.replace(obj, stop_policy=draw(st.sampled_from(("None", "Hold", "HoldAndDrain"))))


def _scaled(
    draw: DrawFn, groups: Sequence[api.ResourceGroup], amounts: Mapping[str, Amount]
) -> Sequence[api.ResourceGroup]:
    """Return the groups with different nominal quotas that are not below the lending limits."""
    return tuple(
        api.ResourceGroup(
            group.covered_resources,
            tuple(
                api.FlavorQuotas(
                    row.name, tuple(other_quota(draw, quota, amounts[quota.name]) for quota in row.resources)
                )
                for row in group.flavors
            ),
        )
        for group in groups
    )
