"""Cached refusals are reused only as long as a new evaluation has the same result."""

from __future__ import annotations

import random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kueuepy import (
    Cluster,
    ClusterQueue,
    Cohort,
    Configuration,
    FairSharingConfig,
    PodSet,
    Preemption,
    ResourceFlavor,
    Scheduler,
    Workload,
)
from kueuepy.objects import Taint, Toleration
from saved import to_bytes

pytestmark = pytest.mark.sanitizer
STEPS = 40
FLAVORS, QUEUES = ("spot", "metal"), ("a", "b", "c")
TAINTS = ((), (Taint("spot", "yes", "NoSchedule"),))
TOLERATES = ((), (Toleration("spot", operator="Exists"),))


class Twins:
    """Two Schedulers with the same events: one may reuse refusals, and the other always evaluates."""

    def __init__(self, seed: int) -> None:
        self._chance = chance = random.Random(seed)  # noqa: S311 - a repeatable story, no secret
        self._names = (f"w{number}" for number in range(10**6))
        self._alive: list[str] = []
        self._queues = {
            name: self._changed(
                ClusterQueue.of(
                    name,
                    {flavor: {"cpu": 4, "memory": "4Gi"} for flavor in FLAVORS},
                    cohort_name=chance.choice(["left", "right"]),
                    queueing_strategy=chance.choice(["BestEffortFIFO", "BestEffortFIFO", "StrictFIFO"]),
                )
            )
            for name in QUEUES
        }
        cluster = Cluster(
            [ResourceFlavor(name) for name in FLAVORS],
            [Cohort("left", parent_name="all"), Cohort("right", parent_name="all")],
            list(self._queues.values()),
            configuration=Configuration(fair_sharing=chance.choice([None, FairSharingConfig()])),
        )
        self.known, self.anew = (Scheduler(cluster, now=0) for _ in range(2))

    def _changed(self, queue: ClusterQueue) -> ClusterQueue:
        """Return the queue with other quotas, and with or without preemption."""
        chance = self._chance
        quotas = {flavor: {"cpu": chance.randint(0, 6), "memory": f"{chance.randint(1, 6)}Gi"} for flavor in FLAVORS}
        reclaim = chance.choice(["Never", "Never", "LowerPriority"])
        fresh = ClusterQueue.of(queue.name, quotas)
        return replace(
            queue, resource_groups=fresh.resource_groups, preemption=Preemption(reclaim_within_cohort=reclaim)
        )

    def step(self) -> None:
        """Execute an event and a cycle on both Schedulers."""
        happen = self._chance.choices(
            [self._submit, self._finish, self._change_queue, self._change_flavor, self._wait], [8, 5, 1, 1, 3]
        )
        happen[0]()
        for scheduler in (self.known, self.anew):
            scheduler._engine.settle()
        self.known._engine.cycle()
        self.anew._engine.decide()

    def _both(self, method: str, *arguments: object) -> None:
        for scheduler in (self.known, self.anew):
            getattr(scheduler, method)(*arguments)

    def _submit(self) -> None:
        chance, name = self._chance, next(self._names)
        requests = {"cpu": chance.randint(1, 4), "memory": f"{chance.choice([1, 2])}Gi"}
        self._alive.append(f"default/{name}")
        pods = PodSet.of(count=chance.randint(1, 2), requests=requests, tolerations=chance.choice(TOLERATES))
        workload = Workload(name, queue_name=chance.choice(QUEUES), priority=chance.randint(0, 1), pod_sets=(pods,))
        self._both("submit", workload)

    def _finish(self) -> None:
        if self._alive:
            self._both("finish", self._alive.pop(self._chance.randrange(len(self._alive))))

    def _change_queue(self) -> None:
        name = self._chance.choice(QUEUES)
        self._queues[name] = self._changed(self._queues[name])
        self._both("apply", self._queues[name])

    def _change_flavor(self) -> None:
        self._both("apply", ResourceFlavor(self._chance.choice(FLAVORS), node_taints=self._chance.choice(TAINTS)))

    def _wait(self) -> None:
        self._both("advance", self._chance.randint(1, 10))


@settings(max_examples=3 * settings().max_examples, phases=[Phase.generate])
@given(st.integers(0, 2**32))
def test_cached_refusals_equal_fresh_evaluations(seed):
    twins = Twins(seed)
    for _ in range(STEPS):
        twins.step()
        assert to_bytes(twins.known) == to_bytes(twins.anew)
