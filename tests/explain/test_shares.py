"""Shares in explanations, compared with numbers computed by hand.

The Cohort root has a quota of 4 CPUs. Below it, left (weight 2) has the queues p (2 CPUs) and s (1), and right has x
(3) and y (0, weight 0). The total is 10 CPUs without limits, so all 10 are lendable. x uses 5, s 3, y 1 and p 1.

| node | usage | nominal quota | borrowed | share |
| --- | --- | --- | --- | --- |
| p | 1 | 2 | 0 | 0 |
| s | 3 | 1 | 2 | 2 x 1000 / 10 = 200 |
| left | 4 | 3 | 1 | 1 x 1000 / 10 / 2 = 50 |
| x | 5 | 3 | 2 | 200 |
| y | 1 | 0 | 1 | infinite |
| right | 6 | 3 | 3 | 300 |
"""

import math

import pytest

import kueuepy as kq
from teams import DEFAULT, workload

POLICIES = kq.Preemption(reclaim_within_cohort="Any", within_cluster_queue="LowerPriority")
FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"


def _queue(name, cpu, cohort, weight="1", **quotas):
    return kq.ClusterQueue.of(
        name,
        {"default": {"cpu": cpu, **quotas}},
        cohort_name=cohort,
        fair_sharing=kq.FairSharing(weight),
        preemption=POLICIES,
    )


@pytest.fixture
def tree():
    pool = kq.ResourceGroup.of({"default": {"cpu": 4}})
    cluster = kq.Cluster(
        DEFAULT,
        kq.Cohort("root", resource_groups=[pool]),
        kq.Cohort("left", parent_name="root", fair_sharing=kq.FairSharing("2")),
        kq.Cohort("right", parent_name="root"),
        [_queue("p", 2, "left"), _queue("s", 1, "left"), _queue("x", 3, "right"), _queue("y", 0, "right", "0")],
        configuration=kq.Configuration(fair_sharing=kq.FairSharingConfig()),
    )
    scheduler = kq.Scheduler(cluster)
    for name, queue, cpu in (("x1", "x", 3), ("x2", "x", 2), ("s1", "s", 3), ("y1", "y", 1), ("p1", "p", 1)):
        scheduler.advance(1)
        scheduler.submit(workload(name, queue, cpu))
        scheduler.settle()
    scheduler.advance(1)
    return scheduler


def _compared(explanation):
    """By candidate, what each rule compared: whose share with whose; ours, theirs with and without it; if it held."""
    names = ("strategy", "ours", "theirs", "our_share", "their_share", "final_share", "holds")
    return {
        cause.facts["workload"].partition("/")[2]: [
            tuple(made.facts[name] for name in names) for made in cause.causes if made.kind == "comparison"
        ]
        for cause in explanation.find("candidate")
    }


def test_shares_of_a_cohort_tree(tree):
    rows = {row["name"]: row for row in tree.shares.rows()}
    assert {name: row["share"] for name, row in rows.items()} == {
        "root": 0, "left": 50, "right": 300, "p": 0, "s": 200, "x": 200, "y": math.inf,
    }  # fmt: skip
    assert (rows["left"]["borrowed"], rows["left"]["lendable"], rows["left"]["weight"]) == (1, 10, 2)
    assert (rows["y"]["borrowed"], rows["y"]["rounded"], rows["p"]["resource"]) == (1, 2**63 - 1, "")


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        (
            "s1",
            (
                "share of ClusterQueue s: 200, by cpu: borrows 2 of 10 lendable",
                "share of Cohort left: 50, by cpu: borrows 1 of 10 lendable, weight 2",
            ),
        ),
        (
            "y1",
            (
                "share of ClusterQueue y: infinite, by cpu: borrows 1 of 10 lendable, weight 0",
                "share of Cohort right: 300, by cpu: borrows 3 of 10 lendable",
            ),
        ),
        (
            "p1",
            (
                "share of ClusterQueue p: 0, because it borrows nothing",
                "share of Cohort left: 50, by cpu: borrows 1 of 10 lendable, weight 2",
            ),
        ),
    ],
)
def test_a_share_is_explained_with_its_components(tree, name, texts):
    assert tuple(cause.text for cause in tree.explain(name).find("share")) == texts


def test_a_fair_preemption_is_explained_with_the_compared_shares(tree):
    """p2 asks for 2 more. left then has 6 of its 3: 3 x 1000 / 10 / 2 = 150; p has 3 of its 2, 100.

    right has the larger share, and in it y. Without y1, right is at 200, still enough; but that frees too little. Next
    comes x: without x2 or x1 right would not borrow. So p looks at s, which would not borrow either. Then the second
    rule lets x2 go, since 150 is less than 200; and y1 need not leave any more.
    """
    tree.submit(workload("p2", "p", 2))
    explanation = tree.explain("p2")
    assert _compared(explanation) == {
        "x2": [(FINAL, "left", "right", 150, 200, 0, False), (INITIAL, "left", "right", 150, 200, 0, True)],
        "x1": [(FINAL, "left", "right", 150, 200, 0, False)],
        "y1": [(FINAL, "left", "right", 150, 300, 200, True)],
        "s1": [(FINAL, "p", "s", 100, 200, 0, False)],
        "p1": [],
    }
    text = str(explanation)
    assert f"{FINAL}: share of left with the request 150 ≤ share of right without it 200 (before: 300)" in text
    assert f"{INITIAL}: share of left with the request 150 < share of right with it 200" in text
    (decision,) = tree.cycle()
    assert decision.targets == (kq.Target("default/x2", "InCohortFairSharing", "x"),)


def test_a_queue_with_weight_0_preempts_no_workloads_of_others(tree):
    """y2 asks for 2 more: y is infinite beside x; right has 8 of its 3 then, 500, and is compared with left."""
    tree.submit(workload("y2", "y", 2))
    explanation = tree.explain("y2")
    assert _compared(explanation) == {
        "s1": [(FINAL, "right", "left", 500, 50, 0, False), (INITIAL, "right", "left", 500, 50, 0, False)],
        "x1": [(FINAL, "y", "x", math.inf, 200, 0, False)],
        "x2": [(FINAL, "y", "x", math.inf, 200, 0, False), (INITIAL, "y", "x", math.inf, 200, 0, False)],
        "y1": [],
        "p1": [],
    }
    assert "share of y with the request infinite ≥ share of x with it 200" in str(explanation)
    assert explanation.verdict == "Pending"


def test_two_queues_with_weight_0_are_ordered_by_borrowed_quota():
    pool = kq.Cohort("k", resource_groups=[kq.ResourceGroup.of({"default": {"cpu": 8}})])
    queues = [_queue(name, 0, "k", "0") for name in "ab"]
    sharing = kq.Configuration(fair_sharing=kq.FairSharingConfig())
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, pool, queues, configuration=sharing))
    scheduler.submit(workload("a1", "a", 4), workload("a2", "a", 4))
    scheduler.settle()
    scheduler.submit(workload("b1", "b", 4))
    (comparison,) = scheduler.explain("b1").find("comparison")
    assert comparison.facts["holds"]
    assert comparison.text.endswith(
        "infinite (before: infinite), compared by borrowed amounts, because both have weight 0"
    )


def test_the_dominant_resource_is_the_first_of_equals():
    """a borrows 3 of 10 CPUs, 300, and 12 of 40 GiB, 300 too: cpu comes first; 13 GiB would be 325."""
    sharing = kq.Configuration(fair_sharing=kq.FairSharingConfig())
    queues = [_queue("a", 4, "k", memory="10Gi"), _queue("b", 6, "k", memory="30Gi")]
    scheduler = kq.Scheduler(kq.Cluster(DEFAULT, queues, configuration=sharing))
    scheduler.submit({"name": "one", "queue": "a", "cpu": 7, "memory": "22Gi"})
    scheduler.settle()
    assert scheduler.explain("one").find("share")[0].text == (
        "share of ClusterQueue a: 300, by cpu: borrows 3 of 10 lendable"
    )
    scheduler.submit({"name": "two", "queue": "a", "cpu": 0, "memory": "1Gi"})
    scheduler.settle()
    (share,) = scheduler.explain("one").find("share")
    assert share.text == "share of ClusterQueue a: 325, by memory: borrows 13Gi of 40Gi lendable"
    assert (share.facts["share"], share.facts["borrowed"], share.facts["lendable"]) == (325, 13 * 2**30, 40 * 2**30)
