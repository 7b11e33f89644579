"""Queues that borrow from each other, mostly with fair sharing, and single jobs: much preemption."""

from __future__ import annotations

import random

from kueuepy import (
    Cluster,
    ClusterQueue,
    Cohort,
    Configuration,
    FairSharing,
    FairSharingConfig,
    PodSet,
    Preemption,
    ResourceFlavor,
    Scheduler,
    Workload,
)

MOST_CYCLES = 200
STRATEGIES = (
    ("LessThanOrEqualToFinalShare", "LessThanInitialShare"),
    ("LessThanOrEqualToFinalShare",),
    ("LessThanInitialShare",),
)


def rivals(seed: int) -> tuple[Cluster, list[Workload]]:
    """Return two to four queues of a few CPUs each, some in separate cohorts, and ten jobs, for this seed."""
    chance = random.Random(seed)  # noqa: S311 - a repeatable story, no secret
    cohorts = [Cohort("pool")]
    if chance.random() < 0.3:
        weight = FairSharing(chance.choice(["1", "0.5", "2", "0"]))
        cohorts.append(Cohort("inner", parent_name="pool", fair_sharing=weight))
    queues = [
        ClusterQueue.of(
            f"q{i}",
            {"default": {"cpu": chance.randint(3, 5)}},
            cohort_name=chance.choice(cohorts).name,
            fair_sharing=FairSharing(chance.choice(["1", "1", "1", "2", "0"])),
            preemption=Preemption(
                reclaim_within_cohort=chance.choice(["Any", "Any", "LowerPriority"]),
                within_cluster_queue=chance.choice(["LowerPriority", "LowerOrNewerEqualPriority"]),
            ),
        )
        for i in range(chance.choice([2, 2, 3, 4]))
    ]
    sharing = None if chance.random() < 0.2 else FairSharingConfig(chance.choice(STRATEGIES))
    configuration = Configuration(fair_sharing=sharing)
    jobs = [
        Workload(
            f"w{i}",
            queue_name=chance.choice(queues).name,
            priority=chance.randint(0, 2),
            pod_sets=(PodSet.of(requests={"cpu": chance.randint(1, 7)}),),
        )
        for i in range(10)
    ]
    return Cluster(ResourceFlavor("default"), cohorts, queues, configuration=configuration), jobs


def one_by_one(cluster: Cluster, jobs: list[Workload]):
    """Submit jobs one second apart and settle after each; stop at a loop."""
    scheduler, settled = Scheduler(cluster, now=0), None
    for job in jobs:
        scheduler.advance(1)
        scheduler.submit(job)
        settled = scheduler.settle(max_cycles=MOST_CYCLES)
        if settled.loop:
            break
    return scheduler, settled
