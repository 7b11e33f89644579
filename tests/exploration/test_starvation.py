"""Starvation: proofs compared with long simulations."""

import math
import warnings

import pytest

import kueuepy as kq


def cluster_of(strategy="BestEffortFIFO", cpu=2):
    queue = kq.ClusterQueue.of("q", {"f": {"cpu": cpu}}, queueing_strategy=strategy)
    return kq.Cluster(kq.ResourceFlavor("f"), queue)


SMALL = [{"queue": "q", "submit": at, "runtime": 90, "cpu": 1} for at in (0, 45)]
WIDE = [{"name": "wide", "queue": "q", "submit": 10, "runtime": 60, "cpu": 2}]


def long_run(cluster, once, periods=60):
    rows = [
        {**row, "submit": row["submit"] + 90 * number, "name": f"{row['submit']}-{number}"}
        for number in range(periods)
        for row in SMALL
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the load, which is the point
        return kq.simulate(cluster, [*once, *rows])


def test_a_wide_job_starves_among_small_ones_and_the_cycle_proves_it():
    found = kq.lab.starvation(cluster_of(), SMALL, WIDE, period=90)
    (one,) = found.starved
    assert (one.name, one.queue, found.cycle, found.bound) == ("wide", "default/q", (1, 1), 0)
    assert one.overtaken == 3
    assert "starves" in str(found)
    # The wide job waits while small jobs arrive, and runs after the last of them.
    jobs = long_run(cluster_of(), WIDE).jobs
    assert jobs["first_start"][0] >= 90 * 59 + 45


def test_a_strict_queue_admits_it_and_the_bound_matches_a_long_run():
    cluster = cluster_of("StrictFIFO")
    found = kq.lab.starvation(cluster, SMALL, WIDE, period=90)
    assert found.starved == ()
    assert found.cycle is not None
    assert found.bound == long_run(cluster, WIDE).jobs["first_wait"][1:].max()
    assert "no job starves" in str(found)


def test_a_lower_priority_starves_under_a_load_of_higher_ones():
    rows = [{"queue": "q", "submit": 0, "runtime": 90, "cpu": 2, "priority": 1}]
    found = kq.lab.starvation(cluster_of(), rows, [{"queue": "q", "submit": 5, "runtime": 1, "cpu": 1}], period=90)
    assert [one.name for one in found.starved] == ["once-0"]
    less = kq.lab.starvation(cluster_of(), [{**rows[0], "runtime": 80}], WIDE, period=90)
    assert less.starved == ()


def test_a_requeued_job_is_part_of_the_state():
    rules = kq.Preemption(within_cluster_queue="LowerPriority")
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 1}}, preemption=rules))
    rows = [
        {"queue": "q", "submit": 0, "runtime": 50, "cpu": 1},
        {"queue": "q", "submit": 20, "runtime": 30, "cpu": 1, "priority": 5},
    ]
    found = kq.lab.starvation(cluster, rows, period=100)
    assert found.cycle == (1, 1)
    # At 90 the next one waits for the one that was evicted, which ends at 100.
    assert kq.lab.starvation(cluster, rows, period=90).bound == 10
    resuming = kq.lab.starvation(cluster, rows, period=90, model=kq.sim.RunModel("resume"))
    assert (resuming.cycle, resuming.bound) == ((1, 1), 0)
    assert kq.lab.starvation(cluster, rows, period=75).growing


def test_with_overload_there_is_no_proof_and_it_is_reported():
    found = kq.lab.starvation(cluster_of(), SMALL * 2, [{**WIDE[0], "priority": -1}], period=90, periods=30)
    assert (found.cycle, found.growing, found.bound) == (None, True, math.inf)
    assert [one.name for one in found.suspects] == ["wide"]
    assert "the load is too high" in str(found)


@pytest.mark.parametrize(
    ("rows", "options", "error"),
    [
        (SMALL, {"period": 40}, "within the period"),
        ([], {"period": 40}, "within the period"),
        (SMALL, {"period": 0}, "period"),
        (SMALL, {"period": 90, "periods": 1}, "periods"),
        (SMALL, {"period": 90, "events": [kq.sim.Event("1d", kq.sim.Delete("ClusterQueue/q"))]}, "events"),
    ],
)
def test_jobs_without_a_period_are_rejected(rows, options, error):
    with pytest.raises(kq.errors.InvalidSpecError, match=error):
        kq.lab.starvation(cluster_of(), rows, **options)


def test_jobs_of_one_name_in_two_namespaces_are_two():
    queue = kq.ClusterQueue.of("q", {"f": {"cpu": 4}})
    locals_ = [kq.LocalQueue("l", namespace=name, cluster_queue="q") for name in ("a", "b")]
    cluster = kq.Cluster(kq.ResourceFlavor("f"), queue, locals_)
    rows = [{"queue": "a/l", "submit": 5, "runtime": 10, "cpu": 1}]
    long, short = ({"queue": "a/l", "submit": 1, "runtime": 300, "cpu": 3}, {"queue": "b/l", "submit": 2, "cpu": 3})
    answers = [
        kq.lab.starvation(cluster, rows, [{"name": one, **long}, {"name": two, **short, "runtime": 17}], period=20)
        for one, two in (("w", "w"), ("v", "w"), ("period-0-0", "once-0"))
    ]

    assert [(found.starved, found.cycle) for found in answers] == [((), answers[0].cycle)] * 3
