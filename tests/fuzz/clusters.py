"""Small clusters for random simulations, created once per process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import kueuepy as kq
from kueuepy.objects import AdmissionCheckStrategyRule, Preemption

if TYPE_CHECKING:
    from random import Random

CLUSTERS = 40
NAMES = ("a", "b", "c")
_ANY = ("Never", "LowerPriority", "Any")
_RACKS = kq.Topology("racks", levels=["rack", kq.objects.HOSTNAME_LABEL])


def schedulers(random: Random) -> list[kq.Scheduler]:
    """Create Schedulers, some of which already have workloads."""
    return [_scheduler(random) for _ in range(CLUSTERS)]


def _scheduler(random: Random) -> kq.Scheduler:
    fair = random.random() < 0.3
    configuration = kq.Configuration(
        fair_sharing=kq.objects.FairSharingConfig() if fair else None,
        wait_for_pods_ready=kq.objects.WaitForPodsReady() if random.random() < 0.15 else None,
    )
    scheduler = kq.Scheduler(
        kq.Cluster(_objects(random), configuration=configuration), now=random.choice((0, 0, 10**9))
    )
    if random.random() < 0.2:
        scheduler.submit([{"queue": random.choice(NAMES), "cpu": n, "name": f"old{n}"} for n in (1, 3)])
        scheduler.settle()
    return scheduler


def _objects(random: Random) -> list[kq.Object]:
    placed = random.random() < 0.25
    label = {"gpu": "f"}
    objects: list[kq.Object] = [
        kq.ResourceFlavor("f", node_labels=label if placed else {}, topology_name="racks" if placed else None),
        kq.ResourceFlavor("g"),
    ]
    if placed:
        objects += [
            _RACKS,
            *kq.objects.nodes(_RACKS, (2, 2), labels=label, capacity={"cpu": 4, "memory": "8Gi", "pods": 110}),
        ]
    checks = ["c"] if random.random() < 0.2 else []
    objects += [kq.AdmissionCheck(name, controller_name="example.com/c") for name in checks]
    cohort = random.choice((None, "team", "team"))
    for name in NAMES:
        objects.append(queue(random, name, cohort, checks))
    if cohort and random.random() < 0.3:
        objects.append(kq.Cohort("team", parent_name=random.choice((None, "above"))))
    return objects


def queue(random: Random, name: str, cohort: str | None, checks: list[str]) -> kq.ClusterQueue:
    """A ClusterQueue of one or two flavors."""
    flavors = ["f", "g"] if random.random() < 0.3 else ["f"]
    quotas = {
        flavor: {"cpu": random.choice((0, 2, 4, 8)), "memory": random.choice(("4Gi", 2**62))} for flavor in flavors
    }
    return kq.ClusterQueue.of(
        name,
        quotas,
        cohort_name=cohort,
        queueing_strategy=random.choice(("BestEffortFIFO", "StrictFIFO")),
        preemption=Preemption(
            within_cluster_queue=random.choice(("Never", "LowerPriority", "LowerOrNewerEqualPriority")),
            reclaim_within_cohort=random.choice(_ANY),
        ),
        admission_checks_strategy=[AdmissionCheckStrategyRule(name) for name in checks],
    )
