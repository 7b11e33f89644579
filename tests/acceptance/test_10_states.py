"""States of a workload, and partial admission (WL_01 to WL_03)."""

import pytest

import kueuepy as kq

from .life import CHECK, CHECKED, DEFAULT, preempting, queue, status, waiting_for_pods


def test_WL_01_from_pending_to_finished(stage):
    story = stage(DEFAULT, CHECK, queue(admission_checks_strategy=CHECKED), configuration=waiting_for_pods())
    story.submit("q", name="w")
    assert story.conditions("w") == {}

    story.settle()
    assert story.conditions("w") == {
        "QuotaReserved": ("True", "QuotaReserved"),
        "Admitted": ("False", "UnsatisfiedAdmissionChecks"),
        "PodsReady": ("False", "WaitForStart"),
    }
    story.scheduler.set_check("w", "check", "Ready")
    story.settle()
    assert story.conditions("w")["Admitted"] == ("True", "Admitted")
    story.scheduler.pods_ready("w")
    story.settle()
    assert story.condition("w", "PodsReady") == ("Started", "All pods reached readiness and the workload is running")
    story.scheduler.finish("w")
    story.settle()
    assert story.condition("w", "Finished") == ("Succeeded", "Job finished successfully")
    assert story.used("q") == 0
    with pytest.raises(kq.errors.StateError, match="finished already"):
        story.scheduler.finish("w")


def test_WL_01_preempted_requeued_and_admitted_again(stage):
    story = stage(DEFAULT, queue(preemption=preempting()))
    story.submit("q", name="low", requests={"cpu": 9})
    story.settle()
    story.submit("q", name="high", requests={"cpu": 9}, priority=1)
    story.settle()

    assert story.conditions("low") == {
        "QuotaReserved": ("False", "WaitingForQuota"),
        "Admitted": ("False", "NoReservation"),
        "Preempted": ("True", "InClusterQueue"),
        "Evicted": ("True", "Preempted"),
        "Requeued": ("True", "Preempted"),
    }
    story.scheduler.finish("high", reason="Failed")
    story.settle()
    assert story.condition("high", "Finished") == ("Failed", "Job failed")
    conditions = story.conditions("low")
    assert conditions["Evicted"] == conditions["Preempted"] == ("False", "QuotaReserved")
    assert story.condition("low", "Evicted")[1].startswith("Previously: Preempted to accommodate a workload")


def test_WL_02_a_job_starts_with_all_its_pods_or_not_at_all(stage):
    story = stage(DEFAULT, queue(2))
    story.submit("q", name="gang", pods=3)
    story.settle()

    assert (story.running(), story.used("q", flavor="default")) == ([], 0)
    assert story.waiting() == {"gang": "ExceedsMaxQuota"}


def test_WL_02_pod_sets_are_admitted_together(stage):
    story = stage(DEFAULT, queue(4))
    sets = kq.PodSet.of("driver", requests={"cpu": 1}), kq.PodSet.of("workers", 4, requests={"cpu": 1})
    story.scheduler.submit(kq.Workload("spark", queue_name="q", pod_sets=sets))
    story.settle()

    assert story.running() == []


def test_WL_03_partial_admission_admits_9_of_20_pods(stage):
    story = stage(DEFAULT, queue(9))
    story.submit("q", name="elastic", pods=20, min_count=5)
    story.settle()

    (assignment,) = status(story, "elastic").admission.pod_set_assignments
    assert (assignment.count, story.used("q")) == (9, 9)


def test_WL_03_preemption_for_the_full_count_is_preferred_to_partial_admission(stage):
    story = stage(DEFAULT, queue(9, preemption=preempting()))
    story.submit("q", name="low", requests={"cpu": 5})
    story.settle()
    story.submit("q", name="elastic", pods=9, min_count=4, priority=1)
    story.settle()

    assert story.evicted() == ["low"]
    assert status(story, "elastic").admission.pod_set_assignments[0].count == 9


@pytest.mark.parametrize(("gates", "running"), [({}, ["elastic"]), ({"PartialAdmission": False}, [])])
def test_WL_03_without_the_feature_gate_the_minimum_count_is_ignored(stage, gates, running):
    story = stage(DEFAULT, queue(9), configuration=kq.Configuration(feature_gates=gates))
    story.submit("q", name="elastic", pods=20, min_count=5)
    story.settle()

    assert story.running() == running
    assert story.scheduler.workload("elastic").pod_sets[0].min_count == (5 if running else None)
