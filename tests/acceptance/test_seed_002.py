"""Borrowing and lending limits, and two teams with both limits."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kueuepy as kq

GI = 2**30
GPU = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("request_one", "resource", "most"),
    [({"cpu": 1}, "cpu", 12), ({"memory": "4Gi"}, "memory", 48 * GI), ({GPU: 1}, GPU, 4)],
)
def test_QT_09_the_borrowing_limit_of_each_resource(seed, request_one, resource, most):
    story = seed("002/borrowing-limit")
    story.submit("team", 15, request_one)
    story.settle()

    assert story.used("team", resource) == most


@pytest.mark.parametrize(
    ("request_one", "resource", "most"),
    [({"cpu": 1}, "cpu", 8), ({"memory": "4Gi"}, "memory", 32 * GI), ({GPU: 1}, GPU, 0)],
)
def test_QT_12_QT_13_the_lending_limit_of_each_resource(seed, request_one, resource, most):
    story = seed("002/lending-limit")
    story.submit("guest", 15, request_one)
    story.settle()

    assert story.used("guest", resource) == most


def test_QT_13_quota_that_is_never_lent_is_available_only_to_its_owner(seed):
    story = seed("002/lending-limit")
    story.submit("guest", 1, {GPU: 1}, name="guest")
    story.submit("team", 5, {GPU: 1})
    story.settle()

    reason, message = story.condition("guest")
    assert reason == "ExceedsMaxQuota"
    assert "maximum capacity (0)" in message
    assert story.used("team", GPU) == 4


def test_QT_14_while_the_other_is_idle_team_a_uses_16_and_team_b_20(seed):
    for queue, most in (("team-a", 16), ("team-b", 20)):
        story = seed("002/two-teams")
        story.submit(queue, 25)
        story.settle()
        assert story.used(queue) == most


def test_QT_14_the_first_team_to_submit_keeps_its_quota(seed):
    story = seed("002/two-teams")
    story.submit("team-a", 25)
    story.settle()
    story.submit("team-b", 25)
    story.settle()

    assert (story.used("team-a"), story.used("team-b")) == (16, 8)


def test_QT_14_T_02_if_both_submit_at_once_both_end_with_12_and_team_b_misses_its_16(seed):
    story = seed("002/two-teams")
    story.submit("team-a", 25)
    story.submit("team-b", 25)
    story.settle()

    assert (story.used("team-a"), story.used("team-b")) == (12, 12)


def test_QT_14_with_reclaim_each_team_has_its_quota_after_four_preemptions(seed):
    story = seed("002/two-teams-reclaim")
    story.submit("team-a", 25)
    story.submit("team-b", 25)
    settled = story.settle()

    assert (story.used("team-a"), story.used("team-b")) == (8, 16)
    assert len(settled.preempted) == 4


def test_QT_15_gpus_are_lent_one_and_two(seed):
    for queue, most in (("team-a", 4), ("team-b", 5)):
        story = seed("002/two-teams")
        story.submit(queue, 9, {GPU: 1})
        story.settle()
        assert story.used(queue, GPU) == most


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 6), st.integers(0, 6))
def test_QT_15_for_any_nominal_quotas_of_gpus(a, b):
    def build(name, nominal, lending):
        quota = kq.Quota(nominal, lending_limit=min(lending, nominal))
        return kq.ClusterQueue.of(name, {"default": {GPU: quota}}, cohort_name="shared")

    cluster = kq.Cluster(kq.ResourceFlavor("default"), build("team-a", a, 1), build("team-b", b, 2))
    for queue, most in (("team-a", a + min(2, b)), ("team-b", b + min(1, a))):
        job = kq.Workload("job", queue_name=queue, pod_sets=(kq.PodSet.of(requests={GPU: 1}),))
        assert kq.Scheduler(cluster).largest_count(job) == most


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["team-a", "team-b"]), max_size=60))
def test_QT_16_in_no_order_of_arrivals_a_team_uses_quota_that_is_not_lent(arrivals):
    def build(name, nominal, borrowing, lending):
        quota = kq.Quota(nominal, borrowing, lending)
        return kq.ClusterQueue.of(name, {"default": {"cpu": quota}}, cohort_name="shared")

    cluster = kq.Cluster(kq.ResourceFlavor("default"), build("team-a", 8, 8, 4), build("team-b", 16, 4, 8))
    scheduler = kq.Scheduler(cluster)
    for number, queue in enumerate(arrivals):
        pod_set = kq.PodSet.of(requests={"cpu": 1})
        scheduler.submit(kq.Workload(f"job-{number:02d}", queue_name=queue, pod_sets=(pod_set,)))
        scheduler.cycle()

    usage = {queue: cells.get("default/cpu", 0) // 1000 for queue, cells in scheduler._engine.usage().items()}
    assert usage["team-a"] <= 8 + 8
    assert usage["team-b"] <= 16 + 4
    for queue, kept in (("team-a", 8 - 4), ("team-b", 16 - 8)):
        probe = kq.Workload("probe", queue_name=queue, pod_sets=(kq.PodSet.of(requests={"cpu": 1}),))
        assert usage[queue] + scheduler.largest_count(probe) >= kept
