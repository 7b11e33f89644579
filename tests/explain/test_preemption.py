"""Explanations of preemption candidates: why each is preempted or not."""

import pytest

import kueuepy as kq
from teams import DEFAULT, queue, workload


def _verdicts(explanation):
    named = {c.facts["workload"].partition("/")[2]: c.facts["verdict"] for c in explanation.find("candidate")}
    alike = {
        key.partition("/")[2]: c.facts["verdict"]
        for c in explanation.find("candidates")
        for key in c.facts.get("workloads", ())
    }
    return named | alike


def _one_after_the_other(scheduler, *jobs):
    for name, queue_name, cpu, priority in jobs:
        scheduler.submit(workload(name, queue_name, cpu, priority=priority))
        scheduler.advance(1)
        scheduler.settle()


def test_the_threshold_of_a_borrowing_preemptor_protects_higher_priorities():
    policy = kq.Preemption("LowerPriority", "LowerPriority", kq.objects.BorrowWithinCohort("LowerPriority", 100))
    cluster = kq.Cluster(
        DEFAULT,
        queue("standard", 0, cohort_name="c", preemption=policy),
        queue("best-effort", 0, cohort_name="c", preemption=policy),
        queue("shared", 100, cohort_name="c"),
    )
    scheduler = kq.Scheduler(cluster)
    held = [(f"p{priority}", "best-effort", 20, priority) for priority in (50, 100, 101, 250, 300)]
    _one_after_the_other(scheduler, *held, ("std", "standard", 60, 300))

    explanation = scheduler.explain("std")
    assert _verdicts(explanation) == {
        "p50": "NotEnough",
        "p100": "NotEnough",
        "p101": "AboveMaxPriorityThreshold",
        "p250": "AboveMaxPriorityThreshold",
        "p300": "PriorityNotLower",
    }
    assert "above the maxPriorityThreshold" in str(explanation)


def test_borrowing_preemption_needs_lower_priority_even_if_reclaim_is_any():
    policy = kq.Preemption("Any", "Never", kq.objects.BorrowWithinCohort("LowerPriority"))
    cluster = kq.Cluster(
        DEFAULT,
        queue("a", 2, cohort_name="c", preemption=policy),
        queue("b", 2, cohort_name="c"),
        queue("lender", 4, cohort_name="c"),
    )
    scheduler = kq.Scheduler(cluster)
    _one_after_the_other(scheduler, ("equal", "b", 7, 5), ("new", "a", 3, 5))
    assert _verdicts(scheduler.explain("new")) == {"equal": "BorrowPriorityNotLower"}

    scheduler.submit(workload("own", "a", 2, priority=5))
    assert _verdicts(scheduler.explain("own")) == {"equal": "Taken"}


def test_beyond_nominal_quota_nothing_is_reclaimed_without_borrow_within_cohort():
    policy = kq.Preemption(reclaim_within_cohort="Any", within_cluster_queue="LowerPriority")
    scheduler = kq.Scheduler(
        kq.Cluster(DEFAULT, queue("a", 9, cohort_name="c"), queue("b", 12, cohort_name="c", preemption=policy))
    )
    _one_after_the_other(scheduler, ("mine", "b", 2, 5), ("theirs", "a", 19, 0), ("new", "b", 11, 4))

    assert _verdicts(scheduler.explain("new")) == {"theirs": "BorrowWithinCohortNever", "mine": "PriorityNotLower"}
    scheduler.submit(workload("within", "b", 10, priority=4))
    assert _verdicts(scheduler.explain("within"))["theirs"] == "Taken"


def test_preempting_in_its_own_queue_can_bring_it_within_nominal_quota():
    policy = kq.Preemption(reclaim_within_cohort="LowerPriority", within_cluster_queue="LowerPriority")
    scheduler = kq.Scheduler(
        kq.Cluster(DEFAULT, queue("a", 9, cohort_name="c"), queue("b", 12, cohort_name="c", preemption=policy))
    )
    _one_after_the_other(scheduler, ("mine", "b", 2, 1), ("theirs", "a", 19, 0))
    scheduler.submit(workload("new", "b", 12, priority=4))

    assert _verdicts(scheduler.explain("new")) == {"theirs": "Taken", "mine": "Taken"}


def test_workloads_in_a_held_queue_are_protected():
    reclaim = kq.Preemption(reclaim_within_cohort="Any")
    scheduler = kq.Scheduler(
        kq.Cluster(DEFAULT, queue("a", 9, cohort_name="c"), queue("b", 12, cohort_name="c", preemption=reclaim))
    )
    _one_after_the_other(scheduler, ("theirs", "a", 21, 0))
    scheduler.apply(queue("a", 9, cohort_name="c", stop_policy="Hold"))
    _one_after_the_other(scheduler, ("own", "b", 12, 0))

    explanation = scheduler.explain("own")
    assert _verdicts(explanation) == {"theirs": "QueueInactive"}
    assert explanation.find("resource")[0].facts["missing"] == 12_000


def test_a_cohort_within_its_quota_protects_its_queues():
    reclaim = kq.Preemption(reclaim_within_cohort="Any")
    cluster = kq.Cluster(
        DEFAULT,
        kq.Cohort("root"),
        kq.Cohort("left", parent_name="root"),
        kq.Cohort("right", parent_name="root"),
        queue("l1", 2, cohort_name="left"),
        queue("l2", 4, cohort_name="left"),
        queue("r1", 4, cohort_name="right", preemption=reclaim),
        queue("r2", 0, cohort_name="right"),
    )
    scheduler = kq.Scheduler(cluster)
    _one_after_the_other(scheduler, ("l1", "l1", 5, 0), ("r2", "r2", 5, 0), ("r1", "r1", 4, 0))

    assert scheduler.workload("r1").status.is_true("Admitted")
    scheduler = kq.Scheduler(cluster)
    _one_after_the_other(scheduler, ("l1", "l1", 6, 0), ("r2", "r2", 4, 0))
    scheduler.submit(workload("r1", "r1", 4))
    assert _verdicts(scheduler.explain("r1")) == {"r2": "Taken", "l1": "CohortNotBorrowing"}


@pytest.mark.parametrize(("strategy", "behind"), [("StrictFIFO", ["default/old"]), ("BestEffortFIFO", [])])
def test_the_blocked_head_of_a_strict_queue_is_named(strategy, behind):
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, queue("q", 9, queueing_strategy=strategy)))
    scheduler.submit(workload("old", "q", 10), workload("new", "q", 10))
    scheduler.settle()

    assert [c.facts["workload"] for c in scheduler.explain("new").find("behind")] == behind
    assert scheduler.explain("old").find("behind") == ()
