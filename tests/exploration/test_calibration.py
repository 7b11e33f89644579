"""Calibration of estimates against true waits."""

from pathlib import Path

import numpy as np
import pytest

import kueuepy as kq
from exploration.conftest import GPU
from kueuepy.lab.exploration.remaining import Runtimes

LOGS = Path(__file__).parents[2] / "examples" / "logs"


def test_runtimes_of_a_log_need_not_be_in_order():
    """The remaining runtime is drawn only from jobs that are longer than the elapsed time."""
    log = kq.Jobs({"queue": ["q"] * 3, "submit": [0, 1, 2], "runtime": [6000, 60, 600]})
    known = Runtimes(log)
    assert [known.remaining("default/q", 100, u) / 1e9 for u in (0.1, 0.4, 0.6, 0.9)] == [500, 500, 5900, 5900]


def test_a_job_running_longer_than_its_whole_queue_is_drawn_from_all_jobs():
    log = kq.Jobs({"queue": ["q", "other"], "submit": [0, 1], "runtime": [60, 6000]})
    known = Runtimes(log)
    assert known.remaining("default/q", 100, 0.5) == 5900 * 10**9
    assert known.remaining("default/q", 7000, 0.5) == 1


@pytest.mark.long
def test_on_a_real_log_80_to_95_percent_of_true_waits_are_in_the_interval():
    """Philly log: calibrated on the first week, tested on the second."""
    log = kq.Jobs.read(LOGS / "philly.csv.gz", format="philly")
    found = kq.lab.calibrate(kq.sim.cluster_of(log), log, jobs=20, n=12)
    assert 0.8 <= found.coverage <= 0.95
    assert found.is_good
    assert found.widen > 1
    assert len(found.jobs) == 20
    assert found.jobs["submit"].min() >= log.span / 2
    table = found.jobs
    inside = (table["wait"] >= table["p5"] / found.widen) & (table["wait"] <= table["p95"] * found.widen)
    assert inside.tolist() == table["within"].tolist()
    assert found.coverage == np.mean(inside)
    assert f"{found.coverage:.0%} of 20 true waits" in str(found)
    assert found._repr_html_()


def calibrated(**options):
    """Return a cluster, a log of random arrivals for it, and the calibration."""
    log = kq.Jobs.poisson("q", "11/h", kq.sim.Exponential("20m"), {GPU: 1}, n=3000, seed=1)
    cluster = kq.Cluster(kq.ResourceFlavor("h100"), kq.ClusterQueue.of("q", {"h100": {GPU: 4}}))
    return cluster, log, kq.lab.calibrate(cluster, log, **options)


@pytest.mark.long
def test_with_stable_runtimes_the_interval_is_widened_only_slightly():
    _, _, found = calibrated(jobs=50, n=20)
    assert found.widen < 1.6
    assert found.coverage >= 0.8
    assert found.raw >= 0.7


def test_an_estimate_reports_its_coverage():
    cluster, log, found = calibrated(jobs=10, n=10)
    scheduler = kq.Scheduler(cluster)
    scheduler.submit({"name": f"j{i}", "queue": "q", "gpu": 1} for i in range(9))
    scheduler.settle()
    told = found.eta(scheduler, "default/j8", n=20)
    plain = kq.lab.eta(scheduler, "default/j8", found.known, n=20)
    assert told.p95 == pytest.approx(plain.p95 * found.widen)
    assert told.p5 == pytest.approx(plain.p5 / found.widen)
    assert (told.p50, plain.coverage) == (plain.p50, None)
    assert f"of a log, {found.coverage:.0%}" in str(told)
    assert len(found.known) < len(log)


def test_a_log_without_waits_cannot_be_calibrated():
    log = kq.Jobs.poisson("q", "1/h", 60, {GPU: 1}, n=50)
    cluster = kq.Cluster(kq.ResourceFlavor("h100"), kq.ClusterQueue.of("q", {"h100": {GPU: 9}}))
    with pytest.raises(kq.errors.InvalidSpecError, match="0 jobs wait a minute"):
        kq.lab.calibrate(cluster, log)
    with pytest.raises(kq.errors.InvalidSpecError, match="jobs 0"):
        kq.lab.calibrate(cluster, log, jobs=0)
