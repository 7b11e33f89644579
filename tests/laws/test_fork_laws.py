"""Forks that share pages of a state: each behaves like a copy that shares nothing, whatever the others do."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kueuepy import Cluster, ClusterQueue, Preemption, ResourceFlavor, Scheduler

pytestmark = pytest.mark.sanitizer

QUEUES = 40  # several pages
PREEMPTION = Preemption(within_cluster_queue="LowerPriority", reclaim_within_cohort="Any")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["fork", "submit", "submit", "settle", "finish", "delete", "apply", "ask", "advance", "drop"]),
        st.integers(0, 10**6),
    ),
    max_size=30,
)


def queue(number, quota):
    return ClusterQueue.of(f"q{number}", {"f": {"cpu": quota}}, cohort_name=f"c{number % 3}", preemption=PREEMPTION)


def start():
    made = Scheduler(Cluster(ResourceFlavor("f"), [queue(number, 4) for number in range(QUEUES)]))
    made.submit(
        [{"name": f"w{i}", "queue": f"q{i % QUEUES}", "cpu": 1 + i % 5, "priority": i % 3} for i in range(3 * QUEUES)]
    )
    made.settle()
    return made


START = start()


def step(scheduler, what, number):
    """Changes the scheduler, or asks it, and returns what can be compared."""
    keys = scheduler.keys()
    if what == "submit":
        row = {
            "name": f"n{len(keys)}-{number}",
            "queue": f"q{number % QUEUES}",
            "cpu": 1 + number % 6,
            "priority": number % 5,
        }
        return scheduler.submit(row) if f"default/{row['name']}" not in keys else None
    if what == "settle":
        return str(scheduler.settle())
    if what in ("finish", "delete") and keys:
        key = keys[number % len(keys)]
        status = scheduler.workload(key).status
        if what == "delete":
            return scheduler.delete(key)
        return None if status is not None and status.is_true("Finished") else scheduler.finish(key)
    if what == "apply":
        return scheduler.apply(queue(number % QUEUES, 1 + number % 9))
    if what == "ask":
        return scheduler.try_admit(
            {"name": "asked", "queue": f"q{number % QUEUES}", "cpu": 1 + number % 9, "priority": 4}
        )
    return scheduler.advance(number % 100) if what == "advance" else None


@given(STEPS)
def test_a_fork_behaves_like_a_copy_that_shares_nothing(steps):
    pairs = [(START.fork(), pickle.loads(pickle.dumps(START)))]  # noqa: S301 - our own data
    for what, number in steps:
        fork, copy = pairs[number % len(pairs)]
        if what == "fork":
            pairs.append((fork.fork(), pickle.loads(pickle.dumps(copy))))  # noqa: S301
        elif what == "drop" and len(pairs) > 1:
            pairs.pop(number % len(pairs))
        else:
            assert step(fork, what, number) == step(copy, what, number)
    for fork, copy in pairs:
        assert fork.fingerprint() == copy.fingerprint()
        assert list(fork.workloads) == list(copy.workloads)
        assert fork._engine.check() == []
    assert START.fingerprint() == EXPECTED


EXPECTED = START.fingerprint()
