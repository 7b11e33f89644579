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


def shrink(scheduler, *edits, **options):
    return kq.lab.guarantee("shrink", scheduler, edits=edits, **options)


def leaving(found):
    return tuple(found.values("order of removal"))


def seconds(found):
    return tuple(found.values("within quota after").values())


def test_reducing_9_to_5_needs_four_finished_jobs():
    """No job is evicted; with known end times, the usage fits after the fourth end."""
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), queue_of(9)), now=0)
    for number in range(9):
        scheduler.submit({"name": f"j{number}", "queue": "q", "cpu": 1})
        scheduler.settle()
        scheduler.advance(10)
    found = shrink(scheduler, queue_of(5), runtimes=1000, n=2)
    assert len(leaving(found)) == 4
    assert leaving(found) == kq.lab.workloads_over_quota(scheduler, queue_of(5))
    field = kq.sim.Edit("ClusterQueue/q:quota[f/cpu].nominalQuota", 5)
    assert seconds(shrink(scheduler, field, runtimes=1000, n=2)) == seconds(found)
    assert found.values("above quota") == {"f/cpu": 4000}
    # The time is 90 s; the fourth job started at 30 s and ends at 1030 s.
    assert seconds(found) == (940, 940)
    assert found.holds is True


def test_with_exponential_runtimes_the_drain_time_matches_theory():
    """Nine run, four must end: the mean is (1/9 + 1/8 + 1/7 + 1/6) of the mean runtime."""
    found = shrink(scheduler_of(), queue_of(5), runtimes=kq.sim.Exponential(1000), n=300)
    assert np.mean(seconds(found)) == pytest.approx(1000 * (1 / 9 + 1 / 8 + 1 / 7 + 1 / 6), rel=0.1)
    low, middle, high = (found.values(name)["all futures"] for name in ("p10", "p50", "p90"))
    assert low < middle < high
    assert "4 would have to be removed" in str(found)


def test_waiting_workloads_are_not_admitted_before_the_quota_is_reached():
    scheduler = scheduler_of(jobs=12)
    waiting = shrink(scheduler, queue_of(5), runtimes=kq.sim.Exponential(1000), n=40, seed=3)
    assert len(leaving(waiting)) == 4
    assert all(map(math.isfinite, seconds(waiting)))


def test_a_borrower_must_finish_when_the_lender_loses_quota():
    def queues(cpu):
        return [
            kq.ClusterQueue.of(name, {"f": {"cpu": n}}, cohort_name="all") for name, n in (("q", 4), ("lender", cpu))
        ]

    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), *queues(4)), now=0)
    scheduler.submit({"name": f"j{i}", "queue": "q", "cpu": 2} for i in range(4))
    scheduler.settle()
    found = shrink(scheduler, queues(1)[1], runtimes=60, n=1)
    assert found.values("above quota") == {"f/cpu": 4000}
    assert len(leaving(found)) == 2
    assert seconds(found) == (60,)


def test_within_quota_the_time_is_0_and_endless_jobs_are_reported():
    at_once = shrink(scheduler_of(jobs=3), queue_of(5), runtimes=60, n=2)
    assert (at_once.holds, at_once.because, seconds(at_once)) == (True, ("usage is within quota at once",), (0, 0))
    found = shrink(scheduler_of(), queue_of(5), runtimes="60d", horizon="1d", n=2)
    assert seconds(found) == (math.inf, math.inf)
    assert found.holds is False
    assert "not within 1 d in 2 of 2" in str(found)
