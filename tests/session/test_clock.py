"""A Scheduler with the time of the system, calls that are repeated, and events without polling."""

import time

import pytest

import kueuepy as kq
from kueuepy.platform import Journal, Watch

CLUSTER = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 1}}))
ROW = {"name": "a", "queue": "q", "cpu": 1}


@pytest.fixture
def clock(monkeypatch):
    """The clocks of the system, which the test sets."""
    now = {"time_ns": 1_800_000_000 * 10**9, "monotonic_ns": 5 * 10**9}
    for name in ("time_ns", "monotonic_ns"):
        monkeypatch.setattr(time, name, lambda name=name: now[name])
    return now


def test_time_passes_by_itself(clock):
    scheduler = kq.Scheduler(CLUSTER, clock="system")
    assert scheduler.now == 1_800_000_000
    clock["monotonic_ns"] += 60 * 10**9
    clock["time_ns"] -= 10**18  # has no effect
    scheduler.submit(ROW)
    assert scheduler.workload("a").creation_timestamp.value == 1_800_000_060 * 10**9
    with pytest.raises(kq.errors.StateError, match="has the time of its clock"):
        scheduler.advance(1)
    fork = scheduler.fork()
    fork.advance("1h")
    assert fork.now == scheduler.now + 3600


def test_a_back_off_ends_by_itself(clock):
    waits = kq.objects.WaitForPodsReady(timeout="1m")
    cluster = CLUSTER.replace(configuration=kq.Configuration(wait_for_pods_ready=waits))
    scheduler = kq.Scheduler(cluster, clock="system")
    scheduler.submit(ROW)
    assert scheduler.settle().admitted
    clock["monotonic_ns"] += 61 * 10**9  # evicted, and 60 s of back-off begin
    scheduler.settle()
    assert not scheduler.settle().admitted
    clock["monotonic_ns"] += 90 * 10**9
    assert [one.workload for one in scheduler.settle().admitted] == ["default/a"]


def test_a_journal_records_the_time(clock, tmp_path):
    with Journal(tmp_path / "j") as journal:
        scheduler = journal.scheduler(CLUSTER, clock="system")
        clock["monotonic_ns"] += 10**9
        scheduler.submit(ROW)
        clock["monotonic_ns"] += 10**9
        scheduler.settle()
        fingerprint, now = scheduler.fingerprint(), scheduler.now
        assert now == 1_800_000_002
    with Journal(tmp_path / "j") as journal:
        scheduler = journal.scheduler(clock="system")
        assert (scheduler.fingerprint(), scheduler.now) == (fingerprint, now)
        clock["time_ns"] += 3600 * 10**9
        scheduler.settle()
        assert scheduler.now == 1_800_000_002  # the process has run for no time since
    scheduler.save(tmp_path / "saved")
    loaded = kq.Scheduler.load(tmp_path / "saved", clock="system")
    assert loaded.now == 1_800_003_600


def test_an_unknown_clock_is_an_error():
    with pytest.raises(kq.errors.InvalidSpecError, match="clock: is 'wall'"):
        kq.Scheduler(CLUSTER, clock="wall")


JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "j", "labels": {"kueue.x-k8s.io/queue-name": "q"}},
    "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}},
}
WORKLOAD = kq.Workload("w", queue_name="q", pod_sets=(kq.PodSet.of(requests={"cpu": 1}),))


@pytest.mark.parametrize("item", [ROW, JOB, WORKLOAD, [ROW, {**ROW, "name": "b"}]], ids=["row", "job", "w", "list"])
def test_an_equal_submission_returns_what_exists(item):
    scheduler = kq.Scheduler(CLUSTER)
    keys = scheduler.submit(item)
    scheduler.settle()
    before = scheduler.fingerprint()
    again = scheduler.submit(item)
    scheduler.finish(keys[0])

    assert (tuple(again), again.existing, keys.existing) == (tuple(keys), tuple(keys), ())
    assert scheduler.submit(item).existing == tuple(keys)
    assert before != scheduler.fingerprint()
    assert scheduler.submit(item, {**ROW, "name": "new"}).existing == tuple(keys)


@pytest.mark.parametrize(("one", "other"), [(1, "1"), (1, "1000m"), ("1Ki", "1024"), ("1Gi", "1024Mi")])
def test_equal_amounts_in_another_notation_are_equal(one, other):
    scheduler = kq.Scheduler(CLUSTER)
    scheduler.submit({**ROW, "cpu": one})
    assert scheduler.submit({**ROW, "cpu": other}).existing == ("default/a",)


def test_a_different_one_shows_the_difference():
    scheduler = kq.Scheduler(CLUSTER)
    scheduler.submit(ROW, JOB)
    with pytest.raises(kq.errors.DuplicateError, match=r"resources\.requests\.cpu is 1, not 2; delete it first"):
        scheduler.submit({**ROW, "cpu": 2})
    with pytest.raises(kq.errors.DuplicateError, match=r"spec\.podSets\[0\]\.count is 1, not 3"):
        scheduler.submit({**JOB, "spec": {**JOB["spec"], "parallelism": 3}})
    with pytest.raises(kq.errors.DuplicateError, match=r"b\": is named twice; name each workload once"):
        scheduler.submit({**ROW, "name": "b"}, {**ROW, "name": "b"})
    assert len(scheduler.keys()) == 2


def test_a_change_stands_if_the_receiver_of_its_events_fails():
    scheduler = kq.Scheduler(CLUSTER)
    Watch(scheduler, on_events=lambda events: events[0].message.no_such_attribute)
    with pytest.raises(AttributeError, match="no_such_attribute"):
        scheduler.submit(ROW)
    assert scheduler.keys() == ("default/a",)


def test_events_are_pushed(tmp_path):
    told = []
    scheduler = kq.Scheduler(CLUSTER)
    Watch(scheduler, on_events=lambda events: told.append([event.kind for event in events]))
    scheduler.submit(ROW)
    scheduler.patch({"kind": "ClusterQueue", "metadata": {"name": "q"}, "spec": {"stopPolicy": "Hold"}})
    scheduler.patch({"kind": "ClusterQueue", "metadata": {"name": "q"}, "spec": {"stopPolicy": "None"}})
    scheduler.settle()
    assert told[0] == ["Created"]
    assert told[-1] == ["QuotaReserved", "Admitted"]

    told.clear()
    with Journal(tmp_path / "j") as journal:
        scheduler = journal.scheduler(CLUSTER)
        Watch(scheduler, on_events=lambda events: told.append((journal.calls, [event.kind for event in events])))
        with journal.group():
            scheduler.submit(ROW)
            scheduler.settle()
            assert told == []
    assert told == [(2, ["Created", "QuotaReserved", "Admitted"])]
