"""Random objects with few names and small numbers, so that requests match quotas exactly and limits are reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import kueuepy.objects as kq
from kueuepy.cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

QUEUES = "abcd"
NAMESPACES = ("default", "other")
CHECKS = ("approval", "budget")
CONTROLLER = "example.com/"
CLASSES = ("high", "low")
_COHORTS = ("x", "y", "z")
_FLAVORS = ("plain", "spot", "racks")
_HOSTNAME = "kubernetes.io/hostname"
_LEVELS = ("rack", _HOSTNAME)


def configuration(chosen: Random) -> kq.Configuration:
    """Return a random Configuration: both kinds of fair sharing, waitForPodsReady, and feature gates."""
    waits = kq.WaitForPodsReady(
        timeout=120,
        recovery_timeout=chosen.choice((None, 60)),
        block_admission=chosen.random() < _RARELY,
        requeuing_strategy=kq.RequeuingStrategy(
            timestamp=chosen.choice(("Creation", "Eviction")),
            backoff_base_seconds=chosen.choice((0, 60)),
            backoff_limit_count=chosen.choice((None, 2)),
        ),
    )
    usage = kq.AdmissionFairSharing(usage_half_life_time=chosen.choice((0, 60)))
    return kq.Configuration(
        fair_sharing=_perhaps(chosen, kq.FairSharingConfig()),
        admission_fair_sharing=_perhaps(chosen, usage),
        wait_for_pods_ready=_perhaps(chosen, waits),
        feature_gates={"PartialAdmission": chosen.random() < _MOSTLY},
    )


def cluster(chosen: Random) -> Cluster:
    """Return a random cluster with objects of every kind. Later steps can change and remove most objects."""
    objects: list[kq.Object] = [flavor(chosen, name) for name in _FLAVORS]
    objects += [kq.Topology("room", levels=_LEVELS), *(_check(chosen, name) for name in CHECKS)]
    objects += [kq.Namespace(name) for name in NAMESPACES]
    objects += [cluster_queue(chosen, name) for name in QUEUES[:3]]
    objects += [kq.LocalQueue(name, namespace=where, cluster_queue=name) for name in QUEUES for where in NAMESPACES]
    objects += [kq.WorkloadPriorityClass(name, value=value) for name, value in zip(CLASSES, (2, -1), strict=True)]
    objects += [_node(chosen) for _ in range(3)]
    unique = {(type(obj), obj.key): obj for obj in objects}
    return Cluster(*unique.values(), configuration=configuration(chosen), names=False)


def some_object(chosen: Random) -> kq.Object:
    """Return a random object of any kind."""
    make, name = chosen.choices(_KINDS, _WEIGHTS)[0]
    return make(chosen, chosen.choice(name))


def flavor(chosen: Random, name: str) -> kq.ResourceFlavor:
    """Return a ResourceFlavor; the one named `racks` has a topology."""
    if name == "racks":
        return kq.ResourceFlavor(name, node_labels={"pool": "racks"}, topology_name="room")
    taints = (kq.Taint("spot", "true", "NoSchedule"),) if name == "spot" and chosen.random() < _MOSTLY else ()
    return kq.ResourceFlavor(name, node_labels={"pool": name} if chosen.random() < _HALF else {}, node_taints=taints)


def cluster_queue(chosen: Random, name: str) -> kq.ClusterQueue:
    """Return a ClusterQueue with random policies."""
    parent = chosen.choice((None, "x", "x", "x", "y", "z"))
    reclaim: Any = chosen.choice(("Never", "LowerPriority", "Any", "Any"))
    borrow = kq.BorrowWithinCohort()
    if reclaim != "Never" and chosen.random() < _HALF:
        borrow = kq.BorrowWithinCohort("LowerPriority", chosen.choice((None, 0)))
    within: Any = chosen.choice(("Never", "LowerPriority", "LowerOrNewerEqualPriority"))
    checks = [check for check in CHECKS if chosen.random() < _RARELY]
    return kq.ClusterQueue(
        name,
        cohort_name=parent,
        resource_groups=_groups(chosen, limited=parent is not None),
        queueing_strategy=chosen.choice(("BestEffortFIFO", "BestEffortFIFO", "StrictFIFO")),
        flavor_fungibility=kq.FlavorFungibility(
            chosen.choice(("MayStopSearch", "TryNextFlavor")), chosen.choice(("MayStopSearch", "TryNextFlavor"))
        ),
        preemption=kq.Preemption(reclaim, within, borrow),
        fair_sharing=_weight(chosen),
        admission_checks_strategy=tuple(map(kq.AdmissionCheckStrategyRule, checks)),
        stop_policy=_stop(chosen),
        admission_scope=_perhaps(chosen, "UsageBasedAdmissionFairSharing"),
        namespace_selector=chosen.choice((*[kq.LabelSelector()] * 24, kq.LabelSelector({"team": "a"}))),
    )


def workload(chosen: Random, name: str) -> kq.Workload:
    """Return a workload with one or two pod sets for a random LocalQueue."""
    pod_sets = [_pod_set(chosen, "main")]
    if chosen.random() < _RARELY:
        pod_sets.append(_pod_set(chosen, "more"))
    return kq.Workload(
        name,
        namespace=chosen.choice(("default", *NAMESPACES)),
        queue_name=chosen.choice(QUEUES),
        pod_sets=tuple(pod_sets),
        priority=chosen.randint(-1, 2),
        active=chosen.random() > _SELDOM,
        maximum_execution_time_seconds=chosen.choice((*[None] * 19, 90)),
    )


def job(chosen: Random, name: str) -> dict[str, Any]:
    """Return a `batch/v1` Job for a random LocalQueue."""
    labels = {"kueue.x-k8s.io/queue-name": chosen.choice(QUEUES)}
    if chosen.random() < _HALF:
        labels["kueue.x-k8s.io/priority-class"] = chosen.choice(CLASSES)
    container = {"name": "main", "image": "busybox", "resources": {"requests": _requests(chosen)}}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    metadata = {"name": name, "namespace": chosen.choice(NAMESPACES), "labels": labels}
    spec = {"parallelism": chosen.randint(1, 3), "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def _pod_set(chosen: Random, name: str) -> kq.PodSet:
    count = chosen.choice((1, 1, 2, 3, 4))
    topology = chosen.choice((*[None] * 37, {"required": "rack"}, {"preferred": _HOSTNAME}, {"unconstrained": True}))
    return kq.PodSet.of(
        name,
        count,
        requests=_requests(chosen),
        min_count=chosen.choice((None, None, 1)) if name == "main" else None,
        tolerations=("spot",) if chosen.random() < _NEARLY_ALWAYS else (),
        node_selector={"pool": chosen.choice(_FLAVORS)} if chosen.random() < _SELDOM else None,
        topology_request=topology,
    )


def _requests(chosen: Random) -> dict[str, str]:
    requests = {"cpu": chosen.choice(("0", "500m", "1", "1", "1", "2"))}
    if chosen.random() < _HALF:
        requests["memory"] = chosen.choice(("1", "512", "1Ki"))
    return requests


def _groups(chosen: Random, *, limited: bool) -> tuple[kq.ResourceGroup, ...]:
    known = _FLAVORS if chosen.random() < _RARELY else _FLAVORS[:2]
    flavors = chosen.sample(known, chosen.randint(1, len(known)))
    if chosen.random() < _RARELY:  # separate flavors for cpu and memory
        first, second = flavors[:1], [name for name in _FLAVORS if name not in flavors[:1]][:1]
        return (_group(chosen, first, ("cpu",), limited=limited), _group(chosen, second, ("memory",), limited=limited))
    return (_group(chosen, flavors, ("cpu", "memory"), limited=limited),)


def _group(chosen: Random, flavors: list[str], resources: tuple[str, ...], *, limited: bool) -> kq.ResourceGroup:
    def quota(resource: str) -> kq.Quota:
        unit = 1 if resource == "cpu" else 1024
        nominal = chosen.choice((0, 1, 2, 3, 4, 6))
        borrowing = chosen.choice((None, chosen.randint(0, 6))) if limited else None
        lending = chosen.choice((None, chosen.randint(0, nominal))) if limited else None
        return kq.Quota(*(None if number is None else number * unit for number in (nominal, borrowing, lending)))  # type: ignore[arg-type]

    return kq.ResourceGroup.of({name: {resource: quota(resource) for resource in resources} for name in flavors})


def _cohort(chosen: Random, name: str) -> kq.Cohort:
    """Return a cohort whose parent can be any other cohort, so that cycles occur."""
    parent = chosen.choice((None, None, *(other for other in _COHORTS if other != name)))
    groups = _groups(chosen, limited=parent is not None) if chosen.random() < _HALF else ()
    return kq.Cohort(name, parent_name=parent, resource_groups=groups, fair_sharing=_weight(chosen))


def _local_queue(chosen: Random, name: str) -> kq.LocalQueue:
    behind = name if chosen.random() < _NEARLY_ALWAYS else chosen.choice(QUEUES)
    return kq.LocalQueue(
        name,
        namespace=chosen.choice(NAMESPACES),
        cluster_queue=behind,
        stop_policy=_stop(chosen),
        fair_sharing=_weight(chosen),
    )


def _check(chosen: Random, name: str) -> kq.AdmissionCheck:
    return kq.AdmissionCheck(name, controller_name=f"{CONTROLLER}{name}", active=chosen.random() > _SELDOM)


def _namespace(chosen: Random, name: str) -> kq.Namespace:
    return kq.Namespace(name, labels=chosen.choice(({}, {"team": "a"})))


def _limit_range(chosen: Random, name: str) -> kq.LimitRange:
    item = kq.LimitRangeItem(
        type="Container",
        default_request=_perhaps(chosen, {"cpu": "1"}) or {},
        max={"cpu": "2"} if chosen.random() < _RARELY else {},
    )
    return kq.LimitRange("limits", namespace=name, limits=(item,))


def _class(chosen: Random, name: str) -> kq.WorkloadPriorityClass:
    return kq.WorkloadPriorityClass(name, value=chosen.randint(-2, 3))


def _topology(chosen: Random, name: str) -> kq.Topology:
    return kq.Topology(name, levels=chosen.choice((_LEVELS, _LEVELS, (_HOSTNAME,))))


def _node(chosen: Random, _: str = "") -> kq.Node:
    number = chosen.randrange(4)
    labels = {"pool": "racks", "rack": f"rack-{number % 2}", _HOSTNAME: f"node-{number}"}
    capacity: dict[str, str | int] = {"cpu": str(chosen.randint(0, 6)), "memory": "4Ki", "pods": "8"}
    ready, shut = chosen.random() < _NEARLY_ALWAYS, chosen.random() < _RARELY
    return kq.Node(f"node-{number}", labels=labels, capacity=capacity, ready=ready, unschedulable=shut)


def _weight(chosen: Random) -> kq.FairSharing | None:
    weight = chosen.choice((None, None, "2", "0.5", "0"))
    return None if weight is None else kq.FairSharing(weight)


def _stop(chosen: Random) -> Any:
    return chosen.choice((*["None"] * 18, "Hold", "HoldAndDrain"))


def _perhaps(chosen: Random, value: Any) -> Any:
    return value if chosen.random() < _HALF else None


_SELDOM, _RARELY, _HALF, _MOSTLY, _NEARLY_ALWAYS = 0.05, 0.15, 0.5, 0.7, 0.9
_MAKERS: dict[Callable[[Random, str], kq.Object], tuple[tuple[str, ...] | str, int]] = {
    cluster_queue: (QUEUES, 8),
    _cohort: (_COHORTS, 6),
    _local_queue: (QUEUES, 3),
    flavor: (_FLAVORS, 2),
    _check: (CHECKS, 2),
    _namespace: (NAMESPACES, 1),
    _limit_range: (NAMESPACES, 1),
    _class: (CLASSES, 1),
    _topology: (("room",), 1),
    _node: (("",), 3),
}
_KINDS = [(make, names) for make, (names, _) in _MAKERS.items()]
_WEIGHTS = [weight for _, weight in _MAKERS.values()]
