"""Strategies draw resources that the queues of a cluster cover, so that violations are found."""

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

import kueuepy as kq
from kueuepy.testing import SchedulerMachine, clusters, drive, edits, jobs, traces, workloads
from promises import owed

GPU = "nvidia.com/gpu"
QUIETLY = settings(derandomize=True, database=None, max_examples=500, phases=[Phase.generate])
QUOTAS = [
    {"cpu": 4},
    {"cpu": "250m"},
    {GPU: 8},
    {GPU: 64},
    {GPU: 1},
    {"memory": "64Gi"},
    {"memory": "64Gi", "cpu": 1000, GPU: 8},
    {"pods": 10, GPU: 3},
    {"cpu": 0, "example.com/fpga": 7},
]


def two_queues(quota, **policies):
    """Two queues of a cohort without reclaim, which violates the guarantee."""
    queues = [kq.ClusterQueue.of(name, {"f": quota}, cohort_name="all", **policies) for name in "ab"]
    return kq.Cluster(kq.ResourceFlavor("f"), queues)


def settled(cluster, submitted):
    scheduler = kq.Scheduler(cluster, now=0)
    for item in submitted:
        scheduler.submit(item)
        scheduler.settle()
    return scheduler


def is_owed(scheduler):
    return any(owed(scheduler, queue) for queue in "ab")


@pytest.mark.parametrize("quota", QUOTAS, ids=str)
def test_a_violation_is_found_for_any_covered_resources(quota):
    cluster = two_queues(quota)
    assert find(workloads(cluster), lambda made: is_owed(settled(cluster, made)), settings=QUIETLY)


@pytest.mark.parametrize("quota", [{"cpu": 4}, {GPU: 8}, {"memory": "64Gi"}], ids=str)
def test_a_trace_and_jobs_meet_the_quotas(quota):
    cluster = two_queues(quota)

    def waits(trace):
        scheduler = kq.Scheduler(cluster, now=0)
        finished = drive(scheduler, trace)
        return any(finished.get(f"default/{one.workload.name}", 0) > one.at + one.runtime for one in trace)

    assert find(traces(cluster), waits, settings=QUIETLY)
    assert find(jobs(cluster), lambda made: is_owed(settled(cluster, made)), settings=QUIETLY)


class Planted(SchedulerMachine):
    """Checks a property that no cluster has: no workload waits."""

    def settled(self):
        assert not any(ready or parked for ready, parked in self.scheduler._engine.queues().values())


@pytest.mark.parametrize("quota", [{"cpu": 4}, {GPU: 8}, {GPU: 1, "memory": "3Ti"}], ids=str)
def test_the_machine_finds_a_violation_on_any_cluster(quota):
    class Machine(Planted):
        clusters = st.just(two_queues(quota))

    quietly = settings(QUIETLY, max_examples=1000, stateful_step_count=12, suppress_health_check=list(HealthCheck))
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Machine, settings=quietly)


def test_names_alone_need_the_resources():
    cluster = two_queues({GPU: 8})
    few = settings(QUIETLY, max_examples=200)
    assert find(workloads("ab", resources=[GPU]), lambda made: is_owed(settled(cluster, made)), settings=few)


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(QUOTAS).map(two_queues), st.data())
def test_drawn_objects_are_valid(cluster, data):
    scheduler = kq.Scheduler(cluster, now=0)
    scheduler.submit(data.draw(workloads(cluster, max_size=3)))
    scheduler.submit(data.draw(jobs(cluster, max_size=3)))
    scheduler.apply(data.draw(edits(cluster)))
    scheduler.settle()


@settings(max_examples=50, deadline=None)
@given(clusters(resources=(GPU, "memory")).flatmap(lambda made: st.tuples(st.just(made), workloads(made, min_size=1))))
def test_random_clusters_get_jobs_with_their_resources(made):
    _, drawn = made
    for workload in drawn:
        for pods in workload.pod_sets:
            (container,) = pods.template["spec"]["containers"]
            assert container["resources"]["requests"].keys() <= {GPU, "memory"}


def test_workloads_are_in_the_namespaces_of_the_queues():
    queue = kq.ClusterQueue.of("a", {"f": {GPU: 4}})
    local = kq.LocalQueue("lq", namespace="team", cluster_queue="a")
    cluster = kq.Cluster(kq.ResourceFlavor("f"), queue, local)
    (made,) = find(workloads(cluster, min_size=1, max_size=1), lambda _: True, settings=QUIETLY)
    assert (made.namespace, made.queue_name) == ("team", "lq")
