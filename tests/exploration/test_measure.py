"""Metrics by name, with filters and limits."""

import pytest

import kueuepy as kq
from exploration.conftest import CELL, GPU, RECLAIM, arrivals
from kueuepy.lab.exploration.measure import measure, number, promise, promises


@pytest.fixture
def result(teams):
    return kq.simulate(teams.edit(RECLAIM, "Any"), arrivals(1))


def test_a_metric_of_a_run_equals_that_of_its_kpis(result):
    assert measure("wait_p95").of(result) == result.kpis.wait_p95
    assert measure("loops").of(result) == 0
    assert measure("utilisation").of(result) == result.kpis.utilisation[CELL]
    assert measure(f"lost_hours({CELL})").of(result) == result.kpis.lost_hours[CELL] > 0
    assert measure("preemptions(InCohortReclamation)").of(result) == result.kpis.preemptions["InCohortReclamation"] > 0
    assert measure("preemptions(InClusterQueue)").of(result) == 0


def test_a_metric_of_a_queue_equals_that_of_its_row(result):
    row = next(row for row in result.queues if row["cluster_queue"] == "team-a")
    for name in ("wait_p95", "waiting_mean", "evictions", f"utilisation {CELL}", f"borrowed_hours {CELL}"):
        assert measure(f"{name.split()[0]}(team-a)").of(result) == row[name], name


def test_a_filter_selects_the_matching_jobs(result):
    jobs = result.jobs
    waited = sorted(jobs["waited"][(jobs["priority"] == 10) & (jobs["runtime"] >= 600)])
    found = measure("wait_p95[priority >= 10 and runtime >= 10m]").of(result)
    assert found == waited[-(-len(waited) * 95 // 100) - 1]
    assert measure("jobs(default/team-b)[queue != default/team-a]").of(result) == 40
    assert measure("jobs(cluster_queue=team-a)").of(result) == 40
    assert measure("jobs[state == Running, borrowed == true]").of(result) == 0


def test_any_percentile_is_available(result):
    waited = sorted(result.jobs["waited"])
    assert measure("wait_p90").of(result) == waited[71]
    assert measure("first_wait_p100").of(result) == max(result.jobs["first_wait"])


def test_without_matching_jobs_there_is_no_wait_and_a_target_is_missed(result):
    wanted = promise("wait_p95[priority > 99] <= 30m")
    assert wanted.measure.of(result) is None
    assert not wanted.holds(None)
    assert measure("jobs[priority > 99]").of(result) == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [("wait_p95 <= 30m", 1800), ("utilisation >= 80%", 0.8), ("lost_hours(a/b) < 90m", 1.5), ("loops == 0", 0)],
)
def test_values_have_the_unit_of_their_metric(text, value):
    assert promise(text).value == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wait_p95", "there is no comparison"),
        ("wiat_p95 <= 3", 'did you mean "wait_p'),
        ("wait_p95 <= soon", "it must be a number"),
        ("loops <= 30m", "the metric is not a time"),
        ("wait_p95(a <= 3", "is not a metric"),
        ("wait_p95[priority] <= 3", r"such as \[priority >= 100\]"),
    ],
)
def test_an_invalid_target_is_rejected(text, message):
    with pytest.raises(kq.KueueError, match=message):
        promise(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wait_p95(team-x)", 'did you mean "team-'),
        ("utilisation[priority > 3]", "not a figure of single jobs"),
        ("makespan(team-a)", "a queue has"),
        ("jain(h100/nvidia.com/gpu)", "not by resource"),
        ("wait_p95[prio > 3]", '"prio" names no column'),
    ],
)
def test_a_metric_that_a_run_does_not_have_is_reported(result, text, message):
    with pytest.raises(kq.KueueError, match=message):
        measure(text).of(result)


def test_a_metric_by_resource_must_name_one_of_several_resources():
    queue = kq.ClusterQueue.of("q", {"f": {GPU: 4, "cpu": 8}})
    jobs = [{"queue": "q", "runtime": 60, "gpu": 1, "cpu": 1}]
    result = kq.simulate(kq.Cluster(kq.ResourceFlavor("f"), queue), jobs)
    with pytest.raises(kq.errors.InvalidSpecError, match=r"of which resource: f/cpu, f/nvidia.com/gpu"):
        measure("utilisation").of(result)
    assert measure("utilisation(f/cpu)").of(result) == pytest.approx(1 / 8)
    assert measure("utilisation(q, f/cpu)").of(result) == pytest.approx(1 / 8)


def test_a_number_is_read_as_people_write_it():
    assert number("1h30m", "") == 5400
    assert number("80%", "") == 0.8


@pytest.mark.parametrize(
    "text",
    [
        "wait_mean" + " " * 400_000 + "?",
        "wait_mean[" + " " * 400_000 + "]",
        "wait_mean[a" + " " * 400_000 + "b] <= 3",
        "(" * 400_000,
        "wait_mean[" + "a and " * 60_000 + "]",
        "wait_mean <= 3" + " " * 400_000 + "and ?",
        "wait_mean <= 3" + " and [" * 60_000,
    ],
    ids=["blanks", "no condition", "blanks in a condition", "brackets", "conditions", "promises", "open brackets"],
)
@pytest.mark.parametrize("read", [promise, promises])
def test_a_long_text_is_rejected_in_linear_time(read, text):
    """A backtracking parser would need hours for these texts."""
    with pytest.raises(kq.KueueError) as found:
        read(text)
    assert len(str(found.value)) < 2000


def test_spaces_and_brackets_separate_the_parts_of_a_target():
    (one, other) = promises(
        " wait_p95 ( team-a , team-b ) [ user == x-and-y and priority>=3,a!=b ]<=  30 m and loops==0"
    )
    assert one.measure.group == ("team-a", "team-b")
    assert [(c.column, c.op, c.value) for c in one.measure.conditions] == [
        ("user", "==", "x-and-y"),
        ("priority", ">=", "3"),
        ("a", "!=", "b"),
    ]
    assert (one.op, one.value, other.op, other.value) == ("<=", 1800, "==", 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wait_mean <= 110%", "its unit is s"),
        ("loops == 0%", "loops is no share"),
        ("utilisation >= 60", "such as 60% or 0.6"),
    ],
)
def test_a_limit_in_a_wrong_unit_is_refused(text, message):
    with pytest.raises(kq.errors.InvalidSpecError, match=message):
        promise(text)
