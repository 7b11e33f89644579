"""Clusters with several cohort trees and many pending jobs, one cluster per seed."""

from __future__ import annotations

import random

import kueuepy as kq

GPU = "gpu.example.com"
FLAVORS = ("a", "b")


def _configuration(chance: random.Random) -> kq.Configuration:
    gpus = kq.objects.Resources(device_class_mappings=(kq.objects.DeviceClassMapping("gpus", (GPU,)),))
    usage = kq.objects.AdmissionFairSharing(600, 10, {}) if chance.random() < 0.3 else None
    waits = kq.objects.WaitForPodsReady(timeout=60, block_admission=True) if chance.random() < 0.1 else None
    return kq.Configuration(
        fair_sharing=kq.FairSharingConfig() if chance.random() < 0.5 else None,
        admission_fair_sharing=usage,
        wait_for_pods_ready=waits,
        resources=gpus,
    )


def _queue(chance: random.Random, name: str, cohort: str | None) -> kq.ClusterQueue:
    flavors = chance.sample(FLAVORS, chance.randint(1, len(FLAVORS)))
    return kq.ClusterQueue.of(
        name,
        {flavor: {"cpu": chance.randint(1, 6), "gpus": chance.randint(0, 4)} for flavor in flavors},
        cohort_name=cohort,
        queueing_strategy=chance.choice(["BestEffortFIFO", "StrictFIFO"]),
        admission_scope=chance.choice([None, "UsageBasedAdmissionFairSharing"]),
        fair_sharing=kq.FairSharing(chance.choice(["1", "2", "0.5", "0"])),
        preemption=kq.Preemption(
            reclaim_within_cohort=chance.choice(["Never", "LowerPriority", "Any", "Any"]),
            within_cluster_queue=chance.choice(["Never", "LowerPriority", "LowerOrNewerEqualPriority"]),
        ),
    )


def _workload(chance: random.Random, number: int, queue: str, *, topology: bool) -> kq.Workload:
    spec: dict = {"containers": [{"name": "c", "resources": {"requests": {"cpu": str(chance.randint(1, 5))}}}]}
    if chance.random() < 0.3:
        spec["resourceClaims"] = [{"name": "d", "resourceClaimTemplateName": "claim"}]
    request = chance.choice([None, {"preferred": "rack"}, {"required": "rack"}]) if topology else None
    count = chance.randint(1, 3)
    least = chance.randint(1, count) if chance.random() < 0.2 and request is None else None
    pods = kq.PodSet("main", count, template={"spec": spec}, topology_request=request, min_count=least)
    priority = chance.randint(0, 3) + number // 10  # Later jobs preempt earlier ones.
    return kq.Workload(f"w{number:03}", queue_name=queue, priority=priority, pod_sets=(pods,))


def forest(seed: int, *, jobs: int = 40) -> tuple[kq.Cluster, list[kq.Workload]]:
    """Return a cluster with three to six trees and some queues without a cohort, and its jobs.

    Some clusters have a topology that all trees share; some have fair sharing, admission fair sharing, or a cycle that
    blocks until pods are ready.
    """
    chance = random.Random(seed)  # noqa: S311 - a repeatable story, no secret
    topology = chance.random() < 0.25
    trees = [f"tree-{number}" for number in range(chance.randint(3, 6))]
    cohorts = [kq.Cohort(f"{tree}-inner", parent_name=tree) for tree in trees if chance.random() < 0.5]
    parents = [*trees, *(cohort.name for cohort in cohorts), None]
    queues = [_queue(chance, f"q{number}", chance.choice(parents)) for number in range(12)]
    levels = {"topology_name": "racks", "node_labels": {"pool": "a"}} if topology else {}
    nodes = [
        kq.Node(f"n{n}", labels={"pool": "a", "rack": f"r{n % 2}"}, allocatable={"cpu": 8, "pods": 20})
        for n in range(4 if topology else 0)
    ]
    cluster = kq.Cluster(
        [kq.Topology("racks", levels=["rack"])] if topology else [],
        nodes,
        kq.ResourceFlavor("a", **levels),
        kq.ResourceFlavor("b"),
        kq.objects.ResourceClaimTemplate("claim", requests=(kq.objects.DeviceRequest("r", GPU, count=1),)),
        cohorts,
        queues,
        configuration=_configuration(chance),
    )
    waiting = [_workload(chance, n, chance.choice(queues).name, topology=topology) for n in range(jobs)]
    return cluster, waiting
