"""`owed`, and counterexamples of Hypothesis to guarantees that Kueue does not make."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from kueuepy import Cluster, ClusterQueue, PodSet, Preemption, Quota, ResourceFlavor, Scheduler, Workload
from kueuepy.errors import NotFoundError
from kueuepy.testing import clusters, workloads
from promises import owed

ONE_CPU = (PodSet.of(requests={"cpu": 1}),)


def teams(a, b, **of_b):
    queues = (
        ClusterQueue.of("team-a", {"f": {"cpu": a}}, cohort_name="teams"),
        ClusterQueue.of("team-b", {"f": {"cpu": b}}, cohort_name="teams", **of_b),
    )
    return Cluster(ResourceFlavor("f"), queues)


def outcome(cluster, jobs):
    scheduler = Scheduler(cluster, now=0)
    for team, count in zip(("team-a", "team-b"), jobs, strict=True):
        scheduler.submit(Workload(f"{team}-{i}", queue_name=team, pod_sets=ONE_CPU) for i in range(count))
    scheduler.settle()
    usage = scheduler._engine.usage()
    return [usage[team].get("f/cpu", 0) // 1000 for team in ("team-a", "team-b")], owed(scheduler, "team-b")


LIMITED = Quota(8, borrowing_limit=8, lending_limit=4), Quota(16, borrowing_limit=4, lending_limit=8)
JOBS = st.tuples(st.integers(0, 25), st.integers(0, 25))


@pytest.mark.parametrize(
    ("quotas", "smallest", "usage"),
    [((9, 12), (10, 12), [10, 11]), (LIMITED, (9, 16), [9, 15])],
    ids=["plain quotas", "borrowing and lending limits"],
)
def test_hypothesis_finds_a_violation(quotas, smallest, usage):
    broken = find(JOBS, lambda jobs: bool(outcome(teams(*quotas), jobs)[1]), settings=settings(max_examples=500))
    assert broken == smallest
    assert outcome(teams(*quotas), broken)[0] == usage


def test_with_limits_and_simultaneous_submission_quota_is_split_in_half():
    assert outcome(teams(*LIMITED), (25, 25))[0] == [12, 12]
    assert outcome(teams(9, 12), (25, 25))[0] == [10, 11]


@given(JOBS)
def test_reclaim_meets_the_target(jobs):
    for quotas in ((9, 12), LIMITED):
        assert not outcome(teams(*quotas, preemption=Preemption(reclaim_within_cohort="Any")), jobs)[1]


def test_only_workloads_within_nominal_quota_are_owed():
    cluster = Cluster(
        ResourceFlavor("f"),
        ClusterQueue.of("lender", {"f": {"cpu": 4, "memory": 4}}, cohort_name="all"),
        ClusterQueue.of("borrower", {"f": {"cpu": 0, "memory": 0}}, cohort_name="all"),
    )
    scheduler = Scheduler(cluster, now=0)
    pods = {cpu: (PodSet.of(requests={"cpu": cpu}),) for cpu in (2, 3, 5)}
    scheduler.submit(Workload("borrows", queue_name="borrower", pod_sets=pods[2]))
    scheduler.settle()
    scheduler.submit(
        Workload("fits", queue_name="lender", pod_sets=pods[3]),
        Workload("too-big", queue_name="lender", pod_sets=pods[5]),
        Workload("other", queue_name="lender", pod_sets=(PodSet.of(requests={"gpu": 1}),)),
    )
    scheduler.settle()
    assert owed(scheduler, "lender") == ("default/fits",)
    assert owed(scheduler, "borrower") == ()
    with pytest.raises(NotFoundError):
        owed(scheduler, "nobody")


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(clusters(cohorts=0, preemption=False, flavors=["f"], resources=["cpu"]), st.data())
def test_a_queue_without_cohort_owes_only_behind_a_blocking_head(cluster, data):
    scheduler = Scheduler(cluster, now=0)
    scheduler.submit(data.draw(workloads(cluster)))
    scheduler.settle()
    for queue in cluster.cluster_queues:
        waiting = scheduler._engine.queues().get(queue.name, ([], []))[0]
        if queue.queueing_strategy == "BestEffortFIFO":
            assert owed(scheduler, queue.name) == ()
        elif waiting:
            assert waiting[0] not in owed(scheduler, queue.name)
