"""Estimates from a recorded history: runtimes with unfinished jobs, arrivals, and waits by queue."""

from __future__ import annotations

import runpy
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest

import kueuepy as kq
from exploration.conftest import GPU
from kueuepy.cli import main
from kueuepy.errors import InvalidSpecError
from kueuepy.lab.exploration.remaining import Arrivals, KaplanMeier, Runtimes
from kueuepy.objects.times import parse_time
from kueuepy.platform.history import RecordingWriter
from kueuepy.platform.metrics.series import MetricsServer
from live.server import events


def test_the_product_limit_estimate_is_that_of_the_textbook():
    """Freireich's 6-MP group of leukaemia patients: 21 remissions in weeks, of which 12 are censored."""
    weeks = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
    ended = [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
    known = KaplanMeier(np.array(weeks, float), np.array(ended, bool))
    assert known.times.tolist() == [6, 7, 10, 13, 16, 22, 23]
    survival = [0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448]
    assert (1 - known.fractions).round(3) == pytest.approx(survival, abs=1e-3)
    assert known.part(5.9) == 0
    assert known.part(8) == pytest.approx(0.193, abs=1e-3)
    assert known.quantile(0.5) == 23
    beyond = 23 + known.mean * np.log(known.fractions[-1].item() and (1 - known.fractions[-1]) / 0.1)
    assert known.quantile(0.9) == pytest.approx(beyond)
    assert known.part(known.quantile(0.9)) == pytest.approx(0.9)


def test_unfinished_jobs_lengthen_the_runtimes_of_a_log():
    rng = np.random.default_rng(4)
    true = rng.exponential(1000, 4000)
    seen = rng.uniform(0, 1500, 4000)
    log = kq.Jobs(
        {
            "queue": ["ns/q"] * 4000,
            "submit": np.arange(4000),
            "runtime": np.minimum(true, seen),
            "censored": true > seen,
        }
    )
    draws = [Runtimes(log).remaining("ns/q", 0, u) / 1e9 for u in np.linspace(0, 0.999, 50)]
    expected = -1000 * np.log(1 - np.linspace(0, 0.999, 50))
    assert np.abs(np.array(draws[5:35]) / expected[5:35] - 1).max() < 0.12
    assert np.median(np.minimum(true, seen)) < 500
    known = Runtimes(log)
    later = [known.remaining("ns/q", 800, u) / 1e9 for u in np.linspace(0.05, 0.5, 10)]
    assert later == pytest.approx((-1000 * np.log(1 - np.linspace(0.05, 0.5, 10))).tolist(), rel=0.25)


def test_a_user_with_enough_jobs_has_runtimes_of_their_own():
    log = kq.Jobs(
        {
            "queue": ["ns/q"] * 60,
            "submit": np.arange(60),
            "runtime": [60.0] * 25 + [600.0] * 25 + [6000.0] * 10,
            "user": ["ann"] * 25 + ["bob"] * 25 + ["cat"] * 10,
        }
    )
    known = Runtimes(log)
    assert {known.remaining("ns/q", 0, u, "ann") for u in (0.0, 0.5, 0.99)} == {60 * 10**9}
    assert {known.remaining("ns/q", 0, u, "bob") for u in (0.0, 0.5, 0.99)} == {600 * 10**9}
    assert {known.remaining("ns/q", 0, u, "cat") for u in (0.0, 0.5, 0.99)} == {60 * 10**9, 600 * 10**9, 6000 * 10**9}
    assert known.remaining("ns/q", 100, 0.0, "ann") == 500 * 10**9


def test_eta_uses_the_runtimes_of_the_users_that_a_label_names():
    log = kq.Jobs(
        {
            "queue": ["q"] * 40,
            "submit": np.arange(40),
            "runtime": [60.0] * 20 + [600.0] * 20,
            "user": ["a"] * 20 + ["b"] * 20,
        }
    )
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 1}}))
    for user, seconds in (("a", 60), ("b", 600)):
        scheduler = kq.Scheduler(cluster)
        pod_sets = (kq.PodSet.of(requests={"cpu": 1}),)
        scheduler.submit(kq.Workload("first", queue_name="q", pod_sets=pod_sets, labels={"who": user}))
        scheduler.settle()
        scheduler.submit(kq.Workload("second", queue_name="q", pod_sets=pod_sets))
        assert set(kq.lab.eta(scheduler, "second", log, n=5, users="who").seconds) == {seconds}
        assert len(set(kq.lab.eta(scheduler, "second", log, n=30).seconds)) == 2


def test_arrivals_repeat_days_of_the_history_at_the_same_time_of_day():
    hours = [day * 24 + hour for day in range(10) for hour in (9, 10, 11)]
    jobs = kq.Jobs({"queue": ["q"] * 30, "submit": [3600.0 * hour for hour in hours], "runtime": [60.0] * 30})
    coming = Arrivals(jobs, "3d", since="8h")
    for seed in range(5):
        submit = coming(seed)["submit"] / 3600
        assert submit.tolist() == [day * 24 + hour - 8 for day in range(3) for hour in (9, 10, 11)]
    short = Arrivals(jobs.window(0, "3h"), "1d")
    assert len({tuple(short(seed)["submit"].tolist()) for seed in range(5)}) > 1
    assert abs(len(short(0)) - 24 / 2 * 3) < 4
    with pytest.raises(InvalidSpecError, match="is empty"):
        Arrivals(jobs.window("100d"), "3d")


def test_unfinished_jobs_of_the_history_arrive_with_longer_runtimes():
    log = kq.Jobs(
        {"queue": ["q"] * 40, "submit": np.arange(40), "runtime": [100.0] * 40, "censored": [False] * 20 + [True] * 20}
    )
    runtimes = Arrivals(log, "40s")(0)["runtime"]
    assert (runtimes >= 100).all()
    assert (runtimes > 100).sum() > 10


def log_of(seed, hours):
    rates = (("a", "5/h", kq.sim.LogNormal("20m", 1.0), 1), ("b", "1/h", kq.sim.Exponential("1h"), 2))
    parts = [
        kq.Jobs.poisson(queue, rate, runtime, {GPU: gpus}, n=int(rate[0]) * hours, seed=seed + place)
        for place, (queue, rate, runtime, gpus) in enumerate(rates)
    ]
    return kq.Jobs.concat(parts).sort()


def cluster_of(gpus):
    queues = [kq.ClusterQueue.of(name, {"h100": {GPU: gpus}}, cohort_name="all") for name in ("a", "b")]
    return kq.Cluster(kq.ResourceFlavor("h100"), *queues)


def test_the_waits_of_the_next_jobs_are_those_of_the_simulated_week():
    log, cluster = log_of(3, 200), cluster_of(3)
    result = kq.simulate(cluster, log)
    scheduler = kq.Scheduler(cluster)
    found = kq.lab.estimated_waits(scheduler, log, within="20h", horizon="30h", n=20)
    assert set(found) == {"default/a", "default/b"} or set(found) == {"a", "b"}
    waits = next(iter(found.values()))
    assert (np.diff(waits) >= 0).all()
    true = result.jobs["first_wait"][result.jobs["queue"].codes == 0]
    assert np.mean(waits > 60) == pytest.approx(np.mean(true > 60), abs=0.2)


@pytest.mark.long
def test_eighty_percent_of_held_out_waits_are_in_the_interval():
    """Two weeks are known, two are held out; two logs, because the jobs of one log are not independent."""
    coverage = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "eta_coverage.py"))["coverage"]
    found = [
        coverage(cluster_of(3), log_of(seed, 24 * 28), jobs=60, n=20, level=0.8, future="history", horizon="12h")
        for seed in (1, 2)
    ]
    assert 0.75 <= np.mean([one.coverage for one in found]) <= 0.85


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("history") / "history.db"
    writer = RecordingWriter(path)
    for event in events("cohort"):
        if event["type"] in ("ADDED", "MODIFIED", "DELETED"):
            writer.event(event["kind"], event["type"] == "DELETED", event["object"], parse_time(event["received"]))
    writer.close()
    return path


def pending(recording, moment):
    scheduler = kq.platform.import_cluster(f"{recording}@{moment}").scheduler
    return [
        key
        for key, status in zip(scheduler.keys(), map(scheduler.workload, scheduler.keys()), strict=True)
        if status.active and not status.status.is_true("QuotaReserved") and not status.status.is_true("Finished")
    ]


def test_the_command_estimates_from_a_recording(recording, capsys):
    moment = "2026-11-23T02:09:00Z"
    key = pending(recording, moment)[-1]
    namespace, _, name = key.partition("/")
    source = f"{recording}@{moment}"
    command = ["eta", name, source, "-n", namespace, "--history", str(recording), "-N", "8", "--horizon", "4m"]
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert f"{key}: quota in" in out
    assert "80% interval" in out
    assert "no other jobs arrive" not in err
    assert main(["eta", name, source, "-n", namespace]) == 2
    assert "--runtimes or --history" in capsys.readouterr().err


def test_estimated_waits_are_served_as_metrics(recording, monkeypatch):
    texts = []

    class Asked(MetricsServer):
        def __enter__(self):
            server = super().__enter__()
            with urlopen(server.url) as answer:  # noqa: S310 - our own server
                texts.append(answer.read().decode())
            return server

    monkeypatch.setattr("kueuepy.cli.explore.MetricsServer", Asked)
    source = f"{recording}@2026-11-23T02:09:00Z"
    options = ["--history", str(recording), "-N", "15", "--horizon", "10m", "--within", "2m", "--stop-after", "1ms"]
    assert main(["serve", source, *options, "--metrics", "127.0.0.1:0"]) == 0
    (text,) = texts
    assert "# TYPE kueuepy_estimated_wait_seconds gauge" in text
    assert 'kueuepy_estimated_wait_seconds{quantile="0.5",queue="ns-a/' in text
    assert "kueue_pending_workloads{" in text
