"""Simulations for the properties of runs, and functions to inspect their results."""

from __future__ import annotations

import msgspec

from kueuepy import Cluster, ClusterQueue, Cohort, PodSet, Scheduler
from kueuepy.engine.decisions import Admitted, Preempting
from kueuepy.objects import FlavorQuotas, ResourceGroup, ResourceQuota
from kueuepy.testing.strategies import FLAVORS, RESOURCES
from rules import rules

CELLS = [(flavor, resource) for flavor in FLAVORS for resource in RESOURCES]
MOST_CYCLES = 200


def settled(cluster: Cluster, waiting) -> Scheduler:
    """Return a settled Scheduler after submitting everything at once."""
    scheduler = Scheduler(cluster, now=0)
    scheduler.submit(waiting)
    scheduler.settle(max_cycles=MOST_CYCLES)
    assert scheduler._engine.check() == []
    return scheduler


def story(scheduler: Scheduler, cycles: int = 12) -> list:
    """Return the decisions of several cycles, without messages."""
    return [told(scheduler.cycle()) for _ in range(cycles)]


def told(cycle) -> list:
    """Return the decisions of a cycle."""
    return [_plain(decision) for decision in cycle]


def _plain(decision):
    match decision:
        case Admitted():
            counts = [assignment.count for assignment in decision.admission.pod_set_assignments]
            return ("admitted", decision.workload, decision.flavors, counts)
        case Preempting():
            return ("preempting", decision.workload, [(target.workload, target.reason) for target in decision.targets])
    return ("pending", decision.workload, decision.reason)


def nodes(scheduler: Scheduler):
    """Return the tables of the engine, and for each queue and cohort its name and whether it is a cohort."""
    cluster = scheduler.cluster
    names = [(queue.name, False) for queue in cluster.cluster_queues]
    named = {cohort.name for cohort in cluster.cohorts}
    named |= {queue.cohort_name for queue in cluster.cluster_queues if queue.cohort_name}
    return rules().Tables(scheduler._engine), names + [(name, True) for name in sorted(named)]


def admissions(scheduler: Scheduler) -> dict:
    """Return the quota of each workload."""
    engine = scheduler._engine
    keys = scheduler.keys()
    found = {key: engine.admission(engine.find(key)) for key in keys}
    return {key: admission for key, admission in found.items() if admission is not None}


def scaled(cluster: Cluster, waiting, factor: int):
    """The cluster and the workloads with all amounts times a factor."""
    replace = msgspec.structs.replace

    def quota(row):
        limits = [None if x is None else int(x) * factor for x in (row.borrowing_limit, row.lending_limit)]
        return ResourceQuota(row.name, int(row.nominal_quota) * factor, *limits)

    def group(rows):
        flavors = [FlavorQuotas(flavor.name, list(map(quota, flavor.resources))) for flavor in rows.flavors]
        return ResourceGroup(rows.covered_resources, flavors)

    def pods(pod_set):
        asked = pod_set.template["spec"]["containers"][0]["resources"].get("requests", {})
        requests = {name: int(amount) * factor for name, amount in asked.items()}
        return PodSet.of(pod_set.name, pod_set.count, requests=requests, min_count=pod_set.min_count)

    objects = [
        replace(obj, resource_groups=tuple(map(group, obj.resource_groups)))
        if isinstance(obj, ClusterQueue | Cohort)
        else obj
        for obj in cluster.objects()
    ]
    larger = Cluster(objects, configuration=cluster.configuration)
    return larger, [replace(w, pod_sets=tuple(map(pods, w.pod_sets))) for w in waiting]
