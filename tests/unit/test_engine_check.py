"""Engine.check() finds nothing wrong with a sound state, and everything that is wrong with a broken one."""

from __future__ import annotations

import pytest

from kueuepy import Cluster, ClusterQueue, PodSet, ResourceFlavor, Scheduler, Workload
from rules import rules

WRONG = {
    "usage": r"main f/cpu: usage is kept as 4001 but is 4000",
    "nominal": r"main f/cpu: nominal quota is kept as 1 but is 4000",
    "account": r"workload default/holds is not once on the account that it names",
    "charge": r"workload default/holds charges other amounts than its admission says",
    "admission": r"workload default/holds has an admission without a reservation, or the reverse",
    "twice": r"workload default/holds has a condition twice",
    "future": r"workload default/holds has a condition from the future",
    "place": r"workload default/waits names a queue without waiting in it, or the reverse",
    "in flight": r"workload default/waits is in flight between two cycles",
    "lost": r"workload default/waits is lost: it neither waits nor holds quota",
    "time": r"queue main: waits waits with an outdated timestamp",
    "priority": r"queue main: waits is in a bucket of another priority",
    "deleted": r"workload default/waits waits although it may not",
    "preemptor": r"workload default/holds is no longer the queue's preemptor",
    "key": r"workload default/holds is not found by its key",
    "listed": r"workload default/waits is mistaken about being listed for the controllers",
    "activity": r"node main: is mistaken about being active",
    "cohort": r"node main: has a wrong root",
    "ledger": r"a LocalQueue consumed less than nothing",
    "wake": r"a tree is to be requeued that does not exist",
}


def scheduler():
    queue = ClusterQueue.of("main", {"f": {"cpu": 4}}, cohort_name="all")
    made = Scheduler(Cluster(ResourceFlavor("f"), queue), now=0)
    pods = (PodSet.of(requests={"cpu": 4}),)
    made.submit(Workload(name, queue_name="main", pod_sets=pods) for name in ("holds", "waits"))
    made.settle()
    return made


def test_every_way_to_break_a_state_has_its_words():
    assert set(WRONG) == set(rules().CORRUPTIONS)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_broken_is_found(name):
    tables = rules().Tables(scheduler().engine)
    assert tables.check() == []
    tables.corrupt(name, "default/waits", "default/holds")
    assert WRONG[name] in tables.check()


def test_a_sound_engine_has_no_problems():
    assert scheduler().engine.check() == []
