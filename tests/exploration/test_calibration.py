"""Coverage of estimates on true waits, with `benchmarks/eta_coverage.py`."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import kueuepy as kq
from exploration.conftest import GPU
from kueuepy.lab.exploration.remaining import Runtimes

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "examples" / "logs"
coverage = runpy.run_path(str(ROOT / "benchmarks" / "eta_coverage.py"))["coverage"]


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
    found = coverage(kq.sim.cluster_of(log), log, jobs=20, n=12)
    assert 0.8 <= found.coverage <= 0.95
    assert found.low < found.coverage < found.high
    assert found.widen > 1
    assert len(found.rows) == 20
    exact = log.exact()["submit"]
    assert (exact[found.rows] - exact.min()).min() / 1e9 >= log.span / 2
    wait, low, _, high = found.found.T
    inside = (wait >= low / found.widen) & (wait <= high * found.widen)
    assert found.coverage == np.mean(inside)


@pytest.mark.long
def test_with_stable_runtimes_the_interval_is_widened_only_slightly():
    log = kq.Jobs.poisson("q", "11/h", kq.sim.Exponential("20m"), {GPU: 1}, n=3000, seed=1)
    cluster = kq.Cluster(kq.ResourceFlavor("h100"), kq.ClusterQueue.of("q", {"h100": {GPU: 4}}))
    found = coverage(cluster, log, jobs=50, n=20)
    assert found.widen < 1.6
    assert found.coverage >= 0.8
    assert found.raw >= 0.7


def test_the_coverage_needs_jobs_that_wait():
    log = kq.Jobs.poisson("q", "1/h", 60, {GPU: 1}, n=50)
    cluster = kq.Cluster(kq.ResourceFlavor("h100"), kq.ClusterQueue.of("q", {"h100": {GPU: 9}}))
    with pytest.raises(kq.errors.InvalidSpecError, match="0 jobs wait a minute"):
        coverage(cluster, log)
