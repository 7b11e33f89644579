"""Quota that limits guarantee, over all orders of other usage."""

from itertools import permutations

import numpy as np
import pytest

import kueuepy as kq
from seeds import seeds

F = "f/cpu"


class Limits:
    """The facts of an answer by ClusterQueue, as the texts that a manifest has."""

    def __init__(self, found, cell):
        self.answer = found
        rows = found.facts.rows()
        texts = {row["measure"]: {} for row in rows}
        for row in rows:
            texts[row["measure"]][row["subject"]] = row["detail"]
        self.ensured, self.promised = texts["guaranteed"], texts["required"]
        (self.borrowing,) = texts.get("borrowingLimit", {"all": None}).values()
        self.lending = texts.get("lendingLimit", {})
        edits = {f"ClusterQueue/{name}:quota[{cell}].lendingLimit": text for name, text in self.lending.items()}
        assert found.edits == edits


def limits_of(cluster, amounts, cell):
    return Limits(kq.lab.guarantee("limits", cluster, amounts=amounts, flavor_resource=cell), cell)


def cluster_of(*quotas, cohort="all", **rules):
    queues = [
        kq.ClusterQueue.of(
            name,
            {"f": {"cpu": quota}},
            cohort_name=cohort,
            preemption=kq.Preemption(**(rules if name == "a" else {})),
        )
        for name, quota in zip("abcd", quotas, strict=False)
    ]
    return kq.Cluster(kq.ResourceFlavor("f"), *queues)


def worst(cluster, name, most=40):
    """Return the smallest quota of a queue after the others are filled, in any order and by any size."""
    found = []
    others = [queue.name for queue in cluster.cluster_queues if queue.name != name]
    for order in permutations(others):
        for size in (1, 2, most):
            scheduler = kq.Scheduler(cluster, now=0)
            for other in order:
                for number in range(most // size):
                    row = {"name": f"{other}-{number}", "queue": other, "cpu": size, "priority": 9}
                    if not isinstance(scheduler.try_admit(row), kq.Admitted):
                        break
                    scheduler.submit(row)
                    scheduler.settle()
                if left := scheduler.largest_count({"name": "rest", "queue": other, "cpu": 1, "priority": 9}):
                    scheduler.submit({"name": f"{other}-rest", "queue": other, "cpu": left, "priority": 9})
                    scheduler.settle()
            found.append(scheduler.largest_count({"name": "mine", "queue": name, "cpu": 1}))
    return min(found)


@pytest.mark.parametrize("seed", seeds(12))
def test_guaranteed_quota_is_the_minimum_over_all_orders(seed):
    rng = np.random.Generator(np.random.PCG64(seed))

    def quota():
        nominal = int(rng.integers(2, 7))
        borrowing = [None, 0, 1, 3][int(rng.integers(4))]
        lending = [None, 0, 1, 2][int(rng.integers(4))]
        return kq.Quota(nominal, borrowing, lending)

    cluster = cluster_of(quota(), quota(), quota())
    found = limits_of(cluster, {"a": 1}, F)
    assert {name: int(amount) for name, amount in found.ensured.items()} == {n: worst(cluster, n) for n in "abc"}


@pytest.mark.parametrize("seed", seeds(6))
def test_guaranteed_quota_in_a_cohort_tree(seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    group = kq.objects.ResourceGroup.of
    inner = kq.Cohort(
        "inner",
        parent_name="root",
        resource_groups=(group({"f": {"cpu": kq.Quota(0, [None, 1, 3][int(rng.integers(3))], None)}}),),
    )
    queues = [
        kq.ClusterQueue.of(
            name,
            {"f": {"cpu": kq.Quota(int(rng.integers(1, 6)), None, [None, 1][int(rng.integers(2))])}},
            cohort_name=cohort,
        )
        for name, cohort in (("a", "inner"), ("b", "inner"), ("c", "root"))
    ]
    cluster = kq.Cluster(kq.ResourceFlavor("f"), inner, kq.Cohort("root"), *queues)
    found = limits_of(cluster, {"a": 1}, F)
    assert {name: int(amount) for name, amount in found.ensured.items()} == {n: worst(cluster, n) for n in "abc"}


def test_lending_limits_are_the_largest_that_meet_the_targets():
    cluster = cluster_of(12, 12, 12)
    found = limits_of(cluster, {"a": 9, "b": 4}, F)
    assert (found.lending, found.borrowing, found.answer.holds) == ({"a": "3", "b": "8"}, "1", False)
    after = cluster.edit_all(found.answer.edits)
    assert worst(after, "a") >= 9
    assert worst(after, "b") >= 4
    for name, limit in found.lending.items():
        wider = after.edit(f"ClusterQueue/{name}:quota[{F}].lendingLimit", int(limit) + 1)
        assert worst(wider, name) < int(found.promised[name])


def test_borrowing_limits_can_meet_the_targets():
    cluster = cluster_of(12, 12, 12)
    found = limits_of(cluster, {"a": 9, "b": 4}, F)
    path = f"ClusterQueue/*:quota[{F}].borrowingLimit"
    assert worst(cluster.edit(path, int(found.borrowing)), "a") >= 9
    assert worst(cluster.edit(path, int(found.borrowing) + 1), "a") < 9


def test_reclaimable_quota_is_guaranteed():
    found = limits_of(cluster_of(12, 12, reclaim_within_cohort="Any"), {"a": 12}, F)
    assert (found.ensured["a"], found.lending, found.borrowing) == ("12", {}, "unlimited")
    assert found.answer.holds is True
    lower = limits_of(cluster_of(12, 12, reclaim_within_cohort="LowerPriority"), {"a": 12}, F)
    assert lower.ensured["a"] == "0"  # others may have a higher priority
    assert "a needs 12 and is guaranteed 12" in str(found.answer)


def test_more_than_nominal_quota_cannot_be_guaranteed():
    found = limits_of(cluster_of(4, 4), {"a": 5}, F)
    assert (found.lending, found.borrowing, found.answer.edits, found.answer.holds) == ({}, None, {}, False)
    assert "no lending limits" in str(found.answer)
    alone = limits_of(cluster_of(4, cohort=None), {"a": 5}, F)
    assert (alone.lending, alone.answer.holds) == ({}, False)


def test_amounts_are_quantities():
    queues = [kq.ClusterQueue.of(name, {"f": {"memory": "64Gi"}}, cohort_name="all") for name in "ab"]
    found = limits_of(kq.Cluster(kq.ResourceFlavor("f"), *queues), {"a": "48Gi"}, "f/memory")
    assert (found.ensured["a"], found.lending, found.borrowing) == ("0", {"a": "16Gi"}, "16Gi")
    assert found.answer._repr_html_()


@pytest.mark.parametrize(
    ("promises", "cell", "error"),
    [
        ({"x": 1}, F, "x"),
        ({"a": 1}, "g/cpu", "g/cpu"),
        ({}, F, "amounts is empty"),
        ({"a": "much"}, F, "much"),
        ({"a": -1}, F, "0 or more"),
    ],
)
def test_an_invalid_target_is_rejected(promises, cell, error):
    with pytest.raises(kq.KueueError, match=error):
        limits_of(cluster_of(4, 4), promises, cell)
