"""Long random histories, with every invariant checked after every step."""

from __future__ import annotations

import random

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kueuepy import Scheduler
from kueuepy.objects import ClusterQueue, PodSet, Workload
from kueuepy.testing import clusters

STEPS = 150


def simulate(cluster, seed):
    """Execute a random history; the same seed gives the same history."""
    chance = random.Random(seed)  # noqa: S311 - a repeatable history, no secret
    scheduler = Scheduler(cluster, now=0)
    queues = [queue.name for queue in cluster.local_queues]
    for step in range(STEPS):
        keys, roll = scheduler.keys(), chance.random()
        if roll < 0.35:
            requests = {"cpu": chance.randint(0, 6), "memory": chance.randint(0, 6)}
            pods = PodSet.of(count=chance.randint(1, 3), requests=requests)
            name, queue = f"w{step}", chance.choice(queues)
            scheduler.submit(Workload(name, queue_name=queue, priority=chance.randint(-2, 2), pod_sets=(pods,)))
        elif roll < 0.65:
            scheduler.cycle()
        elif roll < 0.8 and keys:
            key = chance.choice(keys)
            if scheduler.workload(key).status is None or not scheduler.workload(key).status.is_true("Finished"):
                scheduler.finish(key)
        elif roll < 0.85 and keys:
            scheduler.delete(chance.choice(keys))
        elif roll < 0.9:
            queue = chance.choice(scheduler.cluster.cluster_queues)
            policy = chance.choice(("None", "None", "Hold", "HoldAndDrain"))
            scheduler.apply(
                msgspec.structs.replace(scheduler.cluster.get(ClusterQueue, queue.name), stop_policy=policy)
            )
        elif roll < 0.95 and keys:
            workload = scheduler.workload(chance.choice(keys))
            scheduler.apply(msgspec.structs.replace(workload, active=not workload.active))
        else:
            scheduler.advance(chance.randint(1, 100))
        assert scheduler._engine.check() == [], f"step {step}"
    return scheduler


@pytest.mark.sanitizer
@settings(max_examples=8, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(clusters(), st.integers(0, 2**32))
def test_invariants_hold_after_every_step(cluster, seed):
    assert simulate(cluster, seed)._engine.fingerprint() == simulate(cluster, seed)._engine.fingerprint()
