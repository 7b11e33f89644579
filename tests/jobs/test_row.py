"""Workloads from table rows."""

import math
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

from kueuepy.errors import InvalidSpecError
from kueuepy.jobs import from_row

DAY = 86400 * 10**9


def test_missing_columns_of_a_row_have_defaults():
    workload, duration = from_row({"name": "a"})
    assert (workload.namespace, workload.queue_name, workload.priority) == ("default", "", 0)
    assert workload.pod_sets[0].count == 1
    assert workload.pod_sets[0].min_count is None
    assert workload.creation_timestamp is None
    assert duration is None


def test_numbers_of_numpy_are_numbers():
    row = {
        "name": "a",
        "pods": np.int64(3),
        "cpu": np.float64(1.5),
        "memory": np.int64(2**30),
        "priority": np.float64(2),
    }
    workload, duration = from_row(row | {"submit": np.int64(86400), "duration": np.float64(0.25)})
    assert workload.pod_sets[0].count == 3
    requests = workload.pod_sets[0].template["spec"]["containers"][0]["resources"]["requests"]
    assert requests == {"cpu": "1.5", "memory": 2**30}
    assert (workload.priority, workload.creation_timestamp.value, duration) == (2, DAY, 0.25)


def test_rows_of_a_data_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"name": ["a", "b"], "gpu": [1, 0], "submit": pandas.to_datetime([1, 2], unit="ns")})
    frame["duration"] = pandas.to_timedelta(["1h", None])
    first, second = (from_row(row) for _, row in frame.iterrows())
    assert first.workload.pod_sets[0].template["spec"]["containers"][0]["resources"]["requests"] == {
        "nvidia.com/gpu": 1
    }
    assert (first.workload.creation_timestamp.value, first.duration) == (1, 3600)
    assert (second.workload.creation_timestamp.value, second.duration) == (2, None)


@pytest.mark.parametrize(
    ("submit", "duration"),
    [
        (86400, 5400),
        (86400.0, 5400.0),
        (datetime(1970, 1, 2, tzinfo=timezone.utc), timedelta(hours=1.5)),
        (datetime(1970, 1, 2), timedelta(hours=1.5)),  # noqa: DTZ001
        ("1970-01-02T00:00:00Z", "1h30m"),
    ],
)
def test_times_in_any_form(submit, duration):
    submission = from_row({"name": "a", "submit": submit, "duration": duration})
    assert submission.workload.creation_timestamp.value == DAY
    assert submission.duration == 5400


def test_rows_with_custom_resource_names():
    row = {"name": "a", "gpu": 2, "example.com/fpga": 1, "min_pods": 2, "pods": 4, "user": "x"}
    workload, _ = from_row(row, gpu_resource="amd.com/gpu", ignore=["user"])
    (pod_set,) = workload.pod_sets
    requests = pod_set.template["spec"]["containers"][0]["resources"]["requests"]
    assert requests == {"amd.com/gpu": 2, "example.com/fpga": 1}
    assert pod_set.min_count == 2


def test_whole_devices_in_any_form():
    for value in (2, 2.0, "2", "2000m", np.float64(2)):
        from_row({"name": "a", "gpu": value, "ignored": math.nan}, ignore=["ignored"])
    from_row({"name": "a", "cpu": 0.46, "memory": "1.5Gi", "example.kubernetes.io/part": 0.5})


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"cpu": 1}, 'row "": name: is missing'),
        ({"name": "a", "prioritty": 1}, 'row "a": "prioritty" is not a column; did you mean "priority"'),
        ({"name": "a", "zzz": 1}, "known are .* name, namespace, "),
        ({"name": "a", "pods": 1.5}, "pods: is 1.5; it must be a whole number"),
        ({"name": "a", "pods": "many"}, "pods: is 'many'; it must be a whole number"),
        ({"name": "a", "gpu": 0.46}, "gpu: is 0.46; it must be a whole number of 0 or more"),
        ({"name": "a", "gpu": "460m"}, "gpu: is '460m'; it must be a whole number of 0 or more"),
        ({"name": "a", "example.com/fpga": np.float64(1.5)}, "example.com/fpga: is 1.5; it must be a whole number"),
        ({"name": "a", "duration": True}, "duration: is True; it must be a number of seconds"),
        ({"name": "a", "duration": -2}, "duration: is -2; it must be a number of seconds of 0 or more"),
        ({"name": "a", "submit": "yesterday"}, "submit: is 'yesterday'; .* such as 2024-05-01T12:00:00Z"),
    ],
)
def test_invalid_rows_are_rejected(row, problem):
    with pytest.raises(InvalidSpecError, match=problem):
        from_row(row)
