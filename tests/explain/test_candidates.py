"""Reasons why preemption candidates are not preempted."""

import kueuepy as kq


def queue(name, cpu, **fields):
    return kq.ClusterQueue.of(name, {"f": {"cpu": cpu}}, cohort_name="all", **fields)


def test_a_queue_below_its_nominal_quota_may_preempt_without_borrowing():
    reclaims = kq.Preemption(reclaim_within_cohort="LowerPriority")
    cluster = kq.Cluster(kq.ResourceFlavor("f"), queue("a", 4, preemption=reclaims), queue("b", 1), queue("c", 0))
    scheduler = kq.Scheduler(cluster)
    scheduler.submit({"name": "b1", "queue": "b", "cpu": 2, "priority": 0})
    scheduler.submit({"name": "c1", "queue": "c", "cpu": 2, "priority": 10})
    scheduler.settle()
    scheduler.submit({"name": "a1", "queue": "a", "cpu": 4, "priority": 5})
    scheduler.settle()
    candidates = scheduler.explain("a1").find("candidate")
    assert {one.facts["workload"]: one.facts["verdict"] for one in candidates} == {
        "default/b1": "NotEnough",
        "default/c1": "PriorityNotLower",
    }
