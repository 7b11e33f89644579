"""Costs of scheduling cycles: counts against values computed by hand, and against a larger cluster."""

import pytest

import kueuepy as kq


def cluster_of(trees=1, **rules):
    quotas = {"spot": {"cpu": 3}, "reserved": {"cpu": 3}}
    queues = [
        kq.ClusterQueue.of(f"{name}{tree}", quotas, cohort_name=f"tree{tree}", preemption=kq.Preemption(**rules))
        for tree in range(trees)
        for name in "ab"
    ]
    return kq.Cluster(kq.ResourceFlavor("spot"), kq.ResourceFlavor("reserved"), queues)


def jobs_of(trees=1):
    """The same jobs in each tree."""
    burst = kq.Jobs.poisson("q", "40/h", kq.sim.Exponential("20m"), {"cpu": 1}, n=60, seed=1)
    parts = [
        burst.assign(queue=f"default/{name}{tree}", priority=place)
        for tree in range(trees)
        for place, name in enumerate("ab")
    ]
    return kq.Jobs.concat(parts)


RULES = {"within_cluster_queue": "LowerPriority", "reclaim_within_cohort": "Any"}


def test_counts_are_upper_bounds_of_those_computed_by_hand():
    """A burst at one time, cycle by cycle on a Scheduler: numbers of heads are equal, the others are upper bounds."""
    rows = [
        {"name": f"{name}{n}", "queue": f"{name}0", "submit": 0, "runtime": 60, "cpu": 1, "priority": n}
        for n in range(9)
        for name in "ab"
    ]
    cluster = cluster_of(**RULES)
    found = kq.lab.cycle_cost(cluster, rows).cycles
    scheduler = kq.Scheduler(cluster, now=0)
    scheduler.submit({key: value for key, value in row.items() if key not in ("submit", "runtime")} for row in rows)
    first = scheduler.cycle()
    assert found["heads"][0] == len(first) == 2
    assert found["evaluations"][0] >= sum(len(decision.attempts) for decision in first)
    held, place = len(first.admitted), 0
    while not (cycle := scheduler.cycle()).idle and cycle.admitted:
        place += 1
        assert found["heads"][place] == len(cycle)
        assert found["evaluations"][place] >= sum(len(decision.attempts) for decision in cycle)
        assert found["candidates"][place] >= held
        held += len(cycle.admitted)
    assert place >= 2


def test_a_forecast_matches_the_larger_cluster():
    small = kq.lab.cycle_cost(cluster_of(1, **RULES), jobs_of(1))
    large = kq.lab.cycle_cost(cluster_of(3, **RULES), jobs_of(3))
    forecast, shown = small.at(queues=3, workloads=3), large.at()
    for name in ("heads", "evaluations", "candidates"):
        assert shown[name].tolist() == forecast[name].tolist()
    assert shown["candidates"][-1] > 0


def test_without_preemption_there_are_no_candidates():
    found = kq.lab.cycle_cost(cluster_of(), jobs_of())
    assert found.cycles["candidates"].max() == 0
    assert (found.cycles["evaluations"] == 2 * found.cycles["heads"]).all()
    assert "not modelled" in str(found)
    assert found._repr_html_()


def test_cycles_with_a_duration_result_in_more_cycles_with_heads():
    slow = kq.lab.cycle_cost(cluster_of(), jobs_of(), clock=kq.sim.Clock("30s"))
    assert slow.cycles["heads"].max() == 2


def test_an_invalid_factor_is_rejected():
    found = kq.lab.cycle_cost(cluster_of(), jobs_of())
    with pytest.raises(kq.errors.InvalidSpecError, match="queues 0"):
        found.at(queues=0)
