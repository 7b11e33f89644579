"""Clusters and loads of a given shape, made of the public objects."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from kueuepy import (
    Cluster,
    ClusterQueue,
    Jobs,
    LocalQueue,
    Namespace,
    PodSet,
    Preemption,
    ResourceFlavor,
    Workload,
)
from kueuepy._core import Engine

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from load_profile import CohortClass, Profile, QueuesSet, WorkloadsSet, WorkloadTemplate

LARGE = {
    "cohorts": 10,
    "queues": 100,
    "classes": {
        "small": (35, 60, 150, 50, 1),
        "medium": (11, 300, 350, 100, 5),
        "large": (4, 700, 700, 200, 20),
    },
}
"""Load of Kueue's large-scale performance test."""

GPU = "nvidia.com/gpu"

PREEMPTION = Preemption(reclaim_within_cohort="Any", within_cluster_queue="LowerPriority")


def engine(cohorts: int, queues: int, nominal_quota: int) -> tuple[Engine, list[str]]:
    """Return an engine with this number of cohorts, `queues` queues in each cohort, and the names of the queues."""
    made = Engine()
    made.apply(Namespace("default"))
    made.apply(ResourceFlavor("default"))
    names = [f"cohort-{cohort}-queue-{queue}" for cohort in range(cohorts) for queue in range(queues)]
    for name in names:
        quotas = {"default": {"cpu": nominal_quota}}
        cohort = name.partition("-queue")[0]
        made.apply(ClusterQueue.of(name, quotas, cohort_name=cohort, preemption=PREEMPTION))
        made.apply(LocalQueue(name, cluster_queue=name))
    return made, names


def job(name: str, queue: str, cpu: int, *, priority: int = 0, created: int = 0) -> Workload:
    """Return a workload with one pod."""
    return Workload(
        name,
        queue_name=queue,
        uid=name,
        priority=priority,
        creation_timestamp=created,
        pod_sets=(PodSet.of(requests={"cpu": cpu}),),
    )


def fill(made: Engine, queues: list[str], each: int) -> None:
    """Submit `each` workloads of one CPU to each queue, in turn."""
    for i in range(each):
        for number, queue in enumerate(queues):
            made.submit(job(f"{queue}-{i}", queue, 1, created=i * len(queues) + number))


def run(made: Engine, most: int | None = None) -> dict[str, int]:
    """Run cycles until one neither admits nor evicts, at most `most`; return the counts of cycles and decisions."""
    did = {"cycles": 0, "admitted": 0, "evicted": 0}
    while most is None or did["cycles"] < most:
        _, admitted, evicted, _ = made.cycle()
        if admitted == evicted == 0:
            break
        made.settle()
        did = {
            "cycles": did["cycles"] + 1,
            "admitted": did["admitted"] + admitted,
            "evicted": did["evicted"] + evicted,
        }
    return did


def profile(cohorts: int, queues: int, classes: dict[str, tuple[int, int, int, int, int]]) -> Profile:
    """Return a load profile with the quotas and policies of Kueue's performance test.

    Args:
        cohorts: Number of cohorts.
        queues: Number of queues in each cohort.
        classes: For each class: count, creation interval and run time in milliseconds, priority, CPU request.
    """
    sets = tuple(
        WorkloadsSet(
            count=count,
            creation_interval_ms=interval,
            workloads=(WorkloadTemplate(class_name=name, runtime_ms=runtime, priority=priority, request=request),),
        )
        for name, (count, interval, runtime, priority, request) in classes.items()
    )
    return load(cohorts, queues, sets)


def load(cohorts: int, queues: int, sets: tuple[WorkloadsSet, ...], **shape: Any) -> Profile:
    """Return a load profile with these arrivals in each queue and one flavor; `shape` describes a topology."""
    each = QueuesSet(
        class_name="cq",
        count=queues,
        nominal_quota=20,
        borrowing_limit=100,
        reclaim_within_cohort="Any",
        within_cluster_queue="LowerPriority",
        workloads_sets=sets,
    )
    return Profile(cohorts=(CohortClass(class_name="cohort", count=cohorts, queues_sets=(each,)),), **shape)


def names_of(made: Profile) -> list[str]:
    """Return the names of the queues of a load, in the order of their creation."""
    return [
        f"{cohorts.class_name}-{cohort}-{queues.class_name}-{queue}"
        for cohorts in made.cohorts
        for cohort in range(cohorts.count)
        for queues in cohorts.queues_sets
        for queue in range(queues.count)
    ]


def large_page() -> tuple[Cluster, list[dict[str, Any]]]:
    """Return 10,000 jobs in 100 overloaded ClusterQueues, whose page is large."""
    quotas = {"h100": {GPU: 16}}
    queues = [ClusterQueue.of(f"team-{n:03d}", quotas, cohort_name=f"dept-{n % 8}") for n in range(100)]
    jobs = [
        {
            "name": f"job-{n}",
            "queue": f"team-{n * n % 100:03d}",
            "submit": n * 8,
            "runtime": 600 + n * 7919 % 20000,
            "gpu": 1 + n % 8,
        }
        for n in range(10_000)
    ]
    return Cluster(ResourceFlavor("h100"), *queues), jobs


def large_report() -> tuple[dict[str, Cluster], Jobs]:
    """Return 100,000 jobs in 5,000 ClusterQueues, and the clusters without and with reclaiming, by policy.

    The load is near the quota, so that there are evictions and pending jobs, and every section of a report has rows.
    """
    jobs, queues = 100_000, 5_000
    rng = np.random.Generator(np.random.PCG64(7))
    preemption = Preemption(reclaim_within_cohort="Any")
    cluster = Cluster(
        ResourceFlavor("h100"),
        *(
            ClusterQueue.of(f"team-{n:04d}", {"h100": {GPU: 8}}, cohort_name=f"org-{n % 50}", preemption=preemption)
            for n in range(queues)
        ),
    )
    table = Jobs(
        {
            "queue": [f"team-{n:04d}" for n in rng.integers(0, queues, jobs).tolist()],
            "submit": np.sort(rng.uniform(0, 7 * 86400, jobs)),
            "runtime": rng.lognormal(10.4, 1.2, jobs),
            "gpu": rng.choice([1, 2, 4, 8], jobs),
        }
    )
    never = cluster.edit("ClusterQueue/*:preemption.reclaimWithinCohort", "Never")
    return {"never": never, "any": cluster}, table
