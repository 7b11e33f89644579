"""User-defined columns, corrections with notes, and cleaned names."""

import datetime as dt

import numpy as np
import pytest

import kueuepy as kq

from .conftest import GPU, cluster, queue


def jobs(**columns):
    return kq.Jobs({"queue": ["q"] * 3, "submit": [0, 0, 0], "runtime": [100] * 3, GPU: [1] * 3, **columns})


def test_a_column_named_created_does_not_reorder_queues():
    result = kq.simulate(cluster(queue("q", 1)), jobs(created=[30, 20, 10]))
    assert result.jobs["first_start"].tolist() == [0, 100, 200]
    assert result.jobs["created"].tolist() == [30, 20, 10]
    assert len(result.by("created")) == 3


def test_a_template_is_a_workload_in_json():
    with pytest.raises(kq.errors.InvalidSpecError, match=r'column "template": is .*; it must be a Workload in JSON'):
        jobs(template=[3, 3, 3])


@pytest.mark.parametrize("convert", ["to_pandas", "to_polars", "to_arrow"])
def test_jobs_with_workloads_of_their_own_are_read_back(convert, tmp_path):
    for library in ("pandas", "polars", "pyarrow"):
        pytest.importorskip(library)
    pods = (kq.PodSet.of(requests={"cpu": 1}), kq.PodSet.of("b", requests={"cpu": 2}))
    held = [kq.Workload(f"w{n}", queue_name="q", pod_sets=pods, priority=n) for n in range(3)]
    table = kq.Jobs.of([{"name": "x", "queue": "q", "cpu": 1}, *held])
    table.to_parquet(tmp_path / "jobs.parquet")
    for again in (kq.Jobs.from_frame(getattr(table, convert)()), kq.Jobs.read(tmp_path / "jobs.parquet")):
        assert again.templates == tuple(held)
        assert list(again) == list(table)
    there = kq.sim.cluster_of(table)
    assert kq.simulate(there, again).fingerprint == kq.simulate(there, table).fingerprint


def test_a_recorded_start_is_a_time():
    with pytest.raises(kq.errors.InvalidSpecError, match="jobs row 1, column \"recorded_start\": 'early'; it must be"):
        jobs(recorded_start=[0, "early", 5])
    result = kq.simulate(cluster(queue("q", 1)), jobs(recorded_start=["10s", None, 250]))
    assert result.jobs["recorded_start"].tolist() == pytest.approx([10, float("nan"), 250], nan_ok=True)
    assert result.compare_recorded()["recorded_wait"].tolist() == [10, 250]
    unknown = np.array([10 * 10**9, -1, 0]).view("M8[ns]")
    assert jobs(recorded_start=unknown).exact()["recorded_start"].tolist() == [10 * 10**9, -1, 0]
    assert jobs(recorded_start=[10, -1, 0]).exact()["recorded_start"].tolist() == [10 * 10**9, -1, 0]


@pytest.mark.parametrize(
    "name", ["job", "counted", "state", "waited", "jobs", "finished", "wait_mean", "cluster_queue"]
)
def test_other_columns_are_kept_and_can_group_jobs(name):
    result = kq.simulate(cluster(queue("q", 1)), jobs(**{name: ["x", "y", "y"], f"recorded_{name}": ["u", "v", "w"]}))
    kept = [own for own in result.jobs.names if own.endswith(name) and len(result.jobs[own]) == 3]
    assert len(kept) == (2 if name in ("jobs", "finished", "wait_mean") else 3)
    column = name if name in ("jobs", "finished", "wait_mean") else f"recorded_recorded_{name}"
    assert [result.jobs[column][row] for row in range(3)] == ["x", "y", "y"]
    rows = result.by(column).rows()
    assert [next(iter(row.values())) for row in rows] == ["x", "y"]
    assert [row["jobs"] for row in rows] == [1, 2]


def test_dates_group_jobs_as_text():
    days = np.array(["2024-05-01", "2024-05-02", "2024-05-01"], "M8[D]")
    result = kq.simulate(cluster(queue("q", 3)), jobs(day=days))
    rows = [(next(iter(row.values()))[:10], row["jobs"]) for row in result.by("day").rows()]
    assert rows == [("2024-05-01", 2), ("2024-05-02", 1)]


def test_repairs_are_noted():
    table = jobs(priority=[1, float("nan"), None], runtime=[1, -1, "1h"])
    assert dict(table.notes) == {"priority is missing; treated as 0": 2, "runtime is -1; the job never ends": 1}
    aware = dt.datetime(2024, 5, 1, tzinfo=dt.timezone.utc)
    naive = aware.replace(tzinfo=None)
    note = "submit has no time zone, unlike other rows; read as UTC"
    for submit in (
        [aware, naive, naive],
        ["2024-05-01T09:00:00Z", "2024-05-01 09:00:00", "2024-05-01"],
        ["2024-05-01T09:00:00-07:00", "2024-05-01T09:00:00", naive],
    ):
        assert dict(jobs(submit=submit).notes) == {note: 2}
    assert (
        jobs(submit=[naive] * 3).notes == jobs(submit=["2024-05-01"] * 3).notes == jobs(submit=[aware] * 3).notes == ()
    )


def test_invalid_names_are_reported_and_cleaned():
    table = jobs(
        name=["Train_1", "train-1", "train-1"], queue=["Team A", "team-a", "ns_1/q"], flavor=["H100", "h100", None]
    )
    assert dict(table.notes) == {
        "name is not a valid name in Kubernetes; see Jobs.clean": 1,
        "queue is not a valid name in Kubernetes; see Jobs.clean": 2,
        "flavor is not a valid name in Kubernetes; see Jobs.clean": 1,
    }
    cleaned = table.clean()
    assert [cleaned.name_of(row) for row in range(3)] == ["train-1", "train-1-2", "train-1"]
    assert [cleaned["queue"][row] for row in range(3)] == ["default/team-a-2", "default/team-a", "ns-1/q"]
    assert [cleaned["flavor"][row] for row in range(3)] == ["h100-2", "h100", None]
    assert dict(cleaned.notes) == {
        'queue is cleaned, as "default/Team A" to "default/team-a-2"': 2,
        'flavor is cleaned, as "H100" to "h100-2"': 1,
        'name is cleaned, as "Train_1" to "train-1"': 2,
    }
    assert len(table.cleaning()) == 5
    assert cleaned.clean().notes == cleaned.notes
    assert len(cleaned.cleaning()) == 0


def test_cleaned_names_are_accepted():
    names = ["a_b", "A b", "a-b", "a-b", "...", "x" * 300, "x" * 300, "a..b", "-", "a-b-2"]
    table = kq.Jobs({"name": names, "queue": ["My Queue"] * 10, "submit": [0] * 10, "runtime": [1] * 10, GPU: [1] * 10})
    with pytest.raises(kq.KueueError):
        kq.simulate(cluster(queue("my-queue", 9)), table, missing="wait")
    result = kq.simulate(cluster(queue("my-queue", 9)), table.clean())
    assert result.kpis.finished == 10
    assert np.unique(result.jobs["name"].astype(str)).size == 10


def test_many_valid_names_are_validated_quickly():
    names = np.array([f"job-{n}.x" for n in range(1000)], object)
    table = {"queue": ["q"] * 1000, "submit": [0] * 1000, "runtime": [1] * 1000}
    assert kq.Jobs({**table, "name": names}).notes == ()
    for bad in ("", "-a", "a-", "a..b", "a.-b", "ä", "A", "a\0b", "a_b", "x" * 254):
        names[7] = bad
        expected = () if bad == "" else (("name is not a valid name in Kubernetes; see Jobs.clean", 1),)
        assert kq.Jobs({**table, "name": names}).notes == expected, bad


def test_recorded_starts_are_written_and_read(tmp_path):
    pytest.importorskip("pyarrow")
    table = jobs(recorded_start=["2024-05-01T00:00:10Z", None, "2024-05-01T00:00:00.5Z"])
    table.to_parquet(tmp_path / "jobs.parquet")
    assert (
        kq.Jobs.read(tmp_path / "jobs.parquet").exact()["recorded_start"].tolist()
        == table.exact()["recorded_start"].tolist()
    )


def test_a_column_of_names_is_sliced_compared_and_shown():
    column = jobs(user=["x", None, "z"])["user"]
    assert column[:2].tolist() == list(column[[0, 1]]) == ["x", None]
    assert column[np.array([False, False, True])].tolist() == ["z"]
    assert (column[0], column[-1], column[1]) == ("x", "z", None)
    assert repr(column) == "<Categorical: 'x', None, 'z'>"
    assert (column == "x").tolist() == [True, False, False]
    assert (column != "x").tolist() == [False, True, True]
    assert "0x" not in repr(jobs()["queue"])
    with pytest.raises(kq.errors.NotFoundError, match="9 names no rows; there are 3"):
        column[9]


def test_a_notebook_shows_twenty_jobs_in_readable_units():
    days = [f"2024-05-0{1 + n % 9}T09:00:00Z" for n in range(50)]
    table = kq.Jobs(
        {
            "queue": ["q"] * 50,
            "submit": days,
            "runtime": ["1h30m", -1] * 25,
            "cpu": [1.5] * 50,
            "memory": ["4Gi"] * 50,
            "limit": ["2h", None] * 25,
        }
    )
    html = table._repr_html_()
    assert html.count("<tr>") <= 22
    for text in (
        "2024-05-01T09:00:00Z",
        "1 h 30 min",
        "never ends",
        "1.5",
        "cpu per pod",
        "cpu (cores)",
        "memory per pod",
        "memory (GiB)",
    ):
        assert text in html, text
    assert "50 jobs" in html
    assert "... 30 more rows; .to_pandas() has all" in html
    assert "0000000000" not in html
    assert "2 min 5 s" in kq.Jobs({"queue": ["q"], "submit": [125], "runtime": [1]})._repr_html_()


def test_random_runtimes_of_jobs_without_a_value_are_drawn_together():
    table = jobs(user=["u", None, None])
    drawn = table.with_runtime(kq.sim.Exponential("1h"), by="user", seed=1)["runtime"]
    alone = jobs().with_runtime(kq.sim.Exponential("1h"), seed=1)["runtime"]
    assert drawn.tolist()[1:] == alone.tolist()[:2]
    assert drawn[0] == table.head(1).with_runtime(kq.sim.Exponential("1h"), by="user", seed=1)["runtime"][0]
