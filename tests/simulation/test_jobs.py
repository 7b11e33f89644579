# ruff: noqa: E501 - lines of logs are as long as they are
"""Jobs as a table: formats, omitted rows and errors."""

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

import kueuepy as kq
from kueuepy.errors.former import FORMER
from kueuepy.simulation.distributions import draws

GPU = "nvidia.com/gpu"
SECOND = 10**9
HOUR = 3600 * SECOND


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_a_csv_file_is_read_by_column_names(tmp_path):
    text = "queue,submit,runtime,gpu,cpu,team\na,2024-05-01T00:00:00Z,1h,1,500m,x\nb,2024-05-01T01:00:00Z,90,8,2,y\n,1,1,1,1,z\n"
    jobs = kq.Jobs.read(write(tmp_path / "jobs.csv", text))
    assert jobs.exact()["runtime"].tolist() == [HOUR, 90 * 10**9]
    assert (jobs.exact()["cpu"].tolist(), jobs[GPU].tolist()) == ([500, 2000], [1, 8])
    assert [jobs["team"][row] for row in range(2)] == ["x", "y"]
    assert jobs.span == 3600
    assert jobs.notes == (("without queue or submit; left out (first: jobs.csv:4)", 1),)


def test_columns_of_other_names_and_packed_files(tmp_path):
    path = tmp_path / "jobs.csv.gz"
    path.write_bytes(gzip.compress(b"team,at,seconds,n\nx,10,5,2\ny,0,5,1\n"))
    jobs = kq.Jobs.read(path, map={"queue": "team", "submit": "at", "runtime": "seconds", "gpu": "n"})
    assert jobs.exact()["submit"].tolist() == [0, 10 * 10**9]
    assert jobs[GPU].tolist() == [1, 2]
    with pytest.raises(kq.errors.NotFoundError, match='"group" names no column; known are at, n, seconds, team'):
        kq.Jobs.read(path, map={"queue": "group"})


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("gpu", "0.46", 'column "nvidia.com/gpu": .*; it must be a whole number'),
        ("gpu", "-1", 'column "nvidia.com/gpu": .*; it must be 0 or more'),
        ("runtime", "soon", "column \"runtime\": 'soon'; it must be a number of seconds"),
        ("pods", "0", 'column "pods": .*; it must be 1 or more'),
    ],
)
def test_errors_name_file_and_line(tmp_path, column, value, told):
    row = {"queue": "a", "submit": "0", "runtime": "1", "gpu": "1", "pods": "1"}
    lines = [",".join(row), ",".join(row.values()), ",".join({**row, column: value}.values())]
    with pytest.raises(kq.errors.InvalidSpecError, match=rf"jobs row 1 \(jobs.csv:3\), {told}"):
        kq.Jobs.read(write(tmp_path / "jobs.csv", "\n".join(lines)))


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("jobs.csv", "queue,submit,runtime\n\na,0,1\n\n\na,0,soon\n", 6),
        ("jobs.csv", 'queue,submit,runtime,note\na,0,1,"two\nlines"\n,0,1,\na,0,soon,x\n', 5),
        ("jobs.csv", "queue,submit,runtime\n\na,0\n", 3),
        ("jobs.jsonl", '{"queue":"a","submit":0,"runtime":1}\n\n{"queue":"a","submit":0,"runtime":"soon"}\n', 3),
    ],
)
def test_errors_name_the_line_after_empty_lines_and_long_cells(tmp_path, name, text, line):
    with pytest.raises(kq.errors.InvalidSpecError, match=rf"{name}:{line}\b"):
        kq.Jobs.read(write(tmp_path / name, text))


def test_a_column_of_texts_remains_text():
    given = {"queue": ["a"] * 3, "submit": [0] * 3, "runtime": [1] * 3}
    assert kq.Jobs({**given, "user": ["7", "007", "7"]})["user"].tolist() == ["7", "007", "7"]
    assert kq.Jobs({**given, "user": ["7", "8", "9"]})["user"].tolist() == ["7", "8", "9"]
    assert kq.Jobs({**given, "size": [7, 8, None]})["size"][:2].tolist() == [7, 8]


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["7", "007", "7"], ["7", "007", "7"]),
        (["7", "+7", "8"], ["7", "+7", "8"]),
        (["12345678901234567890", "12345678901234567891", "7"], ["12345678901234567890", "12345678901234567891", "7"]),
        (["7", "-8", "90"], [7, -8, 90]),
        (["0.5", "1e3", "2.50"], [0.5, 1000, 2.5]),
    ],
)
def test_a_column_of_csv_has_numbers_only_if_all_its_cells_are_numbers(tmp_path, cells, found):
    text = "\n".join(["queue,submit,runtime,cpu,user", *(f"a,0,1,1,{cell}" for cell in cells)])
    jobs = kq.Jobs.read(write(tmp_path / "jobs.csv", text))
    assert jobs["user"].tolist() == found
    assert len(kq.simulate(kq.sim.cluster_of(jobs), jobs).by("user")) == len(set(found))


def test_frames_of_pandas_and_polars_and_parquet_agree(tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pandas.DataFrame(
        {
            "queue": pandas.Categorical(["a", "b", "a"]),
            "submit": pandas.date_range("2024-01-01", periods=3, freq="h", tz="UTC"),
            "runtime": pandas.to_timedelta(["1h", "2h", "90s"]),
            "cpu": [0.5, 1, 2],
            "user": ["x", None, "y"],
        }
    )
    jobs = kq.Jobs.of(frame)
    jobs.to_parquet(tmp_path / "jobs.parquet")
    for other in (kq.Jobs.of(polars.from_pandas(frame)), kq.Jobs.read(tmp_path / "jobs.parquet")):
        assert list(other) == list(jobs)
    assert jobs.exact()["cpu"].tolist() == [500, 1000, 2000]


def test_missing_requests_are_reported():
    jobs = kq.Jobs({"queue": ["a", "a"], "submit": [0, 0], "runtime": [1, -1], "gpu": [1, float("nan")]})
    assert jobs.notes == (("runtime is -1; the job never ends", 1), ("nvidia.com/gpu is missing; treated as 0", 1))
    assert jobs.exact()["runtime"].tolist() == [10**9, -1]


def test_rows_workloads_and_tables_mix():
    pods = (kq.PodSet.of(requests={"cpu": 1}), kq.PodSet.of("b", requests={"cpu": 2}))
    held = kq.Workload("held", queue_name="q", pod_sets=pods)
    jobs = kq.Jobs.of([{"name": "x", "queue": "q", "cpu": 1, "duration": "1m"}, held])
    assert [jobs.name_of(row) for row in range(2)] == ["x", "held"]
    assert jobs.exact()["runtime"].tolist() == [60 * 10**9, -1]
    assert jobs.templates == (held,)
    assert len(kq.Jobs.concat([jobs, jobs.head(1)])) == 3


def test_windows_and_loads():
    jobs = kq.Jobs({"queue": ["q"] * 4, "submit": [10, 20, 40, 80], "runtime": [5] * 4, "gpu": [1, 2, 3, 4]})
    assert list(jobs.window(0).exact()["submit"]) == [0, 10 * 10**9, 30 * 10**9, 70 * 10**9]
    assert jobs.window(10, 40)[GPU].tolist() == [2, 3]
    assert (jobs.scale_load(2).exact()["submit"] // 10**9).tolist() == [10, 15, 25, 45]
    assert jobs.where(lambda table: table[GPU] > 2).exact()["submit"].tolist() == [40 * 10**9, 80 * 10**9]
    assert jobs.assign(priority=lambda table: table[GPU] * 10)["priority"].tolist() == [10, 20, 30, 40]
    assert len(jobs.thin(0.5, seed=1)) in range(5)


@pytest.mark.parametrize(("number", "count", "does"), [(1, "1 job", "names"), (2, "2 jobs", "name")])
def test_one_job_is_written_in_the_singular(number, count, does):
    jobs = kq.Jobs({"queue": ["a"] * number, "submit": [0] * number, "runtime": [150] * number})
    assert repr(jobs) == f"<Jobs: {count} of 1 queue in 0 s>"
    assert jobs.check(kq.Cluster()) == (f"{count} {does} the LocalQueue default/a, which does not exist",)
    with pytest.raises(
        kq.errors.NotFoundError, match=rf"jobs: {number} of {number} {does} LocalQueues .* default/a \({count}\)"
    ):
        kq.simulate(kq.Cluster(), jobs)


def test_a_first_configuration_and_its_warnings():
    jobs = kq.Jobs({"queue": ["a", "b"], "submit": [0, 100], "runtime": [150, 10], "gpu": [2, 16]})
    cluster = kq.sim.cluster_of(jobs, headroom=1.0)
    assert [q.resource_groups[0].flavors[0].resources[0].nominal_quota for q in cluster.cluster_queues] == [2, 16]
    small = cluster.edit(f"ClusterQueue/b:quota[default/{GPU}].nominalQuota", 1)
    assert kq.Jobs.of(jobs).check(small)[0].startswith(f"1 job of default/b requests more {GPU}")
    assert jobs.describe(cluster)[f"load {GPU}"].tolist() == [1.0, 0.1]


def test_jobs_are_checked_in_cores():
    jobs = kq.Jobs({"queue": ["a"] * 3, "submit": [0, 5, 10], "runtime": [1] * 3, "cpu": [2, 4.5, 8], "pods": [2] * 3})
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("a", {"f": {"cpu": "8500m"}}))
    assert jobs.check(cluster) == ("2 jobs of default/a request more cpu than the queue can ever get, 8.5 cores",)
    assert jobs.head(1).check(cluster) == ()


def test_resources_that_kueue_does_not_count_are_no_problem():
    jobs = kq.Jobs({"queue": ["a"], "submit": [0], "runtime": [1], "memory": ["1Gi"]})
    replaced = kq.objects.ResourceTransformation("memory", "Replace", outputs={"cpu": "1"})
    for rules, problems in (
        ({}, 1),
        ({"exclude_resource_prefixes": ["mem"]}, 0),
        ({"quota_check_strategy": "IgnoreUndeclared"}, 0),
        ({"transformations": [replaced]}, 0),
    ):
        configuration = kq.Configuration(resources=kq.objects.Resources(**rules))
        queue = kq.ClusterQueue.of("a", {"f": {"cpu": 1}})
        assert len(jobs.check(kq.Cluster(kq.ResourceFlavor("f"), queue, configuration=configuration))) == problems


def test_generators_are_reproducible_by_seed():
    first = kq.Jobs.poisson("q", "60/h", kq.sim.Exponential("10m"), {"gpu": 1}, n=8, seed=5)
    gaps = -np.log1p(-draws(5, "gap q", 8)) * 60
    assert (first.exact()["submit"] // 1000).tolist() == (
        np.floor(np.cumsum(gaps) * 1e9).astype(np.int64) // 1000
    ).tolist()
    assert list(kq.Jobs.gpu_mix(seed=2, days=1)) == list(kq.Jobs.gpu_mix(seed=2, days=1))
    assert len(kq.Jobs.bursts("q", "1/h", 5, "1m", {"cpu": 1}, n=3)) == 15
    day = kq.Jobs.diurnal("q", "100/h", "1m", {"cpu": 1}, days=10, ratio=9)
    hour = (day.exact()["submit"] // HOUR) % 24
    assert ((hour >= 12) & (hour < 16)).sum() > 3 * ((hour >= 0) & (hour < 4)).sum()


SWF = "; Computer: test\n; MaxProcs: 8\n1 0 -1 10 4 -1 -1 -1 -1 -1 1 3 1 1 0 -1 -1 -1\n2 5 -1 0 2 -1 -1 -1 60 -1 0 4 1 1 1 -1 -1 -1\n3 6 -1 -1 2 -1 -1 -1 -1 -1 5 4 1 1 1 -1 -1 -1\n"


def test_swf(tmp_path):
    jobs = kq.Jobs.read(write(tmp_path / "log.swf", SWF))
    assert (jobs["pods"].tolist(), jobs.exact()["cpu"].tolist()) == ([4, 2], [1000, 1000])
    assert jobs.exact()["runtime"].tolist() == [10 * 10**9, 10**9]
    assert jobs.exact()["limit"].tolist() == [-1, 60 * 10**9]
    assert dict(jobs.notes) == {
        "without a run time; left out (first: log.swf:5)": 1,
        "ran for 0 s, taken for 1 s (first: log.swf:4)": 1,
    }
    assert jobs.header.startswith("; Computer: test")
    with pytest.raises(kq.errors.InvalidSpecError, match=r"log.swf:3: .*a job must be 18 numbers"):
        kq.Jobs.read(write(tmp_path / "log.swf", "; a\n; b\n1 2 3\n"))


def test_philly(tmp_path):
    text = "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,16,66.0,b\n2017-10-09 06:13:03,29.0,1,1,a\n"
    jobs = kq.Jobs.read(write(tmp_path / "philly.csv", text))
    assert (jobs["pods"].tolist(), jobs[GPU].tolist()) == ([1, 2], [1, 8])
    attempt = {"start_time": "2017-10-09 01:00:00", "end_time": "2017-10-09 02:00:00"}
    job = {
        "status": "Pass",
        "vc": "v",
        "jobid": "application_1",
        "user": "u",
        "submitted_time": "2017-10-09 00:00:00",
        "attempts": [{**attempt, "detail": [{"ip": "m1", "gpus": ["g0", "g1"]}]}, {**attempt, "detail": []}],
    }
    listed = [job, {**job, "jobid": "b", "attempts": []}]
    jobs = kq.Jobs.read(write(tmp_path / "log.json", json.dumps(listed)), format="philly-json")
    assert (jobs.exact()["runtime"].tolist(), jobs[GPU].tolist(), jobs.name_of(0)) == ([2 * HOUR], [2], "application-1")
    assert jobs.notes == (("no attempt, or one without times; left out (first: row 1)", 1),)


@pytest.mark.parametrize("name", FORMER["format"])
def test_a_removed_format_names_the_recipe(name, tmp_path):
    with pytest.raises(kq.errors.InvalidSpecError) as caught:
        kq.Jobs.read(write(tmp_path / "log.csv", "a\n1\n"), format=name)
    assert str(caught.value) == f"format: {name!r} no longer exists: {FORMER['format'][name]}"
    (section,) = re.findall('section "(.*)"', FORMER["format"][name])
    assert f"\n## {section}\n" in (Path(__file__).parents[2] / "docs" / "howto.md").read_text(encoding="utf-8")


def test_parallel_jobs_by_the_model_of_lublin_and_feitelson():
    jobs = kq.Jobs.lublin(1, 20_000, 128)
    sizes = jobs["pods"]
    assert set(jobs.exact()["cpu"].tolist()) == {1000}
    assert (sizes == 1).mean() == pytest.approx(0.244, abs=0.01)
    assert np.isin(sizes, 2 ** np.arange(8)).mean() == pytest.approx(0.244 + 0.576 + 0.18 * 0.28, abs=0.01)
    assert (sizes > 2**4.5).mean() == pytest.approx(0.756 * (1 - 0.86 * 0.97), abs=0.04)
    assert sizes.max() <= 128
    short = (np.log(jobs.exact()["runtime"] / SECOND) < 8) & (sizes == 1)
    assert short.sum() / (sizes == 1).sum() == pytest.approx(0.78, abs=0.06)
    assert jobs.exact()["runtime"].max() <= np.exp(12) * SECOND
    hour = (jobs.exact()["submit"] // HOUR) % 24
    counts = np.bincount(hour, minlength=24)
    assert 12 <= counts.argmax() <= 15
    assert 3 <= counts.argmin() <= 6
    assert counts.max() > 6 * counts.min()
    with pytest.raises(kq.errors.InvalidSpecError, match="processors 1"):
        kq.Jobs.lublin(1, 10, 1)


FIRST_OF_LUBLIN = [
    (334519435419, 22, 2),
    (887507378196, 13941, 59),
    (1249555628598, 1, 8),
    (2256398383499, 3899, 6),
    (14347290192943, 54, 20),
    (14818046111542, 371, 64),
    (17270399023872, 2, 2),
    (18823103917636, 9461, 94),
]


def test_the_first_jobs_of_each_generator_do_not_change():
    jobs = kq.Jobs.lublin(7, 8)
    assert list(zip(jobs.exact()["submit"] // 10**6, jobs.exact()["runtime"] // SECOND, jobs["pods"], strict=True)) == [
        (at // 10**6, runtime, size) for at, runtime, size in FIRST_OF_LUBLIN
    ]


def test_a_queue_without_a_namespace_is_in_the_default_namespace():
    jobs = kq.Jobs.of([{"queue": name, "submit": 0, "runtime": 1, "cpu": 1} for name in ("a", "default/a", "b/c")])
    assert list(jobs["queue"].names) == ["default/a", "b/c"]
    assert jobs["queue"].codes.tolist() == [0, 0, 1]
    assert len(kq.simulate(kq.sim.cluster_of(jobs), jobs).jobs["queue"]) == 3


def test_pandas_na_in_a_row_is_missing():
    pandas = pytest.importorskip("pandas")
    row = {"queue": "a", "submit": 0, "runtime": 1}
    jobs = kq.Jobs.of([{**row, "cpu": pandas.NA}, {**row, "cpu": 1}])
    assert jobs.exact()["cpu"].tolist() == [0, 1000]


def test_the_uid_breaks_ties_whatever_the_order_of_the_rows():
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("a", {"f": {"cpu": 1}}))
    rows = [
        {"name": f"w{n}", "uid": uid, "queue": "a", "submit": 0, "runtime": 60, "cpu": 1} for n, uid in enumerate("cab")
    ]
    orders = []
    for given in (rows, rows[::-1]):
        jobs = kq.simulate(cluster, given).jobs
        starts = dict(zip(jobs["name"].tolist(), jobs["first_start"].tolist(), strict=True))
        orders.append(sorted(starts, key=starts.__getitem__))
    assert orders == [["w1", "w2", "w0"]] * 2
    without = [{name: value for name, value in row.items() if name != "uid"} for row in rows]
    by_row = kq.simulate(cluster, without).jobs
    assert by_row["first_start"].tolist() == [0, 60, 120]


def test_a_uid_stays_with_its_workload():
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("a", {"f": {"cpu": 1}}))
    run = kq.Simulation(cluster, [{"queue": "a", "submit": 0, "runtime": 60, "cpu": 1, "uid": "first"}])
    run.submit(kq.Workload("second", queue_name="a", uid="second-uid"))
    run.submit({"queue": "a", "submit": 0, "runtime": 60, "cpu": 1})
    run.step()
    scheduler = run.scheduler
    workloads = {key.partition("/")[2]: scheduler.workload(key).uid for key in scheduler.keys()}  # noqa: SIM118
    assert workloads == {"j0000000": "first", "second": "second-uid", "j0000002": "000000000002"}
    assert run.result().jobs["uid"].tolist() == ["first", "second-uid", ""]


def test_two_jobs_have_different_uids():
    rows = [{"queue": "a", "submit": 0, "runtime": 60, "uid": "same"} for _ in range(2)]
    with pytest.raises(kq.errors.InvalidSpecError, match="row 0 has it, too"):
        kq.Jobs.of(rows)


@pytest.mark.parametrize("option", ["load", "gpus", "days"])
@pytest.mark.parametrize("value", [0, -1])
def test_a_gpu_mix_needs_numbers_above_0(option, value):
    with pytest.raises(kq.errors.InvalidSpecError, match=f"gpu_mix: {option}: is {value}; it must be more than 0"):
        kq.Jobs.gpu_mix(**{option: value})


def test_tables_are_printed_with_their_first_rows_and_columns():
    """A table with many columns or long notes was printed without rows."""
    own = {f"property-{n}": ["long text"] * 30 for n in range(20)}
    jobs = kq.Jobs({"queue": ["Team_A"] * 30, "submit": range(30), "runtime": [60] * 30, **own})
    lines = str(jobs).splitlines()
    assert len(lines) <= 13
    assert sum(line.startswith("default/Team_A") for line in lines) >= 3
    assert any(line.rstrip().endswith("…") for line in lines[1:])
    assert "default/team-a" in str(jobs.cleaning())
    assert "…" not in str(jobs.cleaning())
