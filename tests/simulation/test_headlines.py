"""Frequently used metrics: waits, utilisation while jobs arrive, warnings, and comparisons."""

import numpy as np
import pytest

import kueuepy as kq

from .conftest import GPU, cluster, queue

CELL = f"f/{GPU}"


def stream(n=400, seed=2, servers=1, mean=10.0, gap=12.5, **columns):
    rng = np.random.Generator(np.random.PCG64(seed))
    submit, runtime = np.cumsum(rng.exponential(gap, n)), rng.exponential(mean, n)
    return kq.Jobs({"queue": ["q"] * n, "submit": submit, "runtime": runtime, GPU: [servers] * n, **columns})


def test_a_job_that_never_waited_has_waited_for_0_seconds():
    """In an M/M/1 queue, the fraction of jobs that wait is the load. Seconds do not hold months exactly."""
    n = 50_000
    rng = np.random.Generator(np.random.PCG64(7))
    submit, runtime = np.cumsum(rng.exponential(250.0, n)), rng.exponential(200.0, n)
    times = {"submit": (submit * 1e9).astype("M8[ns]"), "runtime": (runtime * 1e9).astype("m8[ns]")}
    jobs = kq.Jobs({"queue": ["q"] * n, **times, GPU: [1] * n})
    found = kq.simulate(cluster(queue("q", 1)), jobs, record=kq.sim.Recording(usage=False)).jobs
    assert float(found["submit"].max()) > 2**53 / 1e9
    assert (found["waited"] > 0).mean() == pytest.approx(0.8, abs=0.02)
    assert ((found["waited"] == 0) == (found["first_start"] == found["submit"])).all()
    assert (found["first_wait"] == found["waited"]).all()
    # By Lindley's recursion in whole nanoseconds.
    waits, wait = np.zeros(n, np.int64), 0
    gaps, spans = np.diff(jobs.exact()["submit"], prepend=jobs.exact()["submit"][0]), jobs.exact()["runtime"]
    for row in range(1, n):
        wait = max(0, wait + int(spans[row - 1]) - int(gaps[row]))
        waits[row] = wait
    assert (np.round(found["waited"] * 1e9).astype(np.int64) == waits).all()


def test_utilisation_while_jobs_arrive_excludes_the_time_after_the_last_submission():
    rows = [{"queue": "q", "submit": at, "runtime": 100, "gpu": 2} for at in (0, 100, 200)]
    rows.append({"queue": "q", "submit": 300, "runtime": 900, "gpu": 1})
    kpis = kq.simulate(cluster(queue("q", 2)), rows).kpis
    assert kpis.submission_utilisation == {CELL: 1.0}
    assert kpis.utilisation == {CELL: pytest.approx((3 * 200 + 900) / (2 * 1200))}
    late = kq.simulate(cluster(queue("q", 2)), rows, warmup=150).kpis
    assert late.submission_utilisation == {CELL: 1.0}
    assert list(dict(kpis.rows())).index(f"submission_utilisation {CELL}") < list(dict(kpis.rows())).index(
        f"utilisation {CELL}"
    )


def test_utilisation_while_jobs_arrive_is_the_same_with_and_without_the_usage_table():
    jobs, there = stream(300), cluster(queue("q", 2))
    whole = kq.simulate(there, jobs, warmup="10m")
    bare = kq.simulate(there, jobs, warmup="10m", record=kq.sim.Recording(usage=False, runs=False, decisions=False))
    assert bare.kpis.submission_utilisation == whole.kpis.submission_utilisation
    last = float(whole.jobs["submit"].max())
    assert whole.figures(600, last).utilisation[CELL] == pytest.approx(whole.kpis.submission_utilisation[CELL])
    assert whole.figures(600, last).submission_utilisation == whole.figures(600, last).utilisation


def test_utilisation_of_jobs_that_arrive_at_once_is_that_of_the_run():
    rows = [{"queue": "q", "submit": 0, "runtime": 60, "gpu": 1}] * 3
    kpis = kq.simulate(cluster(queue("q", 2)), rows).kpis
    assert kpis.submission_utilisation == kpis.utilisation == {CELL: pytest.approx(180 / 240)}


def test_jobs_that_are_submitted_later_move_the_end_of_submissions():
    run = kq.Simulation(cluster(queue("q", 2)), [{"queue": "q", "submit": 0, "runtime": 10, "gpu": 2}])
    run.run(50)
    run.submit([{"queue": "q", "submit": 100, "runtime": 60, "gpu": 2}])
    run.run()
    assert run.result().kpis.submission_utilisation == {CELL: pytest.approx(0.1)}


def warned(text, result):
    return [warning for warning in result.warnings if text in warning]


def test_a_long_time_after_the_last_submission_causes_a_note():
    jobs = kq.Jobs.concat(
        [stream(800, gap=6.0), kq.Jobs({"queue": ["q"], "submit": [5000], "runtime": [9000], GPU: [1]})]
    )
    result = kq.simulate(cluster(queue("q", 2)), jobs)
    (text,) = warned("after the last submission", result)
    assert f"{result.kpis.utilisation[CELL]:.1%}" in text
    assert f"{result.kpis.submission_utilisation[CELL]:.1%}" in text
    assert not warned("after the last submission", kq.simulate(cluster(queue("q", 2)), stream(400)))


def test_hints_about_metrics_are_shown_and_not_emitted_as_warnings():
    with pytest.warns(UserWarning, match="waiting times grow") as caught:
        result = kq.simulate(cluster(queue("q", 1)), stream(400, gap=6.0))
    assert warned("the mean wait", result)
    assert "warning: the mean wait" in repr(result)
    assert not any("the mean wait" in str(one.message) for one in caught)


def test_a_mean_wait_far_above_the_log_causes_a_note():
    assert warned("the mean wait", kq.simulate(cluster(queue("q", 1)), stream(400, gap=6.0)))
    assert not warned("the mean wait", kq.simulate(cluster(queue("q", 2)), stream(400)))


def test_a_warm_up_without_remaining_jobs_causes_a_note():
    result = kq.simulate(cluster(queue("q", 2)), stream(200), warmup="300d")
    assert warned("the metrics include no jobs", result)


def test_calendar_times_are_available_if_the_log_has_them():
    rows = [{"queue": "q", "submit": f"2024-05-01T09:0{n}:00Z", "runtime": 300, "gpu": 1} for n in range(3)]
    result = kq.simulate(cluster(queue("q", 1)), rows, until=400)
    assert result.jobs["submit_time"].tolist() == [n * 60 * 10**9 + 1714554000 * 10**9 for n in range(3)]
    assert [row["first_start_time"] for row in result.jobs.rows()] == [
        "2024-05-01T09:00:00Z",
        "2024-05-01T09:05:00Z",
        None,
    ]
    assert [row["end_time"] for row in result.jobs.rows()] == ["2024-05-01T09:05:00Z", None, None]
    assert "submit_time" not in kq.simulate(cluster(queue("q", 1)), stream(3)).jobs.names
    frame = result.jobs.to_pandas()
    assert str(frame["submit_time"].iloc[1]) == "2024-05-01 09:01:00"


@pytest.fixture(scope="module")
def three():
    jobs = stream(1200, servers=2, gap=11.0)
    return kq.compare({f"{n} GPUs": cluster(queue("q", n)) for n in (2, 3, 4)}, jobs)


def test_a_comparison_of_three_names_the_compared_pairs(three):
    for text in (" ".join(str(three).split()), three._repr_html_()):
        assert "under 4 GPUs (the last policy) than under 2 GPUs (the first; between(a, b) others)" in text
    assert "the last policy" not in str(three.between("2 GPUs", "3 GPUs"))


def test_differences_of_policies_are_paired_by_job(three):
    rows = [row for row in three.differences().rows() if row["metric"] == "wait_mean"]
    assert [row["policy"] for row in rows] == ["3 GPUs", "4 GPUs"]
    for row in rows:
        apart = three[row["policy"]].jobs["waited"] - three["2 GPUs"].jobs["waited"]
        assert row["jobs"] == 1200
        assert row["difference"] == pytest.approx(apart.mean())
        assert row["difference"] == pytest.approx(row["second"] - row["first"])
        assert row["low"] <= row["difference"] <= row["high"]
    assert rows[0]["difference"] == rows[0]["low"] == rows[0]["high"] == 0
    assert rows[1]["high"] < 0
    other = type(three)({"a": three["2 GPUs"], "b": kq.simulate(cluster(queue("q", 4)), stream(1200, seed=9))})
    with pytest.raises(kq.errors.InvalidSpecError, match="has other jobs"):
        other.differences()


def test_metrics_form_one_tidy_table(three):
    table = three.tidy()
    assert table.names == ("policy", "cluster_queue", "metric", "flavor_resource", "value", "unit")
    rows = {
        (r["policy"], r["cluster_queue"], r["metric"], r["flavor_resource"]): (r["value"], r["unit"])
        for r in table.rows()
    }
    assert len(rows) == len(table)
    for name in three.names:
        kpis = three[name].kpis
        assert rows[name, "all", "wait_mean", ""] == (kpis.wait_mean, "s")
        assert rows[name, "q", "wait_p95", ""] == (kpis.wait_p95, "s")
        assert rows[name, "all", "utilisation", CELL] == (kpis.utilisation[CELL], "fraction")
        assert rows[name, "all", "used_hours", CELL] == (kpis.used_hours[CELL], "h")
    assert rows["2 GPUs", "all", "throughput", ""][1] == "jobs/h"
    frame = three["2 GPUs"].to_pandas()
    assert list(frame.columns) == list(table.names[1:])
    assert set(three["2 GPUs"].kpis.to_pandas()["metric"]) >= {"wait_mean", "utilisation"}


def test_a_report_combines_results(three, tmp_path):
    kq.report({"two": three["2 GPUs"], "four": three["4 GPUs"]}, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    for part in (
        "Policies side by side",
        "with the largest decrease under four",
        "are paired",
        "95% confidence interval",
    ):
        assert part in text
    kq.report(three, tmp_path / "report.html")
    assert "Of 3 policies, “4 GPUs” has the shortest mean wait" in (tmp_path / "report.html").read_text()
    kq.report({"one": three["2 GPUs"]}, tmp_path / "report.html")
    with pytest.raises(kq.errors.InvalidSpecError, match="no result"):
        kq.report({}, tmp_path / "report.html")


def test_a_cluster_of_a_log_has_the_flavors_of_the_log():
    rows = [
        {"queue": "ls", "submit": 0, "runtime": 1000, "cpu": 12, "gpu": 1, "flavor": "v100m16"},
        {"queue": "be", "submit": 10, "runtime": 880, "cpu": 6, "gpu": 2, "flavor": "t4"},
        {"queue": "ls", "submit": 20, "runtime": 670, "cpu": 6, "gpu": 1},
    ]
    log = kq.Jobs.of(rows)
    there = kq.sim.cluster_of(log)
    assert [flavor.name for flavor in there.resource_flavors] == ["v100m16", "t4", "default"]
    result = kq.simulate(there, log)
    assert result.kpis.finished == 3
    assert result.jobs["flavor"].tolist() == ["v100m16", "t4", "default"]
    assert [flavor.name for flavor in kq.sim.cluster_of(log.take([2])).resource_flavors] == ["default"]
    with pytest.raises(kq.errors.InvalidSpecError, match="headroom"):
        kq.sim.cluster_of(log, headroom=float("nan"))
