"""Times and durations of objects: what users may give, what they read, and that nothing is lost in between."""

import copy
import pickle
from datetime import datetime, timedelta, timezone
from typing import Any

import msgspec
import numpy as np
import pytest

import kueuepy as kq
from kueuepy.manifest import from_dict, to_dict
from kueuepy.objects import AdmissionCheckState, Condition, MultiKueueSettings, Node, RequeueState, Seconds, Timestamp
from kueuepy.objects.times import encode_time
from saved import from_bytes, to_bytes

TEXT = "2026-08-01T12:00:00Z"
NOON = datetime(2026, 8, 1, 12, tzinfo=timezone.utc)
FINE = "2026-08-01T12:00:00.123456789Z"
TIMES: list[Any] = [
    TEXT,
    "2026-08-01T14:00:00+02:00",
    NOON,
    NOON.astimezone(timezone(timedelta(hours=-5))),
    NOON.timestamp(),
    int(NOON.timestamp()),
    np.datetime64("2026-08-01T12:00"),
    Timestamp.of(int(NOON.timestamp()) * 10**9),
]
HOLDERS = {
    "creation": lambda given: kq.Workload("w", creation_timestamp=given).creation_timestamp,
    "deletion": lambda given: kq.ClusterQueue("q", deletion_timestamp=given).deletion_timestamp,
    "condition": lambda given: Condition("Admitted", "True", last_transition_time=given).last_transition_time,
    "check": lambda given: AdmissionCheckState("c", "Ready", last_transition_time=given).last_transition_time,
    "requeue": lambda given: RequeueState(1, given).requeue_at,
    "node": lambda given: Node("n", ready_since=given).ready_since,
}


@pytest.mark.parametrize("given", TIMES, ids=[type(given).__name__ + str(n) for n, given in enumerate(TIMES)])
@pytest.mark.parametrize("holder", HOLDERS)
def test_a_time_in_any_form_is_read_as_a_datetime(holder, given):
    found = HOLDERS[holder](given)
    assert (found, found.tzinfo, str(found)) == (NOON, timezone.utc, TEXT)


DURATIONS: list[Any] = ["5m", "300s", 300, 300.0, timedelta(minutes=5), np.timedelta64(5, "m"), Seconds.of(300 * 10**9)]
SPANS = {
    "timeout": lambda given: kq.objects.WaitForPodsReady(timeout=given).timeout,
    "recovery": lambda given: kq.objects.WaitForPodsReady(recovery_timeout=given).recovery_timeout,
    "half life": lambda given: kq.objects.AdmissionFairSharing(usage_half_life_time=given).usage_half_life_time,
    "sampling": lambda given: kq.objects.AdmissionFairSharing(usage_sampling_interval=given).usage_sampling_interval,
    "gc": lambda given: MultiKueueSettings(gc_interval=given).gc_interval,
    "lost": lambda given: MultiKueueSettings(worker_lost_timeout=given).worker_lost_timeout,
}


@pytest.mark.parametrize("given", DURATIONS, ids=[type(given).__name__ + str(n) for n, given in enumerate(DURATIONS)])
@pytest.mark.parametrize("holder", SPANS)
def test_a_duration_in_any_form_is_read_as_seconds(holder, given):
    found = SPANS[holder](given)
    assert isinstance(found, float)
    assert (found, repr(found)) == (300, "300.0")


@pytest.mark.parametrize("given", ["5 months", "soon", True, float("nan"), 300 * 10**9, NOON, [], 10**400])
def test_what_is_no_duration_is_refused_with_what_is_allowed(given):
    with pytest.raises(kq.errors.InvalidSpecError, match=r"^WaitForPodsReady: timeout: is .*; it must be .*seconds"):
        kq.objects.WaitForPodsReady(timeout=given)


@pytest.mark.parametrize("given", ["5m", True, float("inf"), NOON.replace(tzinfo=None), timedelta(1), [], 10**19])
def test_what_is_no_time_is_refused_with_what_is_allowed(given):
    with pytest.raises(kq.errors.InvalidSpecError, match=r"^Condition: last_transition_time: is .*; it must be "):
        Condition("Admitted", "True", last_transition_time=given)


def test_nanoseconds_of_a_text_survive_manifests_copies_and_saved_states():
    job = kq.Workload("w", creation_timestamp=FINE, pod_sets=[kq.PodSet.of(requests={"cpu": 1})], queue_name="q")
    for same in (copy.copy(job), copy.deepcopy(job), pickle.loads(pickle.dumps(job)), msgspec.structs.replace(job)):  # noqa: S301 - our own
        assert str(same.creation_timestamp) == FINE
    assert to_dict(job)["metadata"]["creationTimestamp"] == FINE
    assert str(from_dict(to_dict(job)).creation_timestamp) == FINE
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("default"), kq.ClusterQueue.of("q", {"default": {"cpu": 9}})))
    scheduler.submit(job)
    scheduler.settle()
    again = from_bytes(to_bytes(scheduler))
    assert str(again.workload("w").creation_timestamp) == FINE
    assert again.workload("w") == scheduler.workload("w")


def test_objects_are_encoded_as_integers_of_nanoseconds():
    condition = Condition("Admitted", "True", last_transition_time=FINE)
    wait = kq.objects.WaitForPodsReady(timeout="2562047h47m16.854775807s")
    assert msgspec.to_builtins(condition, enc_hook=encode_time)["lastTransitionTime"] == 1_785_585_600_123_456_789
    assert msgspec.to_builtins(wait, enc_hook=encode_time)["timeout"] == 2**63 - 1


def test_timestamps_compare_by_nanoseconds_and_with_datetimes():
    first, second = Timestamp.of(1), Timestamp.of(2)
    assert first < second
    assert first <= second
    assert second > first
    assert second >= first
    assert first != second
    assert max(first, second) is second
    assert Timestamp.of(0) == datetime(1970, 1, 1, tzinfo=timezone.utc)
    assert hash(Timestamp.of(0)) == hash(datetime(1970, 1, 1, tzinfo=timezone.utc))
    later = Timestamp.of(0) + timedelta(hours=1)
    assert (later.value, str(later)) == (3600 * 10**9, "1970-01-01T01:00:00Z")
    assert Seconds(1.5).value == 1_500_000_000
    for name in ("anything", "_value"):
        assert not hasattr(first, name)
        assert not hasattr(Seconds(1), name)


@pytest.mark.parametrize("exact", [0, 1, -1, 999, -1001, 2**63 - 1, -(2**63) + 1, 1_785_585_600_123_456_789])
def test_each_nanosecond_has_a_timestamp_and_a_duration(exact):
    assert Timestamp.of(exact).value == exact
    assert pickle.loads(pickle.dumps(Timestamp.of(exact))).value == exact  # noqa: S301 - our own
    assert pickle.loads(pickle.dumps(Seconds.of(exact))).value == exact  # noqa: S301 - our own
    assert Seconds.of(exact) == exact / 10**9


@pytest.mark.parametrize("kind", [Timestamp, Seconds])
@pytest.mark.parametrize("value", [None, "x", 10**400, [1]], ids=repr)
def test_nanoseconds_that_are_not_a_number_are_refused(kind, value):
    with pytest.raises(kq.errors.InvalidSpecError, match=kind.__name__):
        kind.of(value)
