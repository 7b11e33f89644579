"""Invalid arguments are rejected before anything changes, and do not make a journal unreadable."""

from __future__ import annotations

import os

import pytest

import kueuepy as kq
from journal.cases import small_cluster, workload
from kueuepy.errors import InvalidSpecError, KueueError, NotFoundError, StateError
from kueuepy.platform.journal import Journal
from saved import to_bytes


class Number(int):
    """A subclass of int, similar to NumPy's integers."""


def job(container="c", **spec):
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j", "labels": {"kueue.x-k8s.io/queue-name": "vision"}},
        "spec": {
            "template": {"spec": {"containers": [{"name": container, "resources": {"requests": {"cpu": 1}}}]}},
            **spec,
        },
    }


def queue(name="vision", **fields):
    return kq.ClusterQueue.of(name, {"default": {"cpu": 9}}, cohort_name="team", **fields)


def with_update(update):
    return kq.objects.WorkloadStatus(
        admission_checks=[kq.objects.AdmissionCheckState("x", "Ready", pod_set_updates=[update])]
    )


WRONG = {
    "finish(None)": (lambda s: s.finish(None), "finish: workload: is null; it must be a string"),
    "finish(5)": (lambda s: s.finish(5), "finish: workload: is an integer; it must be a string"),
    "finish(surrogate)": (lambda s: s.finish("\ud800"), "finish: cannot be written"),
    "finish message": (lambda s: s.finish("a", message=None), "finish: message: is null; it must be a string"),
    "finish message surrogate": (lambda s: s.finish("a", message="\ud800"), "finish: cannot be written"),
    "finish reason": (lambda s: s.finish("a", reason="Done"), "finish: reason: is 'Done'; it must be one of Succeeded"),
    "finish twice": (lambda s: s.finish("a", "default/a"), 'finish: Workload "default/a": is named twice'),
    "delete(bytes)": (lambda s: s.delete(b"a"), "delete: workload: is bytes; it must be a string"),
    "delete twice": (lambda s: s.delete("a", "a"), 'delete: Workload "default/a": is named twice'),
    "apply(dict)": (lambda s: s.apply({"kind": "LocalQueue"}), "apply: {'kind': 'LocalQueue'} is not an object"),
    "apply(list)": (lambda s: s.apply([queue()]), "apply: [ClusterQueue"),
    "apply(value)": (lambda s: s.apply(kq.Preemption()), "apply: Preemption"),
    "apply name": (lambda s: s.apply(kq.LocalQueue(["z"])), "apply: LocalQueue: name: is ['z']; it must be a string"),
    "remove(text)": (lambda s: s.remove("vision"), "remove: 'vision' is not an object"),
    "remove twice": (lambda s: s.remove(queue(), queue()), 'remove: ClusterQueue "vision": is named twice'),
    "advance number": (lambda s: s.advance(1e10), "duration: is 10000000000.0; it must be 9223372036 seconds at most"),
    "advance text": (lambda s: s.advance("999999999h"), "duration: is '999999999h'; it must be 9223372036 seconds"),
    "advance sum": (
        lambda s: s.advance(9223372036),
        "duration: is 9223372036; it must end at 2262-04-11",
    ),
    "advance(None)": (lambda s: s.advance(None), "duration: is None; it must be seconds"),
    "reclaim(None)": (lambda s: s.reclaim("a", None), "reclaim: pods: is null; it must be an integer or a mapping"),
    "reclaim(True)": (lambda s: s.reclaim("a", True), "reclaim: pods: is a boolean; it must be an integer"),  # noqa: FBT003
    "reclaim number": (lambda s: s.reclaim("a", Number(1)), "reclaim: cannot be written"),
    "reclaim texts": (lambda s: s.reclaim("a", {"main": "1"}), "reclaim: pods: holds a value that is a string"),
    "set_check message": (lambda s: s.set_check("a", "x", "Ready", message=5), "set_check: message: is an integer"),
    "set_check state": (
        lambda s: s.set_check("a", "x", "Perhaps"),
        "set_check: state: is 'Perhaps'; it must be",
    ),
    "set_check name": (lambda s: s.set_check("a", None, "Ready"), "set_check: check: is null; it must be a string"),
    "set_check updates": (
        lambda s: s.set_check("a", "x", "Ready", pod_set_updates=5),
        "set_check: pod_set_updates: is 5; it must be list of dict",
    ),
    "set_check selector": (
        lambda s: s.set_check("a", "x", "Ready", pod_set_updates=[{"name": "main", "nodeSelector": 5}]),
        'check "x": podSetUpdates[0].nodeSelector: is 5, a number; it must be a mapping',
    ),
    "set_check toleration": (
        lambda s: s.set_check("a", "x", "Ready", pod_set_updates=[{"name": "main", "tolerations": ["x"]}]),
        'check "x": podSetUpdates[0].tolerations[0]: is "x", a string; it must be a mapping',
    ),
    "submit status": (
        lambda s: s.submit(workload("z", status=with_update({"name": "main", "labels": 5})), keep_status=True),
        "status.admissionChecks[0].podSetUpdates[0].labels: is 5, a number; it must be a mapping",
    ),
    "set_check after": (
        lambda s: s.set_check("a", "x", "Retry", requeue_after=9223372036),
        "duration: is 9223372036; it must end at 2262-04-11",
    ),
    "pods_ready(1)": (lambda s: s.pods_ready("a", 1), "pods_ready: ready: is an integer; it must be a boolean"),
    "pods_ready(0)": (lambda s: s.pods_ready("a", 0), "pods_ready: ready: is an integer; it must be a boolean"),
    "pods_ready(None)": (lambda s: s.pods_ready("a", None), "pods_ready: ready: is null; it must be a boolean"),
    "settle(True)": (lambda s: s.settle(max_cycles=True), "settle: max_cycles: is a boolean"),
    "settle(2.5)": (lambda s: s.settle(max_cycles=2.5), "settle: max_cycles: is a number; it must be an integer"),
    "answer_checks(5)": (lambda s: s.answer_checks(5), "checks: is 5; it must be a mapping"),
    "answer_checks value": (
        lambda s: s.answer_checks({"a": 5}),
        "checks: 'a': is 5; the name must be a string, and the check a",
    ),
    "submit(5)": (lambda s: s.submit(5), "submit: 5 is not a Workload"),
    "submit queue": (lambda s: s.submit(workload("z", None)), 'Workload "default/z": spec.queueName: is null'),
    "submit active": (lambda s: s.submit(workload("z", active=None)), 'Workload "default/z": spec.active: is null'),
    "submit namespace": (lambda s: s.submit(workload("z", namespace=None)), "metadata.namespace: is null"),
    "submit labels": (lambda s: s.submit(workload("z", labels=None)), "metadata.labels: is null; it must be a mapping"),
    "submit count": (
        lambda s: s.submit(kq.Workload("z", pod_sets=[kq.PodSet("m", None)])),
        "spec.podSets[0].count: is null; it must be an integer",
    ),
    "submit time": (
        lambda s: s.submit({"name": "z", "queue": "vision", "submit": 1e12}),
        'row "z": submit: is 1000000000000.0; it must be at most 9223372037 s (2262-04-11T23:47:16Z)',
    ),
    "submit timestamp": (
        lambda s: s.submit(workload("z", creation_timestamp=10**21)),
        "creation_timestamp: is 1000000000000000000000; it must be 2262-04-11T23:47:16Z at most",
    ),
    "submit year": (
        lambda s: s.submit({"name": "z", "queue": "vision", "submit": "9999-01-01T00:00:00Z"}),
        "it must be at most 9223372037 s (2262-04-11T23:47:16Z)",
    ),
    "job surrogate": (lambda s: s.submit(job("\ud800")), 'Job "j": cannot be written'),
    "job integer": (lambda s: s.submit(job(foo=2**64)), 'Job "j": cannot be written (can\'t serialize ints'),
    "job bytes": (lambda s: s.submit(job(foo=b"x")), 'Job "j": holds something that JSON has no form for'),
    "apply queue None": (lambda s: s.apply(kq.LocalQueue("z", cluster_queue=None)), "spec.clusterQueue: is null"),
    "apply stop_policy": (
        lambda s: s.apply(kq.LocalQueue("z", cluster_queue="vision", stop_policy=None)),
        'LocalQueue "default/z": spec.stopPolicy: is null; it must be a string',
    ),
    "apply queueing_strategy": (
        lambda s: s.apply(queue(queueing_strategy=None)),
        'ClusterQueue "vision": spec.queueingStrategy: is null; it must be a string',
    ),
    "apply preemption": (
        lambda s: s.apply(queue(preemption=kq.Preemption(within_cluster_queue=None))),
        "Preemption: within_cluster_queue: is None; it must be one of Never, LowerPriority, LowerOrNewerEqualPriority",
    ),
    "apply workload": (lambda s: s.apply(workload("a", None)), 'Workload "default/a": spec.queueName: is null'),
}


def begin(scheduler):
    """One Workload has quota, and another is waiting."""
    scheduler.submit(workload("a", cpu=9), workload("b", cpu=9))
    scheduler.settle()
    scheduler.advance(60)
    return to_bytes(scheduler)


def go_on(scheduler):
    scheduler.pods_ready("a")
    scheduler.finish("a")
    scheduler.submit(workload("c"), job())
    scheduler.settle()
    return to_bytes(scheduler)


@pytest.mark.parametrize(("wrong", "message"), WRONG.values(), ids=WRONG)
def test_an_invalid_argument_changes_nothing_and_does_not_end_the_journal(tmp_path, wrong, message):
    plain = kq.Scheduler(small_cluster())
    path = tmp_path / "j.db"
    with Journal(path) as journal:
        scheduler = journal.scheduler(small_cluster())
        for each in (plain, scheduler):
            before = begin(each)
            with pytest.raises(InvalidSpecError) as error:
                wrong(each)
            assert message in str(error.value)
            assert to_bytes(each) == before
        assert journal.failure == ""
        after = go_on(scheduler)
    assert go_on(plain) == after
    with Journal(path) as again:
        assert to_bytes(again.scheduler()) == after
    plain.save(tmp_path / "state")
    assert to_bytes(kq.Scheduler.load(tmp_path / "state")) == after


def failing():
    yield workload("z")
    raise ZeroDivisionError("no more")


def test_an_error_of_a_submission_does_not_end_the_journal(tmp_path, cluster):
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(cluster)
        with pytest.raises(ZeroDivisionError, match="no more"):
            scheduler.submit(failing())
        assert scheduler.keys() == ()
        after = (begin(scheduler), go_on(scheduler))[1]
    with Journal(tmp_path / "j.db") as again:
        assert to_bytes(again.scheduler()) == after


ALL_OR_NONE = {
    "finish": (lambda s: s.finish("a", "nobody"), NotFoundError),
    "finish what is finished": (lambda s: s.finish("b", "done"), StateError),
    "delete": (lambda s: s.delete("a", "nobody"), NotFoundError),
    "remove": (lambda s: s.remove(queue(), queue("nobody")), NotFoundError),
    "remove a workload": (lambda s: s.remove(workload("a"), workload("nobody")), NotFoundError),
    "apply": (lambda s: s.apply(queue("new"), kq.LocalQueue("z", cluster_queue=None)), InvalidSpecError),
}


@pytest.mark.parametrize(("wrong", "error"), ALL_OR_NONE.values(), ids=ALL_OR_NONE)
def test_a_call_with_several_keys_is_atomic(tmp_path, cluster, wrong, error):
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(cluster)
        scheduler.submit(workload("done", cpu=1))
        scheduler.finish("done")
        before = begin(scheduler)
        with pytest.raises(error):
            wrong(scheduler)
        assert to_bytes(scheduler) == before
        after = go_on(scheduler)
    with Journal(tmp_path / "j.db") as again:
        assert to_bytes(again.scheduler()) == after


def test_a_call_with_several_valid_keys_is_journalled(tmp_path, cluster):
    with Journal(tmp_path / "j.db") as journal:
        scheduler = journal.scheduler(cluster)
        scheduler.submit(*(workload(name) for name in "abcdef"))
        scheduler.settle()
        scheduler.finish("a", "b", message="enough")
        scheduler.delete("a", "c")
        scheduler.remove(workload("d"), kq.ClusterQueue("nlp"))
        assert scheduler.keys() == ("default/b", "default/e", "default/f")
        after = to_bytes(scheduler)
    with Journal(tmp_path / "j.db") as again:
        assert to_bytes(again.scheduler()) == after


@pytest.mark.parametrize("way", ["a directory", "in no directory"])
def test_a_file_that_cannot_be_written_raises_a_kueue_error(tmp_path, cluster, monkeypatch, way):
    monkeypatch.chdir(tmp_path)
    path = "." if way == "a directory" else "nowhere/file"
    with pytest.raises(StateError, match="cannot be written"):
        kq.Scheduler(cluster).save(path)
    with pytest.raises(KueueError, match=r"cannot be read|cannot be locked: .*nowhere is not a directory"):
        Journal(path)
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_is_not_a_file_is_not_replaced(tmp_path, cluster):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(StateError, match="it must be a file"):
        kq.Scheduler(cluster).save(path)
    assert path.is_fifo()
    assert list(tmp_path.iterdir()) == [path]
