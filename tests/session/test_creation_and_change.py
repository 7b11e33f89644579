"""Submissions and changes: status is ignored, running workloads are immutable, invalid objects are rejected."""

import copy
import pickle
from datetime import datetime, timezone

import msgspec
import pytest

import kueuepy as kq
from kueuepy.errors import InvalidSpecError
from kueuepy.manifest import to_dict
from kueuepy.platform.journal import Journal
from saved import to_bytes

SECOND = kq.objects.SECOND
HIGH = kq.objects.PriorityClassRef("kueue.x-k8s.io", "WorkloadPriorityClass", "high")


def workload(name, cpu=1, count=1, **more):
    pod_sets = (kq.PodSet.of(requests={"cpu": cpu}, count=count),)
    return kq.Workload(name, queue_name=more.pop("queue_name", "a"), pod_sets=pod_sets, **more)


@pytest.fixture
def scheduler():
    queues = [kq.ClusterQueue.of(name, {"default": {"cpu": 8}}, cohort_name="all") for name in "ab"]
    return kq.Scheduler(kq.Cluster(kq.ResourceFlavor("default"), queues), now=1000)


def forged(name="forged", cpu=500):
    assignment = kq.objects.PodSetAssignment("main", {"cpu": "default"}, {"cpu": cpu}, 1)
    true = (
        kq.objects.Condition("QuotaReserved", "True", "x", "", 0),
        kq.objects.Condition("Admitted", "True", "x", "", 0),
    )
    return workload(
        name, cpu, status=kq.objects.WorkloadStatus(conditions=true, admission=kq.objects.Admission("a", (assignment,)))
    )


def used(scheduler, queue="a"):
    """The CPUs in use by a queue."""
    return dict(zip(scheduler.usage["name"], scheduler.usage["usage"], strict=True))[queue]


def states(scheduler):
    return dict(zip(scheduler.workloads["key"], scheduler.workloads["status"], strict=True))


# A status is not submitted.


@pytest.mark.parametrize("way", ["a Workload", "a manifest", "apply"])
def test_submitted_status_is_ignored(scheduler, way):
    if way == "apply":
        scheduler.apply(forged())
    else:
        scheduler.submit(forged() if way == "a Workload" else to_dict(forged()))
    scheduler.settle()
    assert states(scheduler) == {"default/forged": "Pending"}
    assert scheduler.workload("forged").status.admission is None


def test_a_status_is_kept_on_request(scheduler):
    scheduler.submit(forged(), keep_status=True)
    assert states(scheduler) == {"default/forged": "Admitted"}
    loaded = kq.Scheduler(kq.Cluster(*scheduler.cluster.objects(), forged("other")))
    assert states(loaded) == {"default/other": "Admitted"}


def test_a_journal_restores_submissions_without_their_status(tmp_path, scheduler):
    with Journal(tmp_path / "j.db") as journal:
        live = journal.scheduler(scheduler)
        live.submit(forged("a"))
        live.submit(forged("b"), keep_status=True)
        live.apply(workload("c", 2))
        live.cycle()
        live.apply(workload("c", 2, annotations={"why": "x"}))
        before = to_bytes(live)
        assert states(live) == {"default/a": "Pending", "default/b": "Admitted", "default/c": "Pending"}
    with Journal(tmp_path / "j.db") as again:
        assert to_bytes(again.scheduler()) == before


# Changes are compared with running workloads.


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"queue_name": "b"}, r"spec\.queueName: cannot be changed"),
        ({"pod_sets": (kq.PodSet.of(requests={"cpu": 7}),)}, r"spec\.podSets\[0\]: cannot be changed"),
        ({"pod_sets": (kq.PodSet.of(requests={"cpu": 5}), kq.PodSet.of("x"))}, r"spec\.podSets: cannot be changed"),
        ({"priority": 1, "priority_class_ref": HIGH}, r"spec\.priorityClassRef: cannot be"),
        ({"maximum_execution_time_seconds": 60}, r"spec\.maximumExecutionTimeSeconds: cannot be changed"),
    ],
)
def test_running_workloads_cannot_be_changed(scheduler, fields, field):
    submitted = workload("w", 5)
    scheduler.submit(submitted)
    changed = msgspec.structs.replace(submitted, **fields)
    fork = scheduler.fork()
    fork.apply(changed)  # while it waits, every field can be changed
    scheduler.settle()
    before = to_bytes(scheduler)
    # Neither with the submitted fields nor with a status that is not running.
    for status in (None, kq.objects.WorkloadStatus(), scheduler.workload("w").status):
        with pytest.raises(InvalidSpecError, match=field):
            scheduler.apply(msgspec.structs.replace(changed, status=status))
    assert to_bytes(scheduler) == before
    assert used(scheduler) == 5


def test_workloads_that_stopped_can_be_changed(scheduler):
    scheduler.submit(workload("w", 5))
    scheduler.settle()
    scheduler.apply(msgspec.structs.replace(scheduler.workload("w"), active=False))
    scheduler.settle()
    scheduler.apply(workload("w", 7, queue_name="b"))
    scheduler.settle()
    assert (used(scheduler), used(scheduler, "b")) == (0, 7)


def test_a_change_keeps_the_status_and_the_creation(scheduler):
    scheduler.submit(workload("w", 5))
    scheduler.settle()
    before = scheduler.workload("w")
    scheduler.advance(60)
    scheduler.apply(workload("w", 5, annotations={"why": "x"}, status=kq.objects.WorkloadStatus()))
    after = scheduler.workload("w")
    assert after.annotations == {"why": "x"}
    assert (after.uid, after.creation_timestamp, after.status) == (
        before.uid,
        datetime.fromtimestamp(1000, timezone.utc),
        before.status,
    )


# Questions are validated like submissions.

QUESTIONS = {
    "try_admit": lambda s, item: s.try_admit(item),
    "try_admit_many": lambda s, item: s.try_admit_many([item]),
    "question": lambda s, item: s.question(item),
    "largest_count": lambda s, item: s.largest_count(item),
    "explain": lambda s, item: s.explain(item),
    "submit": lambda s, item: s.submit(item),
}
INVALID = {
    "count": (workload("w", count=-5), "count"),
    "request": (workload("w", cpu=-3), "requests"),
    "name": (workload("BAD NAME!!"), "metadata.name"),
    "row": ({"name": "w", "queue": "a", "cpu": -1}, "cpu"),
    "priority": (workload("w", priority=2**40), "spec.priority"),
}


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
@pytest.mark.parametrize(("item", "field"), INVALID.values(), ids=INVALID)
def test_a_question_is_validated_as_a_submission_is(scheduler, ask, item, field):
    with pytest.raises(InvalidSpecError, match=field):
        ask(scheduler, item)


# Copies.


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])  # noqa: S301
def test_a_copy_is_an_independent_scheduler(scheduler, copied):
    scheduler.submit(workload("w", 5))
    scheduler.settle()
    before = to_bytes(scheduler)
    twin = copied(scheduler)
    assert to_bytes(twin) == before
    twin.finish("w")
    twin.submit(workload("x"))
    twin.settle()
    assert to_bytes(scheduler) == before
    scheduler.delete("w")
    assert states(twin) == {"default/w": "Finished", "default/x": "Admitted"}


def test_a_copy_of_a_journalled_scheduler_is_not_journalled(tmp_path, scheduler):
    with Journal(tmp_path / "j.db") as journal:
        live = journal.scheduler(scheduler)
        for twin in (copy.copy(live), copy.deepcopy(live), pickle.loads(pickle.dumps(live))):  # noqa: S301
            assert type(twin) is kq.Scheduler
            twin.submit(workload("w"))
        assert journal.calls == 0
