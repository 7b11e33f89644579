"""Numbers, booleans, texts and times of NumPy are accepted like those of Python."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

import kueuepy as kq
from kueuepy.manifest import to_dict
from kueuepy.objects.times import SECOND, nanoseconds_of
from saved import from_bytes, to_bytes

NAMES = np.array(["f", "a", "w", "cpu", "team"])
TRUE = np.array([1])[0] == 1
DAY = dt.datetime(2024, 5, 1, 12, tzinfo=dt.timezone.utc)


def cluster():
    flavor, queue, _, cpu, team = NAMES
    return kq.Cluster(
        kq.ResourceFlavor(flavor, node_labels={team: queue}),
        kq.ClusterQueue.of(queue, {flavor: {cpu: np.int64(4)}}, cohort_name=team),
    )


def test_objects_with_names_of_numpy_equal_those_with_texts():
    found = cluster()
    plain = kq.Cluster(
        kq.ResourceFlavor("f", node_labels={"team": "a"}),
        kq.ClusterQueue.of("a", {"f": {"cpu": 4}}, cohort_name="team"),
    )
    assert found == plain
    assert type(found.cluster_queues[0].name) is str
    assert [to_dict(obj) for obj in found.objects()] == [to_dict(obj) for obj in plain.objects()]


def test_a_workload_of_values_of_numpy_is_submitted_and_saved():
    scheduler = kq.Scheduler(cluster(), now=np.int64(5))
    pods = kq.PodSet.of(NAMES[2], np.int16(2), requests={NAMES[3]: np.float64(0.5)}, min_count=np.uint8(1))
    scheduler.submit(
        kq.Workload(
            NAMES[2],
            queue_name=NAMES[1],
            priority=np.int32(3),
            pod_sets=[pods],
            active=TRUE,
            maximum_execution_time_seconds=np.int64(60),
            labels={NAMES[1]: NAMES[2]},
            creation_timestamp=np.datetime64("2024-05-01T12:00"),
        )
    )
    scheduler.settle()
    scheduler.advance(np.timedelta64(3, "s"))
    scheduler.advance(np.int64(3))
    found = scheduler.workload(NAMES[2])
    assert (found.priority, found.pod_sets[0].count, found.status.admission is not None) == (3, 2, True)
    assert scheduler.now == 11
    assert from_bytes(to_bytes(scheduler)).workload("w") == found


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (np.datetime64("2024-05-01T12:00"), int(DAY.timestamp()) * SECOND),
        (np.datetime64("2024-05-01T12:00:00.000000001", "ns"), int(DAY.timestamp()) * SECOND + 1),
        (np.int64(7), 7 * SECOND),
        (np.uint64(7), 7 * SECOND),
        (np.float64(0.25), SECOND // 4),
    ],
)
def test_times_of_numpy_are_exact_and_numbers_are_seconds(value, exact):
    assert nanoseconds_of(value) == exact


@pytest.mark.parametrize(
    "value", [np.datetime64("NaT", "s"), np.datetime64("2600"), np.timedelta64(5, "s"), TRUE, np.float64("nan")]
)
def test_numpy_times_beyond_64_bits_are_rejected(value):
    with pytest.raises(kq.errors.InvalidSpecError, match="time"):
        nanoseconds_of(value)


@pytest.mark.parametrize(
    "value",
    [np.timedelta64("NaT", "s"), np.datetime64("2024"), np.float64("nan"), TRUE, np.timedelta64(10**6, "D")],
)
def test_invalid_numpy_durations_are_rejected(value):
    with pytest.raises(kq.errors.InvalidSpecError, match="duration"):
        kq.Scheduler(cluster(), now=0).advance(value)


def test_a_numpy_datetime_is_a_time():
    assert kq.Scheduler(cluster(), now=np.datetime64("2024-05-01T12:00")).now == DAY.timestamp()


def test_an_edit_accepts_numpy_values():
    path = NAMES[1].replace("a", "ClusterQueue/a:quota[f/cpu].nominalQuota")
    assert cluster().edit(path, np.int64(8)) == cluster().edit(str(path), 8)


def test_simulations_and_tables_accept_numpy_values():
    rows = [
        {"queue": NAMES[1], "name": f"w{n}", "submit": np.float32(n), "runtime": np.timedelta64(1, "m"), "cpu": n}
        for n in np.arange(1, 4)
    ]
    result = kq.simulate(
        cluster(),
        rows,
        until=np.timedelta64(50, "m"),
        warmup=np.int64(0),
        seed=np.int64(3),
        model=kq.sim.RunModel(grace=np.int64(5)),
        delays=[kq.sim.Failures(NAMES[0], np.float64(1e6), np.int64(5), {NAMES[3]: np.int64(1)}, lowers_quota=TRUE)],
        events=[
            kq.sim.Event(np.int64(3), kq.sim.Finish(np.int64(0))),
            kq.sim.Event(4, kq.simulation.model.Priority(np.int64(1), np.int8(2))),
        ],
    )
    assert result.kpis.finished == 3
