"""Estimates of admission times and eviction risks."""

import math

import numpy as np
import pytest

import kueuepy as kq
from exploration.conftest import GPU, team
from kueuepy.lab.exploration.remaining import Runtimes


def scheduler_of(*rows, **options):
    cluster = kq.Cluster(kq.ResourceFlavor("h100"), kq.ClusterQueue.of("q", {"h100": {GPU: 2}}, **options))
    scheduler = kq.Scheduler(cluster)
    for row in rows:
        scheduler.submit({"queue": "q", "gpu": 1, **row})
    scheduler.settle()
    return scheduler


def test_with_known_times_the_estimate_is_exact():
    scheduler = scheduler_of({"name": "a", "gpu": 2}, {"name": "b", "gpu": 2}, {"name": "c", "gpu": 2})
    scheduler.advance(600)
    found = kq.lab.eta(scheduler, "default/c", "1h", n=3)
    assert (found.p10, found.p50, found.p90) == (6600, 6600, 6600)
    assert found.by("1h") == 0
    assert found.by("2h") == 1
    assert kq.lab.eta(scheduler, "default/a", "1h", n=3).p90 == 0
    assert scheduler.now == 600


def test_an_unsubmitted_workload_can_be_estimated():
    scheduler = scheduler_of({"name": "a", "gpu": 2})
    found = kq.lab.eta(scheduler, {"name": "new", "queue": "q", "gpu": 1}, 120, n=2)
    assert found.workload == "default/new"
    assert found.p50 == 120
    assert scheduler.keys() == ("default/a",)


def test_remaining_runtimes_are_conditional_on_elapsed_time():
    known = Runtimes(kq.sim.Empirical((60, 600, 6000)))
    left = [known.remaining("q", 100, u) / 1e9 for u in (0.1, 0.4, 0.6, 0.9)]
    assert left == [500, 500, 5900, 5900]
    assert known.remaining("q", 6000, 0.5) == 1
    fresh = Runtimes(kq.sim.Exponential(100))
    gone = [fresh.remaining("q", 1000, u) / 1e9 for u in np.linspace(0.005, 0.995, 100)]
    assert np.mean(gone) == pytest.approx(100, rel=0.05)  # the exponential distribution has no memory


def test_with_exponential_runtimes_the_wait_matches_theory():
    """Both GPUs are used; the first of two exponential runtimes ends after half the mean."""
    scheduler = scheduler_of({"name": "a"}, {"name": "b"}, {"name": "c"})
    found = kq.lab.eta(scheduler, "default/c", kq.sim.Exponential(1000), n=1000, seed=5)
    assert np.mean(found.seconds) == pytest.approx(500, rel=0.1)
    assert found.p50 == pytest.approx(500 * math.log(2), rel=0.15)


def test_runtimes_come_from_a_log_by_queue():
    log = kq.Jobs({"queue": ["q", "q", "other"], "submit": [0, 1, 2], "runtime": [100, 100, 999]})
    scheduler = scheduler_of({"name": "a", "gpu": 2}, {"name": "b"})
    assert kq.lab.eta(scheduler, "default/b", log, n=5).seconds == (100,) * 5
    drawn = kq.Jobs.poisson("q", "1/h", 100, {GPU: 1}, n=3)
    assert kq.lab.eta(scheduler, "default/b", drawn, n=5).seconds == (100,) * 5
    with pytest.raises(kq.errors.NotFoundError, match='LocalQueue "default/q"'):
        kq.lab.eta(scheduler, "default/b", {"default/x": 3}, n=1)


def test_jobs_that_arrive_later_may_overtake():
    scheduler = scheduler_of({"name": "a", "gpu": 2}, {"name": "b", "gpu": 2})
    urgent = kq.Jobs({"queue": ["q"], "submit": [50], "runtime": [1000], "gpu": [2], "priority": [10]})
    assert kq.lab.eta(scheduler, "default/b", 100, n=1).p50 == 100
    assert kq.lab.eta(scheduler, "default/b", 100, n=1, future=urgent).p50 == 1100
    assert kq.lab.eta(scheduler, "default/b", 100, n=2, future=urgent.head).seconds == (100, 1100)


def test_an_admission_that_never_happens_is_infinite_and_reported():
    scheduler = scheduler_of({"name": "a", "gpu": 2}, {"name": "b", "gpu": 3})
    found = kq.lab.eta(scheduler, "default/b", 100, n=2, horizon="1d")
    assert math.isinf(found.p50)
    assert str(found) == "default/b: no quota within 1 d in any of 2 futures"


def test_results_depend_on_the_seed_and_not_on_threads():
    scheduler = scheduler_of(*({"name": f"j{i}"} for i in range(9)))

    def future(seed):
        return kq.Jobs.poisson("q", "6/h", kq.sim.Exponential(900), {GPU: 1}, n=20, seed=seed, priority=5)

    one, two = (
        kq.lab.eta(scheduler, "default/j8", kq.sim.Exponential(900), n=20, future=future, threads=threads)
        for threads in (1, 3)
    )
    assert one == two
    assert len(set(one.seconds)) > 10


def test_a_finished_workload_has_no_future():
    scheduler = scheduler_of({"name": "a"})
    scheduler.finish("default/a")
    with pytest.raises(kq.errors.StateError, match="has finished"):
        kq.lab.eta(scheduler, "default/a", 100)


NOTEBOOK = {"name": "notebook", "queue": "team-a", "gpu": 6}


def two_teams(limit):
    """Team b reclaims its quota; the policies of team a never preempt its own workloads."""
    quota = kq.Quota(4, borrowing_limit=limit)
    return kq.Cluster(
        kq.ResourceFlavor("h100"),
        kq.ClusterQueue.of("team-a", {"h100": {GPU: quota}}, cohort_name="all"),
        team("team-b", 4, reclaim_within_cohort="Any"),
    )


@pytest.mark.parametrize(("limit", "pods", "risk"), [(None, 6, 1.0), (0, 4, 0.0)])
def test_only_borrowing_workloads_have_an_eviction_risk(limit, pods, risk):
    scheduler = kq.Scheduler(two_teams(limit))
    scheduler.submit({**NOTEBOOK, "gpu": pods})
    scheduler.settle()
    coming = kq.Jobs({"queue": ["team-b"] * 3, "submit": [10, 20, 30], "runtime": [60] * 3, "gpu": [4] * 3})
    found = kq.lab.risk(scheduler, "default/notebook", future=coming)
    assert found.probability == risk
    assert found.futures == 1
    assert found.rules == ({"InCohortReclamation": 1.0} if risk else {})


def test_with_random_arrivals_the_risk_is_the_probability_of_an_arrival():
    """A workload is evicted if a job of team b arrives within the hour: 1 - exp(-rate)."""
    scheduler = kq.Scheduler(two_teams(None))
    scheduler.submit({**NOTEBOOK, "gpu": 6})
    scheduler.settle()

    def future(seed):
        return kq.Jobs.poisson("team-b", "0.5/h", 60, {GPU: 4}, n=3, seed=seed)

    found = kq.lab.risk(scheduler, "default/notebook", within="1h", future=future, n=400)
    assert found.low < 1 - math.exp(-0.5) < found.high
    assert found.high - found.low < 0.11
    assert "InCohortReclamation" in str(found)
