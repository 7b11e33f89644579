"""Starvation: proofs compared with long simulations."""

import warnings

import pytest

import kueuepy as kq


def starvation(cluster, jobs, once=(), **options):
    return kq.lab.guarantee("starvation", cluster, jobs=jobs, once=once, **options)


def cycle(found):
    """Return the first period whose state repeats, and the number of periods until the repetition."""
    return (found.values("first period")["cycle"], found.values("periods")["cycle"])


def bound(found):
    return found.values("longest wait")["periodic jobs"]


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
    found = starvation(cluster_of(), SMALL, WIDE, period=90)
    assert (found.holds, cycle(found), bound(found)) == (False, (1, 1), 0)
    assert found.values("overtaken") == {"wide": 3}
    assert list(found.values("waited")) == ["wide"]
    assert "(default/q)" in " ".join(found.because)
    assert "starves" in " ".join(found.because)
    # The wide job waits while small jobs arrive, and runs after the last of them.
    jobs = long_run(cluster_of(), WIDE).jobs
    assert jobs["first_start"][0] >= 90 * 59 + 45


def test_a_strict_queue_admits_it_and_the_bound_matches_a_long_run():
    cluster = cluster_of("StrictFIFO")
    found = starvation(cluster, SMALL, WIDE, period=90)
    assert found.holds is True
    assert found.values("waited") == {}
    assert cycle(found)
    assert bound(found) == long_run(cluster, WIDE).jobs["first_wait"][1:].max()
    assert "no job starves" in " ".join(found.because)


def test_a_lower_priority_starves_under_a_load_of_higher_ones():
    rows = [{"queue": "q", "submit": 0, "runtime": 90, "cpu": 2, "priority": 1}]
    found = starvation(cluster_of(), rows, [{"queue": "q", "submit": 5, "runtime": 1, "cpu": 1}], period=90)
    assert (found.holds, list(found.values("overtaken"))) == (False, ["once-0"])
    less = starvation(cluster_of(), [{**rows[0], "runtime": 80}], WIDE, period=90)
    assert (less.holds, less.values("overtaken")) == (True, {})


def test_a_requeued_job_is_part_of_the_state():
    rules = kq.Preemption(within_cluster_queue="LowerPriority")
    cluster = kq.Cluster(kq.ResourceFlavor("f"), kq.ClusterQueue.of("q", {"f": {"cpu": 1}}, preemption=rules))
    rows = [
        {"queue": "q", "submit": 0, "runtime": 50, "cpu": 1},
        {"queue": "q", "submit": 20, "runtime": 30, "cpu": 1, "priority": 5},
    ]
    found = starvation(cluster, rows, period=100)
    assert cycle(found) == (1, 1)
    # At 90 the next one waits for the one that was evicted, which ends at 100.
    assert bound(starvation(cluster, rows, period=90)) == 10
    resuming = starvation(cluster, rows, period=90, model=kq.sim.RunModel("resume"))
    assert (cycle(resuming), bound(resuming)) == ((1, 1), 0)
    growing = starvation(cluster, rows, period=75)
    assert growing.holds is None
    assert "the number of waiting jobs grows" in str(growing)


def test_with_overload_there_is_no_proof_and_it_is_reported():
    found = starvation(cluster_of(), SMALL * 2, [{**WIDE[0], "priority": -1}], period=90, periods=30)
    assert (found.holds, found.values("longest wait"), found.values("periods")) == (None, {}, {})
    assert list(found.values("waited")) == ["wide"]
    assert "still waits after" in " ".join(found.because)
    assert "the load is too high" in " ".join(found.because)


@pytest.mark.parametrize(
    ("rows", "options", "error"),
    [
        (SMALL, {"period": 40}, "within the period"),
        ([], {"period": 40}, "within the period"),
        (SMALL, {"period": 0}, "period"),
        (SMALL, {"period": 90, "periods": 1}, "1 periods"),
        (SMALL, {"period": 90, "events": [kq.sim.Event("1d", kq.sim.Delete("ClusterQueue/q"))]}, "events"),
    ],
)
def test_jobs_without_a_period_are_rejected(rows, options, error):
    with pytest.raises(kq.errors.InvalidSpecError, match=error):
        starvation(cluster_of(), rows, **options)


def test_jobs_of_one_name_in_two_namespaces_are_two():
    queue = kq.ClusterQueue.of("q", {"f": {"cpu": 4}})
    locals_ = [kq.LocalQueue("l", namespace=name, cluster_queue="q") for name in ("a", "b")]
    cluster = kq.Cluster(kq.ResourceFlavor("f"), queue, locals_)
    rows = [{"queue": "a/l", "submit": 5, "runtime": 10, "cpu": 1}]
    long, short = ({"queue": "a/l", "submit": 1, "runtime": 300, "cpu": 3}, {"queue": "b/l", "submit": 2, "cpu": 3})
    answers = [
        starvation(cluster, rows, [{"name": one, **long}, {"name": two, **short, "runtime": 17}], period=20)
        for one, two in (("w", "w"), ("v", "w"), ("period-0-0", "once-0"))
    ]

    assert [(found.holds, cycle(found)) for found in answers] == [(True, cycle(answers[0]))] * 3
