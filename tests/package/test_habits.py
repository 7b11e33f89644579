"""Habits that users bring from pandas and from Python: pictures, displays of objects, and hints in messages."""

import re
from pathlib import Path

import pytest

import kueuepy as kq
from kueuepy.simulation.recorded import TABLES
from kueuepy.tables import Columns

pytest.importorskip("matplotlib").use("Agg")
CLUSTER = kq.Cluster(
    kq.ResourceFlavor("f"),
    kq.ClusterQueue.of("a", {"f": {"cpu": 3}}, cohort_name="c"),
    kq.ClusterQueue.of("b", {"f": {"cpu": 3}}),
)
JOBS = kq.Jobs.of(
    [{"name": f"job-{n}", "queue": "a", "submit": n, "runtime": 60, "cpu": 1, "user": f"u{n % 2}"} for n in range(20)]
)
QUOTA = "ClusterQueue/{}:quota[f/cpu].nominalQuota"


@pytest.fixture(scope="module")
def result():
    return kq.simulate(CLUSTER, JOBS)


def test_the_picture_of_every_answer_is_plot(result):
    compared = kq.compare({"one": CLUSTER, "two": CLUSTER}, JOBS)
    quotas = {QUOTA.format("a"): [1, 2], QUOTA.format("b"): [1, 2], "ClusterQueue/b:stopPolicy": ["None", "Hold"]}
    planned = kq.plan(CLUSTER, JOBS, "wait_p95 <= 10m", vary=QUOTA.format("a"), low=1, high=3)

    assert result.plot().get_title("left") == "Usage of f/cpu"
    assert result.plot("waits").get_title("left") == result.plot.waits().get_title("left")
    assert [ax.get_title("left").split("\n")[-1] for ax in compared.plot("usage")] == ["Policy: one", "Policy: two"]
    assert [ax.get_ylabel() for ax in compared.plot.usage(ax=compared.plot.queue())] == ["Usage (cores)"] * 2
    for count, title in ((1, "Mean wait by the value"), (2, "Mean wait by the values"), (3, "One line per policy")):
        assert kq.sweep(CLUSTER, JOBS, dict(list(quotas.items())[:count])).plot().get_title("left").startswith(title)
    assert planned.plot().get_title("left").startswith("2 cores is the smallest value")


@pytest.mark.parametrize("table", [lambda result: result.jobs, lambda result: result.usage, lambda _: JOBS])
def test_every_table_has_slices_masks_and_names(result, table):
    found = table(result)
    name = found.names[0]

    assert len(found[:6]) == 6
    assert len(found[found[name] == found[name][0]]) >= 1
    assert found[[name]].names == (name,)
    assert found._ipython_key_completions_() == list(found.names)
    assert len(str(found).splitlines()) <= 12


@pytest.mark.parametrize("frame", ["to_pandas", "to_polars", "to_arrow"])
def test_jobs_return_from_every_frame(frame):
    workload = kq.Workload("w", queue_name="a", pod_sets=(kq.PodSet.of(requests={"cpu": 1}), kq.PodSet.of("x")))
    for jobs in (JOBS, kq.Jobs.of([*JOBS.rows(), workload]), kq.Jobs.poisson("a", "3/h", "1h", {"cpu": 1}, days=1)):
        again = kq.Jobs.from_frame(getattr(jobs, frame)())

        assert again.names == jobs.names
        assert [str(row) for row in again.rows()] == [str(row) for row in jobs.rows()]


@pytest.mark.parametrize("frame", ["to_pandas", "to_polars", "to_arrow"])
def test_every_table_returns_from_every_frame(result, frame):
    field = QUOTA.format("a")
    tables = [
        *(getattr(result, name) for name in TABLES),
        *(result.queues, result.by("user"), JOBS.describe(CLUSTER), many().workloads, many().usage, many().shares),
        kq.compare({"one": CLUSTER, "two": CLUSTER}, JOBS),
        kq.sweep(CLUSTER, JOBS, {field: [1, 2]}),
        kq.plan(CLUSTER, JOBS, "wait_p95 <= 10m", vary=field, low=1, high=3),
    ]
    for table in tables:
        given = table if isinstance(table, Columns) else table.to_table()
        again = Columns.from_frame(getattr(table, frame)())

        assert again.names == given.names
        assert [str(row) for row in again.rows()] == [str(row) for row in given.rows()]


def test_what_is_no_table_is_refused():
    with pytest.raises(kq.errors.InvalidSpecError, match="3 is not a table; it must be a DataFrame or an Arrow table"):
        Columns.from_frame(3)


def test_objects_are_shown_without_defaults():
    workload = kq.Workload("w", queue_name="a", pod_sets=(kq.PodSet.of(requests={"cpu": 1}),))

    assert repr(kq.LocalQueue("q", cluster_queue="a")) == "LocalQueue(name='q', cluster_queue='a')"
    assert len(repr(workload)) < 160


@pytest.mark.parametrize("call", [kq.Scheduler, kq.Cluster, kq.Scheduler(CLUSTER).apply, kq.Scheduler(CLUSTER).submit])
def test_errors_quote_the_beginning_of_an_object(call):
    with pytest.raises(kq.errors.InvalidSpecError) as raised:
        call([{"name": "x" * 5000}])

    assert len(str(raised.value)) < 400


def test_every_error_quotes_the_beginning_of_an_object():
    sources = Path(kq.__file__).parent.rglob("*.py")
    lines = [line.strip() for path in sources for line in path.read_text(encoding="utf-8").splitlines()]

    assert [
        line for line in lines if re.search(r"(Spec|State|Found)Error\(.*!r\}", line) and "client" not in line
    ] == []


def many():
    scheduler = kq.Scheduler(CLUSTER)
    scheduler.submit({"name": f"train-{n}", "queue": "a", "cpu": 1} for n in range(30))
    return scheduler


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda _: many().explain("trian-3"), 'did you mean "default/train-3"?'),
        (lambda _: many().finish("zzzzzzzzzz"), "a key is namespace/name"),
        (lambda _: many().settle(max_cycle=5), 'did you mean "max_cycles"?'),
        (lambda _: CLUSTER.get(kq.ClusterQueue, "aa"), 'did you mean "a"?'),
        (lambda result: result.jobs["waits"], 'did you mean "waited"?'),
        (lambda result: result.by("zzzz"), "and 11 others"),
        (lambda result: result.picture("usge"), 'did you mean "usage"?'),
        (lambda _: kq.sweep(CLUSTER, JOBS, {QUOTA.format("a") + "s": [1]}), 'did you mean "nominalQuota"?'),
        (lambda _: kq.sweep(CLUSTER, JOBS, {"Cohort/c:fairSharing.weightt": [1]}), 'did you mean "weight"?'),
        (lambda _: kq.sweep(kq.Fleet({"w": CLUSTER}), JOBS, {"w:ClusterQueue/a:stopPolcy": [1]}), "stopPolicy"),
    ],
)
def test_a_hint_names_what_is_near(result, call, hint):
    with pytest.raises((kq.errors.KueueError, TypeError), match=re.escape(hint)):
        call(result)
