"""Quota reductions: the time until usage fits, and the workloads that must finish."""

import math

import numpy as np
import pytest

import kueuepy as kq


def scheduler_of(cpu=9, jobs=9, **options):
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), queue_of(cpu)), now=0)
    scheduler.submit({"name": f"j{i}", "queue": "q", "cpu": 1, **options} for i in range(jobs))
    scheduler.settle()
    return scheduler


def queue_of(cpu):
    return kq.ClusterQueue.of("q", {"f": {"cpu": cpu}})


def test_reducing_9_to_5_needs_four_finished_jobs():
    """No job is evicted; with known end times, the usage fits after the fourth end."""
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), queue_of(9)), now=0)
    for number in range(9):
        scheduler.submit({"name": f"j{number}", "queue": "q", "cpu": 1})
        scheduler.settle()
        scheduler.advance(10)
    found = kq.lab.shrink(scheduler, queue_of(5), runtimes=1000, n=2)
    assert len(found.leaving) == 4
    assert found.leaving == kq.lab.workloads_over_quota(scheduler, queue_of(5))
    field = kq.sim.Edit("ClusterQueue/q:quota[f/cpu].nominalQuota", 5)
    assert kq.lab.shrink(scheduler, field, runtimes=1000, n=2).seconds == found.seconds
    assert found.above == {"f/cpu": 4000}
    # The time is 90 s; the fourth job started at 30 s and ends at 1030 s.
    assert found.seconds == (940, 940)
    curve = found.curve
    assert (curve["mean"][0], curve["mean"][-1]) == (4000, 0)
    at = np.searchsorted(curve["seconds"], 920)  # the second job has finished by then, and the third has not
    assert curve["seconds"][at] < 930
    assert curve["mean"][at] == 2000
    assert curve["seconds"][-1] == 940


def test_with_exponential_runtimes_the_drain_time_matches_theory():
    """Nine run, four must end: the mean is (1/9 + 1/8 + 1/7 + 1/6) of the mean runtime."""
    found = kq.lab.shrink(scheduler_of(), queue_of(5), runtimes=kq.sim.Exponential(1000), n=300)
    assert np.mean(found.seconds) == pytest.approx(1000 * (1 / 9 + 1 / 8 + 1 / 7 + 1 / 6), rel=0.1)
    assert found.p10 < found.p50 < found.p90
    assert "4 would have to be removed" in str(found)


def test_waiting_workloads_are_not_admitted_before_the_quota_is_reached():
    scheduler = scheduler_of(jobs=12)
    waiting = kq.lab.shrink(scheduler, queue_of(5), runtimes=kq.sim.Exponential(1000), n=40, seed=3)
    assert len(waiting.leaving) == 4
    assert all(map(math.isfinite, waiting.seconds))


def test_a_borrower_must_finish_when_the_lender_loses_quota():
    def queues(cpu):
        return [
            kq.ClusterQueue.of(name, {"f": {"cpu": n}}, cohort_name="all") for name, n in (("q", 4), ("lender", cpu))
        ]

    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), *queues(4)), now=0)
    scheduler.submit({"name": f"j{i}", "queue": "q", "cpu": 2} for i in range(4))
    scheduler.settle()
    found = kq.lab.shrink(scheduler, queues(1)[1], runtimes=60, n=1)
    assert found.above == {"f/cpu": 4000}
    assert len(found.leaving) == 2
    assert found.seconds == (60,)


def test_within_quota_the_time_is_0_and_endless_jobs_are_reported():
    assert str(kq.lab.shrink(scheduler_of(jobs=3), queue_of(5), runtimes=60)) == "usage is within quota at once"
    found = kq.lab.shrink(scheduler_of(), queue_of(5), runtimes="60d", horizon="1d", n=2)
    assert found.seconds == (math.inf, math.inf)
    assert "not within 1 d in 2 of 2" in str(found)


def test_a_curve_is_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    found = kq.lab.shrink(scheduler_of(), queue_of(5), runtimes=kq.sim.Exponential(1000), n=5)
    axes = found.plot()
    assert axes.get_ylabel() == "f/cpu above quota"
    assert len(axes.lines) == 2
    with pytest.raises(kq.errors.InvalidSpecError, match="is not above its quota"):
        found.plot("f/memory")
    assert found._repr_html_()
