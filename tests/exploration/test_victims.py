"""Preemption targets: those of Kueue, and the smallest sets that the rules allow."""

from itertools import combinations

import numpy as np
import pytest

import kueuepy as kq
from seeds import seeds


def scheduler_of(rows, nominal=7, **rules):
    queue = kq.ClusterQueue.of("q", {"f": {"cpu": nominal}}, preemption=kq.Preemption(**rules))
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), queue), now=0)
    for row in rows:
        scheduler.submit({"queue": "q", **row})
        scheduler.settle()
        scheduler.advance(1)
    return scheduler


FOUR = [{"name": "wide", "cpu": 4}, {"name": "x", "cpu": 1}, {"name": "y", "cpu": 1}, {"name": "z", "cpu": 1}]


def test_kueue_preempts_three_where_one_would_be_enough():
    scheduler = scheduler_of(FOUR, within_cluster_queue="LowerPriority")
    found = kq.lab.victim_sets(scheduler, {"name": "urgent", "queue": "q", "cpu": 3, "priority": 1})
    assert set(found.taken) == {"default/x", "default/y", "default/z"}
    assert (found.fewest, found.more) == (("default/wide",), 2)
    assert (found.least_amount, found.excess) == (3000, 0)
    assert found.short == ("f/cpu",)
    assert "not modelled" in str(found)


def test_a_single_sufficient_target_is_the_smallest_set():
    """The oldest workload is the last candidate and the only target, so no smaller set exists."""
    scheduler = scheduler_of([FOUR[0], FOUR[1], {"name": "two", "cpu": 2}], within_cluster_queue="LowerPriority")
    found = kq.lab.victim_sets(scheduler, {"name": "urgent", "queue": "q", "cpu": 4, "priority": 1})
    assert (found.taken, found.more, found.excess) == (("default/wide",), 0, 0)
    assert found.least == ("default/wide",)


@pytest.mark.parametrize("seed", seeds(30, few=8))
def test_in_one_queue_the_smallest_set_is_that_of_subset_sums(seed):
    """Brute force: in a queue without cohort, a set is sufficient if its usage is large enough."""
    rng = np.random.Generator(np.random.PCG64(seed))
    sizes = rng.integers(1, 6, 7).tolist()
    ranks = rng.integers(0, 4, 7).tolist()
    rows = [
        {"name": f"w{i}", "cpu": size, "priority": rank}
        for i, (size, rank) in enumerate(zip(sizes, ranks, strict=True))
    ]
    nominal = sum(sizes) + int(rng.integers(0, 2))
    scheduler = scheduler_of(rows, nominal, within_cluster_queue="LowerPriority")
    lower = [size for size, rank in zip(sizes, ranks, strict=True) if rank < 3]
    asked = int(rng.integers(2, max(3, sum(lower))))
    free = nominal - sum(sizes)
    if free >= asked or sum(lower) + free < asked:
        with pytest.raises(kq.errors.StateError, match="no workload is preempted"):
            kq.lab.victim_sets(scheduler, {"name": "urgent", "queue": "q", "cpu": asked, "priority": 3})
        return
    found = kq.lab.victim_sets(scheduler, {"name": "urgent", "queue": "q", "cpu": asked, "priority": 3})
    enough = [
        chosen
        for size in range(1, len(lower) + 1)
        for chosen in combinations(lower, size)
        if sum(chosen) + free >= asked
    ]
    assert len(found.fewest) == min(map(len, enough))
    assert found.least_amount == 1000 * min(map(sum, enough))
    assert found.more >= 0
    assert found.excess >= 0
    assert found.taken_amount == 1000 * sum(sizes[int(key[-1])] for key in found.taken)


def test_only_borrowed_quota_of_another_queue_is_reclaimed():
    queues = [
        kq.ClusterQueue.of(
            name,
            {"f": {"cpu": 4}},
            cohort_name="all",
            preemption=kq.Preemption(reclaim_within_cohort="Any"),
        )
        for name in ("a", "b", "c")
    ]
    scheduler = kq.Scheduler(kq.Cluster(kq.ResourceFlavor("f"), *queues), now=0)
    rows = [("b0", "b", 1), ("b1", "b", 3), ("b2", "b", 1), ("b3", "b", 1), ("c0", "c", 4), ("b4", "b", 2)]
    for name, queue, cpu in rows:
        scheduler.submit({"name": name, "queue": queue, "cpu": cpu})
        scheduler.settle()
        scheduler.advance(1)
    found = kq.lab.victim_sets(scheduler, {"name": "mine", "queue": "a", "cpu": 4})
    assert {key[8] for key in (*found.taken, *found.fewest, *found.least)} == {"b"}
    # b may be brought to 4, not below: the best of its sets hold at least the 4 that are asked.
    assert found.least_amount == 4000
    assert found.least_amount <= found.taken_amount
    assert len(found.fewest) == 2


def test_too_many_candidates_are_rejected():
    rows = [{"name": f"w{i}", "cpu": 1} for i in range(14)]
    scheduler = scheduler_of(rows, 14, within_cluster_queue="LowerPriority")
    with pytest.raises(kq.errors.InvalidSpecError, match="14 candidates"):
        kq.lab.victim_sets(scheduler, {"name": "urgent", "queue": "q", "cpu": 3, "priority": 1})
    assert kq.lab.victim_sets(scheduler, {"name": "urgent", "queue": "q", "cpu": 1, "priority": 1}, most=14).sets == 0


def test_a_waiting_workload_is_identified_by_its_key():
    scheduler = scheduler_of(FOUR, within_cluster_queue="LowerPriority")
    scheduler.submit({"name": "urgent", "queue": "q", "cpu": 2, "priority": 1})
    found = kq.lab.victim_sets(scheduler, "default/urgent")
    assert found.workload == "default/urgent"
    assert found.fewest_amount == 4000
    assert found._repr_html_()
