"""Rows that are read in one pass: the same answers as for the Workload that `from_row` makes of them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kueuepy import Cluster, ClusterQueue, ResourceFlavor, Scheduler
from kueuepy._core import question_of_row
from kueuepy.errors import KueueError
from kueuepy.jobs import from_row
from kueuepy.manifest import validate

NAMES = st.sampled_from(
    ["a", "a-b", "a.b", "q", "default/q", "a..b", "-a", "a-", "A", "é", "", "a" * 63, "a" * 254, "7"]
)
NUMBERS = st.integers(-2, 2**65) | st.sampled_from([0, 1, 2, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, True, None])
AMOUNTS = (
    NUMBERS
    | st.floats(-1, 1e17)
    | st.sampled_from(
        ["1", "500m", "1.5", "1e3", "64Gi", "1 Gi", "+1", "01", "0.10", "", "m", "Ki", 1e-7, float("nan"), float("inf")]
    )
)
VALUES = {
    "name": NAMES | NUMBERS,
    "queue": NAMES,
    "namespace": NAMES,
    "pods": NUMBERS,
    "priority": NUMBERS,
    "cpu": AMOUNTS,
    "memory": AMOUNTS,
    "mem": AMOUNTS,
    "gpu": AMOUNTS,
    "submit": NUMBERS | st.floats(0, 10),
    "duration": NUMBERS | st.just("1h"),
    "cpus": NUMBERS,
}
USUAL = st.fixed_dictionaries(
    {"name": st.just("job"), "queue": st.sampled_from(["q", "other"])},
    optional={
        "cpu": st.sampled_from([1, 9, 0.5, 2.0, "1500m", "007", 0]),
        "memory": st.sampled_from([1000, "2Gi", "1G", 1.5]),
        "gpu": st.sampled_from([1, 2.0, 9]),
        "pods": st.integers(1, 4),
        "priority": st.integers(-3, 3),
        "namespace": st.sampled_from(["default", "team"]),
        "submit": st.integers(0, 100),
        "duration": st.integers(0, 100),
    },
)


def scheduler():
    quotas = {"f": {"cpu": 4, "memory": "8Gi", "nvidia.com/gpu": 4}}
    made = Scheduler(Cluster(ResourceFlavor("f"), ClusterQueue.of("q", quotas)), now=50)
    made.submit([{"name": f"held-{cpu}", "queue": "q", "cpu": cpu} for cpu in (1, 9)])
    made.settle()
    return made


SCHEDULER = scheduler()


@given(st.fixed_dictionaries({}, optional=VALUES))
@example({"name": "a", "queue": "q", "mem": 1, "memory": 2})
@example({"name": "a", "queue": "q", "priority": 2**31})
def test_a_row_that_is_read_in_one_pass_is_valid(row):
    if question_of_row(row) is not None:
        assert validate(from_row(row).workload) == []


@given(USUAL)
@example({"name": "job", "queue": "q", "cpu": 2})
def test_a_row_is_answered_like_its_workload(row):
    assert question_of_row(row) is not None
    workload = from_row(row).workload
    expected = SCHEDULER.try_admit(workload)
    assert SCHEDULER.try_admit(row) == expected
    assert SCHEDULER.try_admit(SCHEDULER.question(row)) == expected
    assert SCHEDULER.question(row).key == workload.key


@given(st.lists(USUAL, min_size=1, max_size=4))
def test_rows_are_submitted_like_their_workloads(rows):
    named = [{**row, "name": f"job-{number}"} for number, row in enumerate(rows)]
    by_row, by_workload = SCHEDULER.fork(), SCHEDULER.fork()
    keys = by_row.submit(named)
    assert by_workload.submit([from_row(row).workload for row in named]) == keys
    assert [by_row.workload(key) for key in keys] == [by_workload.workload(key) for key in keys]
    assert by_row.fingerprint() == by_workload.fingerprint()
    by_row.settle()
    by_workload.settle()
    assert by_row.fingerprint() == by_workload.fingerprint()


@given(st.fixed_dictionaries({}, optional=VALUES))
def test_a_row_is_refused_like_its_workload(row):
    def outcome(call):
        try:
            return call()
        except KueueError as error:
            return type(error), str(error)

    found = outcome(lambda: type(SCHEDULER.try_admit(row)))
    if "cpus" in row or "name" not in row:
        assert isinstance(found, tuple)
    submitted = outcome(lambda: type(SCHEDULER.fork().submit(row)))
    assert isinstance(found, tuple) == isinstance(submitted, tuple)


def test_a_row_asks_for_the_gpus_of_its_queue():
    cluster = Cluster(ResourceFlavor("f"), ClusterQueue.of("q", {"f": {"gpu": 4}}))
    with pytest.raises(KueueError, match=r'row "a": gpu: asks for nvidia\.com/gpu'):
        Scheduler(cluster).try_admit({"name": "a", "queue": "q", "gpu": 1})
