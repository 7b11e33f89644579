"""Queueing: the order of heads, and inadmissible workloads (Q)."""

import pytest

import kueuepy as kq

DEFAULT = kq.ResourceFlavor("default")


def _queue(name="q", cpu=9, **fields):
    return kq.ClusterQueue.of(name, {"default": {"cpu": cpu}}, **fields)


@pytest.mark.parametrize(("fields", "running"), [({}, ["new"]), ({"queueing_strategy": "StrictFIFO"}, [])])
def test_Q_01_Q_02_a_head_that_does_not_fit_is_skipped_or_blocks_its_queue(stage, fields, running):
    story = stage(DEFAULT, _queue(**fields))
    story.submit("q", 1, {"cpu": 10}, name="old")
    story.submit("q", 1, {"cpu": 3}, name="new")
    story.settle()

    assert story.running() == running
    assert story.condition("old")[0] == "ExceedsMaxQuota"


def test_Q_01_best_effort_is_the_default():
    assert kq.ClusterQueue("q").queueing_strategy == "BestEffortFIFO"


def test_Q_03_priority_is_compared_before_creation_time(stage):
    story = stage(DEFAULT, _queue(cpu=1))
    story.submit("q", 1, name="older")
    story.submit("q", 1, name="higher", priority=100)
    story.settle()

    assert story.running() == ["higher"]


@pytest.mark.parametrize(("timestamp", "first"), [("Eviction", "b"), ("Creation", "a")])
def test_Q_04_after_a_timeout_of_its_pods_a_workload_queues_by_eviction_or_creation(stage, timestamp, first):
    wait = kq.objects.WaitForPodsReady(
        timeout=60, requeuing_strategy=kq.objects.RequeuingStrategy(timestamp=timestamp, backoff_base_seconds=1)
    )
    story = stage(DEFAULT, _queue(cpu=1), configuration=kq.Configuration(wait_for_pods_ready=wait))
    story.submit("q", 1, name="a")
    story.settle()
    story.submit("q", 1, {"cpu": 1}, name="blocker", priority=10)
    story.scheduler.advance(61)
    story.settle()
    assert story.condition("a", "Evicted")[0] == "PodsReadyTimeout"

    story.submit("q", 1, name="b")
    story.scheduler.advance(10)
    story.scheduler.finish("blocker")
    story.settle()
    assert story.running() == [first]


@pytest.mark.parametrize(("gates", "first"), [({}, "high"), ({"PrioritySortingWithinCohort": False}, "older")])
def test_Q_06_among_borrowers_priority_or_age_decides(stage, gates, first):
    queues = [_queue(name, cpu, cohort_name="c") for name, cpu in (("a", 0), ("b", 0), ("lender", 3))]
    story = stage(DEFAULT, *queues, configuration=kq.Configuration(feature_gates=gates))
    story.submit("a", 1, {"cpu": 3}, name="older")
    story.submit("b", 1, {"cpu": 3}, name="high", priority=100)
    story.settle()

    assert story.running() == [first]


def test_Q_08_a_queue_without_a_selector_admits_no_workload(stage):
    story = stage(DEFAULT, _queue(namespace_selector=None))
    story.submit("q", 1, name="job")
    story.settle()

    assert story.condition("job") == ("Misconfigured", "workload namespace doesn't match ClusterQueue selector")


@pytest.mark.parametrize("event", ["finish in the cohort", "edit of the queue"])
def test_Q_09_inadmissible_workloads_are_queued_again_after_a_change(stage, event):
    story = stage(DEFAULT, _queue("a", 5, cohort_name="c"), _queue("b", 5, cohort_name="c"))
    story.submit("b", 1, {"cpu": 5}, name="sibling")
    story.settle()
    story.submit("a", 1, {"cpu": 6}, name="waiting")
    story.settle()
    assert story.running() == ["sibling"]

    if event == "edit of the queue":
        story.scheduler.apply(_queue("a", 6, cohort_name="c"))
    else:
        story.scheduler.finish("sibling")
    story.settle()
    assert "waiting" in story.running()


def test_Q_10_a_preemptor_is_queued_again_at_once(stage):
    story = stage(DEFAULT, _queue(preemption=kq.Preemption(within_cluster_queue="LowerPriority")))
    story.submit("q", 1, {"cpu": 9}, name="low")
    story.settle()
    story.submit("q", 1, {"cpu": 9}, name="high", priority=1)
    (first,) = story.scheduler.cycle()
    (second,) = story.scheduler.cycle()

    assert isinstance(first, kq.Preempting)
    assert isinstance(second, kq.Admitted)
    assert first.workload == second.workload == "default/high"


def test_Q_12_a_preemptor_stays_first_while_it_waits(stage):
    story = stage(DEFAULT, _queue(preemption=kq.Preemption(within_cluster_queue="LowerPriority")))
    story.submit("q", 1, {"cpu": 9}, name="low")
    story.settle()
    story.submit("q", 1, {"cpu": 9}, name="preemptor", priority=1)
    story.scheduler.cycle()
    story.submit("q", 1, {"cpu": 9}, name="later", priority=2)
    (decision,) = story.scheduler.cycle()

    assert decision.workload == "default/preemptor"


def test_Q_16_quota_that_cannot_be_reclaimed_now_is_reserved_for_its_owner(stage):
    story = stage(
        DEFAULT,
        _queue("a", 5, cohort_name="c", preemption=kq.Preemption(reclaim_within_cohort="LowerPriority")),
        _queue("b", 5, cohort_name="c"),
    )
    story.submit("b", 1, {"cpu": 8}, name="borrower", priority=100)
    story.settle()
    story.submit("a", 1, {"cpu": 5}, name="owner")
    story.submit("b", 1, {"cpu": 2}, name="more", priority=100)
    story.scheduler.cycle()

    assert story.running() == ["borrower"]


def test_Q_17_two_preemptors_may_share_a_victim(stage):
    policy = kq.Preemption(reclaim_within_cohort="Any")
    owners = [_queue(name, 4, cohort_name="c", preemption=policy) for name in ("a", "b")]
    story = stage(DEFAULT, *owners, _queue("guest", 0, cohort_name="c"))
    story.submit("guest", 1, {"cpu": 8}, name="victim")
    story.settle()
    story.submit("a", 1, {"cpu": 4}, name="of-a")
    story.submit("b", 1, {"cpu": 4}, name="of-b")
    settled = story.settle()

    assert settled.preempted == ("default/victim",)
    assert story.running() == ["of-a", "of-b"]


def test_Q_23_each_cycle_considers_only_the_head_of_each_queue(stage):
    story = stage(DEFAULT, _queue("a", 2), _queue("b", 2))
    story.submit("a", 2, {"cpu": 3})
    story.submit("b", 2)
    judged = [[decision.workload for decision in story.scheduler.cycle()] for _ in range(2)]

    assert judged == [["default/a-0000", "default/b-0000"], ["default/b-0001"]]
    assert story.scheduler.workload("a-0001").status.conditions == ()  # inadmissible like its equal, not evaluated


def test_Q_25_ties_are_broken_by_uid(stage):
    for uids, first in ((("1", "2"), "a"), (("2", "1"), "b")):
        story = stage(DEFAULT, _queue(cpu=1))
        for name, uid in zip("ab", uids, strict=True):
            story.submit("q", 1, name=name, uid=uid, created=7)
        story.settle()
        assert story.running() == [first]
