"""Reasons of pending workloads, one situation each, and dependent jobs (WL_19, WL_20)."""

import msgspec
import pytest

import kueuepy as kq

from .life import DEFAULT, preempting, queue


def _reasons():
    """A situation for each reason: the objects, and the cause of waiting."""
    on_hold = kq.objects.Condition("QuotaReserved", "False", "OnHold", "Job is on hold", 0)
    typed = kq.ResourceFlavor("default", node_labels={"type": "a"})
    return {
        "Deactivated": ([DEFAULT, queue()], {"active": False}),
        "OnHold": ([DEFAULT, queue()], {"status": kq.objects.WorkloadStatus(conditions=(on_hold,))}),
        "Misconfigured": ([DEFAULT, queue(namespace_selector=kq.objects.LabelSelector({"team": "other"}))], {}),
        "NoMatchingFlavor": ([typed, queue()], {"node_selector": {"type": "b"}}),
        "Suspended": ([DEFAULT, queue(stop_policy="Hold")], {}),
        "AdmissionGated": ([DEFAULT, queue()], {"annotations": {"kueue.x-k8s.io/admission-gated-by": "a.b/c"}}),
        "ExceedsMaxQuota": ([DEFAULT, queue(1)], {"requests": {"cpu": 2}}),
    }


@pytest.mark.parametrize("reason", _reasons())
def test_WL_19_reasons_that_concern_only_the_workload(stage, reason):
    objects, fields = _reasons()[reason]
    story = stage(*objects)
    story.submit("q", name="w", **fields)
    story.settle()

    assert story.waiting() == {"w": reason}
    assert reason in str(story.scheduler.explain("w"))


def test_WL_19_reasons_that_concern_other_workloads(stage):
    story = stage(DEFAULT, queue(4, preemption=preempting()), stopping=60)
    story.submit("q", name="first", requests={"cpu": 3})
    story.settle()
    story.submit("q", name="small", requests={"cpu": 2})
    story.settle()
    assert story.waiting() == {"small": "WaitingForQuota"}
    story.submit("q", name="high", requests={"cpu": 2}, priority=1)
    story.settle()
    assert story.waiting() == {"small": "WaitingForQuota", "high": "WaitingForPreemptedWorkloads"}


def test_WL_19_an_evicted_workload_has_the_reason_pending_evaluation(stage):
    story = stage(DEFAULT, queue(1))
    story.submit("q", name="w")
    story.settle()
    story.scheduler.apply(queue(1, stop_policy="HoldAndDrain"))
    story.scheduler._engine.settle()
    assert story.waiting() == {"w": "Suspended"}
    story.scheduler.apply(queue(1))
    story.scheduler._engine.settle()
    assert story.condition("w") == (
        "PendingEvaluation",
        "Workload is pending evaluation in the scheduling queue",
    )


def test_WL_19_a_workload_equal_to_an_inadmissible_one_is_skipped_with_the_same_reason(stage):
    story = stage(DEFAULT, queue(1))
    story.submit("q", 3)
    story.settle()
    assert story.waiting() == {"q-0001": "WaitingForQuota"}
    assert story.conditions("q-0002") == {}
    story.scheduler.apply(queue(1, stop_policy="HoldAndDrain"))
    story.scheduler._engine.settle()
    story.scheduler.apply(queue(1))
    story.scheduler._engine.settle()
    assert story.condition("q-0002") == (
        "WaitingForQuota",
        "Bypassed scheduling evaluation because an equivalent workload recently failed",
    )


def test_WL_20_a_dependent_job_is_gated_until_the_other_job_finishes(stage):
    story = stage(DEFAULT, queue(9))
    after = {"kueue.x-k8s.io/admission-gated-by": "example.com/after-prepare"}
    story.submit("q", name="prepare")
    story.submit("q", name="train", pods=8, annotations=after)
    story.settle()
    assert story.running() == ["prepare"]
    story.scheduler.finish("prepare")
    known = story.scheduler.workload("train")
    story.scheduler.apply(msgspec.structs.replace(known, annotations={}, status=None))
    story.settle()
    assert (story.running(), story.used("q")) == (["train"], 8)


def test_WL_20_a_repeating_job_is_submitted_repeatedly(stage):
    story = stage(DEFAULT, queue(1))
    for number in range(3):
        story.submit("q", name=f"nightly-{number}")
        story.settle()
        assert story.running() == [f"nightly-{number}"]
        story.scheduler.finish(f"nightly-{number}")
        story.scheduler.advance("24h")
